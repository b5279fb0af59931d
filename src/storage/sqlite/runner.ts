/** Runs the cold verbs in SQLite: acts inside the write queue, reads at once. */
import { type Act, type Runner, type Statement, UNDONE } from '../acts.ts';
import { bound, inSqlite, type Query } from './sql.ts';
import type { Tables } from './tables.ts';

/** The runner of these tables. */
export function runnerOn(tables: Tables): Runner {
  const changes = new Map<string, Query<number>>();
  const change = ({ sql, values }: Statement): number => {
    const prepared = changes.get(sql) ?? tables.change(inSqlite(sql));
    changes.set(sql, prepared);
    return prepared(...values.map(bound));
  };
  const run = ({ first, rest = [] }: Act): boolean => {
    if (change(first) !== 1) return false;
    for (const step of rest) change(step);
    return true;
  };
  return {
    async select({ sql, values }, restsOn) {
      const rows = tables.tuples<readonly unknown[]>(inSqlite(sql))(...values.map(bound));
      return tables.onDisk(typeof restsOn === 'function' ? restsOn(rows) : restsOn, rows);
    },
    act: (act) => tables.act(act.touches, act.event, () => run(act)),
    async actAll(acts) {
      const touches = acts.flatMap((act) => act.touches);
      const events = acts.map(({ event }) => event);
      try {
        await tables.actAll(touches, events, () => {
          for (const act of acts) if (!run(act)) throw UNDONE;
        });
        return true;
      } catch (error) {
        if (error !== UNDONE) throw error;
        return false;
      }
    },
    async change(touches, statement) {
      await tables.write(touches, () => change(statement));
    },
    record: (event) => tables.record(event),
  };
}
