/** How quick checks are while refreshes keep the disk as busy as they can: who checks must not wait for who writes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTESTANTS } from './contestants.ts';
import { type Outcome, runCell } from './load.ts';
import { runStream, type StreamOutcome } from './open-loop.ts';
import type { Purse } from './operations.ts';
import type { Purses } from './rounds.ts';
import { median, type Row } from './statistics.ts';
import { isWorthTrying, STREAM_CONNECTIONS, type StreamRow, severalTimes, summaryOf, type Turns } from './streams.ts';
import type { RunningTarget } from './target.ts';

/** Checks at a fixed rate beside refreshes. Latencies are the checks', errors those of both. */
export type MixedRow = StreamRow & {
  /** Refreshes a second meanwhile: a median over the runs, null where it was not tried. */
  readonly refreshes: number | null;
  /** What was wrong first, in words. */
  readonly firstError: string | null;
};

type Mixed = { readonly checks: StreamOutcome; readonly refreshes: Outcome };

/** Checks that are due a second. */
const CHECK_RATE = 2000;
/** Connections that refresh, each as soon as it was answered. */
export const REFRESHING = 64;
/** The refreshes are under way when the first check is due. */
const LEAD_MS = 100;

/**
 * Runs both at once against each target that stores in SQLite. `rows` say who is worth trying. Wrong answers are counted;
 * throws when a target takes no connections.
 */
export async function runMixed(purses: Purses, rows: readonly Row[], turns: Turns): Promise<MixedRow[]> {
  const found: MixedRow[] = [];
  for (const [target, purse] of purses) {
    if (!storesInSqlite(target)) continue;
    const about = { target: target.name, operation: 'check', rate: CHECK_RATE } as const;
    const nothing = { keepsUp: false, latency: null, errors: 0, refreshes: null, firstError: null };
    const outcome = isWorthTrying(rows, about)
      ? rowOf(await severalTimes(turns, () => runBoth(target, purse, turns.seconds)))
      : nothing;
    found.push({ ...about, ...outcome });
  }
  return found;
}

function storesInSqlite({ name }: RunningTarget): boolean {
  return CONTESTANTS.some((contestant) => contestant.name === name && contestant.store === 'sqlite');
}

/** Refreshes begin before the checks, and end with them. */
async function runBoth(target: RunningTarget, purse: Purse, seconds: number): Promise<Mixed> {
  const refresh = purse.calls('refresh');
  let isOver = false;
  const cell = { port: target.appPort, connections: REFRESHING, next: () => (isOver ? null : refresh()) };
  const stream = { port: target.apiPort, connections: STREAM_CONNECTIONS, next: purse.calls('check') };
  const check = async () => {
    try {
      await sleep(LEAD_MS);
      return await runStream({ ...stream, rate: CHECK_RATE, seconds });
    } finally {
      isOver = true;
    }
  };
  const untilOver = { seconds: Number.POSITIVE_INFINITY, least: 1, most: Number.POSITIVE_INFINITY };
  const [refreshes, checks] = await Promise.all([runCell({ ...cell, ...untilOver }), check()]);
  return { checks, refreshes };
}

function rowOf(runs: readonly Mixed[]): Omit<MixedRow, 'target' | 'operation' | 'rate'> {
  const outcomes = runs.flatMap(({ checks, refreshes }) => [checks, refreshes]);
  return {
    ...summaryOf(runs.map(({ checks }) => checks)),
    refreshes: median(runs.map(({ refreshes: { latencies, seconds } }) => latencies.length / seconds)),
    errors: outcomes.reduce((sum, { errors }) => sum + errors, 0),
    firstError: outcomes.find(({ firstError }) => firstError !== null)?.firstError ?? null,
  };
}
