/** Marks of used client assertions in SQLite: made once, counted for each client, and cleared away as soon as they expired. */
import { type AssertionUse, isCleared, type UsedAssertion } from '../../oauth/clients/client-assertion.ts';
import type { Tables } from './tables.ts';

/** A mark whose assertion has expired. */
type Expired = readonly [digest: Uint8Array, clientId: string, expiresAt: number];

/** The port's `useClientAssertion` on these tables. */
export function assertionMarking(tables: Tables): (assertion: UsedAssertion, most: number) => Promise<AssertionUse> {
  const find = tables.tuple('SELECT 1 FROM client_assertion WHERE digest = ?');
  const total = tables.tuple<readonly [number, number]>(
    'SELECT marks, cleared_until FROM client_assertion_total WHERE client_id = ?',
  );
  const insert = tables.change('INSERT INTO client_assertion (digest, client_id, expires_at) VALUES (?, ?, ?)');
  const count = tables.change(
    `INSERT INTO client_assertion_total (client_id, marks, cleared_until) VALUES (?, 1, 0)
     ON CONFLICT (client_id) DO UPDATE SET marks = marks + 1`,
  );
  const use = ({ clientId, digest, expiresAt }: UsedAssertion, most: number): AssertionUse => {
    if (find(digest)) return 'again';
    const [marks, clearedUntil] = total(clientId) ?? [0, 0];
    if (isCleared(expiresAt, clearedUntil)) return 'cleared';
    if (marks >= most) return 'full';
    insert(digest, clientId, expiresAt);
    count(clientId);
    return 'first';
  };
  return (assertion, most) => tables.write([], () => use(assertion, most));
}

/** Clears away up to `most` marks whose assertions expired before a time (ms); returns how many. */
export function assertionClearing(tables: Tables): (before: number, most: number) => Promise<number> {
  const look = tables.tuples<Expired>(
    'SELECT digest, client_id, expires_at FROM client_assertion WHERE expires_at < ? ORDER BY expires_at LIMIT ?',
  );
  const remove = tables.change('DELETE FROM client_assertion WHERE digest = ?');
  const uncount = tables.change(
    `UPDATE client_assertion_total SET marks = max(marks - ?, 0), cleared_until = max(cleared_until, ?)
     WHERE client_id = ?`,
  );
  return async (before, most) => {
    const expired = look(before, most);
    if (expired.length === 0) return 0;
    return tables.write([], () => {
      for (const [digest, clientId, expiresAt] of expired) uncount(remove(digest), expiresAt, clientId);
      return expired.length;
    });
  };
}
