// npm run bench: the service beside bare Fastify and bare node:http, in one interleaved run. See docs/performance.md.
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seededChance } from './operations.ts';
import { profileAll } from './profile.ts';
import { rowsOf, tableOf } from './report.ts';
import { type Extent, runRounds } from './rounds.ts';
import { measureStarts, type StartTimes } from './start-time.ts';
import { bare, isPinned, pinGenerator, start, valetkey } from './target.ts';

const USAGE = `npm run bench -- [options]
  --quick              a look in under a minute, instead of figures to rely on
  --rounds N           rounds, of which the medians are taken (5)
  --requests N         requests in a cell of 64 connections (20000)
  --concurrency N,N    connections (1,16,64)
  --starts N           starts of each kind of process (9)
  --seed N             for the order of things (1)
  --settle MS          a pause after each cell of checks (600)
  --profile            also show where the service's time goes
  --json FILE          also write all figures into a file
`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    requests: { type: 'string' },
    concurrency: { type: 'string', default: '1,16,64' },
    starts: { type: 'string' },
    seed: { type: 'string', default: '1' },
    settle: { type: 'string', default: '600' },
    profile: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else process.exitCode = await bench();

async function bench(): Promise<number> {
  const extent: Extent = {
    rounds: Number(values.rounds ?? (values.quick ? 2 : 5)),
    requests: Number(values.requests ?? (values.quick ? 8000 : 20_000)),
    concurrencies: values.concurrency.split(',').map(Number),
    settleMs: Number(values.settle),
  };
  const starts = Number(values.starts ?? (values.quick ? 3 : 9));
  const chance = seededChance(Number(values.seed));
  pinGenerator();
  if (!isPinned)
    report('no taskset (util-linux) or one core only: server and generator share cores, so figures are rough');
  // A cache of the project: on the project's own disk, where a folder for temporary files may be in memory.
  const cache = join(import.meta.dirname, '../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bench-'));
  // Also when interrupted; the servers end by themselves when their parent is gone.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const log = openSync(join(folder, 'log'), 'a');
  try {
    report('starting');
    const targets = [await valetkey(folder), await bare('Fastify'), await bare('node:http')] as const;
    const startTimes = starts > 0 ? await measureStarts(targets[0], targets[1], starts, log) : null;
    const running = await Promise.all(targets.map((target) => start(target, log)));
    const [service] = running;
    if (!service) return 1;
    try {
      await sleep(extent.settleMs);
      const memoryIdle = await memoryOf(running);
      const measures = await runRounds(running, extent, chance, report);
      const memoryAfter = await memoryOf(running);
      const profiles = values.profile ? await profileAll(service, extent, chance) : [];
      const rows = rowsOf(measures, extent.concurrencies);
      const figures = { memoryIdle, memoryAfter, startTimes };
      print(rows, figures, profiles);
      const errors = measures.reduce((sum, measure) => sum + measure.errors, 0);
      if (values.json)
        writeFileSync(values.json, `${JSON.stringify({ ...about(extent), errors, ...figures, rows }, null, 2)}\n`);
      if (errors > 0) report(`${errors} answers were wrong: these figures mean nothing`);
      return errors > 0 ? 1 : 0;
    } finally {
      await Promise.all(running.map((target) => target.stop()));
    }
  } finally {
    closeSync(log);
  }
}

type Figures = {
  readonly memoryIdle: Record<string, number>;
  readonly memoryAfter: Record<string, number>;
  readonly startTimes: StartTimes | null;
};

function print(
  rows: ReturnType<typeof rowsOf>,
  { memoryIdle, memoryAfter, startTimes }: Figures,
  profiles: string[],
): void {
  const lines = [tableOf(rows), '', '* the generator was the limit', ''];
  for (const [name, idle] of Object.entries(memoryIdle))
    lines.push(`memory of ${name}: ${idle} MB idle, ${memoryAfter[name]} MB after the run`);
  if (startTimes) {
    const { node, fastify, valetkey: answer, valetkeyToken } = startTimes;
    lines.push(
      `start to first answer: ${answer.toFixed(0)} ms (to first token ${valetkeyToken.toFixed(0)} ms); ` +
        `bare Fastify ${fastify.toFixed(0)} ms; node that does nothing ${node.toFixed(0)} ms`,
    );
  }
  for (const profile of profiles) lines.push('', profile);
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function memoryOf(running: readonly Awaited<ReturnType<typeof start>>[]): Promise<Record<string, number>> {
  const usages = await Promise.all(running.map(async ({ name, usage }) => [name, await usage()] as const));
  return Object.fromEntries(usages.map(([name, { rss }]) => [name, Math.round(rss / 2 ** 20)]));
}

function about(extent: Extent): object {
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    pinned: isPinned,
    ...extent,
    concurrencies: extent.concurrencies.join(' '),
  };
}

function report(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
