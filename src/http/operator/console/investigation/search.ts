/**
 * The search of every page, and the page of a request. A form posts it: what may be a credential is answered by the page of leaks, and
 * goes into no address.
 */
import { findGrantLife } from '../../../../oauth/connected-apps/grant-life.ts';
import { findEvent } from '../../../../operator/lists/event-pages.ts';
import type { UserAsked } from '../../../../operator/lists/user-pages.ts';
import { appHref } from '../../../../pages/operator/apps/app-page.ts';
import { requestHref } from '../../../../pages/operator/events/shown-event.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import { leakedPage } from '../../../../pages/operator/leaked/leaked-page.ts';
import { requestPage } from '../../../../pages/operator/search/request-page.ts';
import { searchPage } from '../../../../pages/operator/search/search-page.ts';
import type { Service } from '../../../service/service.ts';
import type { ConsoleCall, ConsoleRoutes, Onward } from '../console-routes.ts';
import { personHref } from '../people/people.ts';
import { shownEvent } from '../shown-event.ts';

/** Number of apps and of people that a search names; the page of each list has all. */
const FEW = { limit: 5, after: undefined };
/** Number of apps with the very name or publisher. */
const MANY = { limit: 20, after: undefined };
const REQUEST_ID = /^[0-9a-f]{12}$/;

/** Adds the search and the page. `identify` answers with what a credential is. */
export function addSearch(
  routes: ConsoleRoutes,
  service: Service,
  identify: (call: ConsoleCall, credential: string) => Promise<ConsolePage>,
): void {
  const { lists, store, identification } = service.operatorApi;

  routes.act(
    '/search',
    'identify',
    async (call): Promise<ConsolePage | Onward> => {
      const { form } = call;
      const text = (form.get('q') ?? '').trim();
      if (text === '') return { location: '/' };
      const exact = await hrefOf(text);
      if (exact !== null) return { location: exact };
      if (identification.mayBeCredential(text)) return identify(call, text);
      const [named, apps, count, people] = await Promise.all([
        lists.clients({ exactly: text, order: 'name' }, MANY),
        lists.clients({ text, order: 'name' }, FEW),
        lists.countClients({ text }),
        lists.people({ beginning: text }, FEW),
      ]);
      const exactly = (named?.items ?? []).map(({ client }) => client);
      const others = (apps?.items ?? []).filter(({ client: { id } }) => !exactly.some((each) => each.id === id));
      return searchPage({
        text,
        count,
        named: { items: exactly, more: (named?.next ?? null) !== null },
        apps: { items: others.map(({ client }) => client), more: (apps?.next ?? null) !== null },
        people: { items: (people?.items ?? []).map(({ account }) => account), more: (people?.next ?? null) !== null },
      });
    },
    async (_call, { text }) => leakedPage(text),
    { hasCredential: true },
  );

  routes.page('/requests/:id', 'audit-events.list', async ({ context, id, query }) => {
    if (!REQUEST_ID.test(id)) return null;
    const after = query.get('after');
    const found = await lists.request(id, after);
    if (found === null) return { location: requestHref(id) };
    return requestPage(context, {
      ...found,
      id,
      isFirst: after === undefined,
      events: found.events.map(shownEvent),
      failures: await Promise.all(
        found.failures.map(async (failure) => ({
          ...failure,
          app: (await service.clients.findClient(failure.clientId))?.name ?? failure.clientId,
        })),
      ),
    });
  });

  /** The address of the one thing that a text names exactly, or null. */
  async function hrefOf(text: string): Promise<string | null> {
    if (await service.clients.findClient(text)) return appHref(text);
    const life = await findGrantLife(store, text.toLowerCase());
    if (life) return `/grants/${life.id}`;
    const number = text.replace(/^#/, '');
    if (await findEvent(store, number)) return `/events/${number}`;
    if (REQUEST_ID.test(text)) return requestHref(text);
    const operator = (await service.operators.registry.list()).find((each) => each.id === text || each.name === text);
    if (operator) return `/operators/${operator.id}`;
    if (await service.resourceServers.findResourceServer(text)) return `/apis/${text}`;
    if (await store.findAccount(text)) return personHref(text);
    return onlyPerson(text.includes('@') ? { email: text } : { username: text });
  }

  async function onlyPerson(asked: UserAsked): Promise<string | null> {
    const [first, second] = (await lists.users(asked, { limit: 2, after: undefined }))?.items ?? [];
    return first && !second ? personHref(first.account.id) : null;
  }
}
