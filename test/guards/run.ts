/**
 * npm run test:guards: takes each guard of the table out of a copy of the project, one at a time, and runs the tests that
 * are to notice. Says which test did. Whatever survives without a reason fails the run.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Guard, takeOut } from './guard.ts';
import { GUARDS } from './table.ts';

const USAGE = `npm run test:guards -- [options]
  --area NAME,NAME   some areas instead of all: ${Object.keys(GUARDS).join(', ')}
  --holds TEXT       only the guards whose sentence has this text
  --part K/N         the Kth of N parts, drawn by the seed
  --seed N           for the parts (1)
  --at-once N        copies that run beside each other (as many as cores)
`;

/** Guards without a reason to survive that are let pass. */
const MAX_UNEXPLAINED = 5;
/** A guard whose tests hang without it was noticed. Timeout of one guard's tests (ms). */
const TIMEOUT_MS = 120_000;
/** What a copy shares with the project. */
const SHARED = ['node_modules', 'tools/node/node_modules'];

type Verdict = { readonly guard: Guard; readonly noticedBy: string | null; readonly seconds: number };

const { values } = parseArgs({
  options: {
    area: { type: 'string' },
    holds: { type: 'string' },
    part: { type: 'string', default: '1/1' },
    seed: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: String(availableParallelism()) },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else process.exitCode = await runAll();

async function runAll(): Promise<number> {
  const guards = chosen();
  const verdicts: Verdict[] = [];
  const line = guards.values();
  const work = async () => {
    const copy = copyProject();
    try {
      for (const guard of line) {
        const verdict = await withoutGuard(copy, guard);
        verdicts.push(verdict);
        say(verdict);
      }
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: Number(values['at-once']) }, work));
  const survivors = verdicts.filter(({ noticedBy }) => noticedBy === null);
  const unexplained = survivors.filter(({ guard }) => guard.survives === undefined);
  console.log(`${verdicts.length} guards taken out, ${verdicts.length - survivors.length} noticed`);
  console.log(`${survivors.length} survived, ${unexplained.length} of them without a reason`);
  return unexplained.length > MAX_UNEXPLAINED ? 1 : 0;
}

function chosen(): Guard[] {
  const areas = values.area?.split(',') ?? Object.keys(GUARDS);
  const unknown = areas.filter((area) => !(area in GUARDS));
  if (unknown.length > 0) throw new Error(`no area ${unknown.join(', ')}: there is ${Object.keys(GUARDS).join(', ')}`);
  const all = areas.flatMap((area) => GUARDS[area] ?? []).filter(({ holds }) => holds.includes(values.holds ?? ''));
  const [part = 1, parts = 1] = values.part.split('/').map(Number);
  return shuffled(all, Number(values.seed)).filter((_, index) => index % parts === part - 1);
}

/** The same order for the same seed (a linear congruential generator; nothing here needs good chance). */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  const draw = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state;
  };
  return items
    .map((item) => ({ item, at: draw() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/** A folder with all the project's files as links, which a file without its guard replaces. */
function copyProject(): string {
  const copy = folderForAll(join(tmpdir(), 'valetkey-guards-'), 0o755);
  const files = filesBelow('');
  for (const file of files) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    linkSync(file, join(copy, file));
  }
  for (const folder of SHARED) if (existsSync(folder)) symlinkSync(join(process.cwd(), folder), join(copy, folder));
  return copy;
}

/** A new folder that PostgreSQL can reach too, which runs as another user: else each of its tests copies its programs. */
function folderForAll(beginning: string, mode: number): string {
  const folder = mkdtempSync(beginning);
  chmodSync(folder, mode);
  return folder;
}

/** The project's own files, as paths from its root. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder || '.', { withFileTypes: true })
    .filter(({ name }) => !['node_modules', '.git', 'data'].includes(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
    });
}

async function withoutGuard(copy: string, guard: Guard): Promise<Verdict> {
  const start = performance.now();
  const path = join(copy, guard.file);
  const source = readFileSync(guard.file, 'utf8');
  unlinkSync(path);
  writeFileSync(path, takeOut(guard, source));
  // What is killed removes nothing: the folders of its databases and browsers are removed here.
  const temporary = folderForAll(join(copy, 'tmp-'), 0o1777);
  const noticedBy = await firstFailure(copy, temporary, guard.tests);
  rmSync(temporary, { recursive: true, force: true, maxRetries: 10 });
  writeFileSync(path, source);
  return { guard, noticedBy, seconds: (performance.now() - start) / 1000 };
}

/** The name of the first test that fails in a copy; null where all pass. */
function firstFailure(copy: string, temporary: string, tests: readonly string[]): Promise<string | null> {
  const args = ['--disable-warning=ExperimentalWarning', '--test', '--test-timeout=60000', '--test-reporter=tap'];
  const child = spawn(process.execPath, [...args, ...tests], {
    cwd: copy,
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const end = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), 'SIGKILL');
  };
  return new Promise((resolve) => {
    let seen = '';
    const noticed = (name: string | null) => {
      end();
      resolve(name);
    };
    const timer = setTimeout(() => noticed('(its tests did not end)'), TIMEOUT_MS);
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk;
      const name = /^ *not ok \d+ - (.*)$/m.exec(seen)?.[1];
      if (name !== undefined) noticed(name);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? null : '(a test file that does not run)');
    });
  });
}

function say({ guard, noticedBy, seconds }: Verdict): void {
  const found = noticedBy ?? `SURVIVES${guard.survives === undefined ? '' : `: ${guard.survives}`}`;
  console.log(`${guard.file}: ${guard.holds}\n  → ${found} (${seconds.toFixed(1)} s)`);
}
