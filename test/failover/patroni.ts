/**
 * A cluster as operators run it, on this machine: three servers, each with its Patroni, and the etcd by which they agree. One
 * standby is synchronous, the other is not.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { queryAt } from '../support/postgres.ts';
import { freePort, type Lifetime } from '../support/service.ts';
import { environment, NOBODY, postgresqlPrograms, unpacked } from './packages.ts';

/** How soon the cluster notices that its primary is lost (s): Patroni's own defaults are 30, 10 and 10. */
const LEADER_KEY = { ttl: 10, loop_wait: 2, retry_timeout: 3 };
const PATIENCE_MS = 180_000;
/**
 * After a fault that came at a bad moment, Patroni 3.0.2 may try for ever to note the synchronous standby, or to bring a standby to the
 * primary's timeline. Its operator then starts the primary's Patroni again, and copies the standby anew.
 */
const STUCK_MS = 45_000;
const LOOK_AGAIN_MS = 100;
const ANSWER_MS = 2000;
/** systemd starts what crashed again so soon. */
const RESTART_MS = 100;
/** What a whole cluster says of itself: Patroni promotes only whom it has noted as synchronous. */
const WHOLE = ['leader', 'replica', 'sync_standby'];
const STREAMING = "SELECT count(*)::int AS standbys FROM pg_stat_replication WHERE state = 'streaming'";

/** One machine of the cluster: PostgreSQL, and the Patroni that minds it. */
export class Node {
  readonly name: string;
  readonly port: number;
  readonly #rest: number;
  readonly #folder: string;
  #patroni: ChildProcess | null = null;

  /** `port` is PostgreSQL's, `rest` that of Patroni's own answers. */
  constructor(name: string, port: number, rest: number, folder: string) {
    this.name = name;
    this.port = port;
    this.#rest = rest;
    this.#folder = folder;
  }

  /** The URL of a database on it. */
  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts Patroni, which starts PostgreSQL or takes the one over that runs. */
  start(): void {
    this.#patroni = spawn('/usr/bin/python3', [unpacked('usr/bin/patroni'), join(this.#folder, 'patroni.json')], {
      ...NOBODY,
      cwd: this.#folder,
      env: environment(),
      stdio: ['ignore', 'ignore', 'ignore'],
    });
  }

  /** `kill -9` of PostgreSQL's first process, after which the others end by themselves. */
  killServer(): void {
    const [pid = ''] = readFileSync(join(this.#folder, 'data/postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
  }

  /** `kill -9` of Patroni alone: its server goes on without it. */
  async killPatroni(): Promise<void> {
    const patroni = this.#patroni;
    if (!patroni || patroni.exitCode !== null || patroni.signalCode !== null) return;
    patroni.kill('SIGKILL');
    await once(patroni, 'exit');
  }

  /** `kill -9` of Patroni, which systemd then starts again: its server goes on meanwhile. */
  async restartPatroni(): Promise<void> {
    await this.killPatroni();
    await sleep(RESTART_MS);
    this.start();
  }

  /** Has its Patroni copy the primary anew, as `patronictl reinit` does. */
  async copyAnew(): Promise<void> {
    const request = { method: 'POST', body: '{"force": true}', signal: AbortSignal.timeout(ANSWER_MS) };
    await fetch(`http://127.0.0.1:${this.#rest}/reinitialize`, request).catch(() => {});
  }

  /** Signals all that runs on the machine, once more for what was begun meanwhile. */
  signal(signal: NodeJS.Signals): void {
    for (let times = 0; times < 2; times += 1) for (const pid of this.#processes()) trySignal(pid, signal);
  }

  /** Who is what, as its Patroni sees it: only those that run. */
  async roles(): Promise<Readonly<Record<string, string>>> {
    type Members = { readonly members: readonly { name: string; role: string; state: string }[] };
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#rest}/cluster`, { signal: AbortSignal.timeout(ANSWER_MS) });
      const { members } = (await answer.json()) as Members;
      const running = members.filter(({ state }) => state === 'running' || state === 'streaming');
      return Object.fromEntries(running.map(({ name, role }) => [name, role]));
    } catch {
      return {};
    }
  }

  /** What its Patroni has noted. */
  log(): string {
    return readFileSync(join(this.#folder, 'log/patroni.log'), 'utf8');
  }

  /** All processes of the machine stand in its folder or below. */
  #processes(): number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && isBelow(this.#folder, placeOf(pid)));
  }
}

/** The cluster. */
export class PatroniCluster {
  readonly nodes: readonly Node[];
  /** How often a cluster that did not become whole by itself was mended. */
  mended = 0;

  private constructor(nodes: readonly Node[]) {
    this.nodes = nodes;
  }

  /** Starts it, and waits until both standbys follow. It ends with the test. */
  static async start(t: Lifetime): Promise<PatroniCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'valetkey-patroni-'));
    chmodSync(folder, 0o755);
    const etcd = await startEtcd(folder);
    const nodes: Node[] = [];
    for (const name of ['one', 'two', 'three']) nodes.push(await makeNode(name, folder, etcd.port));
    t.after(async () => {
      for (const node of nodes) node.signal('SIGKILL');
      etcd.child.kill('SIGKILL');
      await sleep(LOOK_AGAIN_MS);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    });
    const cluster = new PatroniCluster(nodes);
    for (const node of nodes) node.start();
    await cluster.whole();
    return cluster;
  }

  /** The URL of a database on all of them, as an operator writes it. */
  url(database: string): string {
    const hosts = this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `postgres://postgres@${hosts}/${database}?target_session_attrs=read-write`;
  }

  /** Waits until there is one primary, with a synchronous and an asynchronous standby that follow it; answers the primary. */
  async whole(): Promise<Node> {
    const end = performance.now() + PATIENCE_MS;
    let stuck = performance.now() + STUCK_MS;
    while (performance.now() < end) {
      const roles = await Promise.all(this.nodes.map((node) => node.roles()));
      const [first] = roles;
      const isAgreed = first !== undefined && roles.every((one) => isDeepStrictEqual(one, first));
      const primary = this.nodes.find(({ name }) => first?.[name] === 'leader');
      if (isAgreed && primary && isDeepStrictEqual(Object.values(first).toSorted(), WHOLE)) {
        const rows = await queryAt<{ standbys: number }>(primary.url('postgres'), STREAMING).catch(() => []);
        if (rows[0]?.standbys === 2) return primary;
      }
      if (primary && performance.now() > stuck) {
        stuck += STUCK_MS;
        this.mended += 1;
        await primary.restartPatroni();
        await Promise.all(this.nodes.filter(({ name }) => !first?.[name]).map((node) => node.copyAnew()));
      }
      await sleep(LOOK_AGAIN_MS);
    }
    const told = this.nodes.map((node) => `${node.name}: ${node.log().slice(-2000)}`);
    throw new Error(`the cluster is not whole:\n${told.join('\n')}`);
  }
}

