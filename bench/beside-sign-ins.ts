/**
 * What sign-ins cost those who refresh: refreshes at a fixed rate beside exchanges at a fixed rate, which are answered without an
 * ID token or with one, in turns on one service with SQLite. `node bench/beside-sign-ins.ts [--refreshes N] [--exchanges N]
 * [--seconds N] [--rounds N]`; prints milliseconds. The service and its thread for signatures share a core, as in `npm run bench`.
 */
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CONTESTANTS, targetOf } from './contestants.ts';
import { runStream, type StreamOutcome } from './open-loop.ts';
import { Purse, seededChance, shuffled } from './operations.ts';
import { percentile } from './rounds.ts';
import { median } from './statistics.ts';
import { isPinned, mintInProcess, pinGenerator, type RunningTarget, start, type Target } from './target.ts';

const { values } = parseArgs({
  options: {
    refreshes: { type: 'string', default: '200' },
    exchanges: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '6' },
  },
});
const [refreshes, exchanges, seconds, rounds] = [values.refreshes, values.exchanges, values.seconds, values.rounds].map(
  Number,
) as [number, number, number, number];

/** Beside what the refreshes run. */
const KINDS = ['valetkey-sqlite', 'valetkey-sign-in'] as const;
type Kind = (typeof KINDS)[number];

const CONNECTIONS = 64;
/** Grants that take turns at being refreshed. */
const CHAINS = 1000;
const SETTLE_MS = 1000;
const chance = seededChance(1);

const cache = join(import.meta.dirname, '../node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'bench-'));
const log = openSync(join(folder, 'log'), 'a');
const target = await targetOf(contestant('valetkey-sqlite'), { folder, createDatabase: () => Promise.reject() });
if (!isPinned) console.error('server and generator share cores, so figures are rough');
pinGenerator();
const running = await start(target, log);
try {
  await measure(running);
} finally {
  await running.stop();
  closeSync(log);
  rmSync(folder, { recursive: true, force: true });
}

async function measure(service: RunningTarget): Promise<void> {
  const chains = await pairsToRefresh(service);
  const found: Record<Kind, StreamOutcome[]> = { 'valetkey-sqlite': [], 'valetkey-sign-in': [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of shuffled(KINDS, chance)) {
      const beside = await codesFor(kind, service);
      await sleep(SETTLE_MS);
      const stream = { port: service.appPort, connections: CONNECTIONS, seconds, pauseMs: 1 };
      const [refreshed, exchanged] = await Promise.all([
        runStream({ ...stream, rate: refreshes, next: chains.calls('refresh') }),
        runStream({ ...stream, rate: exchanges, next: beside.calls('exchange') }),
      ]);
      const problem = refreshed.firstError ?? exchanged.firstError;
      if (problem !== null) throw new Error(problem);
      // The first round warms up.
      if (round > 0) found[kind].push(refreshed);
    }
  }
  print(found);
}

/** A purse whose codes have been exchanged. */
async function pairsToRefresh({ appPort, mint, paths }: Target): Promise<Purse> {
  const purse = new Purse(await mint(2 * CHAINS), paths, chance);
  const next = purse.calls('exchange');
  const rate = CHAINS;
  const { firstError } = await runStream({ port: appPort, rate, seconds: 2, connections: CONNECTIONS, next });
  if (firstError !== null) throw new Error(firstError);
  return purse;
}

/** A purse with the codes of one turn. */
async function codesFor(kind: Kind, { environment }: Target): Promise<Purse> {
  const what = kind === 'valetkey-sign-in' ? (['sign-in'] as const) : [];
  return new Purse(await mintInProcess(environment, exchanges * seconds, what), contestant(kind).paths, chance);
}

function contestant(name: Kind) {
  return CONTESTANTS.find((one) => one.name === name) as (typeof CONTESTANTS)[number];
}

function print(found: Readonly<Record<Kind, readonly StreamOutcome[]>>): void {
  console.log(`${refreshes} refreshes a second beside ${exchanges} exchanges, ms: p50, p99, p99 of each round`);
  for (const kind of KINDS) {
    const all = Float64Array.from(found[kind].flatMap(({ latencies }) => [...latencies])).sort();
    const each = found[kind].map(({ latencies }) => percentile(latencies, 0.99).toFixed(2));
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(all, share).toFixed(2));
    console.log(`${contestant(kind).title.padEnd(30)} ${p50} ${p99}  ${each.join(' ')}`);
  }
  const [plain, signing] = KINDS.map((kind) => found[kind].map(({ latencies }) => percentile(latencies, 0.99)));
  const ratios = (signing ?? []).map((p99, round) => p99 / (plain?.[round] ?? Number.NaN));
  console.log(
    `p99 beside ID tokens, against that without: ${median(ratios).toFixed(2)} (median of the rounds' ratios)`,
  );
}
