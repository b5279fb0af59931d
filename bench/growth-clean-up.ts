/** How long a step of the clean-up takes, on the real store and the databases of bench/growth.ts. */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import type { CleanUpStep } from '../src/storage/clean-up/clean-up.ts';
import { DELETIONS, WINDOW } from '../src/storage/sqlite/store/clean-up.ts';
import { expire, type FilledDatabase } from './growth-database.ts';
import { percentile } from './rounds.ts';
import { openDatabase } from './scaling-sqlite.ts';
import { median } from './statistics.ts';

/** What some steps took, with the wait for the disk, and a median of how long of it they kept the event loop; ms. */
export type StepTimes = {
  readonly steps: number;
  readonly median: number;
  readonly p99: number;
  readonly eventLoop: number;
};

/** Steps that found nothing dead in a whole window, and steps that deleted as many as one may. */
export type CleanUpTimes = {
  readonly nothingDead: StepTimes;
  readonly deleting: StepTimes & { readonly deleted: number };
};

type TimedStep = CleanUpStep & { readonly ms: number; readonly eventLoop: number };

/** Minimum number of steps of each kind. */
const STEPS = 200;
/** Among few grants there are fewer that delete: some of the grants go in each walk. */
const MAX_WALKS = 4;

/**
 * Measures both on the whole table: first as it is, and then with windows of dead grants spread over it. No service may
 * have the database. Throws when no step was as it should be.
 */
export async function measureCleanUp(database: FilledDatabase, report: (line: string) => void): Promise<CleanUpTimes> {
  const { grants } = database.made;
  report('clean-up, nothing dead');
  const idle = await walk(database, Math.ceil(STEPS / Math.floor(grants / WINDOW)));
  report('clean-up');
  const deleting: TimedStep[] = [];
  for (let time = 0; time < MAX_WALKS && deleting.length < STEPS; time += 1) {
    expire(database, doomed(grants, time));
    const steps = await walk(database, 1);
    deleting.push(...steps.filter(({ deleted }) => deleted === DELETIONS));
  }
  const whole = idle.filter(({ seen, deleted }) => seen === WINDOW && deleted === 0);
  if (whole.length === 0 || deleting.length === 0)
    throw new Error(`no step of the clean-up saw ${WINDOW} grants, or none deleted ${DELETIONS}`);
  return { nothingDead: timesOf(whole), deleting: { deleted: DELETIONS, ...timesOf(deleting) } };
}

/** Walks to the end of everything so many times. */
async function walk({ path }: FilledDatabase, times: number): Promise<TimedStep[]> {
  const { cleanUp, close } = await openDatabase(path);
  const steps: TimedStep[] = [];
  for (let ended = 0; ended < times; ) {
    const [loop, begin] = [performance.eventLoopUtilization(), performance.now()];
    const step = (await cleanUp.step()) as CleanUpStep;
    const ms = performance.now() - begin;
    steps.push({ ...step, ms, eventLoop: performance.eventLoopUtilization(loop).active });
    if (step.isEndOfRound) ended += 1;
    // As between the steps of a service; and the size of the WAL is looked at meanwhile.
    await setImmediate();
  }
  await close();
  return steps;
}

/** The numbers of grants that die, others each time: as many as a step deletes, in windows that are spread over the table. */
function doomed(grants: number, time: number): number[] {
  const windows = Math.floor(grants / WINDOW);
  const count = Math.min(STEPS, windows);
  const every = WINDOW / DELETIONS;
  return Array.from({ length: count }, (_, place) => Math.floor((place * windows) / count) * WINDOW).flatMap((first) =>
    Array.from({ length: DELETIONS }, (_, place) => first + place * every + time),
  );
}

function timesOf(steps: readonly TimedStep[]): StepTimes {
  const sorted = Float64Array.from(steps, ({ ms }) => ms).sort();
  const eventLoop = median(steps.map((step) => step.eventLoop));
  return { steps: sorted.length, median: median([...sorted]), p99: percentile(sorted, 0.99), eventLoop };
}
