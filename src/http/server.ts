/** One HTTP server: what it accepts, how it logs, and which faces it has. */
import cookie from '@fastify/cookie';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Act } from '../operator/access/rights.ts';
import type { Members } from '../operator/fields/field.ts';
import type { Outcome } from './answer/logged-outcome.ts';
import type { HttpProblem } from './answer/problem.ts';
import { type Answers, addCheck, answerProblem, type FallbackAnswers } from './answer/send-problem.ts';
import { addLiveness, addReadiness } from './api/health.ts';
import { addIntrospection } from './api/introspection.ts';
import { addMe } from './api/me.ts';
import { addResourceMetadata, addServerMetadata } from './api/metadata.ts';
import { type ApiDescription, addOpenApi } from './api/openapi.ts';
import { addOpenId } from './api/openid.ts';
import { addPublishedFace } from './api/published-token-endpoints.ts';
import { addRevocations } from './api/revocations/revocations.ts';
import { addStandardFace } from './api/standard.ts';
import { addAccount } from './browser/account/account.ts';
import { addAuthorize } from './browser/authorize/authorize.ts';
import { addDevice } from './browser/device/device.ts';
import { addPickUp } from './browser/pick-up.ts';
import { addPublicPages } from './browser/public-pages.ts';
import { makePages } from './browser/send-page.ts';
import { BrowserSessions } from './browser/session/browser-session.ts';
import { addExternalSignIn } from './browser/sign-in/external-sign-in.ts';
import { addInvitation } from './browser/sign-in/invitation.ts';
import { addMustChange } from './browser/sign-in/must-change.ts';
import { addPassword } from './browser/sign-in/password.ts';
import { addSignIn } from './browser/sign-in/sign-in.ts';
import { answerAnyOrigin } from './checks/cross-origin.ts';
import { requireOwnHost } from './checks/own-host.ts';
import { refusePlainHttp } from './checks/plain-http.ts';
import { limitPublic } from './checks/public-limit.ts';
import { requireSingleCookies, requireSingleHeaders } from './checks/repeated-headers.ts';
import { acceptsHtml, answerUnknownAddresses, likeness, pathOf } from './checks/unknown-addresses.ts';
import type { OpenConnections } from './connection/open-connections.ts';
import { makeServer } from './connection/reading.ts';
import { RequestBatch } from './connection/request-batch.ts';
import { Unreadable } from './connection/unreadable.ts';
import { apiAnswers, apiForm, oauthAnswers, oauthForm } from './json/json-answers.ts';
import type { Operation } from './json/operation.ts';
import { addProviderSignIn } from './provider/sign-in.ts';
import { addProviderUsers } from './provider/users.ts';
import {
  BODY_LIMIT_BYTES,
  DECODERS,
  decodeQuery,
  MAX_PARAMETERS,
  requireText,
  TOO_MANY_PARAMETERS,
} from './request/decoding.ts';
import { rememberSource } from './request/origin.ts';
import { newRequestId } from './request/request-id.ts';
import { RequestLog, type RequestLogger } from './request/request-log.ts';
import type { Service } from './service/service.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's outcome, for the log; never holds a secret. */
    outcome: Outcome | undefined;
    /** The request's source. Read at the start: a closed socket has no address. */
    source: string;
  }
  interface FastifyContextConfig {
    answers?: Answers;
    /** Set if the route is public: then each source has a limit. */
    limit?: 'public';
    /** True if the route is served by plain http even if the service has https: it carries no personal data. */
    mayBePlain?: true;
    /** True if the operators' address serves the route under every host name. */
    isForAnyHost?: true;
    /** True if pages of every origin may read the answers, which are the same for everybody. */
    isForAnyOrigin?: true;
    /** Maximum number of parameters in a form, if it is not that of all bodies. */
    maxParameters?: number | undefined;
    /** True for a form of the console with typed fields, none of them secret: they outlive a session that ended. */
    keepsTyped?: boolean | undefined;
    /** True for a form of the console that is sent again with a passkey's answer, where its act needs one. */
    asksInPlace?: boolean;
    /** The act that a route of the operators' address does, as the table of rights names it. */
    act?: Act;
    /** The further acts that a body makes of a call of the operators' API. */
    also?: (members: Members) => readonly Act[];
    /** The methods of the address, if this route refuses all others. */
    allow?: readonly string[];
    /** The route's OpenAPI description; every route that is not a page has one. */
    operation?: Operation;
  }
}

