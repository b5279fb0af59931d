/** Runs the ports' operations in SQLite: acts inside the write queue, reads immediately. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AccessEnded, type AuditEvent } from '../../../oauth/trail/audit.ts';
import { ChangedSince, DoneBefore } from '../../../oauth/trail/request-conditions.ts';
import { type Act, type Runner, type Statement, UNDONE } from '../../statements/shared-operations.ts';
import { ENDED_ACCESS } from '../../tables/grants/grant-rows.ts';
import { recordingKey } from '../../tables/operators/idempotency-keys.ts';
import { standingOf } from '../../tables/operators/operator-rows.ts';
import { demandsOf } from '../../tables/unchanged-since-etag.ts';
import type { Tables } from './prepared-statements.ts';
import { DIALECT } from './sqlite-dialect.ts';

/** Number of rows from which a read yields to the event loop. */
const MANY_ROWS = 100;

/** Throws `AccessEnded` inside a write, before its effect, unless the actors of its events still have their access. */
function requireStanding(tables: Tables, ...events: readonly AuditEvent[]): void {
  for (const event of events) {
    const standing = standingOf(event);
    if (standing && !tables.isAny(standing)) throw new AccessEnded();
  }
}

/** Ends grants inside a write, and records their access in the event, if there are any; returns their number. */
export function endGrants(tables: Tables, event: AuditEvent, ending: Statement): number {
  requireStanding(tables, event);
  const ended = tables.rows(ending).map((row) => ENDED_ACCESS.read(row));
  if (ended.length > 0) tables.record(event, ended);
  return ended.length;
}

/** Returns the runner of these tables. */
export function runnerOn(tables: Tables): Runner {
  const run = ({ demands = [], first, also = [], rest = [], event }: Act): boolean => {
    const key = recordingKey(event);
    if (!demandsOf(event).every((demand) => tables.isAny(demand))) throw new ChangedSince();
    if (!demands.every((demand) => tables.isAny(demand))) return false;
    if (first && tables.change(first) !== 1) return false;
    if (key && tables.change(key) !== 1) throw new DoneBefore();
    for (const each of also) if (tables.change(each.statement) > 0) tables.record(each.event);
    for (const step of rest) tables.change(step);
    tables.record(event);
    return true;
  };
  return {
    dialect: DIALECT,
    search({ sql, read, restsOn }) {
      tables.prepare(sql);
      return async (key) => {
        const [row] = tables.rows({ sql, values: [key] });
        if (!row) return tables.onDisk('all', null);
        const found = read(row);
        return tables.onDisk(restsOn(found), found);
      };
    },
    async select(statement, restsOn) {
      const rows = tables.rows(statement);
      // Reads are synchronous here, so a scan would otherwise never yield.
      if (rows.length >= MANY_ROWS) await nextTurn();
      return tables.onDisk(typeof restsOn === 'function' ? restsOn(rows) : restsOn, rows);
    },
    act: (act) =>
      tables.write(act.touches, () => {
        requireStanding(tables, act.event);
        return run(act);
      }),
    end: (touches, event, ending, demands = []) =>
      tables.write(
        touches,
        () => demands.every((demand) => tables.isAny(demand)) && endGrants(tables, event, ending) > 0,
      ),
    async actAll(acts) {
      const touches = acts.flatMap((act) => act.touches);
      try {
        await tables.write(touches, () => {
          requireStanding(tables, ...acts.map(({ event }) => event));
          for (const act of acts) if (!run(act)) throw UNDONE;
        });
        return true;
      } catch (error) {
        if (error !== UNDONE) throw error;
        return false;
      }
    },
    async change(touches, statement, demands = []) {
      await tables.write(touches, () => demands.every((demand) => tables.isAny(demand)) && tables.change(statement));
    },
    async changeAll(touches, statements, demands = []) {
      await tables.write(touches, () => {
        if (demands.every((demand) => tables.isAny(demand)))
          for (const statement of statements) tables.change(statement);
      });
    },
    changeOne: (touches, statement) => tables.write(touches, () => tables.change(statement) === 1),
    record: (event) =>
      tables.write([], () => {
        requireStanding(tables, event);
        tables.record(event);
      }),
  };
}
