/**
 * How long backups and restores take, on both stores, with so many grants: `node bench/restore-time.ts COUNT`. It needs PostgreSQL's tools with
 * a server of their version (/usr/lib/postgresql), and prints a line for each step. The commands are those of docs/runbooks/recovery.md.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeRootKey } from '../src/settings/root-keys.ts';
import { POSTGRES_TOOLS, startPostgresOfTools } from '../test/support/postgres.ts';
import { freePort } from './target.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const MAIN = join(ROOT, 'src/main.ts');
const MAX_OUTPUT = 2 ** 30;

const count = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), 'valetkey-restore-'));
const [app, api] = [await freePort(), await freePort()];
const common = {
  PATH: process.env['PATH'] ?? '',
  VALETKEY_KEYS: makeRootKey(),
  VALETKEY_APP_URL: `http://127.0.0.1:${app}`,
  VALETKEY_API_URL: `http://127.0.0.1:${api}`,
};

async function timed<T>(step: string, act: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await act();
  process.stdout.write(`${step.padEnd(62)}${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s\n`);
  return result;
}

/** Runs a program of this checkout on a database. */
function node(url: string, ...words: string[]) {
  return run(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], {
    ...{ cwd: ROOT, maxBuffer: MAX_OUTPUT, env: { ...common, VALETKEY_DATABASE_URL: url } },
  });
}

/** Starts the service and waits until it is ready; the returned function stops it. */
async function serve(url: string): Promise<() => Promise<unknown>> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'serve'], {
    ...{ env: { ...common, VALETKEY_DATABASE_URL: url }, stdio: 'ignore' },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (child.exitCode === null) {
    const answer = await fetch(`${common.VALETKEY_APP_URL}/readyz`).catch(() => null);
    if (answer?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return () => {
    child.kill('SIGTERM');
    return ended;
  };
}

async function sqlite(): Promise<void> {
  const url = `sqlite:${join(folder, 'data/valetkey.db')}`;
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  await timed(`SQLite: ${count} grants are made`, () => node(url, 'bench/fill.ts', String(count)));
  const backup = join(folder, 'backup.db');
  await timed('SQLite: database backup', () => node(url, MAIN, 'database', 'backup', backup));
  await timed('SQLite: database restore FILE', () => node(url, MAIN, 'database', 'restore', backup, '--yes'));
  await (await timed('SQLite: serve, until /readyz says 200', () => serve(url)))();
}

async function postgresql(): Promise<void> {
  const server = await startPostgresOfTools({ fsync: 'on', full_page_writes: 'on' });
  const tool = (name: string, ...words: string[]) => run(join(String(POSTGRES_TOOLS), name), words);
  try {
    const [url, to] = [await server.createDatabase(), await server.createDatabase()];
    await timed(`PostgreSQL: ${count} grants are made`, () => node(url, 'bench/fill.ts', String(count)));
    const dump = join(folder, 'valetkey.dump');
    await timed('PostgreSQL: pg_dump', () => tool('pg_dump', '--format=custom', `--file=${dump}`, url));
    const base = join(folder, 'base');
    await timed('PostgreSQL: pg_basebackup, of the whole server', () =>
      tool('pg_basebackup', '--checkpoint=fast', `--pgdata=${base}`, `--dbname=${server.url('postgres')}`),
    );
    await timed('PostgreSQL: pg_restore into an empty database', () =>
      tool('pg_restore', '--exit-on-error', '--single-transaction', '--no-owner', '--dbname', to, dump),
    );
    await timed('PostgreSQL: database restore', () => node(to, MAIN, 'database', 'restore', '--yes'));
    await (await timed('PostgreSQL: serve, until /readyz says 200', () => serve(to)))();
    await server.stop();
    rmSync(server.data, { recursive: true });
    await timed('PostgreSQL: the base backup put back, and its server started', async () => {
      await run('cp', ['-a', base, server.data]);
      const { uid, gid } = server.owner;
      if (uid !== undefined) await run('chown', ['-R', `${uid}:${gid}`, server.data]);
      await server.start();
    });
    await timed('PostgreSQL: database restore', () => node(url, MAIN, 'database', 'restore', '--yes'));
    await (await timed('PostgreSQL: serve, until /readyz says 200', () => serve(url)))();
  } finally {
    await server.remove();
  }
}

try {
  await sqlite();
  if (POSTGRES_TOOLS === undefined) process.stdout.write('PostgreSQL: its tools are not here\n');
  else await postgresql();
  process.stdout.write(
    `load average ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
