/** `GET /v1/audit-events`, and one event. */
import { AUDIT_ACTIONS } from '../../../oauth/trail/audit.ts';
import { eventJson } from '../../../operator/json/event.ts';
import { type EventAsked, findEvent } from '../../../operator/lists/event-pages.ts';
import type { Service } from '../../service/service.ts';
import { notFound } from './api-error.ts';
import { listOperation, showOperation, textParameter, timeParameter } from './described-parts.ts';
import { listBody } from './list-body.ts';
import { type Query, readOneOf, readPage, readTime, withoutUndefined } from './query.ts';
import { type Route, route } from './route.ts';
import { AUDIT_EVENT } from './schemas.ts';

const ORDERS = ['newest', 'oldest'] as const;

const LIST = listOperation(
  'audit-events',
  'listAuditEvents',
  'The audit trail, newest first',
  AUDIT_EVENT,
  [
    textParameter('client', 'Only events about the app, API, product or operator with this ID.'),
    textParameter('user', 'Only events about the user with this ID.'),
    textParameter('grant', 'Only events about the grant with this ID.'),
    textParameter('action', 'Only events of this kind.', { enum: AUDIT_ACTIONS }),
    textParameter('operator', 'Only acts of this operator: an ID, or the name of who ran a command.'),
    textParameter('key', 'Only acts with the key of an operator with this ID.'),
    timeParameter('since', 'Only events of this time or later.'),
    timeParameter('until', 'Only events before this time.'),
    textParameter('order', '`newest` or `oldest` first.', { enum: ORDERS, default: 'newest' }),
  ],
  'IDs of deleted objects work too. With `order=oldest`, ask again with the last cursor for events that came since.',
);
const SHOW = showOperation('audit-events', 'showAuditEvent', 'One event of the audit trail', AUDIT_EVENT);

/** Returns the routes that read the audit trail. */
export function readingAuditEvents({ operatorApi }: Service): Route[] {
  const { lists, store } = operatorApi;
  return [
    route('GET', '/audit-events', 'audit-events.list', LIST, async ({ query }) => {
      return listBody(await lists.events(askedIn(query), readPage(query)), eventJson);
    }),
    route('GET', '/audit-events/:id', 'audit-events.show', SHOW, async ({ id }) => {
      const event = await findEvent(store, id);
      if (!event) throw notFound('event');
      return eventJson(event);
    }),
  ];
}

function askedIn({ client, user, grant, action, operator, key, since, until, order = 'newest' }: Query): EventAsked {
  return {
    order: readOneOf('order', ORDERS, order),
    ...withoutUndefined({
      clientId: client,
      resourceOwnerId: user,
      grantId: grant?.toLowerCase(),
      operatorId: operator,
      actorBy: key,
      action: action === undefined ? undefined : readOneOf('action', AUDIT_ACTIONS, action),
      since: since === undefined ? undefined : readTime('since', since),
      until: until === undefined ? undefined : readTime('until', until),
    }),
  };
}
