/**
 * Replay marks of client assertions in PostgreSQL: inserted once, counted for each client, and deleted once expired.
 * Every insertion or deletion of a client's marks locks the row of its total first; for several clients, in the order
 * of their ids. So no mark is counted twice, no client exceeds its maximum, and no two statements deadlock.
 */
import { randomBytes } from 'node:crypto';
import {
  type AssertionUse,
  CLEARED_COUNTS_FOR_MS,
  type UsedAssertion,
} from '../../../oauth/clients/client-assertion.ts';
import { Table } from '../../statements/table.ts';
import { CLIENT_ASSERTION } from '../../tables/registrations/client-assertions.ts';
import type { Connection } from '../connection/connection.ts';
import { Batches } from '../statements/batches.ts';
import type { Database } from '../statements/database.ts';
import { arraysOf, givenRows } from '../statements/postgresql-dialect.ts';

/** A use, identified by its attempt; `most` is the client's maximum number of marks. */
type Asked = UsedAssertion & { readonly attempt: Buffer; readonly most: number };
const ASKED = CLIENT_ASSERTION.and(
  Table.of<Pick<Asked, 'attempt' | 'most'>>('asked', { attempt: 'uuid', most: 'integer' }),
);

const HOLD = `
  INSERT INTO client_assertion_total AS total (client_id, marks, cleared_until)
  SELECT DISTINCT client_id, 0, 0 FROM unnest($1::text[]) AS asked (client_id) ORDER BY client_id
  ON CONFLICT (client_id) DO UPDATE SET marks = total.marks`;

/**
 * If a request finds a mark with its own attempt, its earlier attempt inserted that mark. New marks count up to the
 * client's maximum.
 */
const USE = `
  WITH asked AS (
    SELECT asked.*, used.attempt AS made_by, total.marks,
      expires_at <= total.cleared_until AND total.cleared_until <= expires_at + ${CLEARED_COUNTS_FOR_MS} AS is_cleared
    FROM ${givenRows(ASKED)}
    JOIN client_assertion_total AS total USING (client_id)
    LEFT JOIN (SELECT digest, attempt FROM client_assertion) AS used USING (digest)
  ), judged AS (
    SELECT *, CASE
      WHEN made_by = attempt THEN 'first'
      WHEN made_by IS NOT NULL THEN 'again'
      WHEN is_cleared THEN 'cleared'
      WHEN marks + row_number() OVER (PARTITION BY client_id, made_by IS NULL, is_cleared ORDER BY digest) > most THEN 'full'
      ELSE 'first'
    END AS became FROM asked
  ), made AS (
    INSERT INTO client_assertion (digest, client_id, expires_at, attempt)
    SELECT digest, client_id, expires_at, attempt FROM judged WHERE became = 'first' AND made_by IS NULL
    RETURNING client_id
  ), counted AS (
    UPDATE client_assertion_total AS total SET marks = total.marks + new.marks
    FROM (SELECT client_id, count(*) AS marks FROM made GROUP BY client_id) AS new
    WHERE total.client_id = new.client_id
  )
  SELECT encode(digest, 'hex') AS digest, became FROM judged`;

const EXPIRED_CLIENTS = `
  SELECT DISTINCT client_id FROM (
    SELECT client_id FROM client_assertion WHERE expires_at < $1 ORDER BY expires_at LIMIT $2) AS expired`;

const HOLD_THESE = `
  SELECT 1 FROM client_assertion_total WHERE client_id = ANY ($1) ORDER BY client_id FOR NO KEY UPDATE`;

const CLEAR = `
  WITH expired AS (
    DELETE FROM client_assertion WHERE digest IN (
      SELECT digest FROM client_assertion WHERE expires_at < $1 AND client_id = ANY ($3) ORDER BY expires_at LIMIT $2)
    RETURNING client_id, expires_at
  ), counted AS (
    UPDATE client_assertion_total AS total
    SET marks = greatest(total.marks - gone.marks, 0), cleared_until = greatest(total.cleared_until, gone.latest)
    FROM (SELECT client_id, count(*) AS marks, max(expires_at) AS latest FROM expired GROUP BY client_id) AS gone
    WHERE total.client_id = gone.client_id
  )
  SELECT count(*) AS cleared FROM expired`;

/** Implements the port's `useClientAssertion`. */
export function assertionMarking(
  database: Database,
): (assertion: UsedAssertion, most: number) => Promise<AssertionUse> {
  const batches = new Batches<Asked, AssertionUse>({
    connections: database.writes,
    locks: {
      table: 'client_assertion_total',
      key: 'client_id',
      rowOf: ({ clientId }) => clientId,
      waits: database.waits,
    },
    keyOf: ({ digest }) => digest.toString('hex'),
    async send(connection, asked) {
      const judged = await connection.transaction(async () => {
        await connection.change(HOLD, [asked.map(({ clientId }) => clientId)]);
        return connection.rows<{ digest: string; became: AssertionUse }>(USE, arraysOf(ASKED, asked));
      });
      const uses = new Map(judged.map(({ digest, became }) => [digest, became]));
      return asked.map(({ digest }) => uses.get(digest.toString('hex')) ?? 'again');
    },
  });
  return (assertion, most) => batches.add({ ...assertion, attempt: randomBytes(16), most });
}

/** Deletes at most `most` marks whose assertions expired before a time (ms); returns their number. */
export async function clearAssertions(connection: Connection, before: number, most: number): Promise<number> {
  const expired = await connection.rows<{ client_id: string }>(EXPIRED_CLIENTS, [before, most]);
  if (expired.length === 0) return 0;
  const clients = expired.map(({ client_id }) => client_id);
  return connection.transaction(async () => {
    await connection.change(HOLD_THESE, [clients]);
    return (await connection.one<{ cleared: number }>(CLEAR, [before, most, clients]))?.cleared ?? 0;
  });
}