/** An address that a server is for. `app` and `api` have one server if their URLs are equal; `operator` has its own. */
export type Face = 'app' | 'api' | 'operator';

const HEADERS_LIMIT_BYTES = 16 * 1024;
const SERVER_OPTIONS = {
  maxHeaderSize: HEADERS_LIMIT_BYTES,
  requireHostHeader: false, // `requireSingleHeaders` does it, in a face's form.
};

/** Builds a server for the given faces, and adds their routes to the description. The caller makes it listen. */
export async function buildServer(
  service: Service,
  faces: readonly Face[],
  description: ApiDescription,
  open: OpenConnections,
  logger: RequestLogger,
): Promise<FastifyInstance> {
  const url = urlOf(service, faces);
  // Loaded only where operators have an address: their modules take memory and time at the start.
  const operators = faces.includes('operator') ? await import('./operator/operator-routes.ts') : null;
  const fallback = operators?.operatorFallback(service) ?? makeFallback(service, faces);
  const log = new RequestLog(service, logger);
  const unreadable = new Unreadable({ log, form: faces.includes('app') ? oauthForm : apiForm, now: service.now });
  const context = { batch: new RequestBatch(() => open.isAccepting), open, unreadable };
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // Fastify calls no hook for an address that cannot be decoded.
    frameworkErrors: (error, request, reply: FastifyReply) => {
      unreadable.begin(request, reply);
      request.source = sourceOf(log, request);
      log.answerError(error, request, reply.header('X-Request-Id', request.id), fallback(request));
      log.end(request, aboutEnd(request, reply));
    },
    clientErrorHandler: (error, socket) => unreadable.answer(error, socket),
    genReqId: newRequestId,
    // A logger per request would cost more than its one line, which names the request already.
    childLoggerFactory: () => logger,
    bodyLimit: BODY_LIMIT_BYTES,
    // HEAD for every GET (RFC 9110 §9.1): the same handler, without the body.
    exposeHeadRoutes: true,
    rewriteUrl: originForm,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // An id in a path may be the address of a metadata document.
    routerOptions: { querystringParser: decodeQuery as never, maxParamLength: HEADERS_LIMIT_BYTES },
    serverFactory: (handle) => makeServer(SERVER_OPTIONS, handle, context, (socket) => rememberSource(service, socket)),
  });
  app.decorateRequest('outcome', undefined);
  app.decorateRequest('source', '');
  logRequests(app, log, unreadable);
  requireSingleHeaders(app, fallback);
  if (operators) requireOwnHost(app, url, fallback);
  refusePlainHttp(app, url, fallback);
  requireShortQuery(app, fallback);
  answerAnyOrigin(app);
  limitPublic(app, service, fallback);
  acceptBodies(app);
  answerUnknownAddresses(app, service, url, fallback);
  if (!operators) description.watch(app, url);
  app.setErrorHandler((error, request, reply) =>
    log.answerError(error, request, reply, request.routeOptions.config.answers ?? fallback(request)),
  );
  addLiveness(app, service);
  if (operators) {
    await operators.addOperatorFace(app, service);
    return app;
  }
  addReadiness(app, service);
  if (faces.includes('app')) await addAppFaces(app, service, description);
  if (faces.includes('api')) addMe(app, service);
  if (faces.includes('api')) addResourceMetadata(app, service);
  return app;
}

function urlOf({ appUrl, apiUrl, operatorUrl }: Service, faces: readonly Face[]): string {
  if (faces.includes('operator')) return operatorUrl ?? appUrl;
  return faces.includes('app') ? appUrl : apiUrl;
}

