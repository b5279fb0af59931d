/** What is cleaned up in SQLite. A dead row never comes back to life, so that any number of processes may walk at the same time. */
import { sessionExpiresAt } from '../../accounts/session.ts';
import { CleanUp, HOUR_MS, KEPT_MS, type Walk } from '../clean-up.ts';
import { rowKey } from '../row-key.ts';
import type { StoredTable } from '../tables/all.ts';
import { EXTERNAL_SIGN_IN } from '../tables/external-sign-ins.ts';
import { HAS_ITS_EPOCHS } from '../tables/grants.ts';
import { FORMER_IDENTITY } from '../tables/identities.ts';
import { SESSION } from '../tables/sessions.ts';
import { asBuffer } from '../tables/table.ts';
import { assertionClearing } from './client-assertions.ts';
import type { Tables } from './tables.ts';

/** Number of rows that a step reads. Even among 10,000,000 grants it blocks the event loop for less than 1 ms. */
export const WINDOW = 64;
/** Maximum number of rows that a step deletes. */
export const DELETIONS = 8;

/** The key of a row. */
type Key = Uint8Array | string;

/** The clean-up of one database. Times in ms. */
export function cleanUpOf(tables: Tables, now: () => number): CleanUp<Key> {
  return new CleanUp({
    walks: [
      grantWalk(tables),
      sessionWalk(tables),
      // After an hour, and not a day: it says who signed in, and where they were going.
      timeWalk(tables, EXTERNAL_SIGN_IN, 'nonce', 'expires_at', HOUR_MS),
      timeWalk(tables, FORMER_IDENTITY, 'id', 'ended_at', KEPT_MS),
    ],
    deletions: DELETIONS,
    stepEvery: 30,
    busyStepEvery: 6,
    marksAtOnce: 64,
    clearMarks: assertionClearing(tables),
    now,
  });
}

function grantWalk(tables: Tables): Walk<Key> {
  const dead = `(revoked_at < ? OR expires_at < ? OR NOT ${HAS_ITS_EPOCHS})`;
  const window = tables.one<{ last: Uint8Array | null; seen: number }>(
    'SELECT max(id) AS last, count(*) AS seen FROM (SELECT id FROM oauth_grant WHERE id > ? ORDER BY id LIMIT ?)',
  );
  const find = tables.all<{ id: Uint8Array }>(
    `SELECT id FROM oauth_grant WHERE id > ? AND id <= ? AND ${dead} ORDER BY id LIMIT ?`,
  );
  const remove = tables.change(`DELETE FROM oauth_grant WHERE id = ? AND ${dead}`);
  return {
    async scan(place, before) {
      const after = place ?? new Uint8Array();
      const { last, seen } = window(after, WINDOW) ?? { last: null, seen: 0 };
      const rows = last ? find(after, last, before, before, DELETIONS + 1) : [];
      return { seen, dead: rows.map(({ id }) => id), last: seen < WINDOW ? null : last };
    },
    remove: removing(tables, (id, before) => remove(id, before, before)),
  };
}

function sessionWalk(tables: Tables): Walk<Key> {
  const window = tables.tuples(`SELECT ${SESSION.names} FROM session WHERE digest > ? ORDER BY digest LIMIT ?`);
  const find = tables.tuple<readonly unknown[]>(`SELECT ${SESSION.names} FROM session WHERE digest = ?`);
  const remove = tables.change('DELETE FROM session WHERE digest = ?');
  return {
    async scan(place, before) {
      const rows = window(place ?? new Uint8Array(), WINDOW).map((row) => SESSION.read(row));
      const dead = rows.filter((row) => sessionExpiresAt(row) < before).map(({ digest }) => digest);
      return { seen: rows.length, dead, last: rows[WINDOW - 1]?.digest ?? null };
    },
    remove: removing(tables, (digest, before) => {
      const row = find(digest);
      return row && sessionExpiresAt(SESSION.read(row)) < before ? remove(digest) : 0;
    }),
  };
}

/** Rows that are dead `kept` ms after the time in a column. */
function timeWalk(tables: Tables, { name }: StoredTable, key: string, time: string, kept: number): Walk<Key> {
  type Row = { readonly key: Key; readonly time: number };
  const window = tables.all<Row>(
    `SELECT ${key} AS key, ${time} AS time FROM ${name} WHERE ${key} > ? ORDER BY ${key} LIMIT ?`,
  );
  const remove = tables.change(`DELETE FROM ${name} WHERE ${key} = ? AND ${time} < ?`);
  const over = (before: number) => before + KEPT_MS - kept;
  return {
    async scan(place, before) {
      const rows = window(place ?? '', WINDOW);
      const dead = rows.filter((row) => row.time < over(before)).map((row) => row.key);
      return { seen: rows.length, dead, last: rows[WINDOW - 1]?.key ?? null };
    },
    remove: removing(tables, (key, before) => remove(key, over(before))),
  };
}

function removing(tables: Tables, remove: (key: Key, before: number) => number): Walk<Key>['remove'] {
  return (doomed, before) =>
    tables.write(
      doomed.map((key) => (typeof key === 'string' ? key : rowKey(asBuffer(key)))),
      () => doomed.reduce((sum, key) => sum + remove(key, before), 0),
    );
}
