/** The pages of apps. */
import type { ListedClient } from '../../../operator/client-list.ts';
import { lastClientUse } from '../../../operator/last-uses.ts';
import type { ClientAsked, ListedFailing } from '../../../operator/lists/client-pages.ts';
import type { AskedPage, ListPage } from '../../../operator/lists/lists.ts';
import { appHref } from '../../../pages/operator/apps/app-page.ts';
import { appsPage, type ListedApp, SHOWN_APPS, type ShownApps } from '../../../pages/operator/apps/apps-page.ts';
import { listHref } from '../../../pages/operator/listing.ts';
import type { Service } from '../../service.ts';
import { askedPage, chosen } from './asked-page.ts';
import type { ConsoleRoutes } from './console-routes.ts';

const DAY_MS = 86_400_000;

/** Number of apps of a page: each may have an ID of 255 characters in two links, three bytes long. */
const APPS = 20;

/** The values of the page's filter. */
type Asked = { readonly q: string; readonly show: ShownApps };

/** Adds the pages. */
export function addApps(routes: ConsoleRoutes, service: Service): void {
  const { lists } = service.operatorApi;

  /** Times begin with a day, so that a cursor, which is bound to its filter, lives as long. */
  function find({ q, show }: Asked, page: AskedPage): Promise<ListPage<ListedClient | ListedFailing> | null> {
    const today = dayOf(service.now());
    const name = q !== '' && { name: q };
    if (show === 'failing') return lists.failingClients({ ...name, since: today - DAY_MS }, page);
    const asked: ClientAsked = {
      ...name,
      ...((show === 'active' || show === 'paused') && { status: show }),
      ...(show === 'unused' && { unusedSince: today - 90 * DAY_MS }),
    };
    return lists.clients(asked, page);
  }

  async function listed(app: ListedClient | ListedFailing): Promise<ListedApp> {
    const { id, name, publisher, status, createdAt } = app.client;
    const failures = 'failures' in app ? app.failures : null;
    return {
      id,
      name,
      publisher,
      status,
      registeredAt: createdAt,
      lastUsedAt: lastClientUse(app.uses),
      failures,
      ...(await lists.peopleOf(id)),
    };
  }

  routes.page('/apps', 'clients.list', async ({ context, operator, may, query }) => {
    const filter = { q: (query.get('q') ?? '').trim(), show: chosen(query, 'show', SHOWN_APPS) };
    if (filter.q !== '' && (await service.clients.findClient(filter.q))) return { location: appHref(filter.q) };
    const page = askedPage(query, APPS);
    const found = await find(filter, page);
    if (found === null) return { location: listHref('/apps', filter) };
    const list = { items: await Promise.all(found.items.map(listed)), next: found.next };
    const isFirst = page.after === undefined;
    const isDeleted = query.get('done') === 'deleted';
    const countedSince = dayOf(service.now()) - DAY_MS;
    return appsPage(context, {
      ...{ operator, list, filter, isFirst, isDeleted, countedSince },
      mayRegister: may('clients.register'),
    });
  });
}

function dayOf(time: number): number {
  return time - (time % DAY_MS);
}
