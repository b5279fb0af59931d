/** What bench/growth.ts asks of a service: each operation one at a time and at 64 connections, in rounds. */
import type { GrantCalls } from './growth-grants.ts';
import { type Outcome, runCell } from './load.ts';
import { isOfApi, OPERATIONS, type Operation } from './operations.ts';
import { type Measure, measureCell } from './rounds.ts';
import type { RunningTarget } from './target.ts';

/** How much is run: rounds, and seconds of each cell. */
export type Load = { readonly rounds: number; readonly seconds: number };

/** Connections, each with one request under way. */
const CONCURRENCIES = [1, 64];
/** Use marks are written half a second later, or in a moment after it. */
const SETTLE_MS = 1000;
/** What is left of a cell's time then is too short for another lap. */
const NEARLY_OVER = 0.05;

/** Measures all rounds but a first one, which warms up. Throws at the first wrong answer. */
export async function measureService(
  service: RunningTarget,
  grants: GrantCalls,
  { rounds, seconds }: Load,
  report: (line: string) => void,
): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    report(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    for (const operation of OPERATIONS) {
      for (const concurrency of CONCURRENCIES) {
        const run = () => runLaps(service, grants, operation, concurrency, seconds);
        const measure = await measureCell(service, { round, operation, concurrency }, SETTLE_MS, run);
        if (measure.errors > 0)
          throw new Error(`${measure.errors} answers to ${operation} were wrong, first: ${measure.firstError}`);
        if (round > 0) measures.push(measure);
      }
    }
  }
  return measures;
}

/** Laps until their clocks have run for so many seconds. What is between them does not count. */
async function runLaps(
  service: RunningTarget,
  grants: GrantCalls,
  operation: Operation,
  connections: number,
  seconds: number,
): Promise<Outcome> {
  const port = isOfApi(operation) ? service.apiPort : service.appPort;
  const laps: Outcome[] = [];
  for (let left = seconds; left > seconds * NEARLY_OVER; ) {
    const calls = grants.lap(operation);
    const most = calls.length;
    const lap = await runCell({ port, connections, next: () => calls.pop() ?? null, seconds: left, least: 1, most });
    laps.push(lap);
    left -= lap.seconds;
    if (lap.errors > 0) break;
  }
  return together(laps);
}

function together(laps: readonly Outcome[]): Outcome {
  const sum = (of: (lap: Outcome) => number) => laps.reduce((before, lap) => before + of(lap), 0);
  const seconds = sum((lap) => lap.seconds);
  return {
    seconds,
    latencies: Float64Array.from(laps.flatMap(({ latencies }) => [...latencies])).sort(),
    errors: sum(({ errors }) => errors),
    firstError: laps.find(({ firstError }) => firstError !== null)?.firstError ?? null,
    generatorBusy: sum((lap) => lap.generatorBusy * lap.seconds) / seconds,
  };
}
