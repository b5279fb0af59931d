/** The interleaved rounds: in each, every operation at every concurrency against every target, in an order of chance. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, runCell } from './load.ts';
import { isOfApi, marksUse, OPERATIONS, type Operation, Purse, shuffled } from './operations.ts';
import type { RunningTarget } from './target.ts';
import type { Undisturbed } from './undisturbed.ts';

/** How much is run. */
export type Extent = {
  readonly rounds: number;
  readonly concurrencies: readonly number[];
  /** How long a cell begins requests. */
  readonly seconds: number;
  /** How long Valetkey is left alone after checks, in ms. */
  readonly settleMs: number;
};

/** One cell of one round. Latencies in ms, server CPU in µs a request. */
export type Measure = {
  readonly target: string;
  readonly round: number;
  readonly operation: Operation;
  readonly concurrency: number;
  readonly requests: number;
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

/** How a run goes. `chance` is for the order of things. */
export type Conduct = {
  readonly chance: () => number;
  readonly undisturbed: Undisturbed;
  readonly report: (line: string) => void;
};

/** What each target has to spend. */
export type Purses = ReadonlyMap<RunningTarget, Purse>;

/** Number of codes that show how many a target needs for a round. */
const FIRST_CODES = 300;
/** A target is often faster than it was the last time. */
const RESERVE = 1.3;

/**
 * Runs a round to warm up, whose figures are dropped, and then the rounds. Answers what was measured, and the purses of
 * the last round.
 */
export async function runRounds(
  targets: readonly RunningTarget[],
  extent: Extent,
  conduct: Conduct,
): Promise<{ measures: Measure[]; purses: Purses }> {
  const { chance, report } = conduct;
  const rates = new Map<RunningTarget, number>();
  for (const target of targets) rates.set(target, await firstRate(target, extent, chance));
  const measures: Measure[] = [];
  let purses: Purses = new Map();
  for (let round = 0; round <= extent.rounds; round += 1) {
    report(round === 0 ? 'warming up' : `round ${round} of ${extent.rounds}`);
    purses = await fillPurses(targets, extent, rates, chance);
    const measured = await runRound(targets, purses, { ...extent, round }, conduct);
    for (const target of targets) rates.set(target, mostExchanges(target, measured));
    // What went wrong counts wherever it did.
    measures.push(...measured.filter(({ errors }) => round > 0 || errors > 0));
  }
  return { measures, purses };
}

/** Fills the purses of one round; `rates` are exchanges a second. */
async function fillPurses(
  targets: readonly RunningTarget[],
  extent: Extent,
  rates: ReadonlyMap<RunningTarget, number>,
  chance: () => number,
): Promise<Purses> {
  const { concurrencies, seconds } = extent;
  const purses = new Map<RunningTarget, Purse>();
  for (const target of targets) {
    // As many for each concurrency, so that its share is the same.
    const share = Math.max((rates.get(target) ?? 0) * seconds * RESERVE, ...concurrencies.map(leastAt));
    purses.set(target, await fillPurse(target, Math.ceil(share) * concurrencies.length, chance));
  }
  return purses;
}

/** A purse with so many codes. */
export async function fillPurse(target: RunningTarget, codes: number, chance: () => number): Promise<Purse> {
  return new Purse(await target.mint(codes), target.paths, chance);
}

async function firstRate(target: RunningTarget, { concurrencies }: Extent, chance: () => number): Promise<number> {
  const purse = await fillPurse(target, FIRST_CODES, chance);
  const cell = { port: target.appPort, connections: Math.max(...concurrencies), next: purse.calls('exchange') };
  const { latencies, seconds, errors, firstError } = await runCell({
    ...cell,
    seconds: Number.POSITIVE_INFINITY,
    least: FIRST_CODES,
    most: FIRST_CODES,
  });
  if (errors > 0) throw new Error(`${target.name}: ${firstError}`);
  return latencies.length / seconds;
}

async function runRound(
  targets: readonly RunningTarget[],
  purses: Purses,
  extent: Extent & { readonly round: number },
  { chance, undisturbed }: Conduct,
): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (const operation of OPERATIONS) {
    for (const concurrency of shuffled(extent.concurrencies, chance)) {
      for (const target of shuffled(targets, chance)) {
        if (operation === 'introspect' && target.paths.introspect === null) continue;
        const first = purses.get(target) as Purse;
        const run = async (isAgain: boolean) => {
          // The codes are used up; what they were exchanged for is left to the operations after it.
          const isEmpty = isAgain && operation === 'exchange';
          const purse = isEmpty ? await fillPurse(target, first.codes, chance) : first;
          return measure(target, purse, operation, concurrency, extent);
        };
        // Nobody looks at how long the warming up took.
        measures.push(await (extent.round === 0 ? run(false) : undisturbed.measure(run)));
      }
    }
  }
  return measures;
}

function measure(
  target: RunningTarget,
  purse: Purse,
  operation: Operation,
  concurrency: number,
  { round, concurrencies, seconds, settleMs }: Extent & { readonly round: number },
): Promise<Measure> {
  const cell = {
    port: isOfApi(operation) ? target.apiPort : target.appPort,
    connections: concurrency,
    next: purse.calls(operation),
    seconds,
    least: leastAt(concurrency),
    most: operation === 'exchange' ? purse.codes / concurrencies.length : Number.POSITIVE_INFINITY,
  };
  return measureCell(target, { round, operation, concurrency }, settleMs, () => runCell(cell));
}

/** Runs a cell, and asks the target what it used for it; `settleMs` is how long it is left alone after checks. */
export async function measureCell(
  target: RunningTarget,
  about: Pick<Measure, 'round' | 'operation' | 'concurrency'>,
  settleMs: number,
  run: () => Promise<Outcome>,
): Promise<Measure> {
  const before = await target.usage();
  const outcome = await run();
  // Use marks are written behind: that belongs to this cell's cost, and must not take the next one's core.
  if (marksUse(about.operation) && target.kind === 'valetkey') await sleep(settleMs);
  const after = await target.usage();
  const requests = outcome.latencies.length;
  return {
    target: target.name,
    ...about,
    requests,
    ...summary(outcome),
    cpu: (after.cpu - before.cpu) / requests,
    syncsPerRequest: (after.syncs - before.syncs) / requests,
  };
}

/** Minimum number of requests in a cell: a few for each connection, and pairs for the operations after it. */
function leastAt(concurrency: number): number {
  return Math.max(40, 3 * concurrency);
}

function mostExchanges({ name }: RunningTarget, measures: readonly Measure[]): number {
  const exchanges = measures.filter(({ target, operation }) => target === name && operation === 'exchange');
  return Math.max(...exchanges.map(({ perSecond }) => perSecond));
}

function summary({ seconds, latencies, errors, firstError, generatorBusy }: Outcome) {
  return {
    perSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    p999: percentile(latencies, 0.999),
    generatorBusy,
    errors,
    firstError,
  };
}

/** The latency below which such a share of sorted latencies lies. */
export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
