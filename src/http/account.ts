/** `/account/apps`: the apps that can act for the signed-in person, and taking that back. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ConnectedApp } from '../oauth/grant-registry.ts';
import type { Parameters } from '../oauth/parameters.ts';
import { connectedAppsPage } from '../pages/connected-apps-page.ts';
import type { BrowserSessions, SignedIn } from './browser-session.ts';
import { formOf } from './form.ts';
import { originOf } from './origin.ts';
import type { Pages } from './page-answers.ts';
import { permissionsGranted } from './permissions.ts';
import type { Service } from './service.ts';
import { sendSignIn } from './sign-in.ts';

const APPS_PATH = '/account/apps';

/** Adds the connected-apps page. */
export function addAccount(app: FastifyInstance, service: Service, pages: Pages, sessions: BrowserSessions): void {
  const config = { answers: pages.answers };

  app.get(APPS_PATH, { config }, async (request, reply) => {
    const signedIn = await sessions.signedIn(request);
    if (!signedIn) return sendSignIn(pages, sessions, request, reply, { continueTo: APPS_PATH, appName: null });
    return sendApps(request, reply, signedIn);
  });

  app.post(`${APPS_PATH}/revoke`, { config }, async (request, reply) => {
    if (!sessions.isSameOrigin(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const signedIn = await sessions.signedIn(request);
    const form = formOf(request);
    if (!signedIn) {
      const problem = { kind: 'signed_out' } as const;
      return sendSignIn(pages, sessions, request, reply.code(403), { continueTo: APPS_PATH, appName: null, problem });
    }
    if (sessions.checkForm(signedIn, 'apps', '', form.get('form_token')) !== 'good') {
      request.outcome = { error: 'form_outdated' };
      return sendApps(request, reply.code(403), signedIn, true);
    }
    const clientId = form.get('client_id') ?? '';
    const actor = { kind: 'user', id: signedIn.account.id, ...originOf(request) } as const;
    await service.grants.disconnect(signedIn.account.id, clientId, actor);
    // Also when another press had removed it already: it is so. Anybody can make a link, so that the mark says it is ours.
    const mark = sessions.formToken(signedIn, 'removed', clientId);
    const location = `${APPS_PATH}?${new URLSearchParams({ removed: clientId, mark })}`;
    return pages.secure(reply).header('Cache-Control', 'no-store').code(303).header('Location', location).send();
  });

  async function sendApps(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn, isOutdated = false) {
    const { account } = signedIn;
    const apps = await service.grants.connectedApps(account.id);
    const context = pages.context(request);
    const page = connectedAppsPage(context, {
      account,
      apps: await Promise.all(apps.map((connected) => asShown(service, connected, context.language))),
      formToken: sessions.formToken(signedIn, 'apps', ''),
      justRemoved: await nameOfRemoved(request, signedIn, apps),
      isOutdated,
      signOutFormToken: sessions.formToken(signedIn, 'sign-out', ''),
    });
    return pages.send(reply, page);
  }

  /** The name of the app that was removed just now, unless it is there all the same. */
  async function nameOfRemoved(request: FastifyRequest, signedIn: SignedIn, apps: readonly ConnectedApp[]) {
    const query = request.query as Parameters;
    const clientId = query.get('removed');
    if (clientId === undefined || apps.some((connected) => connected.clientId === clientId)) return null;
    if (sessions.checkForm(signedIn, 'removed', clientId, query.get('mark')) !== 'good') return null;
    return (await service.clients.findClient(clientId))?.name ?? null;
  }
}

/** An app with its permissions in words. */
async function asShown(
  service: Service,
  { clientId, clientName, scope, since, lastUsedAt }: ConnectedApp,
  language: string,
) {
  const permissions = await permissionsGranted(service, await service.clients.findClient(clientId), scope, language);
  return { clientId, appName: clientName, permissions, since, lastUsed: lastUsedAt };
}
