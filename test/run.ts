// npm test: types, lint and format, dead code, and the first group of tests, at the same time. With --rest (`npm run test:rest`)
// the second group, and files of the first once more on the other store; with --all (`npm run test:all`) one group after the
// other. With paths (`npm test -- test/oauth`) only the tests there, of either group; with --check (`npm run check`)
// everything but the tests.
// The dearest processes and what was skipped are named at the end; a skip is a failure under CI. Node's own counts are the last
// thing on stdout.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { COMPILED } from './support/compiled.ts';
import { COUNT_COST, countCosts } from './support/cost/report.ts';
import { AGAIN, FIRST_VARIABLES, filesOf, type Group } from './support/groups.ts';
import { DISK, memory } from './support/memory.ts';
import { inProcesses, processName } from './support/processes.ts';

const checks: Readonly<Record<string, readonly string[]>> = {
  types: ['typescript/bin/tsc', '--noEmit'],
  'lint and format': ['@biomejs/biome/bin/biome', 'ci', `--colors=${process.stdout.isTTY ? 'force' : 'off'}`],
  'dead code': ['knip/bin/knip.js', '--no-config-hints'],
};

/** Files that would be waited for at the end if they did not begin first; of files that share a process, the folder. */
const LONGEST = [
  ...['/http/connection/', '/http/browser/', '/http/provider/'],
  ...['test/flows/program.test.ts', 'test/flows/in-a-browser.test.ts', 'test/upgrades/upgrade.test.ts'],
  ...['test/pages/pages.browser.test.ts', 'test/storage/copy.test.ts', 'test/storage/wal-size.test.ts'],
];

/** What is loaded before the tests of a process. */
const UNFOLLOWED = new URL('./support/unfollowed-promises.ts', import.meta.url).href;

// Where there is memory for it, what tests write lies there; and what one leaves behind goes with the folder.
const folder = mkdtempSync(join(memory() ?? tmpdir(), 'valetkey-tests-'));
chmodSync(folder, 0o755); // Who runs a server for root is somebody else.
process.env[DISK] ??= tmpdir();
process.env['TMPDIR'] = folder;
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const paths = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const groups = groupsToRun();
const failures: string[] = [];

if (options.includes('--check')) await runChecks();
else await prepareChromium();
if (paths.length > 0) await runPaths();
for (const group of groups) await runGroup(group);
for (const failure of failures) console.error(`npm test: ${failure}`);
if (failures.length > 0) process.exitCode = 1;

function groupsToRun(): Group[] {
  if (paths.length > 0 || options.includes('--check')) return [];
  if (options.includes('--all')) return ['first', 'rest'];
  return options.includes('--rest') ? ['rest'] : ['first'];
}

async function runChecks(variables: Run['env'] = {}): Promise<void> {
  await Promise.all(Object.entries(checks).map(([name, command]) => check(name, command, variables)));
}

