/** Replay marks of client assertions in SQLite: inserted once, counted for each client, and deleted once expired. */
import { type AssertionUse, isCleared, type UsedAssertion } from '../../../oauth/clients/client-assertion.ts';
import { asBuffer } from '../../statements/table.ts';
import type { Tables } from '../statements/prepared-statements.ts';

/** A replay mark whose assertion has expired. */
type Expired = readonly [digest: Uint8Array, clientId: string, expiresAt: number];

const FIND = 'SELECT 1 FROM client_assertion WHERE digest = $1';
const TOTAL = 'SELECT marks, cleared_until FROM client_assertion_total WHERE client_id = $1';
const INSERT = 'INSERT INTO client_assertion (digest, client_id, expires_at) VALUES ($1, $2, $3)';
const COUNT = `
  INSERT INTO client_assertion_total (client_id, marks, cleared_until) VALUES ($1, 1, 0)
  ON CONFLICT (client_id) DO UPDATE SET marks = marks + 1`;
const EXPIRED = `
  SELECT digest, client_id, expires_at FROM client_assertion WHERE expires_at < $1 ORDER BY expires_at LIMIT $2`;
const DELETE = 'DELETE FROM client_assertion WHERE digest = $1';
const COUNT_DOWN = `
  UPDATE client_assertion_total SET marks = max(marks - $2, 0), cleared_until = max(cleared_until, $3)
  WHERE client_id = $1`;

/** Implements the port's `useClientAssertion` on these tables. */
export function assertionMarking(tables: Tables): (assertion: UsedAssertion, most: number) => Promise<AssertionUse> {
  const use = ({ clientId, digest, expiresAt }: UsedAssertion, most: number): AssertionUse => {
    if (tables.isAny({ sql: FIND, values: [digest] })) return 'again';
    const [total] = tables.rows<readonly [number, number]>({ sql: TOTAL, values: [clientId] });
    const [marks, clearedUntil] = total ?? [0, 0];
    if (isCleared(expiresAt, clearedUntil)) return 'cleared';
    if (marks >= most) return 'full';
    tables.change({ sql: INSERT, values: [digest, clientId, expiresAt] });
    tables.change({ sql: COUNT, values: [clientId] });
    return 'first';
  };
  return (assertion, most) => tables.write([], () => use(assertion, most));
}

/**
 * Returns a function that deletes at most `most` marks whose assertions expired before a time (ms), and returns their
 * number.
 */
export function assertionClearing(tables: Tables): (before: number, most: number) => Promise<number> {
  return async (before, most) => {
    const expired = tables.rows<Expired>({ sql: EXPIRED, values: [before, most] });
    if (expired.length === 0) return 0;
    return tables.write([], () => {
      for (const [digest, clientId, expiresAt] of expired) {
        const deleted = tables.change({ sql: DELETE, values: [asBuffer(digest)] });
        tables.change({ sql: COUNT_DOWN, values: [clientId, deleted, expiresAt] });
      }
      return expired.length;
    });
  };
}
