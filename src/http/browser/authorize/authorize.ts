/**
 * The authorization pages of both faces, where a user allows an app. The URL is the request's state: sign-in returns
 * to it, the consent form posts to it, and it is validated each time.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { redirectHost } from '../../../oauth/clients/redirect-uri.ts';
import { type ErrorCode, invalidRequest, Refusal } from '../../../oauth/error.ts';
import { fieldsThere } from '../../../oauth/grants/person-fields.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import {
  type AuthorizationRequest,
  type Face,
  namesClient,
  type RedirectableError,
  requestFingerprint,
  type ShownError,
} from '../../../oauth/protocol/authorization-request.ts';
import { errorLocation, notSignedInLocation, refusedLocation } from '../../../oauth/protocol/authorization-response.ts';
import { type Consent, type EarlierConsent, needsConsent } from '../../../oauth/protocol/consent.ts';
import { StoreUnavailable } from '../../../oauth/store.ts';
import { consentPage, type NotTaken } from '../../../pages/consent/consent-page.ts';
import type { HttpProblem } from '../../answer/problem.ts';
import { answerProblem } from '../../answer/send-problem.ts';
import { countVisit } from '../../checks/public-limit.ts';
import { idForLog } from '../../request/client-authentication.ts';
import { withoutParameter } from '../../request/decoding.ts';
import { formOf } from '../../request/form.ts';
import { originOf } from '../../request/origin.ts';
import type { PageParts } from '../page-parts.ts';
import { type Pages, pageAccount, pageProfile } from '../send-page.ts';
import type { BrowserSessions, SignedIn } from '../session/browser-session.ts';
import { isLoadedAhead } from '../session/navigation.ts';
import { FACES } from '../sign-in/request-behind-sign-in.ts';
import { sendSignIn } from '../sign-in/sign-in-form.ts';
import { keepChoice, keptChoice } from './choice-kept-over-sign-in.ts';
import { countDecision } from './decision-limit.ts';
import { accessDuration, permissionsToAsk, personToAsk } from './permissions-on-pages.ts';
import { addressOfPosted } from './posted-request.ts';

/** Our own query parameter: the mark of a demanded sign-in, which sign-in brings back. */
const DEMAND = 'signed_after';

/** Adds the authorization pages. */
export function addAuthorize(app: FastifyInstance, parts: PageParts): void {
  const { pages } = parts;
  const config = { answers: pages.answers };
  for (const [path, face] of Object.entries(FACES)) {
    app.get(path, { config }, (request, reply) => show(parts, face, request, reply));
    app.post(path, { config }, (request, reply) => decide(parts, face, request, reply));
  }
}

async function show(parts: PageParts, face: Face, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { service, pages } = parts;
  const outcome = await service.authorizationServer.validateRequest(face, request.query as Parameters);
  // A high limit: it stops a flood and never a person.
  const retryAfter = countVisit(service.throttles.authorize, request.source, service.now());
  const flood = { kind: 'too_many_requests', retryAfter } as const;
  if (outcome.kind !== 'valid')
    return retryAfter > 0
      ? answerProblem(pages.answers, request, reply, flood)
      : sendInvalid(parts, request, reply, outcome);
  if (retryAfter > 0) return notNow(pages, request, reply, outcome, flood);
  try {
    return await showValid(parts, request, reply, outcome);
  } catch (error) {
    if (!(error instanceof StoreUnavailable && wantsNoPage(outcome))) throw error;
    return refuse(pages, request, reply, outcome, 'temporarily_unavailable', error.message);
  }
}

async function showValid(
  parts: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: AuthorizationRequest,
): Promise<FastifyReply> {
  const { service, pages, sessions } = parts;
  const signedIn = await sessions.signedIn(request);
  if (!signedIn || !isFresh(sessions, request, outcome, signedIn, service.now())) {
    if (wantsNoPage(outcome)) return refuse(pages, request, reply, outcome, 'login_required');
    return demandSignIn(parts, request, reply, outcome, signedIn);
  }
  const { client, redirectUri } = outcome;
  const owner = signedIn.account.id;
  // Elsewhere the user sees the account, and can change it.
  if (wantsNoPage(outcome) && !(await service.openIdConnect.expects(outcome, owner)))
    return refuse(pages, request, reply, outcome, 'login_required');
  const remembered =
    client.consent === 'remember' ? await service.grants.rememberedConsent(owner, client, redirectUri, outcome) : null;
  if (!needsConsent(outcome, remembered, signedIn.account)) {
    if (isLoadedAhead(request)) {
      request.outcome = { error: 'loaded_ahead' };
      return answerProblem(pages.answers, request, reply, { kind: 'unavailable' });
    }
    // Counted like a press of Allow, since it leaves a grant and an audit event.
    const throttled = countDecision(service, request, reply, signedIn);
    if (throttled) {
      const retryAfter = throttled.retryAfterSeconds;
      return notNow(pages, request, reply, outcome, { kind: 'too_many_requests', retryAfter });
    }
    const consent = remembered ? ({ given: 'remembered', remembered } as const) : ({ given: 'skipped' } as const);
    return allow(parts, request, reply, outcome, signedIn, consent);
  }
  if (wantsNoPage(outcome)) return refuse(pages, request, reply, outcome, 'consent_required');
  return sendConsent(
    parts,
    request,
    reply,
    outcome,
    signedIn,
    await service.grants.earlierConsent(owner, client.id, outcome),
    keptChoice(sessions, request, requestFingerprint(outcome)),
  );
}

