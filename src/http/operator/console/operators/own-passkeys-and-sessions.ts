/** An operator's own passkeys and sessions. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLiveOperatorSession, type OperatorSession } from '../../../../operator/access/operator-session.ts';
import type { SessionAccess } from '../../../../operator/access/operator-sign-in.ts';
import type { SignInRefusal } from '../../../../operator/access/sign-in-refusal.ts';
import { consoleLayout } from '../../../../pages/operator/frame.ts';
import {
  addPasskeyPage,
  type OwnData,
  ownPage,
  type ShownSession,
} from '../../../../pages/operator/operators/own-page.ts';
import { confirmedPage } from '../../../../pages/operator/sign-in/confirm-page.ts';
import { formOf } from '../../../request/form.ts';
import { originOf } from '../../../request/origin.ts';
import type { ConsoleParts } from '../console-parts.ts';
import { queryOf } from '../done-act.ts';
import { nameOf } from '../sign-in/sign-in.ts';

type Notice = NonNullable<OwnData['notice']>;
const NOTICES: readonly string[] = ['added', 'removed', 'only', 'ended', 'gone'] satisfies Notice[];

/** Adds the pages. */
export function addOwn(app: FastifyInstance, parts: ConsoleParts): void {
  const { service, operators, pages, sessions, accessOf } = parts;
  const { signIn, store } = operators;
  const config = { answers: pages.answers, limit: 'public' } as const;

  app.get('/passkeys', { config: { ...config, act: 'own.show' } }, async (request, reply) => {
    const access = accessOf(request);
    const { operator, by } = access;
    const [passkeys, open] = await Promise.all([
      store.listPasskeys(operator.id),
      store.listOperatorSessions(operator.id),
    ]);
    const live = open.filter((session) => isLiveOperatorSession(session, service.now()));
    const listed = live.map((session) => shownSession(session, by));
    const said = queryOf(request).get('done') ?? '';
    const notice = NOTICES.includes(said) ? (said as Notice) : null;
    const page = ownPage(pages.context, { passkeys, sessions: listed, notice });
    return pages.send(reply, consoleLayout(pages.context, operator, page));
  });

  app.get('/confirmed', { config: { ...config, act: 'own.show' } }, async (request, reply) =>
    pages.send(reply, consoleLayout(pages.context, accessOf(request).operator, confirmedPage())),
  );

  app.get('/passkeys/new', { config: { ...config, act: 'own.add-passkey' } }, async (request, reply) =>
    ask(request, reply, null),
  );

  app.post('/passkeys/new', { config: { ...config, act: 'own.add-passkey' } }, async (request, reply) => {
    const form = formOf(request);
    const browser = sessions.browser(request, reply);
    const name = nameOf(form.get('name'), browser.browser);
    const outcome = await signIn.addPasskey(accessOf(request), form.get('answer') ?? '', name, browser);
    if (outcome.kind === 'added') return done(reply, 'added');
    request.outcome = { error: `passkey_${outcome.kind}`, detail: outcome.detail };
    return ask(request, reply.code(400), outcome.kind);
  });

  app.post(
    '/passkeys/remove',
    { config: { ...config, act: 'own.remove-passkey', asksInPlace: true } },
    async (request, reply) => {
      const id = formOf(request).get('passkey') ?? '';
      return done(reply, await signIn.removePasskey(accessOf(request), id, originOf(request)));
    },
  );

  app.post('/sessions/end', { config: { ...config, act: 'own.end-session' } }, async (request, reply) => {
    const digest = Buffer.from(formOf(request).get('session') ?? '', 'base64url');
    const isEnded = await signIn.endSession(accessOf(request), digest, originOf(request));
    return done(reply, isEnded ? 'ended' : 'gone');
  });

  async function ask(request: FastifyRequest, reply: FastifyReply, problem: SignInRefusal['kind'] | null) {
    const { secret, browser } = sessions.browser(request, reply);
    const ceremony = await signIn.creation(accessOf(request).operator, 'add', secret);
    const passkeyName = nameOf(formOf(request).get('name'), browser);
    return pages.send(reply, addPasskeyPage(pages.context, { ceremony, passkeyName, problem }));
  }

  function done(reply: FastifyReply, notice: Notice): FastifyReply {
    return pages.seeOther(reply, `/passkeys?done=${notice}`);
  }
}

/** Returns a session as pages show it; `by` is the one that looks. */
export function shownSession(session: OperatorSession, by: SessionAccess['by']): ShownSession {
  return { ...session, id: session.digest.toString('base64url'), isThis: session.digest.equals(by.digest) };
}
