/** Runs the verbs in SQLite: acts inside the write queue, reads at once. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Act, type Runner, type Statement, type Tuple, UNDONE } from '../acts.ts';
import { bound, DIALECT } from './sql.ts';
import type { Tables } from './tables.ts';

/** Number of rows after which a reader goes on in another turn of the event loop. */
const MANY_ROWS = 100;

/** Tells whether a demand of an act finds a row, inside a write. */
export function isMet(tables: Tables, { sql, values }: Statement): boolean {
  return tables.tuples(sql)(...values.map(bound)).length > 0;
}

/** Runs a change inside a write; returns how many rows it changed. */
export function change(tables: Tables, { sql, values }: Statement): number {
  return tables.change(sql)(...values.map(bound));
}

/** Runs a change inside a write; returns what it tells of the rows that it changed. */
export function rowsChanged(tables: Tables, { sql, values }: Statement): Tuple[] {
  return tables.changed(sql)(...values.map(bound));
}

/** The runner of these tables. */
export function runnerOn(tables: Tables): Runner {
  const run = ({ demands = [], first, rest = [], event }: Act): boolean => {
    if (!demands.every((demand) => isMet(tables, demand))) return false;
    if (first && change(tables, first) !== 1) return false;
    for (const step of rest) change(tables, step);
    tables.record(event);
    return true;
  };
  return {
    dialect: DIALECT,
    search({ sql, read, restsOn }) {
      const find = tables.tuple(sql);
      return async (key) => {
        const row = find(key);
        if (!row) return tables.onDisk('all', null);
        const found = read(row);
        return tables.onDisk(restsOn(found), found);
      };
    },
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
      await tables.write(touches, () => demands.every((demand) => isMet(tables, demand)) && change(tables, statement));
    },
    changeOne: (touches, statement) => tables.write(touches, () => change(tables, statement) === 1),
    record: (event) => tables.write([], () => tables.record(event)),
  };
}
