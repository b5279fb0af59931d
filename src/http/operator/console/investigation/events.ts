/** The pages of the audit trail. */
import type { Parameters } from '../../../../oauth/parameters.ts';
import { AUDIT_ACTIONS } from '../../../../oauth/trail/audit.ts';
import type { Operator } from '../../../../operator/access/operator.ts';
import { type EventAsked, findEvent } from '../../../../operator/lists/event-pages.ts';
import { EVENT_QUESTIONS, type EventQuestion } from '../../../../operator/lists/event-presets.ts';
import { appsMeant, type Meant, peopleMeant } from '../../../../operator/lists/event-subjects.ts';
import { eventPage } from '../../../../pages/operator/events/event-page.ts';
import {
  type EventFilter,
  eventsPage,
  type TypedField,
  withId,
} from '../../../../pages/operator/events/events-page.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import type { Service } from '../../../service/service.ts';
import { askedPage } from '../asked-list-page.ts';
import type { ConsoleRoutes } from '../console-routes.ts';
import { shownEvent } from '../shown-event.ts';

const DAY_MS = 86_400_000;
/** Maximum number of operators whose names are suggested. */
const MAX_SUGGESTED = 50;
/** All events, newest first. */
const ALL = { order: 'newest' } as const;

/** Adds the pages. */
export function addEvents(routes: ConsoleRoutes, service: Service): void {
  const { operators, operatorApi, clients } = service;
  const { lists, store } = operatorApi;

  routes.page('/events', 'audit-events.list', async ({ context, query }) => {
    const filter = filterOf(query);
    const page = askedPage(query);
    const known = await operators.registry.list();
    const shown = {
      filter,
      now: service.now(),
      isFirst: page.after === undefined,
      operators: known.slice(0, MAX_SUGGESTED).map(({ name }) => name),
    };
    const typed = (['app', 'person'] as const).find((field) => filter[field] !== '');
    if (typed !== undefined) {
      const meant = await meantBy(typed, filter[typed]);
      if ('id' in meant) return { location: listHref('/events', withId(filter, typed, meant.id)) };
      return eventsPage(context, { ...shown, found: { field: typed, ...meant } });
    }
    const found = await lists.events(askedEvents(filter, known), page);
    if (found === null) return { location: listHref('/events', filter) };
    return eventsPage(context, { ...shown, found: { items: found.items.map(shownEvent), next: found.next } });
  });

  routes.page('/events/:id', 'audit-events.show', async ({ context, id }) => {
    const event = await findEvent(store, id);
    if (!event) return null;
    return eventPage(context, {
      event: shownEvent(event),
      cursor: lists.eventsCursor(ALL, event.sequence),
    });
  });

  function meantBy(field: TypedField, text: string): Promise<Meant> {
    return field === 'app' ? appsMeant(store, clients, text) : peopleMeant(store, lists, text);
  }
}

function filterOf(query: Parameters): EventFilter {
  const text = (name: string) => (query.get(name) ?? '').trim();
  const day = (name: string) => (Number.isNaN(dayOf(text(name))) ? '' : text(name));
  const action = text('action');
  return {
    action: isQuestion(action) || AUDIT_ACTIONS.some((each) => each === action) ? action : '',
    operator: text('operator'),
    since: day('since'),
    until: day('until'),
    app: text('app'),
    person: text('person'),
    client: text('client'),
    user: text('user'),
    key: text('key'),
    grant: text('grant').toLowerCase(),
  };
}

function isQuestion(text: string): text is EventQuestion {
  return Object.hasOwn(EVENT_QUESTIONS, text);
}

/** The first moment of a day in UTC (ms); NaN for a text that is none. */
function dayOf(text: string): number {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
}

/** An operator is asked for by name or id; any other name is that of whoever ran a command. */
function askedEvents(filter: EventFilter, known: readonly Operator[]): EventAsked {
  const { action, operator, key, since, until, client, user, grant } = filter;
  return {
    ...ALL,
    ...(isQuestion(action) ? EVENT_QUESTIONS[action] : action !== '' && { action }),
    ...(operator !== '' && { operatorId: known.find(({ name }) => name === operator)?.id ?? operator }),
    ...(key !== '' && { actorBy: key }),
    ...(since !== '' && { since: dayOf(since) }),
    ...(until !== '' && { until: dayOf(until) + DAY_MS }),
    ...(client !== '' && { clientId: client }),
    ...(user !== '' && { resourceOwnerId: user }),
    ...(grant !== '' && { grantId: grant }),
  };
}
