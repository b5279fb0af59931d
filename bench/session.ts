/** One run: starts everybody, measures, and stops them. */
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../test/support/postgres.ts';
import { type Contestant, type Place, targetOf } from './contestants.ts';
import { slowDisk } from './disk/build.ts';
import type { Figures } from './goals.ts';
import { runMixed } from './mixed.ts';
import { profileAll } from './profile.ts';
import { type Conduct, type Extent, type Measure, type Purses, runRounds } from './rounds.ts';
import { measureStarts } from './start-time.ts';
import { rowsOf } from './statistics.ts';
import { runStreams } from './streams.ts';
import { measureSync } from './sync-time.ts';
import {
  launch,
  pinGenerator,
  type RunningTarget,
  residentBytes,
  start,
  stop,
  type Target,
  untilAnswers,
} from './target.ts';
import { Undisturbed } from './undisturbed.ts';

/** What is run. */
export type Plan = Extent & {
  /** How often each kind of process is started; 0 for not at all. */
  readonly starts: number;
  /** How long each stream runs, alone or beside refreshes; 0 for not at all. */
  readonly streamSeconds: number;
  /** How much longer a sync takes than the disk does, in µs. */
  readonly syncDelay: number;
  /** How many seconds may be spent on measuring again what others disturbed. */
  readonly patience: number;
  readonly profile: boolean;
};

/** As durable as it comes; only its memory is more than the default's 128 MB. */
const POSTGRESQL = { fsync: 'on', full_page_writes: 'on', shared_buffers: '512MB', max_wal_size: '4GB' };

/** Runs the plan with some contestants. Answers what was found, and texts of profiles. */
export async function runSession(
  contestants: readonly Contestant[],
  plan: Plan,
  chance: () => number,
  report: (line: string) => void,
): Promise<{ figures: Figures; profiles: string[] }> {
  // A cache of the project: on the project's own disk, where a folder for temporary files may be in memory.
  const cache = join(import.meta.dirname, '../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bench-'));
  // Also when interrupted; the servers end by themselves when their parent is gone.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const log = openSync(join(folder, 'log'), 'a');
  report('starting');
  const conduct: Conduct = { chance, report, undisturbed: new Undisturbed(plan.patience) };
  const syncTime = measureSync(folder);
  // Before this process is pinned to a core, which its children inherit: PostgreSQL may use all of them.
  const postgresql = contestants.some(({ store }) => store === 'postgresql') ? await startPostgres(POSTGRESQL) : null;
  pinGenerator();
  const createDatabase = () => postgresql?.createDatabase() ?? Promise.reject(new Error('there is no PostgreSQL'));
  try {
    return await measureAll(contestants, { folder, createDatabase }, log);
  } finally {
    await postgresql?.remove();
    closeSync(log);
  }

  async function measureAll(all: readonly Contestant[], place: Place, logFile: number) {
    const disk = plan.syncDelay > 0 ? await slowDisk(plan.syncDelay) : {};
    const targetsIn = async (folder: string): Promise<Target[]> => {
      const targets = await Promise.all(all.map((contestant) => targetOf(contestant, { ...place, folder })));
      return targets.map((target) => ({ ...target, environment: { ...target.environment, ...disk } }));
    };
    const targets = await targetsIn(place.folder);
    const startTimes = await startTimesOf(targets, plan.starts, conduct, logFile);
    const { profiles, ...measured } = await underLoad(targets, logFile);
    const memoryIdle = await idleMemoryOf(
      await targetsIn(mkdtempSync(join(place.folder, 'idle-'))),
      plan.settleMs,
      logFile,
    );
    const { disturbance } = conduct.undisturbed;
    const { syncDelay } = plan;
    return { figures: { ...measured, memoryIdle, startTimes, syncTime, syncDelay, disturbance }, profiles };
  }

  async function underLoad(targets: readonly Target[], logFile: number) {
    const running: RunningTarget[] = [];
    try {
      for (const target of targets) running.push(await start(target, logFile));
      await sleep(plan.settleMs);
      const { measures, purses } = await runRounds(running, plan, conduct);
      const { streams, mixed } = await atFixedRates(purses, measures, plan, conduct);
      const memoryAfter = await memoryOf(running);
      const service = running.find(({ kind }) => kind === 'valetkey');
      const profiles = plan.profile && service ? await profileAll(service, chance) : [];
      return { measures, streams, mixed, memoryAfter, profiles };
    } finally {
      await Promise.all(running.map((target) => target.stop()));
    }
  }
}

async function atFixedRates(
  purses: Purses,
  measures: readonly Measure[],
  { streamSeconds, rounds }: Plan,
  { undisturbed, report }: Conduct,
): Promise<Pick<Figures, 'streams' | 'mixed'>> {
  if (streamSeconds === 0) return { streams: [], mixed: [] };
  const rows = rowsOf(measures);
  const turns = { seconds: streamSeconds, times: Math.min(3, rounds), undisturbed };
  report('at fixed rates');
  const streams = await runStreams(purses, rows, turns);
  report('checks while refreshes saturate the disk');
  return { streams, mixed: await runMixed(purses, rows, turns) };
}

function startTimesOf(targets: readonly Target[], times: number, { undisturbed }: Conduct, log: number) {
  const [service, fastify] = ['valetkey-sqlite', 'fastify'].map((name) => targets.find((one) => one.name === name));
  return service && fastify && times > 0 ? measureStarts({ service, fastify, log }, times, undisturbed) : null;
}

/**
 * Of processes that nobody has asked anything yet. They are others than those that are measured, whose probe takes 1 MB
 * itself; and not the first, which may have to compile what later ones find compiled.
 */
async function idleMemoryOf(
  targets: readonly Target[],
  settleMs: number,
  log: number,
): Promise<Record<string, number>> {
  const found: [string, number][] = [];
  for (const target of targets) {
    const child = launch(target, log, false);
    try {
      await untilAnswers(target.apiPort, child);
      await sleep(settleMs);
      found.push([target.name, megabytes(residentBytes(child))]);
    } finally {
      await stop(child);
    }
  }
  return Object.fromEntries(found);
}

async function memoryOf(running: readonly RunningTarget[]): Promise<Record<string, number>> {
  const usages = await Promise.all(running.map(async ({ name, usage }) => [name, await usage()] as const));
  return Object.fromEntries(usages.map(([name, { rss }]) => [name, megabytes(rss)]));
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
