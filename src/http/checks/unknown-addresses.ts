/** Answers to addresses that do not exist: in the caller's form, with the address that was probably meant. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpProblem } from '../answer/problem.ts';
import { type Answers, addCheck, answerProblem, type FallbackAnswers } from '../answer/send-problem.ts';
import {
  AUTHORIZE_PATH,
  ME_PATH,
  OPENID_CONFIGURATION_PATH,
  PROVIDER_PATHS,
  REFRESH_TOKEN_PATH,
  RESOURCE_METADATA_PATH,
  STANDARD_PATHS,
  TOKEN_PATH,
} from '../service/paths.ts';
import type { Service } from '../service/service.ts';

/** Paths that exist at only one of the two addresses, and are requested at the other by mistake. */
const APP_ALONE: readonly string[] = [
  AUTHORIZE_PATH,
  TOKEN_PATH,
  REFRESH_TOKEN_PATH,
  ...Object.values(STANDARD_PATHS),
  OPENID_CONFIGURATION_PATH,
  ...Object.values(PROVIDER_PATHS),
];
const API_ALONE: readonly string[] = [ME_PATH, RESOURCE_METADATA_PATH];

/** Our endpoints, by the ends that their paths have at other services; in the form of `likeness`. */
const USUAL_ENDS: readonly (readonly [path: string, ends: readonly string[]])[] = [
  [STANDARD_PATHS.token, ['token', 'accesstoken']],
  [STANDARD_PATHS.authorize, ['authorize', 'authorization', 'auth']],
  [STANDARD_PATHS.revoke, ['revoke', 'revocation']],
  [STANDARD_PATHS.introspect, ['introspect', 'introspection', 'tokeninfo']],
  [STANDARD_PATHS.pushedAuthorizationRequest, ['par']],
  [STANDARD_PATHS.deviceAuthorization, ['deviceauthorization', 'devicecode', 'device/code']],
  [STANDARD_PATHS.metadata, ['.wellknown/oauthauthorizationserver', '.wellknown/openidconfiguration']],
  [ME_PATH, ['me', 'userinfo']],
];

/** The address that a request probably meant, and the sentence that says so. */
type Meant = { readonly address: string; readonly sentence: string };

/** Returns equal texts for paths that are easily confused: in case, slashes, dashes or underscores. */
export function likeness(path: string): string {
  return path
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(/[_-]/g, '')
    .toLowerCase();
}

/** Returns the right address of a path that was requested at the other one, or undefined. */
export function addressElsewhere(path: string, appUrl: string, apiUrl: string): string | undefined {
  const alike = (each: string) => likeness(each) === likeness(path);
  const ofApi = API_ALONE.find(alike);
  if (ofApi) return apiUrl + ofApi;
  const ofApp = APP_ALONE.find(alike);
  return ofApp && appUrl + ofApp;
}

/** True if a request accepts HTML by name, as browsers do when somebody goes to a page (RFC 9110 §12.5.1). */
export function acceptsHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return (headers.accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** Returns the path of a request, without its query. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.replace(/\?.*$/s, '');
}

/**
 * Answers 405 with `Allow` if the address exists for other methods, else 404 with the probable address; before
 * reading any body. `url` is this server's address.
 */
export function answerUnknownAddresses(
  app: FastifyInstance,
  { appUrl, apiUrl }: Service,
  url: string,
  fallback: FallbackAnswers,
): void {
  const known = new Map<string, { answers: Answers | undefined; isPage: boolean; allow: string[] }>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const route = known.get(url) ?? { answers: config?.answers, isPage: !config?.operation, allow: [] };
    route.allow.push(...[method].flat());
    known.set(url, route);
  });
  addCheck(app, (request, reply) => {
    if (!request.is404 && !namesNothing(request)) return undefined;
    const path = pathOf(request);
    const route = known.get(path);
    if (route) {
      const answers = route.answers ?? fallback(request);
      request.outcome = { error: 'method_not_allowed', detail: `${path} answers ${route.allow.join(', ')}` };
      return answerProblem(answers, request, reply, { kind: 'method_not_allowed', allow: route.allow });
    }
    const [alike, there] = [...known].find(([each]) => likeness(each) === likeness(path)) ?? [];
    const elsewhere = addressElsewhere(path, appUrl, apiUrl);
    const meant = alike ? nothingHere(url + alike) : elsewhere ? nothingHere(elsewhere) : usual(path, appUrl, apiUrl);
    const problem: HttpProblem = {
      kind: 'not_found',
      ...(meant && { meant: meant.address, description: meant.sentence }),
    };
    if (meant) request.outcome = { error: problem.kind, detail: meant.sentence };
    if (elsewhere)
      request.outcome = { error: problem.kind, detail: `requested at the wrong address: use ${elsewhere}` };
    if (there) request.outcome = { error: problem.kind, detail: `${alike} answers ${there.allow.join(', ')}` };
    const answers = there && !there.isPage ? there.answers : undefined;
    return answerProblem(answers ?? fallback(request), request, reply, problem);
  });
}

/** True if an id in the path is empty: `/v1/clients/` is not the address of an app. */
function namesNothing({ params }: FastifyRequest): boolean {
  return Object.values(params as Readonly<Record<string, string>>).includes('');
}

/** Returns what a path means at other services. */
function usual(path: string, appUrl: string, apiUrl: string): Meant | undefined {
  const alike = likeness(path);
  if (alike.endsWith('/refreshtoken')) {
    const address = appUrl + REFRESH_TOKEN_PATH;
    const standard = `with grant_type=refresh_token to ${appUrl}${STANDARD_PATHS.token}`;
    return { address, sentence: `there is nothing at this address: a refresh goes to ${address}, or ${standard}` };
  }
  const [found] = USUAL_ENDS.find(([, ends]) => ends.some((end) => alike.endsWith(`/${end}`))) ?? [];
  return found === undefined ? undefined : nothingHere((found === ME_PATH ? apiUrl : appUrl) + found);
}

function nothingHere(address: string): Meant {
  return { address, sentence: `there is nothing at this address: use ${address}` };
}
