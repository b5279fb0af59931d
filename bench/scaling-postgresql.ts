/** What a grant costs in PostgreSQL: a real server with synced commits, filled by SQL and worked by the real store. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresql } from '../src/storage/postgresql/open.ts';
import type { Store } from '../src/storage/tables/whole-store.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { type Ask, fill } from './scaling-postgresql-fill.ts';
import {
  beginning,
  grantId,
  inFlight,
  issue,
  keyring,
  type MadeUp,
  madeUp,
  markdown,
  next,
  some,
  someGrant,
} from './scaling-store.ts';

/** Requests of each operation, 64 at a time. */
const OPERATIONS = 20_000;
/** Requests of each operation, one at a time. */
const ALONE = 2000;
const USER_TICKS_PER_SECOND = 100;

type Found = Awaited<ReturnType<Store['findGrant']>>;

/** Measures with so many grants, and returns tables. Whole pages are logged after a checkpoint only if `fullPages`. */
export async function measurePostgresql(grants: number, fullPages: boolean): Promise<string> {
  const rows = madeUp(grants, Date.now() - grants - 1000);
  return onServer({ full_page_writes: fullPages ? 'on' : 'off', max_wal_size: '8GB' }, async (url, ask) => {
    await fill(ask, rows);
    const sizes = await sizesOf(ask);
    const costs = await costsOf(url, ask, rows, fullPages);
    const after = await sizesOf(ask);
    const [versions] = await ask<{ updated: number; hot: number }>(
      "SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'oauth_grant'",
    );
    const [event] = await ask<{ bytes: number }>(
      "SELECT (pg_total_relation_size('audit_event') / count(*))::int AS bytes FROM audit_event",
    );
    return [
      `PostgreSQL, ${grants} grants of ${rows.accounts} accounts, full_page_writes ${fullPages ? 'on' : 'off'}: bytes`,
      markdown(
        ['', 'filled', 'after all below'],
        sizes.map(([name, bytes], at) => [name, bytes, after[at]?.[1] ?? '']),
      ),
      costs,
      `HOT: ${versions?.hot} of ${versions?.updated} updates; an audit event with its indexes: ${event?.bytes} bytes`,
    ].join('\n\n');
  });
}

/** A server whose commits are synced, with the schema in a new database. */
export async function onServer<T>(
  settings: Readonly<Record<string, string>>,
  work: (url: string, ask: Ask) => Promise<T>,
): Promise<T> {
  const server = await startPostgres({ fsync: 'on', shared_buffers: '2GB', ...settings });
  try {
    const url = await server.createDatabase();
    await (await open(url)).close();
    return await work(url, (sql, values) => server.query(url, sql, values));
  } finally {
    await server.remove();
  }
}

/** Opens the real store. */
export function open(url: string) {
  return openPostgresql({ ...beginning, url, keyring, role: 'service', migrate: true });
}

async function costsOf(url: string, ask: Ask, rows: MadeUp, fullPages: boolean): Promise<string> {
  const { store, now, close } = await open(url);
  const ids = some(
    Array.from({ length: rows.grants }, (_, n) => grantId(n, rows)),
    3 * OPERATIONS + ALONE,
  );
  const [one, two, three] = [0, 1, 2].map((part) => ids.slice(part * OPERATIONS, (part + 1) * OPERATIONS));
  const alone = ids.slice(-ALONE);
  const fresh = Array.from({ length: OPERATIONS }, () => someGrant(rows, now()));
  const rotate = (id: Buffer) => done(store.rotateRefreshToken(next(id, 2, now())));
  const lines: string[][] = [];
  const cost = async <T>(name: string, things: readonly T[] = [], act: (thing: T) => Promise<unknown>, atOnce = 64) => {
    await ask('CHECKPOINT');
    lines.push([name, ...(await costOf(ask, things.length, () => inFlight(things, act, atOnce)))]);
  };

  await inFlight(ids, (id) => store.findGrant(id));
  await cost('check', ids, (id) => store.findGrant(id));
  await cost('rotate', one, rotate);
  const used = await inFlight(two ?? [], (id) => store.findGrant(id));
  await ask('CHECKPOINT');
  lines.push(['use mark', ...(await costOf(ask, used.length, () => mark(ask, store, used, now())))]);
  await cost('issue', fresh, (grant) => issue(store, grant));
  await cost('redeem', fresh, ({ id }) => done(store.redeemAuthorizationCode(next(id, 1, now()))));
  if (fullPages) {
    await ask("ALTER SYSTEM SET wal_compression = 'on'");
    await ask('SELECT pg_reload_conf()');
    await sleep(500);
    await cost('rotate, wal_compression', three, rotate);
  }
  await cost('check, one at a time', alone, (id) => store.findGrant(id), 1);
  await cost('rotate, one at a time', alone, rotate, 1);
  const memory = await memoryOf(ask);
  await close();
  const head = ['64 at a time', 'a second', 'WAL bytes', 'in a transaction', 'CPU µs here', 'CPU µs there'];
  return `${markdown(head, lines)}\n\n${memory}`;
}