async function decide(
  parts: PageParts,
  face: Face,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { service, pages, sessions } = parts;
  const posted = face === 'standard' ? await addressOfPosted(service, request) : null;
  if (posted !== null) return redirect(pages, reply, posted);
  if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
  const outcome = await service.authorizationServer.validateRequest(face, request.query as Parameters);
  if (outcome.kind !== 'valid') return sendInvalid(parts, request, reply, outcome);
  const signedIn = await sessions.signedIn(request);
  const form = formOf(request);
  if (!signedIn || !isFresh(sessions, request, outcome, signedIn, service.now())) {
    request.outcome = { error: 'signed_out' };
    keepChoice(sessions, reply, requestFingerprint(outcome), form.all('scope'));
    return redirect(pages, reply, addressOf(request, outcome));
  }
  const token = sessions.checkForm(signedIn, 'consent', formSubject(outcome, signedIn), form.get('form_token'));
  const again = async (notTaken: NotTaken) => {
    const earlier = await service.grants.earlierConsent(signedIn.account.id, outcome.client.id, outcome);
    return sendConsent(parts, request, reply, outcome, signedIn, earlier, notTaken);
  };
  if (token !== 'good') {
    request.outcome = { error: 'form_outdated' };
    reply.code(403);
    return again({ why: token === 'expired' ? 'expired' : 'elsewhere', choice: form.all('scope') });
  }
  const decision = form.get('decision');
  if (decision !== 'allow' && decision !== 'deny')
    return answerProblem(pages.answers, request, reply, { kind: 'bad_request' });
  const throttled = countDecision(service, request, reply, signedIn);
  if (throttled) return again({ ...throttled, choice: form.all('scope') });
  if (decision === 'allow') {
    const shownFields = fieldsThere(outcome.personFields, signedIn.account);
    const consent = { given: 'allowed', chosen: form.all('scope'), shownFields } as const;
    return allow(parts, request, reply, outcome, signedIn, consent);
  }
  const origin = originOf(request);
  return redirect(pages, reply, await service.authorizationServer.deny(outcome, signedIn.account.id, origin));
}

function sendInvalid(
  { service, pages }: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: ShownError | RedirectableError,
): FastifyReply {
  const clientId = (request.query as Parameters).get('client_id');
  if (clientId !== undefined && namesClient(outcome))
    service.pageFailures.record(clientId, failureOf(outcome), originOf(request));
  const named = idForLog(clientId);
  if (outcome.kind === 'show') {
    request.outcome = { error: outcome.error, detail: outcome.detail, ...named };
    return pages.sendError(request, reply, 400, outcome.error, { received: outcome.received });
  }
  request.outcome = { error: outcome.refusal.code, detail: outcome.refusal.detail, ...named };
  return redirect(pages, reply, errorLocation(outcome));
}

function failureOf(outcome: ShownError | RedirectableError) {
  return outcome.kind === 'show'
    ? { error: outcome.error, reason: outcome.detail, received: outcome.received ?? null }
    : { error: outcome.refusal.code, reason: outcome.refusal.description, received: null };
}

/** True unless `prompt=login` or `select_account` demands a sign-in made for this request, and there is none. */
function isFresh(
  sessions: BrowserSessions,
  request: FastifyRequest,
  outcome: AuthorizationRequest,
  signedIn: SignedIn,
  now: number,
): boolean {
  const mark = (request.query as Parameters).get(DEMAND);
  if (sessions.meetsDemand(signedIn, requestFingerprint(outcome), mark)) return true;
  return !demandsSignIn(outcome) && isRecent(outcome, signedIn, now);
}

function demandsSignIn({ prompt }: AuthorizationRequest): boolean {
  return prompt.includes('login') || prompt.includes('select_account');
}

/** OpenID Connect Core §3.1.2.1, `max_age`. */
function isRecent({ maxAge }: AuthorizationRequest, { authTime }: SignedIn, now: number): boolean {
  return maxAge === null || (authTime !== null && now - authTime <= maxAge * 1000);
}

