// npm run bench: the service beside what people would use instead, and beside servers that do nothing, in one interleaved
// run. See docs/performance.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CONTESTANTS, type Contestant } from './contestants.ts';
import { type Figures, goalsOf, standing } from './goals.ts';
import { seededChance } from './operations.ts';
import { plotOf } from './plot.ts';
import { reportOf } from './report.ts';
import { type Plan, runSession } from './session.ts';
import { figuresText, rowsOf } from './statistics.ts';
import { isPinned } from './target.ts';

const USAGE = `npm run bench -- [options]
  --quick              a look in under two minutes, instead of figures to rely on
  --only NAME,NAME     some instead of all: ${CONTESTANTS.map(({ name }) => name).join(', ')}
  --rounds N           rounds, of which the medians are taken (5)
  --seconds N          how long a cell of a round begins requests (1)
  --concurrency N,N    requests under way at once (1,16,64)
  --streams N          how many seconds of each fixed rate, alone and while others refresh; 0 for none (5)
  --starts N           starts of each kind of process (9)
  --seed N             for the order of things (1)
  --settle MS          a pause after each cell of checks (600)
  --patience N         how many seconds to spend on measuring again what others on the machine disturbed (900)
  --sync-delay US      a disk on which each sync of those who store in SQLite takes so many µs longer; needs a C compiler
  --profile            also show where the service's time goes
  --out FOLDER         where latest.json and latest.svg go (a whole run: bench/results; others: nowhere)
`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    concurrency: { type: 'string' },
    streams: { type: 'string' },
    starts: { type: 'string' },
    seed: { type: 'string', default: '1' },
    settle: { type: 'string' },
    patience: { type: 'string' },
    'sync-delay': { type: 'string', default: '0' },
    profile: { type: 'boolean', default: false },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** How much others run here, as processes that want a core. */
const loadBefore = loadavg()[0] ?? 0;
const QUIET = 0.5;

if (values.help) process.stdout.write(USAGE);
else process.exitCode = await bench();

async function bench(): Promise<number> {
  const { quick } = values;
  const plan: Plan = {
    rounds: Number(values.rounds ?? (quick ? 1 : 5)),
    seconds: Number(values.seconds ?? (quick ? 0.2 : 1)),
    concurrencies: (values.concurrency ?? (quick ? '1,64' : '1,16,64')).split(',').map(Number),
    settleMs: Number(values.settle ?? (quick ? 200 : 600)),
    starts: Number(values.starts ?? (quick ? 2 : 9)),
    streamSeconds: Number(values.streams ?? (quick ? 1 : 5)),
    syncDelay: Number(values['sync-delay']),
    patience: Number(values.patience ?? (quick ? 0 : 900)),
    profile: values.profile,
  };
  const contestants = chosen();
  if (!isPinned)
    report('no taskset (util-linux) or one core only: server and generator share cores, so figures are rough');
  if (loadBefore > QUIET)
    report(`other programs run here (load average ${loadBefore.toFixed(1)}), so figures are rough`);
  const { figures, profiles } = await runSession(contestants, plan, seededChance(Number(values.seed)), report);
  process.stdout.write(`${[reportOf(figures), ...profiles].join('\n\n')}\n`);
  const out = values.out ?? (quick || values.only || plan.syncDelay > 0 ? null : join(import.meta.dirname, 'results'));
  const errors = errorsOf(figures);
  if (out) write(out, plan, figures, errors);
  if (errors > 0) report(`${errors} answers were wrong: these figures mean nothing`);
  return errors > 0 ? 1 : 0;
}

function chosen(): readonly Contestant[] {
  const names = values.only?.split(',');
  const unknown = names?.filter((name) => !CONTESTANTS.some((contestant) => contestant.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`nobody is called ${unknown.join(', ')}: see --help`);
  return CONTESTANTS.filter(({ name }) => !names || names.includes(name));
}

function errorsOf({ measures, streams, mixed }: Figures): number {
  return [...measures, ...streams, ...mixed].reduce((sum, { errors }) => sum + errors, 0);
}

function write(folder: string, plan: Plan, figures: Figures, errors: number): void {
  const date = new Date().toISOString().slice(0, 10);
  const about = { date, node: process.version, pinned: isPinned, loadBefore, ...plan };
  const { measures, ...others } = figures;
  const rows = rowsOf(measures);
  const goals = goalsOf(figures).map((goal) => ({ ...goal, standing: standing(goal) }));
  mkdirSync(folder, { recursive: true });
  const json = figuresText({ ...about, errors, goals, ...others, rows });
  writeFileSync(join(folder, 'latest.json'), `${json}\n`);
  writeFileSync(join(folder, 'latest.svg'), plotOf(rows, about));
}

function report(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
