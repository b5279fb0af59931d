/** Runs the infrequent operations of the ports in PostgreSQL: each act in one transaction. */
import { grantIdText } from '../../../oauth/grants/grant.ts';
import type { AccessOfRow } from '../../../oauth/grants/granted-access.ts';
import { OutcomeUnknown, StoreUnavailable } from '../../../oauth/store.ts';
import { ChangedSince, DoneBefore } from '../../../oauth/trail/request-conditions.ts';
import { type Act, type Runner, type Statement, UNDONE } from '../../statements/shared-operations.ts';
import { ENDED_ACCESS } from '../../tables/grants/grant-rows.ts';
import { recordingKey } from '../../tables/operators/idempotency-keys.ts';
import { demandsOf } from '../../tables/unchanged-since-etag.ts';
import type { Connection } from '../connection/connection.ts';
import { SQLSTATE, sqlState } from '../connection/errors.ts';
import { searchByKey } from './batches.ts';
import { type Database, recordEvents, requireStanding } from './database.ts';
import { DIALECT } from './postgresql-dialect.ts';

/** Returns true if a demand of an act finds a row, in the act's transaction. */
export async function isMet(connection: Connection, { sql, values }: Statement): Promise<boolean> {
  return (await connection.tuples(sql, values)).length > 0;
}

/** An act, or a change without an event. */
type Effect = Pick<Act, 'demands' | 'first' | 'also' | 'rest'> & Partial<Pick<Act, 'event'>>;

/** Returns the runner of a database. */
export function runnerOn(database: Database): Runner {
  const run = async (
    connection: Connection,
    { demands = [], first, also = [], rest = [], event }: Effect,
  ): Promise<boolean> => {
    const unchanged = event ? demandsOf(event) : [];
    const key = event ? recordingKey(event) : null;
    for (const demand of unchanged) if (!(await isMet(connection, demand))) throw new ChangedSince();
    for (const demand of demands) if (!(await isMet(connection, demand))) return false;
    if (first && (await connection.change(first.sql, first.values)) !== 1) return false;
    if (key && (await connection.change(key.sql, key.values)) !== 1) throw new DoneBefore();
    for (const each of also)
      if ((await connection.change(each.statement.sql, each.statement.values)) > 0)
        await recordEvents(connection, [each.event]);
    for (const { sql, values } of rest) await connection.change(sql, values);
    return true;
  };
  const act = (asked: Act) => database.act(asked.event, (connection) => run(connection, asked));
  const actAll = async (acts: readonly Act[]): Promise<boolean> => {
    const events = acts.map(({ event }) => event);
    const last = events.pop();
    if (!last) return true;
    try {
      return await database.act(last, async (connection) => {
        for (const event of events) await requireStanding(connection, event);
        for (const each of acts) if (!(await run(connection, each))) throw UNDONE;
        await recordEvents(connection, events);
        return true;
      });
    } catch (error) {
      if (error !== UNDONE) throw error;
      return false;
    }
  };
  const changeAll: Runner['changeAll'] = async (_touches, rest, demands = []) => {
    let mayBeDone = false;
    try {
      await database.run(async (connection, again) => {
        if (again && mayBeDone) throw new StoreUnavailable('the connection to the database was lost at the commit');
        mayBeDone = false;
        await connection.transaction(async () => {
          await run(connection, { demands, rest });
          mayBeDone = true;
        });
      });
    } catch (error) {
      if (mayBeDone && error instanceof StoreUnavailable) throw new OutcomeUnknown(error.message, { cause: error });
      throw error;
    }
  };
  return {
    dialect: DIALECT,
    search({ sql, key, read }) {
      const all = `
        SELECT found.*, place FROM unnest($1::${key}[]) WITH ORDINALITY AS asked (key, place)
        CROSS JOIN LATERAL (${sql.replaceAll('$1', 'asked.key')}) AS found`;
      const search = searchByKey(database.reads, all, read);
      return (asked) => search(typeof asked === 'string' ? asked : grantIdText(asked));
    },
    select: ({ sql, values }) => database.tuples(sql, values),
    act: (asked) => twice(() => act(asked)),
    async end(_touches, event, { sql, values }, demands = []) {
      const ended = await database.act<true | AccessOfRow[]>(
        event,
        async (connection) => {
          for (const demand of demands) if (!(await isMet(connection, demand))) return [];
          return (await connection.tuples(sql, values)).map((row) => ENDED_ACCESS.read(row));
        },
        async () => true,
      );
      return ended === true || ended.length > 0;
    },
    actAll: (acts) => retried(() => twice(() => actAll(acts))),
    async change(_touches, statement, demands = []) {
      if (demands.length === 0) await database.change(statement.sql, statement.values);
      else
        await database.run((connection) =>
          connection.transaction(() => run(connection, { demands, rest: [statement] })),
        );
    },
    changeAll,
    changeOne: async (_touches, { sql, values }) => (await database.change(sql, values)) === 1,
    record: (event) => database.record(event),
  };
}

/**
 * Retries once: another transaction may take a unique name after the statement checked it, and the retry finds it
 * taken.
 */
function twice(act: () => Promise<boolean>): Promise<boolean> {
  return act().catch((error: unknown) => {
    if (sqlState(error) !== SQLSTATE.UNIQUE_VIOLATION) throw error;
    return act();
  });
}

/** Maximum number of attempts of acts that wait for contended rows. */
const MAX_TRIES = 4;

/**
 * Retries after a lock timeout: several acts together hold their rows until all are done, which may exceed the lock
 * timeout of another statement. Nothing was written then.
 */
async function retried(act: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 1; ; tries += 1)
    try {
      return await act();
    } catch (error) {
      if (tries === MAX_TRIES || sqlState((error as Error).cause) !== SQLSTATE.LOCK_NOT_AVAILABLE) throw error;
    }
}
