/**
 * Counters of guesses that all instances share. Their table is unlogged, so a crash of the server resets them: all
 * limits begin again, those of minutes and those of a browser's mark alike (decision 0039).
 */
import { hash } from 'node:crypto';
import type { SharedCounters } from '../../../accounts/guessing/throttle.ts';
import { Table } from '../../statements/table.ts';
import { Batches } from '../statements/batches.ts';
import type { Database } from '../statements/database.ts';
import { arraysOf, givenRows } from '../statements/postgresql-dialect.ts';

type Move = { readonly key: Buffer; readonly by: number; readonly now: number };

/** A stored counter, by the digest of its key. */
export const COUNTER = Table.of<{ readonly key: Buffer; readonly arrivesAt: number }>('throttle', {
  key: 'bytes',
  arrivesAt: 'time',
});

/**
 * A counter without a row, or with a past time, begins now. `Batches` sorts the moves by key, and the statement applies
 * them in this order.
 */
const MOVE = `
  INSERT INTO throttle AS counter (key, arrives_at)
  SELECT ${COUNTER.names} FROM ${givenRows(COUNTER)}
  ON CONFLICT (key) DO UPDATE SET arrives_at =
    least(greatest(counter.arrives_at, $3) + excluded.arrives_at - $3, $3 + $4)
  RETURNING encode(key, 'hex') AS key, arrives_at`;

/** Returns the counters of a database. */
export function sharedCounters(database: Database): SharedCounters {
  /** Batches by `most`, of which each limit has one; a batch has one limit and one time. */
  const batches = new Map<number, Batches<Move, number>>();
  const batchesFor = (most: number): Batches<Move, number> => {
    const known = batches.get(most);
    if (known) return known;
    const made = new Batches<Move, number>({
      connections: database.writes,
      locks: { table: 'throttle', key: 'key', rowOf: ({ key }) => `\\x${key.toString('hex')}`, waits: database.waits },
      keyOf: ({ key }) => key.toString('hex'),
      async send(connection, moves) {
        const now = Math.max(...moves.map((move) => move.now));
        const moved = arraysOf(
          COUNTER,
          moves.map(({ key, by }) => ({ key, arrivesAt: now + by })),
        );
        const rows = await connection.rows<{ key: string; arrives_at: number }>(MOVE, [...moved, now, most]);
        const arrivals = new Map(rows.map(({ key, arrives_at }) => [key, arrives_at]));
        return moves.map(({ key }) => arrivals.get(key.toString('hex')) ?? now);
      },
    });
    batches.set(most, made);
    return made;
  };
  return {
    // A digest, so that a row is small and discloses no address or name.
    move: (key, by, most, now) => batchesFor(most).add({ key: hash('sha256', key, 'buffer'), by, now }),
  };
}
