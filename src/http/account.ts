/** `/account/apps`: the apps that can act for the signed-in person, and taking that back. */
import type { FastifyInstance } from 'fastify';
import type { ConnectedApp } from '../oauth/grant-registry.ts';
import type { Parameters } from '../oauth/parameters.ts';
import { connectedAppsPage } from '../pages/connected-apps-page.ts';
import type { BrowserSessions } from './browser-session.ts';
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
    const { account } = signedIn;
    const apps = await service.grants.connectedApps(account.id);
    const revoked = (request.query as Parameters).get('revoked');
    const context = pages.context(request);
    const page = connectedAppsPage(context, {
      account,
      apps: await Promise.all(apps.map((connected) => asShown(service, connected, context.language))),
      formToken: sessions.formToken(signedIn, 'apps', ''),
      justRevoked: await nameOfRemoved(service, apps, revoked),
      signOutFormToken: sessions.formToken(signedIn, 'sign-out', ''),
    });
    return pages.send(reply, page);
  });

  app.post(`${APPS_PATH}/revoke`, { config }, async (request, reply) => {
    if (!sessions.isSameOrigin(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const signedIn = await sessions.signedIn(request);
    const form = formOf(request);
    if (!signedIn)
      return sendSignIn(pages, sessions, request, reply.code(403), { continueTo: APPS_PATH, appName: null });
    const token = sessions.checkForm(signedIn, 'apps', '', form.get('form_token'));
    if (token !== 'good')
      return pages.sendError(request, reply, 403, token === 'expired' ? 'form_expired' : 'form_refused');
    const clientId = form.get('client_id') ?? '';
    const actor = { kind: 'user', id: signedIn.account.id, ...originOf(request) } as const;
    const ended = await service.grants.disconnect(signedIn.account.id, clientId, actor);
    const location = ended > 0 ? `${APPS_PATH}?revoked=${encodeURIComponent(clientId)}` : APPS_PATH;
    return pages.secure(reply).header('Cache-Control', 'no-store').code(303).header('Location', location).send();
  });
}

/** The name of the app that the address says was taken back, unless it is there all the same: anybody can make a link. */
async function nameOfRemoved(service: Service, apps: readonly ConnectedApp[], clientId: string | undefined) {
  if (clientId === undefined || apps.some((connected) => connected.clientId === clientId)) return null;
  return (await service.clients.findClient(clientId))?.name ?? null;
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
