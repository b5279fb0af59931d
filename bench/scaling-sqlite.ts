/** What a grant costs in SQLite: a file on the project's disk, filled by SQL and worked by the real store. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../src/storage/sqlite/open.ts';
import {
  accountId,
  clientId,
  grantId,
  inFlight,
  issue,
  keyring,
  type MadeUp,
  madeUp,
  markdown,
  newGrant,
  next,
  redirectUri,
  some,
} from './scaling-store.ts';

/** So many of each operation. */
const OPERATIONS = 20_000;

/** Measures with so many grants, and answers tables. */
export async function measureSqlite(grants: number): Promise<string> {
  const cache = join(import.meta.dirname, '../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'scaling-'));
  try {
    const path = join(folder, 'valetkey.db');
    const rows = madeUp(grants, Date.now() - grants - 1000);
    await (await open(path)).close();
    fill(path, rows);
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
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function open(path: string) {
  const onFailure = (error: Error) => {
    throw error;
  };
  return openSqlite({ path, keyring, now: Date.now, role: 'service', durability: 'awaited', migrate: true, onFailure });
}

/** The rows of `madeUp`, with the names of their columns. */
function fill(path: string, made: MadeUp): void {
  const { grants, accounts, clients, since, keyId, scope, challenge, phc } = made;
  const database = new DatabaseSync(path);
  const insert = (
    table: string,
    count: number,
    row: (n: number) => Record<string, string | number | Uint8Array | null>,
  ) => {
    const names = Object.keys(row(0));
    const statement = database.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map((name) => `:${name}`)})`);
    database.exec('BEGIN');
    for (let n = 0; n < count; n += 1) statement.run(row(n));
    database.exec('COMMIT');
  };
  insert('client', clients, (n) => ({
    id: clientId(n),
    epoch: 0,
    status: 'active',
    type: 'confidential',
    name: `App ${n}`,
    require_pkce: 0,
    created_at: since,
    secrets: '[]',
    redirect_uris: JSON.stringify([redirectUri(n)]),
    scopes: '{}',
  }));
  insert('account', accounts, (n) => ({
    id: accountId(n),
    epoch: 0,
    status: 'active',
    email: `user-${n}@mail.example.com`,
    email_key: `user-${n}@mail.example.com`,
    username: `user${n}`,
    name: 'Ada Example',
    is_operator: 0,
    password_phc: phc,
    password_key_id: keyId,
    created_at: since,
  }));
  insert('oauth_grant', grants, (n) => ({
    id: grantId(n, made),
    client_id: clientId(n % clients),
    resource_owner_id: accountId((n * 7919) % accounts),
    installation_epoch: 0,
    client_epoch: 0,
    resource_owner_epoch: 0,
    generation: 1,
    key_id: keyId,
    rotated_at: since + n,
    access_token_expires_at: since + n + 1_800_000,
    expires_at: since + n + 2_592_000_000,
    used_generation: 1,
    last_used_at: since + n,
    granted_at: since + n,
    absolute_expires_at: since + n + 31_536_000_000,
    seed: grantId(n, made),
    scope,
    redirect_uri: redirectUri(n % clients),
    code_challenge: challenge,
  }));
  database.close();
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
  const { store, close } = await open(path);
  const ids = some(
    Array.from({ length: rows.grants }, (_, n) => grantId(n, rows)),
    2 * OPERATIONS,
  );
  const fresh = Array.from({ length: OPERATIONS }, () => newGrant(rows, Date.now()));
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
