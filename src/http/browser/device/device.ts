/**
 * The page for devices (RFC 8628 §3.3): a user types a device's code, sees the request, and decides. The URL with the
 * code is the state; nothing is written before the decision.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readableUserCode } from '../../../oauth/device/device-authorization.ts';
import type { DeviceDecided, ShownDeviceRequest } from '../../../oauth/device/device-flow.ts';
import { grantIdText } from '../../../oauth/grants/grant.ts';
import { fieldsThere } from '../../../oauth/grants/person-fields.ts';
import { optionalNames } from '../../../oauth/grants/scope.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import { consentPage, type NotTaken } from '../../../pages/consent/consent-page.ts';
import { type DeviceCodeProblem, deviceCodePage, deviceDonePage } from '../../../pages/consent/device-pages.ts';
import { answerProblem, setRetryAfter } from '../../answer/send-problem.ts';
import { formOf } from '../../request/form.ts';
import { originOf } from '../../request/origin.ts';
import { keepChoice, keptChoice } from '../authorize/choice-kept-over-sign-in.ts';
import { countDecision } from '../authorize/decision-limit.ts';
import { accessDuration, permissionsToAsk, personToAsk } from '../authorize/permissions-on-pages.ts';
import type { PageParts } from '../page-parts.ts';
import { type Pages, pageAccount, pageProfile } from '../send-page.ts';
import type { SignedIn } from '../session/browser-session.ts';
import { sendSignIn } from '../sign-in/sign-in-form.ts';
import { findWaitingDevice } from '../sign-in/waiting-device.ts';

/** Adds the device pages. */
export function addDevice(app: FastifyInstance, parts: PageParts): void {
  const { service, pages } = parts;
  const config = { answers: pages.answers, limit: 'public' } as const;
  app.get(service.paths.device, { config }, (request, reply) => show(parts, request, reply));
  app.post(service.paths.device, { config }, (request, reply) => decide(parts, request, reply));
}

async function show(parts: PageParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { pages, sessions } = parts;
  const signedIn = await sessions.signedIn(request);
  const typed = (request.query as Parameters).get('user_code');
  if (!signedIn) {
    const problem = keptChoice(sessions, request, typed ?? '') && ({ kind: 'signed_out' } as const);
    return sendSignIn(parts, request, reply, { continueTo: request.url, appName: null, problem });
  }
  if (typed === undefined)
    return pages.send(reply, deviceCodePage(pages.context(request), { userCode: '', problem: null }), 'may-sign-in');
  const found = await findWaiting(parts, request, reply, signedIn, typed);
  return found ? sendConsent(parts, request, reply, found, signedIn, keptChoice(sessions, request, typed)) : reply;
}

async function decide(parts: PageParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { service, pages, sessions } = parts;
  if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
  const signedIn = await sessions.signedIn(request);
  const typed = (request.query as Parameters).get('user_code') ?? '';
  const signedOut = () => {
    request.outcome = { error: 'signed_out' };
    keepChoice(sessions, reply, typed, formOf(request).all('scope'));
    return pages.seeOther(reply, request.url);
  };
  if (!signedIn) return signedOut();
  const found = await findWaiting(parts, request, reply, signedIn, typed);
  if (!found) return reply;
  const form = formOf(request);
  const token = sessions.checkForm(signedIn, 'device', subjectOf(found, signedIn), form.get('form_token'));
  if (token !== 'good') {
    request.outcome = { error: 'form_outdated' };
    const why = token === 'expired' ? 'expired' : 'elsewhere';
    return sendConsent(parts, request, reply.code(403), found, signedIn, { why, choice: form.all('scope') });
  }
  const decision = form.get('decision');
  if (decision !== 'allow' && decision !== 'deny')
    return answerProblem(pages.answers, request, reply, { kind: 'bad_request' });
  const throttled = countDecision(service, request, reply, signedIn);
  if (throttled)
    return sendConsent(parts, request, reply, found, signedIn, { ...throttled, choice: form.all('scope') });
  const { deviceFlow } = service;
  const origin = originOf(request);
  const shownFields = fieldsThere(found.client.personFields, signedIn.account);
  const outcome =
    decision === 'allow'
      ? await deviceFlow.allow(
          found,
          signedIn.owner,
          { given: 'allowed', chosen: form.all('scope'), shownFields },
          origin,
        )
      : await deviceFlow.deny(found, signedIn.account.id, origin);
  if (outcome === 'gone' && !(await sessions.signedIn(request))) return signedOut();
  if (outcome === 'gone') return sendNothingWaits(parts, request, reply, signedIn, typed);
  return sendDone(pages, request, reply, { decision: outcome, client: found.client, isConnected: false });
}

