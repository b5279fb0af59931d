/** Runs the cold verbs in PostgreSQL: each act in one transaction. */
import type { Act, Runner } from '../acts.ts';
import type { Database } from './database.ts';
import { SQLSTATE, sqlState } from './errors.ts';

/** The runner of a database. */
export function runnerOn(database: Database): Runner {
  const act = ({ event, first, rest = [] }: Act) =>
    database.act(event, async (connection) => {
      if ((await connection.change(first.sql, first.values)) !== 1) return false;
      for (const { sql, values } of rest) await connection.change(sql, values);
      return true;
    });
  return {
    select: ({ sql, values }) => database.tuples(sql, values),
    // Another one may take a name after a statement looked for it: a second try finds it there.
    act: (asked) =>
      act(asked).catch((error: unknown) => {
        if (sqlState(error) !== SQLSTATE.UNIQUE_VIOLATION) throw error;
        return act(asked);
      }),
    async change(_touches, { sql, values }) {
      await database.change(sql, values);
    },
    record: (event) => database.record(event),
  };
}
