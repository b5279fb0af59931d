/** Runs the cold verbs in PostgreSQL: each act in one transaction. */
import type { Runner } from '../acts.ts';
import type { Database } from './database.ts';

/** The runner of a database. */
export function runnerOn(database: Database): Runner {
  return {
    select: ({ sql, values }) => database.run((connection) => connection.tuples(sql, values)),
    act: ({ event, first, then = [] }) =>
      database.act(event, async (connection) => {
        if ((await connection.change(first.sql, first.values)) !== 1) return false;
        for (const { sql, values } of then) await connection.change(sql, values);
        return true;
      }),
    async change(_touches, { sql, values }) {
      await database.change(sql, values);
    },
    record: (event) => database.record(event),
  };
}