function sendDone(
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  { client, ...decided }: DeviceDecided,
): FastifyReply {
  return pages.send(reply, deviceDonePage(pages.context(request), { ...decided, appName: client.name }));
}

/** Finds the request of a typed code. If there is none, sends the answer and returns null. */
async function findWaiting(
  parts: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  signedIn: SignedIn,
  typed: string,
): Promise<ShownDeviceRequest | null> {
  const { service, pages } = parts;
  const waiting = await findWaitingDevice(service, request, signedIn.account.id, typed);
  if (waiting.kind === 'found') return waiting.found;
  if (waiting.kind === 'malformed') sendUnknownCode(pages, request, reply, typed);
  else if (waiting.kind === 'throttled') {
    request.outcome = { error: 'throttled' };
    setRetryAfter(reply.code(429), waiting.retryAfterSeconds);
    sendCodeForm(pages, request, reply, typed, waiting);
  } else await sendNothingWaits(parts, request, reply, signedIn, typed);
  return null;
}

/** A user who pressed twice, or came back, sees the decision; for others the code is wrong. */
async function sendNothingWaits(
  { service, pages }: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { account }: SignedIn,
  typed: string,
): Promise<FastifyReply> {
  const decided = await service.deviceFlow.findDecision(typed, account.id);
  if (decided === 'pending') return sendCodeForm(pages, request, reply.code(409), typed, { kind: 'answered_just_now' });
  if (decided) return sendDone(pages, request, reply, decided);
  return sendUnknownCode(pages, request, reply, typed);
}

function sendUnknownCode(pages: Pages, request: FastifyRequest, reply: FastifyReply, typed: string): FastifyReply {
  request.outcome = { error: 'unknown_code' };
  return sendCodeForm(pages, request, reply.code(400), typed, { kind: 'unknown_code' });
}

function sendCodeForm(
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  userCode: string,
  problem: DeviceCodeProblem,
): FastifyReply {
  return pages.send(reply, deviceCodePage(pages.context(request), { userCode, problem }), 'may-sign-in');
}

async function sendConsent(
  { service, pages, sessions }: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  found: ShownDeviceRequest,
  signedIn: SignedIn,
  notTaken: NotTaken | null = null,
): Promise<FastifyReply> {
  const { client, request: asked } = found;
  const context = pages.context(request);
  const earlier = await service.grants.earlierConsent(signedIn.account.id, client.id, asked);
  const page = consentPage(context, {
    appName: client.name,
    profile: pageProfile(client),
    userCode: readableUserCode(asked.userCode),
    account: await pageAccount(service, signedIn),
    hasAccessAlready: earlier !== null,
    permissions: await permissionsToAsk(service, client, asked.scope, earlier, context.language),
    person: personToAsk(client, signedIn.account, earlier),
    accessDuration: accessDuration(service),
    notTaken,
    action: request.url,
    formToken: sessions.formToken(signedIn, 'device', subjectOf(found, signedIn)),
    switchAccount: { continueTo: request.url, formToken: sessions.formToken(signedIn, 'sign-out', '') },
  });
  return pages.send(reply, page, 'may-sign-in');
}

/** Names the shown request, because its code may later belong to another, and the profile fields that it shows. */
function subjectOf({ request: { grantId, scope }, client }: ShownDeviceRequest, { account }: SignedIn): string {
  const shownFields = fieldsThere(client.personFields, account);
  return JSON.stringify([grantIdText(grantId), scope, optionalNames(client.scopes, scope), shownFields]);
}