function makeFallback(service: Service, faces: readonly Face[]): FallbackAnswers {
  return faces.includes('app') ? makeAppFallback(service) : () => apiAnswers;
}

async function addAppFaces(app: FastifyInstance, service: Service, description: ApiDescription): Promise<void> {
  addPublishedFace(app, service);
  addStandardFace(app, service);
  addServerMetadata(app, service);
  addOpenId(app, service);
  addIntrospection(app, service);
  addRevocations(app, service);
  await addProviderSignIn(app, service);
  await addProviderUsers(app, service);
  addOpenApi(app, service, description);
  await app.register((part) => addPages(part, service));
}

/** A plugin of its own, since only pages have cookies. */
async function addPages(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(cookie);
  const pages = makePages(service);
  const sessions = new BrowserSessions(service);
  requireSingleCookies(app, pages, sessions);
  const parts = { service, pages, sessions };
  addAuthorize(app, parts);
  addDevice(app, parts);
  addSignIn(app, parts);
  addExternalSignIn(app, parts);
  addAccount(app, parts);
  addPassword(app, parts);
  addInvitation(app, parts);
  addMustChange(app, parts);
  addPickUp(app, parts);
  addPublicPages(app, parts);
}

/** Refuses schemas, which no route has. Fastify's compilers would take 3 MB, and a tenth of the start's time. */
function noSchemas(): never {
  throw new Error('no route has a schema');
}

/**
 * Makes the request target a path without a host (RFC 9112 §3.2.2), because forms and redirects repeat it. Encodes
 * backslashes, which browsers leave unencoded in a query.
 */
function originForm({ url = '/' }: { url?: string | undefined }): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '').replaceAll('\\', '%5C');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Returns the answers to addresses without a route: a page where a browser goes to a page, or else JSON. */
function makeAppFallback(service: Service): FallbackAnswers {
  const { answers } = makePages(service);
  return (request) => {
    const path = likeness(pathOf(request));
    if (path.startsWith('/v2/')) return apiAnswers;
    const isForPrograms = /^\/(api|oauth2|\.wellknown)\/|\/refreshtoken$/.test(path);
    return isForPrograms || !acceptsHtml(request) ? oauthAnswers : answers;
  };
}

function requireShortQuery(app: FastifyInstance, fallback: FallbackAnswers): void {
  const tooLong: HttpProblem = {
    kind: 'bad_request',
    description: `the address has more than ${MAX_PARAMETERS} parameters`,
  };
  addCheck(app, (request, reply) => {
    if (request.query !== TOO_MANY_PARAMETERS) return undefined;
    const { answers = fallback(request) } = request.routeOptions.config ?? {};
    request.outcome = { error: tooLong.kind, detail: tooLong.description ?? '' };
    return answerProblem(answers, request, reply, tooLong);
  });
}

/** Accepts forms and JSON in UTF-8, uncompressed, and refuses every other body. */
function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  for (const [type, decode] of Object.entries(DECODERS)) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
      try {
        requireText(request.headers, body as Buffer);
        done(null, decode(body as Buffer, request.routeOptions.config.maxParameters ?? MAX_PARAMETERS));
      } catch (error) {
        done(error as Error);
      }
    });
  }
}

/** Logs when the reply closes. Fastify's response hook is not called if the client hangs up before the answer. */
function logRequests(app: FastifyInstance, log: RequestLog, unreadable: Unreadable): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    request.source = sourceOf(log, request);
    unreadable.begin(request, reply);
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) request.outcome = { error: 'aborted', ...request.outcome };
      log.end(request, aboutEnd(request, reply));
    });
    done();
  });
}

function sourceOf(log: RequestLog, { raw }: FastifyRequest): string {
  return log.sourceOf(raw.socket, raw.headers['x-forwarded-for']);
}

function aboutEnd(request: FastifyRequest, reply: FastifyReply) {
  return { route: request.routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime };
}
