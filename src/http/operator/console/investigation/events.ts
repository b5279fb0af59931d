/** The pages of the audit trail. */
import { accountLabel } from '../../../../accounts/people/account.ts';
import { isProviderId } from '../../../../accounts/people/identity-provider.ts';
import type { Parameters } from '../../../../oauth/protocol/parameters.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../../../oauth/trail/audit.ts';
import type { NamedAuditEvent } from '../../../../oauth/trail/audit-store.ts';
import type { Operator } from '../../../../operator/access/operator.ts';
import { type EventAsked, findEvent } from '../../../../operator/lists/event-pages.ts';
import { eventPage } from '../../../../pages/operator/events/event-page.ts';
import { type EventFilter, eventsPage } from '../../../../pages/operator/events/events-page.ts';
import type { Doer, ShownEvent, Thing } from '../../../../pages/operator/events/shown-event.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import type { Service } from '../../../service.ts';
import { askedPage } from '../asked-page.ts';
import type { ConsoleRoutes } from '../console-routes.ts';

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

function shownEvent(event: NamedAuditEvent, known: readonly Operator[]): ShownEvent {
  const { sequence, at, action, actor, clientId, resourceOwnerId, resourceOwner, grantId, detail } = event;
  const operatorCalled = (id: string) => known.find((operator) => operator.id === id)?.name ?? null;
  const kind = clientId === null ? null : kindOf(action, clientId);
  const name = kind === 'operator' ? operatorCalled(clientId ?? '') : event.clientName;
  const about: Thing | null = kind && { kind, id: clientId ?? '', name };
  const person: Thing | null =
    resourceOwnerId === null
      ? null
      : { kind: 'person', id: resourceOwnerId, name: resourceOwner && accountLabel(resourceOwner) };
  return {
    ...{ sequence, at, action, about, person, grantId, detail },
    by: doerOf(event, { about, person, operatorCalled }),
    source: actor.source,
    requestId: actor.requestId,
  };
}

/** An event names the app, API, product or operator by its id alone. */
function kindOf(action: AuditAction, id: string): Exclude<Thing['kind'], 'person'> {
  if (action.startsWith('operator_')) return 'operator';
  if (action.startsWith('resource_server_')) return 'API';
  if (action.startsWith('identity_provider_') || action.startsWith('sign_in_re')) return 'product';
  if (!action.startsWith('hand_over_')) return 'app';
  if (id.startsWith('rs_')) return 'API';
  return isProviderId(id) ? 'product' : 'app';
}

function doerOf(
  { actor: { kind, id, source } }: NamedAuditEvent,
  {
    about,
    person,
    operatorCalled,
  }: Pick<ShownEvent, 'about' | 'person'> & {
    operatorCalled: (id: string) => string | null;
  },
): Doer {
  const nameIn = (thing: Thing | null) => (thing?.id === id ? thing.name : null);
  switch (kind) {
    case 'operator':
      return source === null ? { kind: 'command', id } : { kind, id, name: operatorCalled(id) };
    case 'user':
      return { kind: 'person', id, name: nameIn(person) };
    case 'client':
      return { kind: 'app', id, name: nameIn(about) };
    case 'provider':
      return { kind: 'product', id, name: nameIn(about) ?? id };
    default:
      return { kind };
  }
}
