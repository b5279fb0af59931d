/** What a grant costs in SQLite: a file on the project's disk, filled by SQL and worked by the real store. */
import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Account } from '../src/accounts/people/account.ts';
import { SET_HERE } from '../src/accounts/people/new-account.ts';
import type { Client } from '../src/oauth/clients/client.ts';
import { PERSON_FIELDS } from '../src/oauth/grants/person-fields.ts';
import { openSqlite } from '../src/storage/sqlite/open.ts';
import { bound, inSqlite } from '../src/storage/sqlite/statements/sqlite-dialect.ts';
import type { Table } from '../src/storage/statements/table.ts';
import { type AccountSearchKeys, STORED_ACCOUNT } from '../src/storage/tables/accounts/accounts.ts';
import { GRANT } from '../src/storage/tables/grants/grant-rows.ts';
import { STORED_CLIENT, storedClient } from '../src/storage/tables/registrations/clients.ts';
import {
  accountId,
  beginning,
  clientId,
  filledGrant,
  grantId,
  inFlight,
  issue,
  keyring,
  type MadeUp,
  madeUp,
  markdown,
  next,
  redirectUri,
  some,
  someGrant,
} from './scaling-store.ts';

/** Requests of each operation. */
const OPERATIONS = 20_000;

/** Rows that share a transaction. */
const ROWS_AT_ONCE = 500_000;

/** Measures with so many grants, and returns tables. */
export function measureSqlite(grants: number): Promise<string> {
  return withFolder(async (folder) => {
    const path = join(folder, 'valetkey.db');
    const rows = madeUp(grants, Date.now() - grants - 1000);
    await (await openDatabase(path)).close();
    await fill(path, rows);
    const sizes = sizesOf(path);
    const costs = await costsOf(path, rows);
    const after = sizesOf(path);
    return [
      `SQLite, ${grants} grants of ${rows.accounts} accounts: bytes`,
      markdown(
        ['', 'filled', 'after all below'],
        sizes.map(([name, bytes], at) => [name, bytes, after[at]?.[1] ?? '']),
      ),
      costs,
    ].join('\n\n');
  });
}

