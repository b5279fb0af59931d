/**
 * `{app_url}/auth/oauth2/authorize`: the page where a person allows an app. The URL is the state of the request: sign-in
 * comes back to it, the consent form posts to it, and it is validated anew each time.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type AuthorizationRequest,
  type RedirectableError,
  requestFingerprint,
  type ShownError,
} from '../oauth/authorization-request.ts';
import { errorLocation } from '../oauth/authorization-response.ts';
import type { Parameters } from '../oauth/parameters.ts';
import { redirectHost } from '../oauth/redirect-uri.ts';
import { consentPage } from '../pages/consent-page.ts';
import { answerTrouble } from './answer.ts';
import type { BrowserSessions, SignedIn } from './browser-session.ts';
import { formOf } from './form.ts';
import { originOf } from './origin.ts';
import type { Pages } from './page-answers.ts';
import { AUTHORIZE_PATH } from './paths.ts';
import type { Service } from './service.ts';
import { sendSignIn } from './sign-in.ts';

/** Adds the authorization page. */
export function addAuthorize(app: FastifyInstance, service: Service, pages: Pages, sessions: BrowserSessions): void {
  const config = { answers: pages.answers };

  app.get(AUTHORIZE_PATH, { config }, async (request, reply) => {
    const retryAfter = countVisit(service, request);
    if (retryAfter > 0) return answerTrouble(pages.answers, request, reply, { kind: 'too_many_requests', retryAfter });
    const outcome = await service.authorizationServer.validateRequest(request.query as Parameters);
    if (outcome.kind !== 'valid') return sendInvalid(pages, request, reply, outcome);
    const signedIn = await sessions.signedIn(request);
    if (!signedIn)
      return sendSignIn(pages, sessions, request, reply, { continueTo: request.url, appName: outcome.client.name });
    return sendConsent(pages, sessions, request, reply, outcome, signedIn);
  });

  app.post(AUTHORIZE_PATH, { config }, async (request, reply) => {
    if (!sessions.isSameOrigin(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const outcome = await service.authorizationServer.validateRequest(request.query as Parameters);
    if (outcome.kind !== 'valid') return sendInvalid(pages, request, reply, outcome);
    const signedIn = await sessions.signedIn(request);
    if (!signedIn) return redirect(pages, reply, request.url);
    const form = formOf(request);
    const token = sessions.checkForm(signedIn, 'consent', requestFingerprint(outcome), form.get('form_token'));
    if (token === 'wrong') return pages.sendError(request, reply, 403, 'form_refused');
    if (token === 'expired') return redirect(pages, reply, request.url);
    return sendDecision(service, pages, request, reply, outcome, signedIn, form.get('decision'));
  });
}

/** A high ceiling: a person never meets it, a flood does. */
function countVisit(service: Service, request: FastifyRequest): number {
  const { source } = originOf(service, request);
  const wait = service.throttles.authorize.wait([source], service.now());
  if (wait === 0) service.throttles.authorize.count([source], service.now());
  return wait;
}

function sendInvalid(
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: ShownError | RedirectableError,
): FastifyReply {
  if (outcome.kind === 'show') {
    request.outcome = { error: outcome.error, detail: outcome.detail };
    return pages.sendError(request, reply, 400, outcome.error);
  }
  request.outcome = { error: outcome.refusal.code, detail: outcome.refusal.detail };
  return redirect(pages, reply, errorLocation(outcome));
}

function sendConsent(
  pages: Pages,
  sessions: BrowserSessions,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: AuthorizationRequest,
  signedIn: SignedIn,
): FastifyReply {
  const { client, redirectUri, scope } = outcome;
  const page = consentPage(pages.context(request), {
    appName: client.name,
    redirectHost: redirectHost(redirectUri),
    account: signedIn.account,
    permissions: client.scopes.filter(({ name }) => scope.includes(name)),
    action: request.url,
    formToken: sessions.formToken(signedIn, 'consent', requestFingerprint(outcome)),
    switchAccount: { continueTo: request.url, formToken: sessions.formToken(signedIn, 'sign-out', '') },
  });
  return pages.send(reply, page, 'leaves');
}

async function sendDecision(
  service: Service,
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: AuthorizationRequest,
  { account }: SignedIn,
  decision: string | undefined,
): Promise<FastifyReply> {
  const origin = originOf(service, request);
  if (decision === 'deny')
    return redirect(pages, reply, await service.authorizationServer.deny(outcome, account.id, origin));
  if (decision !== 'allow') return answerTrouble(pages.answers, request, reply, { kind: 'bad_request' });
  const location = await service.authorizationServer.allow(outcome, account.id, origin);
  return location === null ? pages.sendError(request, reply, 400, 'unknown_client') : redirect(pages, reply, location);
}

/** 303, so that no browser sends the form on (RFC 9700 §4.12); no referrer, since this page's URL is the app's business. */
function redirect(pages: Pages, reply: FastifyReply, location: string): FastifyReply {
  return pages
    .secure(reply, 'leaves')
    .header('Cache-Control', 'no-store')
    .header('Referrer-Policy', 'no-referrer')
    .code(303)
    .header('Location', location)
    .send();
}
