/** The databases of bench/growth.ts: made by the real migrations, filled by SQL, changed by SQL between measurements. */
import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { ResourceServerRegistry } from '../src/operator/products-and-apis/resource-server-registry.ts';
import { InstallationError } from '../src/process/installation-error.ts';
import type { Filled } from './fill.ts';
import { fill, openDatabase } from './scaling-sqlite.ts';
import { filledGrant, grantId, keyring, type MadeUp, madeUp, PREFIX } from './scaling-store.ts';

/** A database with its grants, and an API that may introspect their tokens. */
export type FilledDatabase = {
  readonly path: string;
  readonly made: MadeUp;
  readonly resourceServer: Filled['resourceServer'];
};

const OPERATOR = { kind: 'operator', id: 'bench', source: null, requestId: null } as const;
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
/** Many more than people have, so that among few grants, too, there are enough to exchange. */
const CODE_EVERY = 4;
/** With what belongs to it, and its share of the WAL while the database is filled. */
const BYTES_PER_GRANT = 800;
/** For the log of the service and whatever else. */
const RESERVE_BYTES = 2e9;
/** Rows that share a commit, as in the service, so that none makes the WAL longer than the service does. */
const ROWS_PER_COMMIT = 256;
const MB = 1e6;

/** Throws `InstallationError` unless the disk of a folder has space for so many grants. */
export async function requireSpace(folder: string, grants: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const [free, needed] = [bavail * bsize, grants * BYTES_PER_GRANT + RESERVE_BYTES];
  if (free >= needed) return;
  const gb = (bytes: number) => (bytes / 1e9).toFixed(1);
  throw new InstallationError({
    problem: `${grants.toLocaleString('en')} grants need ${gb(needed)} GB of disk, and ${gb(free)} GB are free`,
    remedy: 'make space, or ask for fewer with --grants',
  });
}

/** Makes a database with so many grants; all of it is on disk then. */
export async function makeDatabase(
  path: string,
  grants: number,
  report: (line: string) => void,
): Promise<FilledDatabase> {
  const now = Date.now();
  // An hour ago: with few grants, too, all were used so long ago that the next use is marked.
  const made = madeUp(grants, now - grants - HOUR_MS, { codeEvery: CODE_EVERY, usableUntil: now + DAY_MS });
  const { store, close } = await openDatabase(path);
  const parts = { store, keyring, prefix: PREFIX, ownResource: 'http://127.0.0.1', now: Date.now };
  const servers = new ResourceServerRegistry(parts);
  const { row: resourceServer, secret } = await servers.register(
    { name: 'Bench API', resource: null, scopes: null },
    OPERATOR,
  );
  await close();
  await fill(path, made, (table, rows) => {
    if (table === 'oauth_grant') report(`${rows.toLocaleString('en')} filled in`);
  });
  return { path, made, resourceServer: { id: resourceServer.id, secret } };
}

/** Makes codes of some grants that were exchanged, as they were filled in. A service may run, but must not be asked. */
export function putBack({ path, made }: FilledDatabase, codes: readonly number[]): void {
  const sql = `UPDATE oauth_grant SET generation = 0, used_generation = 0, rotated_at = ?,
    access_token_expires_at = NULL, expires_at = ?, last_used_at = NULL WHERE id = ?`;
  change(path, sql, codes, (n) => {
    const { id, rotatedAt, expiresAt } = filledGrant(n, made);
    return [rotatedAt, expiresAt, id];
  });
}

/** Has some grants expired for so long that they are cleared away. */
export function expire({ path, made }: FilledDatabase, numbers: readonly number[]): void {
  const longAgo = made.since - 2 * DAY_MS;
  change(path, 'UPDATE oauth_grant SET expires_at = ? WHERE id = ?', numbers, (n) => [longAgo, grantId(n, made)]);
}

function change(path: string, sql: string, numbers: readonly number[], values: (n: number) => SQLInputValue[]): void {
  const database = new DatabaseSync(path, { timeout: 5000 });
  const statement = database.prepare(sql);
  for (let done = 0; done < numbers.length; done += ROWS_PER_COMMIT) {
    database.exec('BEGIN IMMEDIATE');
    for (const n of numbers.slice(done, done + ROWS_PER_COMMIT)) statement.run(...values(n));
    database.exec('COMMIT');
  }
  // Or the next to write would have to do it, and be measured.
  database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  database.close();
}

/** Looks at the size of a file ten times a second until `stop`; `megabytes` answers the largest that it had, in MB. */
export function watchLargest(path: string): { megabytes(): number; stop(): void } {
  let largest = 0;
  const timer = setInterval(() => {
    largest = Math.max(largest, megabytesOf(path));
  }, 100);
  return { megabytes: () => largest, stop: () => clearInterval(timer) };
}

/** The size of a file in MB; 0 when it is not there. */
export function megabytesOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / MB;
}
