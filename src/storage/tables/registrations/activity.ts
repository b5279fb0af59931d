/**
 * Tallies and failures of apps. A key begins with the client's id and a space, which no id contains, so that all rows
 * of an app are adjacent and need no index of their own. The sum over all apps is kept as the tally of an empty id, so that
 * nobody adds up 10,000 apps to see it.
 */
import type { ActivityStore } from '../../../oauth/activity/activity-store.ts';
import { type AppFailure, FAILURES_KEPT } from '../../../oauth/activity/app-failure.ts';
import {
  type AppTally,
  COUNTERS,
  FAILURES,
  SPAN_MS,
  type Span,
  type TallyOfSpan,
} from '../../../oauth/activity/app-tally.ts';
import { listRows, type Runner, type Statement } from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';

/** A stored tally. */
export const TALLY = Table.of<{ readonly key: string } & TallyOfSpan>('tally', {
  ...({ key: 'text', clientId: 'text', span: 'text', bucket: 'time' } as const),
  ...({
    allowed: 'integer',
    denied: 'integer',
    exchanges: 'integer',
    refreshes: 'integer',
    retries: 'integer',
  } as const),
  ...({ checks: 'integer', introspections: 'integer', invalidClient: 'integer', invalidGrant: 'integer' } as const),
  ...({ invalidRequest: 'integer', limited: 'integer', other: 'integer' } as const),
});

/** A stored failure. */
export const APP_FAILURE = Table.of<{ readonly key: string } & AppFailure>('app_failure', {
  ...({ key: 'text', clientId: 'text', at: 'time', requestId: 'text', endpoint: 'text' } as const),
  ...({ error: 'text', reason: 'text', network: 'text', grantId: nullable('text') } as const),
});

const COUNTS = TALLY.columns.slice(-COUNTERS.length).map(({ name }) => name);
const ADD = `
  ${TALLY.insertion}
  ON CONFLICT (key) DO UPDATE SET ${COUNTS.map((name) => `${name} = tally.${name} + excluded.${name}`).join(', ')}`;
const RECORD = `${APP_FAILURE.insertion} ON CONFLICT (key) DO NOTHING`;
/** Tolerance (ms) for the clocks of instances: a failure that is further ahead was recorded by a wrong one. */
const AHEAD_MS = 3_600_000;
const FORGET_AHEAD = 'DELETE FROM app_failure WHERE key > $1 AND key < $2';
/** Deletes the newest failure of an app beyond the kept ones, and all before it. */
const FORGET = `
  DELETE FROM app_failure WHERE key > $1 AND key < $2 AND key <= (
    SELECT key FROM app_failure WHERE key > $1 AND key < $2 ORDER BY key DESC LIMIT 1 OFFSET ${FAILURES_KEPT})`;
const TALLIES = `SELECT ${TALLY.names} FROM tally WHERE key > $1 AND key < $2 ORDER BY key`;
const LIST_FAILURES = `
  SELECT ${APP_FAILURE.names} FROM app_failure WHERE key > $1 AND key < $2 ORDER BY key DESC LIMIT $3`;
const FAILURE_PLACE = Table.of<{ readonly key: string; readonly isFound: boolean }>('app_failure', {
  key: 'text',
  isFound: 'boolean',
});
const FAILURE_PLACES = `
  SELECT key, request_id = $1 FROM app_failure WHERE key > $2 ORDER BY key LIMIT $3`;
const FAILURE = `SELECT ${APP_FAILURE.names} FROM app_failure WHERE key = $1`;
/** The id of the sum over all apps. */
const ALL = '';
/** Expression for the failures of a tally, as the indexes have it. */
export const FAILED = COUNTS.slice(-FAILURES.length).join(' + ');

/** One hour: the index has its apps in this order, so that few rows are read of however many apps that fail. */
const MOST_FAILING = `
  SELECT client_id, ${FAILED} AS failures FROM tally
  WHERE span = 'hour' AND bucket = $1 AND client_id <> '${ALL}' AND ${FAILED} > 0
  ORDER BY ${FAILED} DESC, client_id LIMIT $2`;

