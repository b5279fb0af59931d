/** Runs the cold verbs in SQLite: acts inside the write queue, reads at once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Act, type Runner, type Statement, UNDONE } from '../acts.ts';
import { bound, DIALECT } from './sql.ts';
import type { Tables } from './tables.ts';

/** Number of rows after which a reader goes on in another turn of the event loop. */
const MANY_ROWS = 100;

/** Tells whether a demand of an act finds a row, inside a write. */
export function isMet(tables: Tables, { sql, values }: Statement): boolean {
  return tables.tuples(sql)(...values.map(bound)).length > 0;
}

/** The runner of these tables. */
export function runnerOn(tables: Tables): Runner {
  const change = ({ sql, values }: Statement) => tables.change(sql)(...values.map(bound));
  const run = ({ demands = [], first, rest = [], event }: Act): boolean => {
    if (!demands.every((demand) => isMet(tables, demand))) return false;
    if (first && change(first) !== 1) return false;
    for (const step of rest) change(step);
    tables.record(event);
    return true;
  };
  return {
    dialect: DIALECT,
    async select({ sql, values }, restsOn) {
      const rows = tables.tuples(sql)(...values.map(bound));
      // Reading waits for nobody here, so whoever walks over windows would keep the event loop.
      if (rows.length >= MANY_ROWS) await nextTurn();
      return tables.onDisk(typeof restsOn === 'function' ? restsOn(rows) : restsOn, rows);
    },
    act: (act) => tables.write(act.touches, () => run(act)),
    async actAll(acts) {
      const touches = acts.flatMap((act) => act.touches);
      try {
        await tables.write(touches, () => {
          for (const act of acts) if (!run(act)) throw UNDONE;
        });
        return true;
      } catch (error) {
        if (error !== UNDONE) throw error;
        return false;
      }
    },
    async change(touches, statement, demands = []) {
      await tables.write(touches, () => demands.every((demand) => isMet(tables, demand)) && change(statement));
    },
    changeOne: (touches, statement) => tables.write(touches, () => change(statement) === 1),
    record: (event) => tables.write([], () => tables.record(event)),
  };
}
