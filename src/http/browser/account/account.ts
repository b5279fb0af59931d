/** Pages of the account: the start page, and the connected apps, whose access the user removes here. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasPassword } from '../../../accounts/people/account.ts';
import type { ConnectedApp } from '../../../oauth/connected-apps/connected-apps.ts';
import type { TakenBack } from '../../../oauth/connected-apps/grant-registry.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import { accountPage } from '../../../pages/account/account-page.ts';
import { connectedAppsPage, type RemovedAccess } from '../../../pages/account/connected-apps-page.ts';
import { formOf } from '../../request/form.ts';
import { originOf } from '../../request/origin.ts';
import type { PageParts } from '../page-parts.ts';
import { pageAccount } from '../send-page.ts';
import type { SignedIn } from '../session/browser-session.ts';
import { sendSignedOut, sendSignIn } from '../sign-in/sign-in-form.ts';
import { accountData } from './account-data.ts';
import { appsToShow } from './connected-apps-data.ts';

/** Adds the account page and the connected-apps page. */
export function addAccount(app: FastifyInstance, parts: PageParts): void {
  const { service, pages, sessions } = parts;
  const { paths } = service;
  const config = { answers: pages.answers, limit: 'public' } as const;

  app.get(paths.account, { config }, async (request, reply) => {
    const signedIn = await sessions.signedIn(request);
    if (!signedIn) return sendSignIn(parts, request, reply, { continueTo: paths.account, appName: null });
    return sendAccount(request, reply, signedIn);
  });

  app.get(paths.apps, { config }, async (request, reply) => {
    const signedIn = await sessions.signedIn(request);
    if (!signedIn) return sendSignIn(parts, request, reply, { continueTo: paths.apps, appName: null });
    return sendApps(request, reply, signedIn);
  });

  app.post(paths.removeApp, { config }, (request, reply) =>
    whenFromItsForm(request, reply, '', async (signedIn) => {
      const clientId = formOf(request).get('client_id') ?? '';
      const what = await remove(request, signedIn, clientId);
      if (what === null) request.outcome = { error: 'unknown_grant' };
      return back(request, reply, what && saysRemoved(signedIn, clientId, what));
    }),
  );

  app.post(paths.removeAllApps, { config }, (request, reply) =>
    whenFromItsForm(request, reply, 'all', async (signedIn) => {
      const { id } = signedIn.account;
      await service.grants.disconnectAll(id, { kind: 'user', id, ...originOf(request) });
      return back(request, reply, saysRemoved(signedIn, '', 'everything'));
    }),
  );

  app.post(paths.signOutEverywhere, { config }, (request, reply) =>
    whenFromItsForm(request, reply, 'everywhere', async ({ account, owner: { providerId } }) => {
      await service.accounts.endSessions(account, { kind: 'user', id: account.id, ...originOf(request) });
      sessions.end(reply);
      const from = providerId === null ? '' : `?${new URLSearchParams({ from: providerId })}`;
      return pages.seeOther(reply, paths.signOut + from, 'may-sign-in');
    }),
  );

  /** Does what the form asks for, if it is a valid form of its page and the user is still signed in. */
  async function whenFromItsForm(
    request: FastifyRequest,
    reply: FastifyReply,
    subject: '' | 'all' | 'everywhere',
    act: (signedIn: SignedIn) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const signedIn = await sessions.signedIn(request);
    if (!signedIn) return sendSignedOut(parts, request, reply, subject === 'everywhere' ? paths.account : paths.apps);
    if (sessions.checkForm(signedIn, 'account', subject, formOf(request).get('form_token')) !== 'good') {
      request.outcome = { error: 'form_outdated' };
      const again = subject === 'everywhere' ? sendAccount : sendApps;
      return again(request, reply.code(403), signedIn, true);
    }
    return act(signedIn);
  }

  /** Leads back to the page of the form, which reports the removal. */
  function back(request: FastifyRequest, reply: FastifyReply, said: URLSearchParams | null): FastifyReply {
    const query = said ?? new URLSearchParams();
    for (const name of ['app', 'q', 'after']) {
      const value = formOf(request).get(name);
      if (value !== undefined) query.set(name, value);
    }
    return pages.seeOther(reply, query.size === 0 ? paths.apps : `${paths.apps}?${query}`);
  }

  /** The same answer if it was removed before. The mark proves that we made the link: anybody can make one. */
  function saysRemoved(signedIn: SignedIn, clientId: string, what: Removed): URLSearchParams {
    const mark = sessions.formToken(signedIn, 'removed', subjectOf(clientId, what));
    return new URLSearchParams({ removed: clientId, mark, what });
  }

  /** Ends the grant that the form names, or all of the client's; null if this user has no such grant. */
  async function remove(request: FastifyRequest, { account }: SignedIn, clientId: string): Promise<Removed | null> {
    const { grants } = service;
    const form = formOf(request);
    const grantId = form.get('grant_id');
    const waitingId = form.get('waiting_id');
    const actor = { kind: 'user', id: account.id, ...originOf(request) } as const;
    if (grantId === undefined && waitingId === undefined) {
      await grants.disconnect(account.id, clientId, actor);
      return 'all';
    }
    const isWaiting = waitingId !== undefined;
    const taken: TakenBack = { clientId, grantId: waitingId ?? grantId ?? '', isWaiting };
    const of = await grants.takeBack(account.id, taken, actor);
    return of && isWaiting ? 'waiting' : of;
  }

  async function sendAccount(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn, isOutdated = false) {
    const page = accountPage(pages.context(request), {
      ...(await accountData(service, signedIn)),
      account: await pageAccount(service, signedIn),
      signOutFormToken: sessions.formToken(signedIn, 'sign-out', ''),
      everywhereFormToken: sessions.formToken(signedIn, 'account', 'everywhere'),
      isOutdated,
    });
    return pages.send(reply, page, 'may-sign-in');
  }

  async function sendApps(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn, isOutdated = false) {
    const { account } = signedIn;
    const lines = await service.grants.connectedApps(account.id);
    const asked = (name: string) => formOf(request).get(name) ?? (request.query as Parameters).get(name);
    const context = pages.context(request);
    const view = { alone: asked('app') ?? null, query: asked('q') ?? '', after: asked('after') ?? null };
    const shown = connectedAppsPage(context, {
      ...(await appsToShow(service, lines, view, account, context.language)),
      account: await pageAccount(service, signedIn),
      hasPassword: service.accounts.takesPasswords && hasPassword(account),
      now: service.now(),
      formToken: sessions.formToken(signedIn, 'account', ''),
      removeAllFormToken: sessions.formToken(signedIn, 'account', 'all'),
      justRemoved: await justRemoved(request, signedIn, lines),
      isOutdated,
      signOutFormToken: sessions.formToken(signedIn, 'sign-out', ''),
    });
    return pages.send(reply, shown, 'may-sign-in');
  }

  /** Returns the removal that the link reports, or null if it is not true any more. */
  async function justRemoved(request: FastifyRequest, signedIn: SignedIn, apps: readonly ConnectedApp[]) {
    const query = request.query as Parameters;
    const clientId = query.get('removed') ?? '';
    const removed = REMOVED.find((what) => what === query.get('what'));
    if (!removed || sessions.checkForm(signedIn, 'removed', subjectOf(clientId, removed), query.get('mark')) !== 'good')
      return null;
    if (removed === 'everything') return apps.length === 0 ? removed : null;
    const appName = (await service.clients.findClient(clientId))?.name;
    const what = shownOf(
      removed,
      apps.filter((connected) => connected.clientId === clientId),
    );
    return what && appName !== undefined ? { what, appName } : null;
  }
}

const REMOVED = ['all', 'app', 'device', 'installation', 'waiting', 'everything'] as const;

/** Kind of removal: all of an app, one line of the page, or everything of every app. */
type Removed = (typeof REMOVED)[number];

/** Returns the kind of removal to report, given the app's remaining lines; null if the removal is not true any more. */
function shownOf(removed: Exclude<Removed, 'everything'>, left: readonly ConnectedApp[]): RemovedAccess | null {
  if (removed === 'device' || removed === 'waiting') return removed;
  if (left.length === 0) return 'app';
  if (removed === 'installation') return removed;
  return removed === 'app' && left.every(({ kind }) => kind === 'device') ? 'appButDevices' : null;
}

/** Returns the text that a removal's mark is bound to. */
function subjectOf(clientId: string, what: Removed): string {
  return JSON.stringify([clientId, what]);
}
