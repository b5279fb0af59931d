/** Sign-in of operators by passkey or one-time address, enrollment, confirmation and sign-out. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Parameters } from '../../../../oauth/parameters.ts';
import type { Operator } from '../../../../operator/access/operator.ts';
import type { SignInOutcome } from '../../../../operator/access/operator-sign-in.ts';
import type { SignInRefusal } from '../../../../operator/access/sign-in-refusal.ts';
import { confirmPage } from '../../../../pages/operator/sign-in/confirm-page.ts';
import { enrollPage } from '../../../../pages/operator/sign-in/enroll-page.ts';
import { addressSignInPage, signInPage } from '../../../../pages/operator/sign-in/sign-in-page.ts';
import { keepAddress } from '../../../browser/send-page.ts';
import { formOf } from '../../../request/form.ts';
import type { ConsoleParts } from '../console-parts.ts';
import { continueTo } from './continue-to.ts';
import { PASSKEY_NAME } from './unsent-form.ts';

type Problem = SignInRefusal['kind'] | null;

/** Maximum number of characters of a passkey's name. */
const MAX_NAME = 60;

/** Adds the pages. */
export function addConsoleSignIn(app: FastifyInstance, parts: ConsoleParts): void {
  const { operators, pages, sessions, accessOf } = parts;
  const { signIn } = operators;
  const config = { answers: pages.answers, limit: 'public' } as const;

  app.get('/sign-in', { config }, async (request, reply) => {
    const token = tokenOf(request);
    if (token !== undefined) return askAtAddress(reply, token);
    const next = continueTo((request.query as Parameters).get('continue'));
    const earlier = sessions.token(request);
    if (earlier !== null && (await operators.access.bySession(earlier)) !== null) return pages.seeOther(reply, next);
    return askSignIn(request, reply, next, null);
  });

  app.post('/sign-in', { config }, async (request, reply) => {
    const token = tokenOf(request);
    const browser = sessions.browser(request, reply);
    if (token !== undefined) {
      const outcome = await signIn.useAddress(token, browser);
      return outcome.kind === 'signed_in' ? begin(reply, outcome, '/') : dead(reply, outcome);
    }
    const form = formOf(request);
    const next = continueTo(form.get('continue'));
    const outcome = await signIn.signIn(form.get('answer') ?? '', browser);
    if (outcome.kind === 'signed_in') return begin(reply, outcome, next);
    return askSignIn(request, refused(reply, outcome), next, outcome.kind);
  });

  // Nothing is used here: mail scanners and prefetching programs open addresses, too.
  app.get('/enroll', { config }, async (request, reply) => {
    const operator = await signIn.operatorOfAddress(tokenOf(request) ?? '', 'enroll');
    return operator ? askEnroll(request, reply, operator, null) : dead(reply);
  });

  app.post('/enroll', { config }, async (request, reply) => {
    const token = tokenOf(request) ?? '';
    const form = formOf(request);
    const browser = sessions.browser(request, reply);
    const outcome = await signIn.enroll(
      token,
      form.get('answer') ?? '',
      nameOf(form.get('name'), browser.browser),
      browser,
    );
    if (outcome.kind === 'signed_in') return begin(reply, outcome, '/');
    const operator = outcome.kind === 'dead' ? null : await signIn.operatorOfAddress(token, 'enroll');
    return operator ? askEnroll(request, refused(reply, outcome), operator, outcome.kind) : dead(reply, outcome);
  });

  app.get('/confirm', { config: { ...config, act: 'own.confirm' } }, async (request, reply) =>
    askConfirm(request, reply, continueTo((request.query as Parameters).get('continue')), null),
  );

  app.post('/confirm', { config: { ...config, act: 'own.confirm' } }, async (request, reply) => {
    const form = formOf(request);
    const next = continueTo(form.get('continue'));
    const browser = sessions.browser(request, reply);
    const name = nameOf(form.get(PASSKEY_NAME), browser.browser);
    const confirmed = { act: 'own.confirm', answer: form.get('answer') ?? '', name } as const;
    const outcome = await signIn.confirm(accessOf(request), confirmed, browser);
    if (outcome.kind === 'signed_in') return begin(reply, outcome, next);
    return askConfirm(request, refused(reply, outcome), next, outcome.kind);
  });

  app.post('/sign-out', { config: { ...config, act: 'own.sign-out' } }, async (request, reply) => {
    await signIn.signOut(accessOf(request), sessions.browser(request, reply));
    sessions.end(reply);
    return pages.seeOther(reply, '/sign-in');
  });

  async function askSignIn(request: FastifyRequest, reply: FastifyReply, next: string, problem: Problem) {
    const { secret } = sessions.browser(request, reply);
    const ceremony = await signIn.signInOptions(secret);
    return pages.send(reply, signInPage(pages.context, { ceremony, continueTo: next, problem }));
  }

  async function askAtAddress(reply: FastifyReply, token: string) {
    keepAddress(reply);
    const operator = await signIn.operatorOfAddress(token, 'sign-in');
    return operator ? pages.send(reply, addressSignInPage(pages.context, operator)) : dead(reply);
  }

  async function askEnroll(request: FastifyRequest, reply: FastifyReply, operator: Operator, problem: Problem) {
    keepAddress(reply);
    const { secret, browser } = sessions.browser(request, reply);
    const ceremony = await signIn.creation(operator, 'enroll', secret);
    const data = { operator, ceremony, passkeyName: nameOf(formOf(request).get('name'), browser), problem };
    return pages.send(reply, enrollPage(pages.context, data));
  }

  async function askConfirm(request: FastifyRequest, reply: FastifyReply, next: string, problem: Problem) {
    const access = accessOf(request);
    const { secret, browser } = sessions.browser(request, reply);
    const ceremony = await signIn.confirmOptions(access, 'own.confirm', secret);
    const passkeyName = nameOf(formOf(request).get(PASSKEY_NAME), browser);
    const data = { operator: access.operator, ceremony, passkeyName, continueTo: next, problem };
    return pages.send(reply, confirmPage(pages.context, data));
  }

  function begin(reply: FastifyReply, { token }: Extract<SignInOutcome, { kind: 'signed_in' }>, next: string) {
    sessions.begin(reply, token);
    return pages.seeOther(reply, next);
  }

  function refused(reply: FastifyReply, { kind, detail }: SignInRefusal): FastifyReply {
    reply.request.outcome = { error: `passkey_${kind}`, detail };
    return reply.code(400);
  }

  function dead(reply: FastifyReply, refusal?: SignInRefusal): FastifyReply {
    if (refusal) reply.request.outcome = { error: 'dead_address', detail: refusal.detail };
    keepAddress(reply);
    return pages.sendProblem(reply, 400, { kind: 'dead_address' });
  }
}

/** Returns the token of a one-time address. It is read from the address alone, so that no page holds it. */
function tokenOf(request: FastifyRequest): string | undefined {
  return (request.query as Parameters).get('token');
}

/** Returns the name that a passkey gets: as typed, cut between characters, or else that of the browser. */
export function nameOf(typed: string | undefined, otherwise: string): string {
  return [...(typed ?? '').trim()].slice(0, MAX_NAME).join('').trim() || otherwise;
}
