/** Runs the cold verbs in SQLite: acts inside the write queue, reads at once. */
import type { SQLInputValue } from 'node:sqlite';
import type { Runner, Statement } from '../acts.ts';
import type { Stored } from '../tables/table.ts';
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
    act: ({ touches, event, first, then = [] }) =>
      tables.act(touches, event, () => {
        if (change(first) !== 1) return false;
        for (const step of then) change(step);
        return true;
      }),
    async change(touches, statement) {
      await tables.write(touches, () => change(statement));
    },
    record: (event) => tables.record(event),
  };
}

/** Parameters are `?1` here; and no row is locked, since whoever writes is alone. */
export function inSqlite(sql: string): string {
  return sql.replaceAll(/\$(\d+)/g, '?$1').replace(/ FOR SHARE$/, '');
}

function bound(value: Stored): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : value;
}
