/** The servers under test as child processes, each on the core for servers. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Filled } from './fill.ts';
import type { Paths } from './operations.ts';
import type { Usage } from './probe.ts';

/** What can be started: a program and the ports it listens on. */
export type Target = {
  readonly name: string;
  readonly kind: 'valetkey' | 'peer' | 'floor';
  readonly paths: Paths;
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** For pages and tokens. */
  readonly appPort: number;
  /** For the check. */
  readonly apiPort: number;
  /** Makes so many codes for a client. */
  readonly mint: (count: number) => Promise<Filled>;
};

/** A target that runs. */
export type RunningTarget = Target & {
  /** What it has used so far. */
  usage(): Promise<Usage>;
  /** Profiles it while something runs; returns the profile. */
  profile(during: () => Promise<unknown>): Promise<unknown>;
  stop(): Promise<void>;
};

/** Children run where the project is, wherever the bench was called from. */
const cwd = join(import.meta.dirname, '..');

const NODE = [process.execPath, '--disable-warning=ExperimentalWarning'];

/** Whether servers and generator have a core of their own each. */
export const isPinned = availableParallelism() > 1 && hasTaskset();

/** Moves this process to the generator's core. */
export function pinGenerator(): void {
  if (isPinned) execFileSync('taskset', ['-acp', '1', String(process.pid)], { stdio: 'ignore' });
}

/** Starts a target, with its log into a file; with `probe`, its usage can be asked. */
export function launch(target: Target, log: number, probe: boolean): ChildProcess {
  const preload = probe ? ['--import', './bench/probe.ts'] : [];
  const [program = '', ...args] = onCore(0, [...NODE, ...preload, ...target.program]);
  return spawn(program, args, {
    cwd,
    env: environmentOf(target.environment),
    stdio: ['ignore', log, log, ...(probe ? (['ipc'] as const) : [])],
  });
}

/** Starts a target and waits until it answers. */
export async function start(target: Target, log: number): Promise<RunningTarget> {
  const child = launch(target, log, true);
  await untilAnswers(target.apiPort, child);
  const ask = async (question: string): Promise<unknown> => {
    const answer = once(child, 'message');
    child.send(question);
    return (await answer)[0];
  };
  return {
    ...target,
    usage: async () => (await ask('usage')) as Usage,
    profile: async (during) => {
      await ask('profile');
      await during();
      return ask('profile-end');
    },
    stop: () => stop(child),
  };
}

/** Ends a process and waits for it. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** The memory of a process that is not someone else's. */
export function residentBytes({ pid }: ChildProcess): number {
  const kilobytes =
    process.platform === 'linux'
      ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kilobytes) * 1024;
}

/** Waits until a server answers at `/healthz` (any status), or throws when its process ended. */
export async function untilAnswers(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Error(`the server ended (${end}): see its log`);
    if (await answers(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/healthz', agent: false }, (response) => {
      response.resume().once('end', () => resolve(true));
    });
    request.once('error', () => resolve(false));
  });
}

/** Mints codes in Valetkey's database, in a process of its own on the generator's core; `what` as that takes it. */
export async function mintInProcess(
  environment: Target['environment'],
  count: number,
  what: readonly 'sign-in'[] = [],
): Promise<Filled> {
  const [program = '', ...args] = onCore(1, [...NODE, 'bench/fill.ts', String(count), ...what]);
  const env = environmentOf(environment);
  const { stdout } = await promisify(execFile)(program, args, { cwd, env, maxBuffer: 2 ** 28 });
  return JSON.parse(stdout) as Filled;
}

/** A command that runs on one core, where that can be said. */
function onCore(core: 0 | 1, command: readonly string[]): readonly string[] {
  return isPinned ? ['taskset', '-c', String(core), ...command] : command;
}

/** Ours without the settings of whatever installation there is here. */
function environmentOf(environment: Target['environment']): Record<string, string | undefined> {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('VALETKEY_'));
  return { ...Object.fromEntries(others), ...environment };
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A port of this machine that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
