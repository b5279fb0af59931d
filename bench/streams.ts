/** What happens to those who come at a fixed rate, which real users do: they do not wait for each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runStream } from './open-loop.ts';
import { isOfApi, type Operation, type Purse } from './operations.ts';
import { type Purses, percentile } from './rounds.ts';
import { median, type Row } from './statistics.ts';
import type { RunningTarget } from './target.ts';

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

const CONNECTIONS = 128;
/** Who answered this share of what was due while it came, or just after, keeps up. */
const NEARLY_ALL = 0.99;
/** Who reached less than this share of the rate in the closed loop is not asked. */
const WORTH_TRYING = 0.7;
const SETTLE_MS = 500;

/** Runs each stream against each target so many times, for so many seconds. `rows` say who is worth trying. */
export async function runStreams(
  purses: Purses,
  rows: readonly Row[],
  seconds: number,
  times: number,
): Promise<StreamRow[]> {
  const found: StreamRow[] = [];
  for (const { operation, rate } of STREAMS) {
    for (const [target, purse] of purses) {
      const most = Math.max(
        ...rows.filter((row) => row.target === target.name && row.operation === operation).map((row) => row.perSecond),
      );
      const about = { target: target.name, operation, rate };
      if (most < rate * WORTH_TRYING) found.push({ ...about, keepsUp: false, latency: null, errors: 0 });
      else found.push({ ...about, ...(await runOne(target, purse, about, seconds, times)) });
    }
  }
  return found;
}

async function runOne(
  target: RunningTarget,
  purse: Purse,
  { operation, rate }: { readonly operation: Operation; readonly rate: number },
  seconds: number,
  times: number,
): Promise<Pick<StreamRow, 'keepsUp' | 'latency' | 'errors'>> {
  const port = isOfApi(operation) ? target.apiPort : target.appPort;
  const runs: Awaited<ReturnType<typeof runStream>>[] = [];
  for (let time = 0; time < times; time += 1) {
    runs.push(await runStream({ port, rate, seconds, connections: CONNECTIONS, next: purse.calls(operation) }));
    await sleep(SETTLE_MS);
  }
  const at = (share: number) => median(runs.map(({ latencies }) => percentile(latencies, share)));
  return {
    keepsUp: median(runs.map(({ due, inTime }) => inTime / due)) >= NEARLY_ALL,
    latency: { p50: at(0.5), p99: at(0.99), p999: at(0.999) },
    errors: runs.reduce((sum, { errors }) => sum + errors, 0),
  };
}