/** Returns the statements that delete an app's tallies and failures. */
export function forgettingActivity(clientId: string): Statement[] {
  const [first, end] = keysOf(clientId);
  return ['tally', 'app_failure'].map((table) => ({
    sql: `DELETE FROM ${table} WHERE key > $1 AND key < $2`,
    values: [first, end],
  }));
}

/** Implements the port for the activity of apps. */
export function activityStore(runner: Runner): ActivityStore {
  const talliesOf = async (clientId: string, span: Span, since: number): Promise<TallyOfSpan[]> => {
    const first = keyAt(clientId, span, since - SPAN_MS[span]);
    const end = keyAt(clientId, span, Number.MAX_SAFE_INTEGER);
    const rows = await listRows(runner, TALLY, TALLIES, [first, end]);
    return rows.map(({ key: _, ...tally }) => tally);
  };
  return {
    async addActivity({ clientId, at, tally, failures }, now) {
      const demands = [{ sql: 'SELECT id FROM client WHERE id = $1 FOR SHARE', values: [clientId] }];
      const statements = [
        ...(['hour', 'day'] as const).map((span) => adding(clientId, span, at, tally)),
        // Last of the tallies: instances that write to other apps wait for each other here, and never in a circle.
        adding(ALL, 'hour', at, tally),
        ...failures.map((failure) => ({
          sql: RECORD,
          values: APP_FAILURE.values({ key: keyAt(failure.clientId, 'f', failure.at, failure.requestId), ...failure }),
        })),
        ...(failures.length > 0 ? forgetting(clientId, now) : []),
      ];
      await runner.changeAll([], statements, demands);
    },
    listTallies: talliesOf,
    listTalliesOfAll: async (since) =>
      (await talliesOf(ALL, 'hour', since)).map(({ clientId: _, span: __, ...tally }) => tally),
    async listMostFailing(hour, limit) {
      const rows = await runner.select({ sql: MOST_FAILING, values: [hour, limit] }, 'all');
      return rows.map(([clientId, failures]) => ({ clientId: clientId as string, failures: Number(failures) }));
    },
    listFailures: async (clientId, since, limit) =>
      (
        await listRows(runner, APP_FAILURE, LIST_FAILURES, [keyAt(clientId, 'f', since), keysOf(clientId)[1], limit])
      ).map(({ key: _, ...failure }) => failure),
    listFailurePlaces: (requestId, after, limit) =>
      listRows(runner, FAILURE_PLACE, FAILURE_PLACES, [requestId, after ?? '', limit]),
    async listFailuresAt(keys) {
      const found = await Promise.all(keys.map((key) => listRows(runner, APP_FAILURE, FAILURE, [key])));
      return found.flat().map(({ key: _, ...failure }) => failure);
    },
  };
}

/** Returns the statements that leave the last failures of an app, of which none is well after `now` (ms). */
function forgetting(clientId: string, now: number): Statement[] {
  const [first, end] = keysOf(clientId);
  return [
    { sql: FORGET_AHEAD, values: [keyAt(clientId, 'f', now + AHEAD_MS), end] },
    { sql: FORGET, values: [first, end] },
  ];
}

function adding(clientId: string, span: Span, at: number, tally: AppTally): Statement {
  const bucket = at - (at % SPAN_MS[span]);
  return { sql: ADD, values: TALLY.values({ key: keyAt(clientId, span, bucket), clientId, span, bucket, ...tally }) };
}

/** Returns keys before and after all rows of an app. */
function keysOf(clientId: string): readonly [string, string] {
  return [`${clientId} `, `${clientId}!`];
}

/** Returns the key of a row at a time (ms); keys sort by time, and `more` distinguishes rows of the same time. */
function keyAt(clientId: string, kind: string, at: number, more = ''): string {
  const order = String(Math.max(0, at)).padStart(16, '0');
  return `${clientId} ${kind} ${order}${more && ` ${more}`}`;
}
