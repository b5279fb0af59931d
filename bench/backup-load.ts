/**
 * A backup of SQLite under full load: `node bench/backup-load.ts COUNT` makes so many grants, has the service exchange, refresh and
 * check as fast as it can, makes a backup meanwhile, restores it with --keep-tokens, and asks with every token that was answered before
 * the backup began and not used since. Prints what it took, and exits 1 if one of them does not work.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { makeRootKey } from '../src/settings/root-keys.ts';
import { type Call, Connection } from './connection.ts';
import { OWN_PATHS } from './contestants.ts';
import type { Filled } from './fill.ts';
import { checkCall, exchangeCall, type Pair, refreshCall } from './operations.ts';
import { percentile } from './rounds.ts';
import { freePort } from './target.ts';

const ROOT = join(import.meta.dirname, '..');
const NODE = ['--disable-warning=ExperimentalWarning'];
/** Connections of each kind, which all have a request under way. */
const CONNECTIONS = 16;
/** Refreshes of a grant before it rests, for good. */
const REFRESHES = 4;
/** How long the load runs before the backup begins, and after it (ms). */
const BEFORE_MS = 15_000;
const AFTER_MS = 2_000;

const count = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), 'valetkey-backup-'));
const [app, api] = [await freePort(), await freePort()];
const environment = {
  PATH: process.env['PATH'] ?? '',
  VALETKEY_KEYS: makeRootKey(),
  VALETKEY_APP_URL: `http://127.0.0.1:${app}`,
  VALETKEY_API_URL: `http://127.0.0.1:${api}`,
  VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'valetkey.db')}`,
  VALETKEY_CODE_TTL: '600',
};

/** Runs a program of this checkout, and returns the JSON that it prints. */
async function node(...words: string[]): Promise<unknown> {
  const options = { cwd: ROOT, env: environment, maxBuffer: 2 ** 30 };
  return JSON.parse((await promisify(execFile)(process.execPath, [...NODE, ...words], options)).stdout);
}

const valetkey = (...words: string[]) => node('src/main.ts', ...words, '--json');

/** Starts the service; the returned function stops it. */
async function serve(): Promise<() => Promise<unknown>> {
  const child = spawn(process.execPath, [...NODE, '--max-semi-space-size=4', 'src/main.ts', 'serve'], {
    ...{ cwd: ROOT, env: environment, stdio: 'ignore' },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (child.exitCode === null) {
    const answer = await fetch(`${environment.VALETKEY_APP_URL}/readyz`).catch(() => null);
    if (answer?.ok) break;
    await sleep(20);
  }
  return () => {
    child.kill('SIGTERM');
    return ended;
  };
}

/** Everybody who asks as fast as they are answered, until they are told to stop. */
class Load {
  readonly #filled: Filled;
  #nextCode = 0;
  #isOver = false;
  /** Newest pairs of grants that nobody refreshes any more. */
  readonly rested: Pair[] = [];
  /** Of the requests since it was emptied (ms). */
  latencies: number[] = [];
  readonly problems: string[] = [];

  constructor(filled: Filled) {
    this.#filled = filled;
  }

  async run(): Promise<void> {
    const apps = this.#connect(app, () => this.#worker());
    while (this.rested.length === 0) await sleep(10);
    await Promise.all([apps, this.#connect(api, () => () => this.#check())]);
  }

  stop(): void {
    this.#isOver = true;
  }

  async #connect(port: number, makeNext: () => () => Call): Promise<void> {
    const under = new Map<Connection, () => Call>();
    const { promise, resolve } = Promise.withResolvers<void>();
    const connections = await Connection.openAll(CONNECTIONS, port, (connection, latency, problem) => {
      this.latencies.push(latency);
      if (problem !== null) this.problems.push(problem);
      go(connection);
    });
    const go = (connection: Connection) => {
      const next = under.get(connection);
      if (next && !this.#isOver) return connection.send(next(), performance.now());
      connection.end();
      under.delete(connection);
      if (under.size === 0) resolve();
    };
    for (const connection of connections) under.set(connection, makeNext());
    for (const connection of connections) go(connection);
    await promise;
  }

  /** One app: takes a code, refreshes a few times, leaves the last pair alone, and takes the next code. */
  #worker(): () => Call {
    let [pair, refreshes] = [null as Pair | null, 0];
    return () => {
      if (pair && refreshes === REFRESHES) {
        this.rested.push(pair);
        [pair, refreshes] = [null, 0];
      }
      const keep = (answered: Pair) => {
        pair = answered;
      };
      if (pair === null) {
        const code = this.#filled.codes[this.#nextCode++] ?? '';
        return exchangeCall(OWN_PATHS, this.#filled, code, keep);
      }
      refreshes += 1;
      return refreshCall(OWN_PATHS, this.#filled, pair, keep);
    };
  }

  #check(): Call {
    const pair = this.rested[Math.floor(Math.random() * this.rested.length)];
    return checkCall(OWN_PATHS, pair as Pair);
  }
}

/** Asks one after the other; returns what was wrong. */
async function ask(port: number, calls: Iterable<Call>): Promise<string[]> {
  const problems: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = calls[Symbol.iterator]();
  const go = (connection: Connection) => {
    const next = waiting.next();
    if (!next.done) return connection.send(next.value, performance.now());
    connection.end();
    resolve();
  };
  const [connection] = await Connection.openAll(1, port, (connection, _, problem) => {
    if (problem !== null) problems.push(problem);
    go(connection);
  });
  go(connection as Connection);
  await promise;
  return problems;
}

function say(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(58)}${value}\n`);
}

