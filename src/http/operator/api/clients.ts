/** `GET /v1/clients…`: apps, their numbers and their failures. */
import { FAILURES_KEPT } from '../../../oauth/activity/app-failure.ts';
import { TALLIES_KEPT_MS } from '../../../oauth/activity/app-tally.ts';
import { activityJson, lastDayJson, pageFailureJson, talliesJson } from '../../../operator/json/activity.ts';
import { clientJson } from '../../../operator/json/client.ts';
import { findHandOverJson } from '../../../operator/json/hand-over.ts';
import { optionalQueryParameter } from '../../json/operation.ts';
import type { Service } from '../../service/service.ts';
import { ID, listOperation, readOperation, showOperation, textParameter, timeParameter } from './described-parts.ts';
import { listBody } from './list-body.ts';
import { findOne, nounsOf } from './nouns.ts';
import { invalidParameter, readOneOf, readPage, readTime, withoutUndefined } from './query.ts';
import { type Route, route } from './route.ts';
import { CLIENT, FAILURES, SHOWN_CLIENT, TALLIES } from './schemas.ts';

const STATES = ['active', 'paused'] as const;
const SPANS = ['hour', 'day'] as const;
const DAY_MS = 86_400_000;

const LIST = listOperation('clients', 'listClients', 'Apps, oldest first', CLIENT, [
  textParameter('id', 'Only the app with this ID.'),
  textParameter('name', 'Only apps whose name contains this text, in any case.'),
  textParameter('state', 'Only apps in this state.', { enum: STATES }),
  timeParameter('unused_since', 'Only apps that were neither used nor registered since then.'),
  timeParameter('failing_since', 'Only apps with a refused request since then, or in the same hour or day.'),
]);
const SHOW = showOperation('clients', 'showClient', 'One app', SHOWN_CLIENT);
const SHOW_TALLIES = readOperation('clients', 'showTallies', 'Numbers of an app, by hour or day', TALLIES, [
  ID,
  textParameter('span', '`hour` (the last 48 hours) or `day` (the last 400 days).', { enum: SPANS, default: 'hour' }),
  timeParameter('since', 'Only hours or days that ended later.'),
]);
const SHOW_FAILURES = readOperation('clients', 'showFailures', 'What an app was refused, newest first', FAILURES, [
  ID,
  timeParameter('since', 'Failures since then; 24 hours ago by default.'),
  optionalQueryParameter('limit', { type: 'integer', minimum: 1, maximum: FAILURES_KEPT, default: FAILURES_KEPT }),
]);

/** Returns the routes that read apps. */
export function readingClients(service: Service): Route[] {
  const { lists, appActivity, handOvers } = service.operatorApi;
  const { client: noun } = nounsOf(service);
  return [
    route('GET', '/clients', 'clients.list', LIST, async ({ query }) => {
      const { id, name, state, unused_since, failing_since, ...page } = query;
      const asked = withoutUndefined({
        id,
        name,
        status: state === undefined ? undefined : readOneOf('state', STATES, state),
        unusedSince: unused_since === undefined ? undefined : readTime('unused_since', unused_since),
        failingSince: failing_since === undefined ? undefined : readTime('failing_since', failing_since),
      });
      return listBody(await lists.clients(asked, readPage(page)), clientJson);
    }),
    route('GET', '/clients/:id', 'clients.show', SHOW, async (call) => {
      const client = await findOne(noun, call.id);
      const found = await appActivity.find(client.id, service.now() - DAY_MS, 1);
      const last = await findHandOverJson({ kind: 'client', id: client.id }, handOvers);
      return { ...(await noun.json(client)), ...lastDayJson(found), hand_over: last };
    }),
    route('GET', '/clients/:id/tallies', 'clients.tallies', SHOW_TALLIES, async (call) => {
      const { span = 'hour', since } = call.query;
      const of = readOneOf('span', SPANS, span);
      const from = since === undefined ? service.now() - TALLIES_KEPT_MS[of] : readTime('since', since);
      const { id } = await findOne(noun, call.id);
      return talliesJson(id, of, await appActivity.tallies(id, of, from));
    }),
    route('GET', '/clients/:id/failures', 'clients.failures', SHOW_FAILURES, async (call) => {
      const { since, limit = String(FAILURES_KEPT) } = call.query;
      const most = /^[0-9]{1,3}$/.test(limit) ? Number(limit) : 0;
      if (most < 1 || most > FAILURES_KEPT)
        throw invalidParameter('limit', `must be a whole number from 1 to ${FAILURES_KEPT}`);
      const from = since === undefined ? service.now() - DAY_MS : readTime('since', since);
      const { id } = await findOne(noun, call.id);
      const found = activityJson(id, await appActivity.find(id, from, most));
      return { ...found, authorization_page: service.pageFailures.list(id, from).map(pageFailureJson) };
    }),
  ];
}