/** Runs one check and prints its name, its time, and what it has to say. */
async function check(name: string, [program = '', ...args]: readonly string[], variables: Run['env']): Promise<void> {
  const start = performance.now();
  const child = spawn(process.execPath, [`--import=${COUNT_COST}`, join('node_modules', program), ...args], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [output, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  report(name, start, code === 0 ? '' : 'failed');
  if (code === 0) return;
  process.stdout.write(output + complaints);
  failures.push(`${name} failed, see above`);
}

/** Unpacks or finds the browser before the tests, which run in many processes and would each do it. */
async function prepareChromium(): Promise<void> {
  const start = performance.now();
  // Imported here, since the module looks for the browser as soon as it is loaded.
  const { findChromium } = await import('./support/chromium.ts');
  const found = await findChromium();
  if (found) {
    process.env['BROWSER_PATH'] = found.path;
    process.env['BROWSER_ENV'] = JSON.stringify(found.env);
  }
  report('Chromium', start, found ? '' : 'none here: the tests in a browser are skipped');
}

function report(stage: string, start: number, remark: string): void {
  console.log(`${stage}: ${((performance.now() - start) / 1000).toFixed(1)} s${remark && `, ${remark}`}`);
}

/** Runs the files at these paths, each in a process of its own; a folder stands for the tests below it. */
async function runPaths(): Promise<void> {
  const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory();
  const files = globSync(paths.map((path) => (isFolder(path) ? join(path, '**/*.test.ts') : path)));
  const costs = countCosts(folder);
  await runTests(files, { env: costs.variables, report: () => costs.report('paths', processName) });
  costs.end();
}

/** Runs a group, with one PostgreSQL server for the files that share one. */
async function runGroup(group: Group): Promise<void> {
  const costs = countCosts(folder);
  // The checks share no file with the tests, so they share the processors.
  const checking = group === 'first' ? runChecks(costs.variables) : Promise.resolve();
  const { startShared } = await import('./support/shared-postgres.ts');
  const shared = await startShared();
  const env = { ...costs.variables, ...shared.variables };
  // At the same time: many tests wait for timeouts.
  const again = group === 'rest' ? runAgain(env) : Promise.resolve();
  const report = async () => {
    await Promise.all([checking, again]);
    return costs.report(group, processName);
  };
  await runTests(together(filesOf(group)), { env: group === 'first' ? { ...env, ...FIRST_VARIABLES } : env, report });
  await shared.remove();
  costs.end();
}

/** Runs what the second group has of files of the first, with other variables. */
async function runAgain(env: Run['env']): Promise<void> {
  for (const { variables, files } of AGAIN) {
    const title = Object.entries(variables)
      .map((pair) => pair.join('='))
      .join(' ');
    const print = async (report: AsyncIterable<string>) => {
      // When it is whole, since others report at the same time.
      process.stdout.write(`tests with ${title}:\n${await text(report)}`);
    };
    await runTests(together(files()), { env: { ...env, ...variables, TEST_COST_RUN: title }, print });
  }
}

/** What to run for these files where several share a process. */
function together(files: string[]): string[] {
  return inProcesses(files, mkdtempSync(join(folder, 'processes-')));
}

function printAsItComes(report: AsyncIterable<string>): Promise<void> {
  return pipeline(report, process.stdout, { end: false });
}

/** How a run goes: variables of its processes, what prints it, and what it reports before the counts. */
type Run = {
  readonly env: Readonly<Record<string, string>>;
  readonly print?: (report: AsyncIterable<string>) => Promise<void>;
  readonly report?: () => string[] | Promise<string[]>;
};

async function runTests(
  files: string[],
  { env: variables, print = printAsItComes, report = () => [] }: Run,
): Promise<void> {
  const env = { ...process.env, ...COMPILED, ...variables };
  // A test that hangs fails in the end, as does a file whose tests left something open: so late that a busy machine, on which
  // all takes many times as long, fails nothing. Made to exit a file would end at once, and before all that it reported was read.
  const options = ['--disable-warning=ExperimentalWarning', '--test-timeout=600000'];
  const execArgv = [...options, `--import=${COUNT_COST}`, `--import=${UNFOLLOWED}`];
  // Many tests wait for a timeout of the service: with twice as many processes as processors these are not idle meanwhile.
  const concurrency = 2 * availableParallelism();
  const tests = run({ files: spread(files), concurrency, execArgv, env, timeout: 1_800_000 });
  await pipeline(judged(tests, report), spec(), print);
}

/**
 * The longest first, and then those of each folder spread over the whole run: they are much alike, and several that start many
 * processes are too much at once.
 */
function spread(files: readonly string[]): string[] {
  const folders = [...Map.groupBy(files.toSorted(), dirname).values()];
  const placed = folders.flatMap((folder) => folder.map((file, index) => ({ file, place: index / folder.length })));
  const inOrder = placed.toSorted((one, other) => one.place - other.place).map(({ file }) => file);
  const isLongest = (file: string) => LONGEST.some((part) => file.includes(part));
  return inOrder.toSorted((one, other) => Number(isLongest(other)) - Number(isLongest(one)));
}

type Outcome = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>['data'];

/**
 * Notes what failed, and adds before the counts the report, and a line for each test that was skipped, with its reason. A suite
 * that was skipped is one line; Node's counts leave it out.
 */
async function* judged(
  events: AsyncIterable<TestEvent>,
  report: NonNullable<Run['report']>,
): AsyncGenerator<TestEvent> {
  const skipped: string[] = [];
  for await (const event of events) {
    if (event.type === 'test:pass' || event.type === 'test:fail') skipped.push(...skippedBy(event.data));
    // A plan or a summary without a file is that of all files; the counts stand between them.
    if (event.type === 'test:plan' && event.data.file === undefined) {
      for (const message of [...(await report()), ...skipped])
        yield { type: 'test:diagnostic', data: { nesting: 0, message, level: 'info' } };
    }
    if (event.type === 'test:summary' && event.data.file === undefined) {
      const { success, counts } = event.data;
      if (!success) failures.push('tests failed, see above');
      if (counts.tests + skipped.length === 0) failures.push(`no test ran: nothing matches ${paths.join(' ')}`);
      if (skipped.length > 0 && process.env['CI'])
        failures.push(`${skipped.length} tests were skipped, and CI runs all of them`);
    }
    yield event;
  }
}

function skippedBy({ file = '', name, skip, todo }: Outcome): string[] {
  const reason = skip || todo;
  if (!reason) return [];
  return [`skipped: ${relative('.', file)}: ${name}: ${reason === true ? 'no reason is given' : reason}`];
}