function tell(when: string, load: Load, ms: number): void {
  const sorted = Float64Array.from(load.latencies).sort();
  const rate = Math.round(sorted.length / (ms / 1000)).toLocaleString('en');
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(sorted, share).toFixed(1));
  say(`requests a second ${when}`, `${rate}, p50 ${p50} ms, p99 ${p99} ms`);
}

async function measure(): Promise<boolean> {
  const filled = (await node('bench/fill.ts', String(count))) as Filled;
  say('grants in the database', `${filled.codes.length.toLocaleString('en')}`);
  let stop = await serve();
  const load = new Load(filled);
  const running = load.run();
  const timed = async (act: () => Promise<unknown>) => {
    load.latencies = [];
    const began = performance.now();
    await act();
    return performance.now() - began;
  };
  tell('before the backup', load, await timed(() => sleep(BEFORE_MS)));
  const before = [...load.rested];
  const file = join(folder, 'backup.db');
  let made: Record<string, unknown> = {};
  const took = await timed(async () => {
    made = (await valetkey('database', 'backup', file)) as typeof made;
  });
  tell('during it', load, took);
  const { size: log } = statSync(join(folder, 'valetkey.db-wal'));
  await sleep(AFTER_MS);
  load.stop();
  await running;
  say('wrong answers', `${load.problems.length} ${load.problems[0] ?? ''}`);
  await stop();

  const megabytes = (bytes: unknown) => `${(Number(bytes) / 2 ** 20).toFixed(1)} MiB`;
  say(
    'the backup',
    `${megabytes(made['bytes'])} in ${Number(made['seconds']).toFixed(1)} s, with the check of the copy`,
  );
  say('growth of the log meanwhile', `${megabytes(made['log_growth_bytes'])}, to ${megabytes(log)}`);
  await valetkey('database', 'restore', file, '--keep-tokens', '--without-audit', '--yes');
  stop = await serve();
  const wrong = [
    ...(await ask(
      api,
      before.map((pair) => checkCall(OWN_PATHS, pair)),
    )),
    ...(await ask(
      app,
      before.map((pair) => refreshCall(OWN_PATHS, filled, pair, () => {})),
    )),
  ];
  say(
    'pairs answered before it: checked and refreshed after',
    `${before.length.toLocaleString('en')}, ${wrong.length} wrong ${wrong[0] ?? ''}`,
  );
  await stop();
  say(
    'load average',
    loadavg()
      .map((one) => one.toFixed(1))
      .join(' '),
  );
  return wrong.length === 0 && load.problems.length === 0;
}

try {
  process.exitCode = (await measure()) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
