/** Runs the cold verbs in SQLite: acts inside the write queue, reads at once. */
import type { Runner, Statement } from '../acts.ts';
import { bound, inSqlite } from './sql.ts';
import type { Query, Tables } from './tables.ts';

/** The runner of these tables. */
export function runnerOn(tables: Tables): Runner {
  const changes = new Map<string, Query<number>>();
  const change = ({ sql, values }: Statement): number => {
    const prepared = changes.get(sql) ?? tables.change(inSqlite(sql));
    changes.set(sql, prepared);
    return prepared(...values.map(bound));
  };
  return {
    async select({ sql, values }, restsOn) {
      const rows = tables.tuples<readonly unknown[]>(inSqlite(sql))(...values.map(bound));
      return tables.onDisk(typeof restsOn === 'function' ? restsOn(rows) : restsOn, rows);
    },
    act: ({ touches, event, first, rest = [] }) =>
      tables.act(touches, event, () => {
        if (change(first) !== 1) return false;
        for (const step of rest) change(step);
        return true;
      }),
    async change(touches, statement) {
      await tables.write(touches, () => change(statement));
    },
    record: (event) => tables.record(event),
  };
}
