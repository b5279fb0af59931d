/** The pages of apps. */
import type { ListedClient } from '../../../operator/client-list.ts';
import { lastClientUse } from '../../../operator/last-uses.ts';
import type { ClientAsked } from '../../../operator/lists/client-pages.ts';
import { appsPage, type ListedApp, SHOWN_APPS, type ShownApps } from '../../../pages/operator/apps/apps-page.ts';
import { listHref } from '../../../pages/operator/listing.ts';
import type { Service } from '../../service.ts';
import { askedPage, chosen } from './asked-page.ts';
import type { ConsoleRoutes } from './console-routes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Adds the pages. */
export function addApps(routes: ConsoleRoutes, service: Service): void {
  routes.page('/apps', 'clients.list', async ({ context, operator, may, query }) => {
    const filter = { q: (query.get('q') ?? '').trim(), show: chosen(query, 'show', SHOWN_APPS) };
    if (filter.q !== '' && (await service.clients.findClient(filter.q)))
      return { location: `/apps/${encodeURIComponent(filter.q)}` };
    const page = askedPage(query);
    const found = await service.operatorApi.lists.clients(askedApps(filter, service.now()), page);
    if (found === null) return { location: listHref('/apps', filter) };
    const list = { items: found.items.map(listedApp), next: found.next };
    const isFirst = page.after === undefined;
    const isDeleted = query.get('done') === 'deleted';
    return appsPage(context, { operator, list, filter, isFirst, isDeleted, mayRegister: may('clients.register') });
  });
}

/** Times begin with an hour or a day, so that a cursor, which is bound to its filter, lives as long. */
function askedApps({ q, show }: { q: string; show: ShownApps }, now: number): ClientAsked {
  return {
    ...(q !== '' && { name: q }),
    ...((show === 'active' || show === 'paused') && { status: show }),
    ...(show === 'failing' && { failingSince: now - (now % HOUR_MS) - DAY_MS }),
    ...(show === 'unused' && { unusedSince: now - (now % DAY_MS) - 90 * DAY_MS }),
  };
}

function listedApp({ client, uses }: ListedClient): ListedApp {
  const { id, name, publisher, status, createdAt } = client;
  return { id, name, publisher, status, createdAt, lastUsedAt: lastClientUse(uses) };
}