function demandSignIn(
  parts: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: AuthorizationRequest,
  signedIn: SignedIn | null,
): Promise<FastifyReply> {
  const { pages, sessions } = parts;
  const isDemanded = demandsSignIn(outcome) || outcome.maxAge !== null;
  const mark = isDemanded ? sessions.signInDemand(requestFingerprint(outcome)) : null;
  // Only `prompt=none`, which ends before this, reads it; with it, a request may be too long to carry.
  const address = withoutParameter(addressOf(request, outcome), 'id_token_hint');
  const tooLong = () => {
    const refusal = invalidRequest('the request is too long to be carried through a sign-in');
    return redirect(pages, reply, refusedLocation(outcome, refusal));
  };
  return sendSignIn(parts, request, reply, {
    continueTo: mark === null ? address : withOwnParameter(address, DEMAND, mark),
    appName: outcome.client.name,
    backToApp: notSignedInLocation(outcome),
    problem: keptChoice(sessions, request, requestFingerprint(outcome)) && { kind: 'signed_out' },
    email: outcome.loginHint ?? signedIn?.account.email ?? '',
    isAgain: signedIn !== null,
    asked: { ...outcome, tooLong },
  });
}

async function sendConsent(
  { service, pages, sessions }: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: AuthorizationRequest,
  signedIn: SignedIn,
  earlier: EarlierConsent | null,
  notTaken: NotTaken | null = null,
): Promise<FastifyReply> {
  const context = pages.context(request);
  const page = consentPage(context, {
    appName: outcome.client.name,
    profile: pageProfile(outcome.client),
    redirectHost: redirectHost(outcome.redirectUri),
    account: await pageAccount(service, signedIn),
    hasAccessAlready: earlier !== null,
    permissions: await permissionsToAsk(service, outcome.client, outcome.scope, earlier, context.language),
    person: personToAsk(outcome, signedIn.account, earlier),
    accessDuration: accessDuration(service),
    notTaken,
    action: addressOf(request, outcome),
    formToken: sessions.formToken(signedIn, 'consent', formSubject(outcome, signedIn)),
    switchAccount: { continueTo: addressOf(request, outcome), formToken: sessions.formToken(signedIn, 'sign-out', '') },
  });
  return pages.send(reply, page, 'leaves');
}

/** Returns the subject of the consent form: the request, and the profile fields that it shows. */
function formSubject(outcome: AuthorizationRequest, { account }: SignedIn): string {
  return JSON.stringify([requestFingerprint(outcome), fieldsThere(outcome.personFields, account)]);
}

async function allow(
  { service, pages, sessions }: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: AuthorizationRequest,
  { owner }: SignedIn,
  consent: Consent,
): Promise<FastifyReply> {
  const origin = originOf(request);
  const location = await service.authorizationServer.allow(outcome, owner, consent, origin);
  if (location !== null) return redirect(pages, reply, location);
  // The Allow's basis is gone: the same address decides again on the present state.
  const isSignedIn = (await sessions.signedIn(request)) !== null;
  request.outcome = { error: isSignedIn ? 'decided_anew' : 'signed_out' };
  if (consent.given === 'allowed' && !isSignedIn)
    keepChoice(sessions, reply, requestFingerprint(outcome), consent.chosen);
  return redirect(pages, reply, addressOf(request, outcome));
}

/** True for `prompt=none` (OpenID Connect Core §3.1.2.6): the client wants an error in place of a page. */
function wantsNoPage({ prompt }: AuthorizationRequest): boolean {
  return prompt.includes('none');
}

/**
 * Answers a valid request that cannot be served now: with a page that the user can reload, or with an error if the
 * client wants no page.
 */
function notNow(
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: AuthorizationRequest,
  problem: HttpProblem,
): FastifyReply {
  if (!wantsNoPage(outcome)) return answerProblem(pages.answers, request, reply, problem);
  return refuse(pages, request, reply, outcome, 'temporarily_unavailable', problem.kind);
}

const NO_PAGE = {
  login_required: 'nobody is signed in',
  consent_required: 'the resource owner must be asked',
  temporarily_unavailable: 'this cannot be answered now: try again later',
} as const satisfies { readonly [Code in ErrorCode]?: string };

/** Answers with an error in place of a page; `detail` is for the log. */
function refuse(
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: AuthorizationRequest,
  code: keyof typeof NO_PAGE,
  detail?: string,
): FastifyReply {
  request.outcome = { error: code, ...(detail === undefined ? {} : { detail }) };
  return redirect(pages, reply, refusedLocation(outcome, new Refusal(code, NO_PAGE[code])));
}

/** Sends no referrer: other sites must not see this page's URL. */
function redirect(pages: Pages, reply: FastifyReply, location: string): FastifyReply {
  return pages.seeOther(reply.header('Referrer-Policy', 'no-referrer'), location, 'leaves');
}

/**
 * Returns the address at which the request continues after sign-in and decision. A pushed request keeps the reference
 * of its first visit.
 */
function addressOf(request: FastifyRequest, { requestUri }: AuthorizationRequest): string {
  const isOpened = requestUri === null || (request.query as Parameters).get('request_uri') === requestUri;
  return isOpened ? request.url : withOwnParameter(request.url, 'request_uri', requestUri);
}

/** Returns the address with one value of our own parameter. A second value would make it a repeated parameter. */
function withOwnParameter(url: string, name: string, value: string): string {
  const others = withoutParameter(url, name);
  return `${others}${others.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}
