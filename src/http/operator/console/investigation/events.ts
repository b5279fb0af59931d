/** The pages of the audit trail. */
import type { Parameters } from '../../../../oauth/protocol/parameters.ts';
import { AUDIT_ACTIONS } from '../../../../oauth/trail/audit.ts';
import type { Operator } from '../../../../operator/access/operator.ts';
import { type EventAsked, findEvent } from '../../../../operator/lists/event-pages.ts';
import { eventPage } from '../../../../pages/operator/events/event-page.ts';
import { type EventFilter, eventsPage } from '../../../../pages/operator/events/events-page.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import type { Service } from '../../../service.ts';
import { askedPage } from '../asked-page.ts';
import type { ConsoleRoutes } from '../console-routes.ts';
import { shownEvent } from './shown-event.ts';

const DAY_MS = 86_400_000;
/** Maximum number of operators whose names are suggested. */
const MAX_SUGGESTED = 50;

/** Adds the pages. */
export function addEvents(routes: ConsoleRoutes, service: Service): void {
  const { operators, operatorApi } = service;
  const { lists, store } = operatorApi;

  routes.page('/events', 'audit-events.list', async ({ context, operator, query }) => {
    const filter = filterOf(query);
    const user = filter.user.includes('@') ? await theOneWith(filter.user) : null;
    if (user !== null) return { location: listHref('/events', { ...filter, user }) };
    const [page, known] = [askedPage(query), await operators.registry.list()];
    const found = await lists.events(askedEvents(filter, known), page);
    if (found === null) return { location: listHref('/events', filter) };
    const list = { items: found.items.map((event) => shownEvent(event, known)), next: found.next };
    const names = known.slice(0, MAX_SUGGESTED).map(({ name }) => name);
    return eventsPage(context, { operator, list, filter, isFirst: page.after === undefined, operators: names });
  });

  routes.page('/events/:id', 'audit-events.show', async ({ context, operator, id }) => {
    const event = await findEvent(store, id);
    return event && eventPage(context, operator, shownEvent(event, await operators.registry.list()));
  });

  /** Returns the id of the only person with an email address, or null. */
  async function theOneWith(email: string): Promise<string | null> {
    const people = await lists.users({ email }, { limit: 2, after: undefined });
    const [one, other] = people?.items ?? [];
    return one && !other ? one.account.id : null;
  }
}

function filterOf(query: Parameters): EventFilter {
  const text = (name: string) => (query.get(name) ?? '').trim();
  const day = (name: string) => (Number.isNaN(dayOf(text(name))) ? '' : text(name));
  return {
    action: AUDIT_ACTIONS.find((action) => action === text('action')) ?? '',
    ...{ operator: text('operator'), since: day('since'), until: day('until') },
    ...{ client: text('client'), user: text('user'), grant: text('grant').toLowerCase() },
  };
}

/** The first moment of a day in UTC (ms); NaN for a text that is none. */
function dayOf(text: string): number {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
}

/** An operator is asked for by name or id; any other name is that of whoever ran a command. */
function askedEvents(filter: EventFilter, known: readonly Operator[]): EventAsked {
  const { action, operator, since, until, client, user, grant } = filter;
  return {
    order: 'newest',
    ...(action !== '' && { action }),
    ...(operator !== '' && { operatorId: known.find(({ name }) => name === operator)?.id ?? operator }),
    ...(since !== '' && { since: dayOf(since) }),
    ...(until !== '' && { until: dayOf(until) + DAY_MS }),
    ...(client !== '' && { clientId: client }),
    ...(user !== '' && { resourceOwnerId: user }),
    ...(grant !== '' && { grantId: grant }),
  };
}
