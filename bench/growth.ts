// node bench/growth.ts: the service on SQLite with more and more grants in its database, and its clean-up.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { InstallationError } from '../src/process/installation-error.ts';
import { CONTESTANTS, targetOf } from './contestants.ts';
import { measureCleanUp } from './growth-clean-up.ts';
import { type FilledDatabase, makeDatabase, megabytesOf, requireSpace, watchLargest } from './growth-database.ts';
import { GrantCalls } from './growth-grants.ts';
import { type Load, measureService } from './growth-load.ts';
import { type Grown, growthGoals, growthTable } from './growth-report.ts';
import { seededChance } from './operations.ts';
import type { Measure } from './rounds.ts';
import { withFolder } from './scaling-sqlite.ts';
import { rootKey } from './scaling-store.ts';
import { figuresText, rowsOf } from './statistics.ts';
import { measureSync } from './sync-time.ts';
import { isPinned, pinGenerator, start, type Target } from './target.ts';

/** All of them make a run whose figures are kept. */
const SIZES = [10_000, 1_000_000, 10_000_000];
/** With fewer, a lap over all of them is shorter than over more, and nothing can be compared. */
const FEWEST = 10_000;
/** How much others run here, as processes that want a core. */
const loadBefore = loadavg()[0] ?? 0;
const QUIET = 0.5;

const USAGE = `node bench/growth.ts [options]
How the service on SQLite behaves as the grants in its database grow: for each size a database is filled, the service is
run on it, with each request on another grant of the whole table, and then its clean-up. Medians over rounds, of which a
first one is dropped; ratios are against the smallest size. A wrong answer ends the run. The default sizes take about a
quarter of an hour, two processors and ten GB of free disk, and write bench/results/growth.json.
  --grants N,N   sizes, each ${FEWEST.toLocaleString('en')} or more (${SIZES.join()})
  --seconds N    how long each operation is begun in a round, one at a time and at 64 (1)
  --rounds N     rounds (3)
  --seed N       for which grants are drawn (1)
`;

const { values } = parseArgs({
  options: {
    grants: { type: 'string', default: SIZES.join() },
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else process.exitCode = await growth();

async function growth(): Promise<number> {
  const load = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
  const sizes = [...new Set(values.grants.split(',').map(Number))].sort((one, other) => one - other);
  const mistake = mistakeIn(sizes, load);
  if (mistake) return refuse(mistake);
  if (!isPinned) report('no taskset (util-linux) or one core only: server and generator share cores');
  if (loadBefore > QUIET) report(`other programs run here (load average ${loadBefore.toFixed(1)}): figures are rough`);
  try {
    await withFolder((folder) => measureAll(folder, sizes, load));
    return 0;
  } catch (error) {
    if (error instanceof InstallationError) return refuse(error.message);
    throw error;
  }
}

async function measureAll(folder: string, sizes: readonly number[], load: Load): Promise<void> {
  await requireSpace(folder, Math.max(...sizes));
  const syncTime = measureSync(folder);
  pinGenerator();
  const chance = seededChance(Number(values.seed));
  const grown: Grown[] = [];
  for (const grants of sizes) grown.push(await withFolder((own) => measureSize(own, grants, load, chance)));
  process.stdout.write(`${growthTable(grown)}\n\nA sync of this disk takes ${syncTime.toFixed(2)} ms.\n`);
  if (SIZES.every((size) => sizes.includes(size))) write(grown, load, syncTime);
}

async function measureSize(folder: string, grants: number, load: Load, chance: () => number): Promise<Grown> {
  const tell = (line: string) => report(`${grants.toLocaleString('en')} grants: ${line}`);
  const database = await makeDatabase(join(folder, 'valetkey.db'), grants, tell);
  const fileMB = megabytesOf(database.path);
  const wal = watchLargest(`${database.path}-wal`);
  try {
    const measures = await serve(folder, database, load, chance, tell);
    const cleanUp = await measureCleanUp(database, tell);
    return { grants, fileMB, walMB: wal.megabytes(), cleanUp, rows: rowsOf(measures) };
  } finally {
    wal.stop();
  }
}

/** Measures the service on a filled database, and stops it. */
async function serve(
  folder: string,
  database: FilledDatabase,
  load: Load,
  chance: () => number,
  tell: (line: string) => void,
): Promise<Measure[]> {
  const log = openSync(join(folder, 'log'), 'a');
  try {
    const service = await start(await serviceOn(folder, database), log);
    try {
      return await measureService(service, new GrantCalls(database, service.paths, chance), load, tell);
    } finally {
      await service.stop();
    }
  } finally {
    closeSync(log);
  }
}

/** The service as the other bench starts it, but on a database and with a key that are there already. */
async function serviceOn(folder: string, { path, made }: FilledDatabase): Promise<Target> {
  const contestant = CONTESTANTS.find(({ name }) => name === 'valetkey-sqlite');
  if (!contestant) throw new Error('the service is not among the contestants');
  const createDatabase = () => Promise.reject(new Error('there is no PostgreSQL'));
  const target = await targetOf(contestant, { folder, createDatabase });
  const environment = {
    ...target.environment,
    VALETKEY_DATABASE_URL: `sqlite:${path}`,
    VALETKEY_KEYS: rootKey,
    // A long run checks what it refreshed long ago.
    VALETKEY_ACCESS_TOKEN_TTL: '86400',
  };
  return { ...target, name: String(made.grants), environment };
}

function write(grown: readonly Grown[], load: Load, syncTime: number): void {
  const date = new Date().toISOString().slice(0, 10);
  const about = { date, node: process.version, pinned: isPinned, loadBefore, ...load, syncTime };
  const sizes = grown.map(({ rows: _, ...size }) => size);
  const rows = grown.flatMap(({ grants, rows: some }) => some.map(({ target: _, ...row }) => ({ grants, ...row })));
  const everything = { ...about, goals: growthGoals(grown), sizes, rows };
  const json = figuresText(everything);
  writeFileSync(join(import.meta.dirname, 'results/growth.json'), `${json}\n`);
}

function mistakeIn(sizes: readonly number[], { rounds, seconds }: Load): string | null {
  if (!sizes.every((size) => Number.isInteger(size) && size >= FEWEST))
    return `--grants takes whole numbers of ${FEWEST} or more, with commas between them`;
  if (!Number.isInteger(rounds) || rounds < 1) return '--rounds takes a whole number, 1 or more';
  if (!(seconds > 0 && seconds <= 600)) return '--seconds takes a number above 0, 600 or less';
  return null;
}

function refuse(sentence: string): number {
  report(sentence);
  return 1;
}

function report(line: string): void {
  process.stderr.write(`growth: ${line}\n`);
}