/** Does something with a new folder on the project's own disk, and removes it then, also when interrupted. */
export async function withFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const cache = join(import.meta.dirname, '../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'scaling-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const interrupt = () => process.exit(1);
  process.once('exit', remove).once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await act(folder);
  } finally {
    remove();
    process.off('exit', remove).off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

/** Opens a database as a service does, with the keys of what is filled in; makes it when it is not there. */
export function openDatabase(path: string) {
  const fail = (what: Error | string) => {
    throw what;
  };
  const how = { role: 'service', durability: 'awaited', migrate: true } as const;
  return openSqlite({ ...beginning, path, keyring, now: Date.now, ...how, report: fail, onFailure: fail });
}

/** What is filled into a table: the values of its nth row. */
type Rows = {
  readonly table: string;
  readonly insertion: string;
  readonly count: number;
  readonly values: (n: number) => SQLInputValue[];
};

/**
 * Fills a database that was just made with the rows of `madeUp`, and resolves when all of it is on disk, and the WAL is
 * empty. `report` is told how many rows of a table there are.
 */
export async function fill(
  path: string,
  made: MadeUp,
  report: (table: string, rows: number) => void = () => {},
): Promise<void> {
  const database = new DatabaseSync(path);
  // Nobody needs half of it after a crash; and a page of an index is written once for all rows of a transaction.
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576');
  const tables: Rows[] = [
    rowsOf(STORED_CLIENT, made.clients, (n) => filledClient(n, made)),
    rowsOf(STORED_ACCOUNT, made.accounts, (n) => filledAccount(n, made)),
    rowsOf(GRANT, made.grants, (n) => filledGrant(n, made)),
  ];
  for (const rows of tables) await insert(database, rows, report);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

async function insert(
  database: DatabaseSync,
  { table, insertion, count, values }: Rows,
  report: (table: string, rows: number) => void,
): Promise<void> {
  const statement = database.prepare(insertion);
  for (let done = 0; done < count; ) {
    const until = Math.min(done + ROWS_AT_ONCE, count);
    database.exec('BEGIN');
    for (; done < until; done += 1) statement.run(...values(done));
    database.exec('COMMIT');
    report(table, done);
    // So that it can be interrupted.
    await setImmediate();
  }
}

function rowsOf<Row extends object>(table: Table<Row>, count: number, row: (n: number) => Row): Rows {
  const values = (n: number) => table.values(row(n)).map(bound);
  return { table: table.name, insertion: inSqlite(table.insertion), count, values };
}

function filledClient(n: number, { since, scope, clientSecret }: MadeUp) {
  const client: Client = {
    id: clientId(n),
    epoch: 0,
    status: 'active',
    type: 'confidential',
    name: `App ${n}`,
    publisher: null,
    homepage: null,
    privacyPage: null,
    contact: null,
    isChecked: false,
    personFields: PERSON_FIELDS,
    requirePkce: false,
    refreshOverlap: null,
    refreshRetryWindow: null,
    createdAt: since,
    remembersSince: null,
    secrets: [clientSecret.secret],
    redirectUris: [redirectUri(n)],
    scopes: scope.split(' ').map((name) => ({ name, sentence: null, optional: false })),
    keys: [],
    consent: 'ask',
    deviceFlow: false,
    assertionAudience: 'any',
    seesExternalId: false,
    signIn: false,
    defaultResource: null,
    documentSha256: null,
    jwksUri: null,
    jwksFetchedAt: null,
    jwksAskedAt: null,
  };
  return storedClient(client);
}

function filledAccount(n: number, { since, keyId, sealedPhc }: MadeUp): Account & AccountSearchKeys {
  const email = `user-${n}@mail.example.com`;
  return {
    id: accountId(n),
    epoch: 0,
    status: 'active',
    email,
    emailKey: email,
    username: `user${n}`,
    name: 'Ada Example',
    avatarUrl: null,
    ...SET_HERE,
    password: { sealedPhc, keyId },
    foreignRank: null,
    isUnwrapped: false,
    passwordSetAt: since,
    mustChangePassword: false,
    invitation: null,
    createdAt: since,
  };
}

/** Names of what takes space, with its bytes for each grant (for each account, what accounts take). */
function sizesOf(path: string): [string, string][] {
  const database = new DatabaseSync(path, { readOnly: true });
  const per = (names: readonly string[], table: string) => {
    const sum = `SELECT sum(pgsize) * 1.0 / (SELECT count(*) FROM ${table}) AS bytes FROM dbstat WHERE name IN (${names.map(() => '?')})`;
    return ((database.prepare(sum).get(...names)?.['bytes'] ?? 0) as number).toFixed(0);
  };
  const indexes = ['grant_by_client', 'grant_by_resource_owner'];
  const sizes: [string, string][] = [
    ['the table, which is in the order of its key', per(['oauth_grant'], 'oauth_grant')],
    ...indexes.map((name): [string, string] => [`index ${name}`, per([name], 'oauth_grant')]),
    ['a grant, all of it', per(['oauth_grant', ...indexes], 'oauth_grant')],
    ['an account, all of it', per(['account', 'sqlite_autoindex_account_2', 'sqlite_autoindex_account_3'], 'account')],
    [
      'an audit event, all of it',
      per(['audit_event', 'audit_event_by_client', 'audit_event_by_resource_owner'], 'audit_event'),
    ],
  ];
  database.close();
  return sizes;
}

async function costsOf(path: string, rows: MadeUp): Promise<string> {
  const { store, close } = await openDatabase(path);
  const ids = some(
    Array.from({ length: rows.grants }, (_, n) => grantId(n, rows)),
    2 * OPERATIONS,
  );
  const fresh = Array.from({ length: OPERATIONS }, () => someGrant(rows, Date.now()));
  const lines: string[][] = [];
  const cost = async <T>(name: string, things: readonly T[], act: (thing: T) => Promise<unknown>) => {
    const [cpu, start] = [process.cpuUsage(), performance.now()];
    await inFlight(things, act);
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    lines.push([name, (things.length / seconds).toFixed(0), ((user + system) / things.length).toFixed(0)]);
  };
  await inFlight(ids, (id) => store.findGrant(id));
  await cost('check', ids, (id) => store.findGrant(id));
  await cost('rotate', ids.slice(0, OPERATIONS), (id) => store.rotateRefreshToken(next(id, 2, Date.now())));
  await cost('issue', fresh, (grant) => issue(store, grant));
  await cost('redeem', fresh, ({ id }) => store.redeemAuthorizationCode(next(id, 1, Date.now())));
  await close();
  return markdown(['64 at a time', 'a second', 'CPU µs'], lines);
}