/** Names of what takes space, with its bytes for each grant (for each account, what accounts take). */
async function sizesOf(ask: Ask): Promise<[string, string][]> {
  const rows = await ask<{ name: string; bytes: number }>(
    `WITH grants AS (SELECT count(*) AS number, avg(pg_column_size(oauth_grant.*)) AS width FROM oauth_grant)
     SELECT 1 AS place, 'a row (pg_column_size)' AS name, width::float8 AS bytes FROM grants
     UNION ALL SELECT 2, 'the table, fillfactor 70', pg_table_size('oauth_grant')::float8 / number FROM grants
     UNION ALL SELECT 3, 'index ' || relname, pg_relation_size(indexrelid)::float8 / number
       FROM grants, pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = 'oauth_grant'::regclass
     UNION ALL SELECT 4, 'a grant, all of it', pg_total_relation_size('oauth_grant')::float8 / number FROM grants
     UNION ALL SELECT 5, 'an account, all of it', pg_total_relation_size('account')::float8 / count(*) FROM account
     ORDER BY place, name`,
  );
  return rows.map(({ name, bytes }) => [name, bytes.toFixed(0)]);
}

/** What each of so many requests costs, as cells. */
export async function costOf(ask: Ask, count: number, act: () => Promise<unknown>): Promise<string[]> {
  const before = await usage(ask);
  const [cpu, start] = [process.cpuUsage(), performance.now()];
  await act();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const after = await usage(ask);
  const transactions = after.transactions - before.transactions;
  return [
    (count / seconds).toFixed(0),
    ((after.wal - before.wal) / count).toFixed(0),
    transactions > 1 ? (count / transactions).toFixed(0) : '',
    ((user + system) / count).toFixed(0),
    ((after.cpu - before.cpu) / count).toFixed(0),
  ];
}

/** What the server has used so far: bytes of its log, transactions that wrote, and CPU time of all its processes (µs). */
async function usage(ask: Ask): Promise<{ wal: number; transactions: number; cpu: number }> {
  const [used] = await ask<{ wal: number; transactions: number; pids: number[] }>(
    `SELECT (pg_current_wal_lsn() - '0/0')::float8 AS wal, pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS transactions,
       (SELECT array_agg(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()) AS pids`,
  );
  const { wal, transactions, pids } = used ?? { wal: 0, transactions: 0, pids: [] };
  return { wal, transactions, cpu: pids.reduce((sum, pid) => sum + cpuOf(pid), 0) };
}

/** User and system time of a process so far in µs, as Linux counts it; 0 elsewhere. */
function cpuOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return ((Number(fields[11]) + Number(fields[12])) / USER_TICKS_PER_SECOND) * 1e6;
  } catch {
    return 0;
  }
}

/** The store's connections, and what each takes for itself. */
async function memoryOf(ask: Ask): Promise<string> {
  const pids = await ask<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'valetkey%'");
  try {
    const own = pids.map(({ pid }) => {
      const said = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      return [...said.matchAll(/^Private_\w+: +(\d+) kB/gm)].reduce((sum, [, kB]) => sum + Number(kB), 0);
    });
    return `${pids.length} connections, ${(Math.max(...own) / 1024).toFixed(1)} MB of its own at most`;
  } catch {
    return `${pids.length} connections`;
  }
}

/** Notes uses, and waits until they are all written. */
async function mark(ask: Ask, store: Store, used: readonly Found[], at: number): Promise<void> {
  for (const found of used) if (found) store.noteUse(found.grant, { generation: 2, usedAt: at });
  const written = 'SELECT count(*)::int AS number FROM oauth_grant WHERE used_generation = 2';
  while (((await ask<{ number: number }>(written))[0]?.number ?? 0) < used.length) await sleep(250);
}

async function done(transition: Promise<unknown>): Promise<void> {
  if (!(await transition)) throw new Error('a transition did not happen');
}
