/** What is cleaned up in SQLite. A dead row never comes back to life, so that any number of processes may walk at the same time. */
import { sessionExpiresAt } from '../../accounts/session.ts';
import { CleanUp, HOUR_MS, KEPT_MS, type Walk } from '../clean-up.ts';
import { rowKey } from '../row-key.ts';
import { HAS_ITS_EPOCHS } from '../tables/grants.ts';
import { SESSION } from '../tables/sessions.ts';
import { asBuffer } from '../tables/table.ts';
import { assertionClearing } from './client-assertions.ts';
import type { Tables } from './tables.ts';

/** Number of rows that a step reads. Even among 10,000,000 grants it blocks the event loop for less than 1 ms. */
export const WINDOW = 64;
/** Maximum number of rows that a step deletes. */
export const DELETIONS = 8;

/** The clean-up of one database. Times in ms. */
export function cleanUpOf(tables: Tables, now: () => number): CleanUp<Uint8Array> {
  return new CleanUp({
    walks: [grantWalk(tables), sessionWalk(tables), externalSignInWalk(tables), formerIdentityWalk(tables)],
    deletions: DELETIONS,
    stepEvery: 30,
    busyStepEvery: 6,
    marksAtOnce: 64,
    clearMarks: assertionClearing(tables),
    now,
  });
}

function grantWalk(tables: Tables): Walk<Uint8Array> {
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

function sessionWalk(tables: Tables): Walk<Uint8Array> {
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

/** Deleted an hour after it expires, and not a day: it says who signed in, and where they were going. */
function externalSignInWalk(tables: Tables): Walk<Uint8Array> {
  type Row = { nonce: Uint8Array; expires_at: number };
  const window = tables.all<Row>(
    'SELECT nonce, expires_at FROM external_sign_in WHERE nonce > ? ORDER BY nonce LIMIT ?',
  );
  const remove = tables.change('DELETE FROM external_sign_in WHERE nonce = ? AND expires_at < ?');
  const over = (before: number) => before + KEPT_MS - HOUR_MS;
  return {
    async scan(place, before) {
      const rows = window(place ?? new Uint8Array(), WINDOW);
      const dead = rows.filter(({ expires_at }) => expires_at < over(before)).map(({ nonce }) => nonce);
      return { seen: rows.length, dead, last: rows[WINDOW - 1]?.nonce ?? null };
    },
    remove: removing(tables, (nonce, before) => remove(nonce, over(before))),
  };
}

function formerIdentityWalk(tables: Tables): Walk<Uint8Array> {
  type Row = { id: string; ended_at: number };
  const window = tables.all<Row>('SELECT id, ended_at FROM former_identity WHERE id > ? ORDER BY id LIMIT ?');
  const remove = tables.change('DELETE FROM former_identity WHERE id = ? AND ended_at < ?');
  return {
    async scan(place, before) {
      const rows = window(textOf(place ?? new Uint8Array()), WINDOW);
      const places = rows.map(({ id }) => Buffer.from(id));
      return {
        seen: rows.length,
        dead: places.filter((_, index) => (rows[index] as Row).ended_at < before),
        last: places[WINDOW - 1] ?? null,
      };
    },
    remove: removing(tables, (place, before) => remove(textOf(place), before)),
  };
}

function textOf(place: Uint8Array): string {
  return asBuffer(place).toString();
}

function removing(tables: Tables, remove: (key: Uint8Array, before: number) => number): Walk<Uint8Array>['remove'] {
  return (doomed, before) =>
    tables.write(
      doomed.map((key) => rowKey(asBuffer(key))),
      () => doomed.reduce((sum, key) => sum + remove(key, before), 0),
    );
}
