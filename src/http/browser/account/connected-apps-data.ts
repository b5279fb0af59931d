/** The connected apps of a user as the page shows them: a page of the list, or one app alone with a page of its lines. */
import type { Account } from '../../../accounts/people/account.ts';
import {
  type AppAccess,
  appsNamed,
  groupByApp,
  type ConnectedApp as Line,
  pageOfApps,
  pageOfLines,
} from '../../../oauth/connected-apps/connected-apps.ts';
import { fieldsThere } from '../../../oauth/grants/person-fields.ts';
import type { ScopeDefinition } from '../../../oauth/grants/scope.ts';
import type { ConnectedApp } from '../../../pages/account/connected-app-card.ts';
import type { ConnectedAppsData } from '../../../pages/account/connected-apps-page.ts';
import type { Service } from '../../service/service.ts';
import { permissionsGranted } from '../authorize/permissions-on-pages.ts';
import { pageProfile } from '../send-page.ts';

/** The view that the address asks for: one app alone by its client ID, or the apps with a text in their names. */
export type AppsView = { readonly alone: string | null; readonly query: string; readonly after: string | null };

/** Returns the apps of one page with their permissions in words. An app that is not connected shows the list. */
export async function appsToShow(
  service: Service,
  lines: readonly Line[],
  view: AppsView,
  account: Account,
  language: string,
): Promise<
  Pick<ConnectedAppsData, 'apps' | 'first' | 'shown' | 'total' | 'appCount' | 'alone' | 'query' | 'after' | 'next'>
> {
  const definitions = await service.scopes.listScopes();
  const sensitive = new Set(definitions.filter(({ effect }) => effect === 'sensitive').map(({ name }) => name));
  const all = groupByApp(lines, sensitive);
  const show = (app: AppAccess, of = app.lines) =>
    asShown(service, { ...app, shown: of }, account, definitions, language);
  const alone = all.find(({ clientId }) => clientId === view.alone);
  if (alone) {
    const { entries, ...place } = pageOfLines(alone.lines, view.after);
    const apps = [await show(alone, entries)];
    return { ...place, apps, shown: entries.length, appCount: all.length, alone: alone.clientId, query: '' };
  }
  const { entries, ...place } = pageOfApps(appsNamed(all, view.query), view.after);
  const apps = await Promise.all(entries.map((app) => show(app)));
  return { ...place, apps, shown: entries.length, appCount: all.length, alone: null, query: view.query };
}

async function asShown(
  service: Service,
  { clientId, clientName, lines, shown }: AppAccess & { readonly shown: readonly Line[] },
  account: Account,
  definitions: readonly ScopeDefinition[],
  language: string,
): Promise<ConnectedApp> {
  const client = await service.clients.findClient(clientId);
  const access = (of: readonly Line[]) => ({
    signsIn: of.some(({ signsIn }) => signsIn),
    permissions: permissionsGranted(definitions, client, [...new Set(of.flatMap(({ scope }) => scope))], language),
    person: fieldsThere([...new Set(of.flatMap(({ personFields }) => personFields))], account),
  });
  const fetched = lines.filter(({ isWaiting }) => !isWaiting);
  const used = lines.map(({ lastUsedAt }) => lastUsedAt).filter((at) => at !== null);
  return {
    ...access(fetched.length > 0 ? fetched : lines),
    clientId,
    appName: clientName,
    profile: pageProfile(client),
    lineCount: lines.length,
    isWaiting: fetched.length === 0,
    lastUsed: used.length === 0 ? null : Math.max(...used),
    lines: shown.map((line) => ({
      ...access([line]),
      grantId: line.grantId,
      kind: line.kind,
      isWaiting: line.isWaiting,
      hosts: line.redirectHosts,
      since: line.since,
      lastUsed: line.lastUsedAt,
      ends: line.absoluteExpiresAt,
      endsUnused: line.expiresAt,
    })),
  };
}