/** Faults of the primary, each with its end. `moved` resolves when another server takes writes. */
export const FAULTS: Readonly<Record<string, (primary: Node, moved: Promise<unknown>) => Promise<void>>> = {
  'kill -9 of PostgreSQL': async (primary) => primary.killServer(),
  'the machine loses its power, and is back later': async (primary, moved) => {
    primary.signal('SIGKILL');
    await moved;
    primary.start();
  },
  'kill -9 of Patroni, which systemd starts again': (primary) => primary.restartPatroni(),
  'the machine stands still, and comes back as the primary that it was': async (primary, moved) => {
    primary.signal('SIGSTOP');
    await moved;
    await sleep(LEADER_KEY.loop_wait * 1000);
    primary.signal('SIGCONT');
  },
  'kill -9 of Patroni, whose server goes on as a second primary': async (primary, moved) => {
    await primary.killPatroni();
    await moved;
    await sleep(LEADER_KEY.loop_wait * 1000);
    primary.start();
  },
};

async function startEtcd(folder: string): Promise<{ port: number; child: ChildProcess }> {
  const [port, peers] = [await freePort(), await freePort()];
  const data = join(folder, 'etcd');
  own(data);
  const [clients, others] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peers}`];
  const options = ['--data-dir', data, '--listen-client-urls', clients, '--advertise-client-urls', clients];
  options.push(
    '--listen-peer-urls',
    others,
    '--initial-advertise-peer-urls',
    others,
    '--initial-cluster',
    `default=${others}`,
  );
  const child = spawn(unpacked('usr/bin/etcd'), options, { ...NOBODY, cwd: data, env: environment(), stdio: 'ignore' });
  const end = performance.now() + PATIENCE_MS;
  const isHealthy = () =>
    fetch(`${clients}/health`).then(
      (answer) => answer.ok,
      () => false,
    );
  while (!(await isHealthy())) {
    if (child.exitCode !== null || performance.now() > end) throw new Error(`etcd did not start: ${child.exitCode}`);
    await sleep(LOOK_AGAIN_MS);
  }
  return { port, child };
}

async function makeNode(name: string, parent: string, etcd: number): Promise<Node> {
  const folder = join(parent, name);
  own(folder);
  own(join(folder, 'log'));
  const [port, rest] = [await freePort(), await freePort()];
  const configuration = {
    scope: 'valetkey',
    name,
    log: { dir: join(folder, 'log') },
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd3: { hosts: [`127.0.0.1:${etcd}`] },
    bootstrap: {
      dcs: {
        ...LEADER_KEY,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        // A primary that crashed is not waited for.
        primary_start_timeout: 0,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { max_connections: 200, shared_buffers: '32MB' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { auth: 'trust' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: postgresqlPrograms(),
      pgpass: join(folder, 'pgpass'),
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
      parameters: { unix_socket_directories: '' },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  };
  writeFileSync(join(folder, 'patroni.json'), JSON.stringify(configuration));
  return new Node(name, port, rest, folder);
}

/** Makes a folder of the user that the programs run as. */
function own(folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  if (NOBODY.uid !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
}

function isBelow(folder: string, place: string): boolean {
  return place === folder || place.startsWith(`${folder}/`);
}

function placeOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
