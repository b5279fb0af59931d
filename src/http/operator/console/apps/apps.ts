/** The pages of apps. */
import { type ClientAsked, FEW_CLIENTS } from '../../../../operator/lists/client-pages.ts';
import type { AskedPage, ListPage } from '../../../../operator/lists/lists.ts';
import { type ListedClient, lastClientUse } from '../../../../operator/secrets/secret-last-uses.ts';
import { appHref } from '../../../../pages/operator/apps/app-page.ts';
import {
  APPS_ORDERS,
  type AppsOrder,
  appsPage,
  type ListedApp,
  SHOWN_APPS,
  type ShownApps,
} from '../../../../pages/operator/apps/apps-page.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import type { Service } from '../../../service/service.ts';
import { askedPage, chosenOption } from '../asked-list-page.ts';
import type { ConsoleRoutes } from '../console-routes.ts';

const DAY_MS = 86_400_000;

/** Number of apps of a page: each may have an ID of 255 characters in two links, three bytes long. */
const APPS = 20;

/** The values of the page's filter. */
type Asked = { readonly q: string; readonly show: ShownApps; readonly sort: AppsOrder | '' };

/** A page in an order. `count` is null for many apps. */
type Found = { readonly page: ListPage<ListedClient> | null; readonly order: AppsOrder; readonly count: number | null };

/** Adds the pages. */
export function addApps(routes: ConsoleRoutes, service: Service): void {
  const { lists, appActivity } = service.operatorApi;

  /** Times begin with a day, so that a cursor, which is bound to its filter, lives as long. */
  async function find({ q, show, sort }: Asked, page: AskedPage): Promise<Found> {
    const today = dayOf(service.now());
    const refusedSince = today - DAY_MS;
    const text = q !== '' && { text: q };
    const asked: ClientAsked = {
      ...text,
      ...((show === 'active' || show === 'paused') && { status: show }),
      ...(show === 'failing' && { failingSince: refusedSince }),
      ...(show === 'unused' && { unusedSince: today - 90 * DAY_MS }),
    };
    const count = await lists.countClients(asked);
    const order = sort || (show === 'failing' ? 'refused' : 'newest');
    if (order === 'refused' && show === 'failing')
      return { page: await lists.failingClients({ ...text, since: refusedSince }, page), order, count };
    if (order === 'newest' || order === 'oldest' || order === 'name')
      return { page: await lists.clients({ ...asked, order }, page), order, count };
    if (count !== null)
      return { page: await lists.measuredClients(order, { ...asked, refusedSince }, page), order, count };
    return { page: await lists.clients({ ...asked, order: 'newest' }, page), order: 'newest', count };
  }

  async function listed({ client, uses }: ListedClient): Promise<ListedApp> {
    const { id, name, publisher, status, createdAt } = client;
    return {
      id,
      name,
      publisher,
      status,
      registeredAt: createdAt,
      lastUsedAt: lastClientUse(uses),
      ...(await appActivity.refusals(id, dayOf(service.now()) - DAY_MS)),
      ...(await lists.peopleOf(id)),
    };
  }

  routes.page('/apps', 'clients.list', async ({ context, may, query }) => {
    const q = (query.get('q') ?? '').trim();
    const filter = { q, show: chosenOption(query, 'show', SHOWN_APPS), sort: chosenOption(query, 'sort', APPS_ORDERS) };
    if (q !== '' && (await service.clients.findClient(q))) return { location: appHref(q) };
    const asked = askedPage(query, APPS);
    const { page, order, count } = await find(filter, asked);
    if (page === null) return { location: listHref('/apps', filter) };
    return appsPage(context, {
      filter,
      order,
      count,
      countedTo: FEW_CLIENTS,
      list: { items: await Promise.all(page.items.map(listed)), next: page.next },
      isFirst: asked.after === undefined,
      isDeleted: query.get('done') === 'deleted',
      countedSince: dayOf(service.now()) - DAY_MS,
      mayRegister: may('clients.register'),
    });
  });
}

function dayOf(time: number): number {
  return time - (time % DAY_MS);
}
