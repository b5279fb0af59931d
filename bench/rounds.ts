/** The interleaved rounds: in each, every operation at every concurrency against every target, in an order of chance. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, runCell } from './load.ts';
import { isOfApi, marksUse, OPERATIONS, type Operation, Purse, shuffled } from './operations.ts';
import { fill, type RunningTarget, type Target } from './target.ts';

/** How much is run. */
export type Extent = {
  readonly rounds: number;
  readonly concurrencies: readonly number[];
  /** In a cell of 64 connections; others get fewer, so that all take about equally long. */
  readonly requests: number;
  readonly settleMs: number;
};

/** One cell of one round. Latencies in ms, server CPU in µs a request. */
export type Measure = {
  readonly target: Target['name'];
  readonly operation: Operation;
  readonly concurrency: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly cpu: number;
  readonly syncsPerRequest: number;
  readonly generatorBusy: number;
  readonly errors: number;
  readonly firstError: string | null;
};

/** Runs a round to warm up, whose figures are dropped, and then the rounds. */
export async function runRounds(
  targets: readonly RunningTarget[],
  extent: Extent,
  chance: () => number,
  report: (line: string) => void,
): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (let round = 0; round <= extent.rounds; round += 1) {
    report(round === 0 ? 'warming up' : `round ${round} of ${extent.rounds}`);
    const measured = await runRound(targets, extent, chance);
    // What went wrong counts wherever it did.
    measures.push(...measured.filter(({ errors }) => round > 0 || errors > 0));
  }
  return measures;
}

/** Fills the purses of one round, for so many requests at each concurrency. */
export async function fillPurses(
  targets: readonly RunningTarget[],
  extent: Extent,
  chance: () => number,
): Promise<Map<RunningTarget, Purse>> {
  const valetkey = targets.find(({ name }) => name === 'Valetkey') as RunningTarget;
  const wanted = extent.concurrencies.reduce((sum, concurrency) => sum + requestsAt(concurrency, extent), 0);
  // The bare servers are sent the same bytes, and look at none of them.
  const filled = await fill(valetkey, wanted);
  return new Map(targets.map((target) => [target, new Purse(filled, chance)]));
}

async function runRound(targets: readonly RunningTarget[], extent: Extent, chance: () => number): Promise<Measure[]> {
  const purses = await fillPurses(targets, extent, chance);
  const measures: Measure[] = [];
  for (const operation of OPERATIONS) {
    for (const concurrency of shuffled(extent.concurrencies, chance)) {
      for (const target of shuffled(targets, chance)) {
        const next = (purses.get(target) as Purse).calls(operation);
        const before = await target.usage();
        const outcome = await runCell({
          port: isOfApi(operation) ? target.apiPort : target.appPort,
          connections: concurrency,
          requests: requestsAt(concurrency, extent),
          next,
        });
        // Use marks are written behind: that belongs to this cell's cost, and must not take the next one's core.
        if (marksUse(operation) && target.name === 'Valetkey') await sleep(extent.settleMs);
        const after = await target.usage();
        measures.push({
          target: target.name,
          operation,
          concurrency,
          ...summary(outcome),
          cpu: (after.cpu - before.cpu) / outcome.latencies.length,
          syncsPerRequest: (after.syncs - before.syncs) / outcome.latencies.length,
        });
      }
    }
  }
  return measures;
}

function requestsAt(concurrency: number, { requests }: Extent): number {
  return Math.max(50, Math.round(requests * Math.min(1, Math.sqrt(concurrency / 64))));
}

function summary({ seconds, latencies, errors, firstError, generatorBusy }: Outcome) {
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    perSecond: latencies.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
    generatorBusy,
    errors,
    firstError,
  };
}
