/** What happens to those who come at a fixed rate, which real users do: they do not wait for each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runStream, type StreamOutcome } from './open-loop.ts';
import { isOfApi, type Operation, type Purse } from './operations.ts';
import { type Purses, percentile } from './rounds.ts';
import { median, type Row } from './statistics.ts';
import type { RunningTarget } from './target.ts';
import type { Undisturbed } from './undisturbed.ts';

/** A target under a fixed rate. Latencies in ms, from when a request was due; medians over several runs. */
export type StreamRow = {
  readonly target: string;
  readonly operation: Operation;
  /** Requests a second that are due. */
  readonly rate: number;
  /** Whether nearly all were answered while they came. */
  readonly keepsUp: boolean;
  /** Null where it was not tried: in the closed loop it was far slower. */
  readonly latency: { readonly p50: number; readonly p99: number; readonly p999: number } | null;
  readonly errors: number;
};

/** What is sent to each. */
const STREAMS = [
  { operation: 'refresh', rate: 10_000 },
  { operation: 'check', rate: 20_000 },
] as const;

/** Connections that a stream may use: more requests than these are never under way. */
export const STREAM_CONNECTIONS = 128;
/** Who answered this share of what was due while it came, or just after, keeps up. */
const NEARLY_ALL = 0.99;
/** Who reached less than this share of the rate in the closed loop is not asked. */
const WORTH_TRYING = 0.7;
const SETTLE_MS = 500;

/** How long each stream runs, and how often. */
export type Turns = { readonly seconds: number; readonly times: number; readonly undisturbed: Undisturbed };

/** Runs each stream against each target. `rows` say who is worth trying. */
export async function runStreams(purses: Purses, rows: readonly Row[], turns: Turns): Promise<StreamRow[]> {
  const found: StreamRow[] = [];
  for (const { operation, rate } of STREAMS) {
    for (const [target, purse] of purses) {
      const about = { target: target.name, operation, rate };
      const outcome = isWorthTrying(rows, about)
        ? summaryOf(await severalTimes(turns, () => runOne(target, purse, about, turns.seconds)))
        : { keepsUp: false, latency: null, errors: 0 };
      found.push({ ...about, ...outcome });
    }
  }
  return found;
}

/** Whether a target came near a rate in the closed loop; who did not is not asked. */
export function isWorthTrying(
  rows: readonly Row[],
  { target, operation, rate }: Pick<StreamRow, 'target' | 'operation' | 'rate'>,
): boolean {
  const cells = rows.filter((row) => row.target === target && row.operation === operation);
  return Math.max(...cells.map(({ perSecond }) => perSecond)) >= rate * WORTH_TRYING;
}

/** Runs something in each turn, with a pause after each, and returns what came of each. Throws what it throws. */
export async function severalTimes<T>({ times, undisturbed }: Turns, run: () => Promise<T>): Promise<T[]> {
  const outcomes: T[] = [];
  for (let time = 0; time < times; time += 1) {
    outcomes.push(await undisturbed.measure(run));
    await sleep(SETTLE_MS);
  }
  return outcomes;
}

function runOne(
  target: RunningTarget,
  purse: Purse,
  { operation, rate }: { readonly operation: Operation; readonly rate: number },
  seconds: number,
): Promise<StreamOutcome> {
  const port = isOfApi(operation) ? target.apiPort : target.appPort;
  return runStream({ port, rate, seconds, connections: STREAM_CONNECTIONS, next: purse.calls(operation) });
}

/** What several runs of one stream say together: latencies in ms, medians over the runs; errors of all of them. */
export function summaryOf(runs: readonly StreamOutcome[]): Pick<StreamRow, 'keepsUp' | 'latency' | 'errors'> {
  const at = (share: number) => median(runs.map(({ latencies }) => percentile(latencies, share)));
  return {
    keepsUp: median(runs.map(({ due, inTime }) => inTime / due)) >= NEARLY_ALL,
    latency: { p50: at(0.5), p99: at(0.99), p999: at(0.999) },
    errors: runs.reduce((sum, { errors }) => sum + errors, 0),
  };
}
