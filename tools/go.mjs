// Runs one task of this project on a machine that may have only an old Node.js and npm: gets a new enough Node.js,
// installs the packages that the task needs, and runs it. Plain JavaScript for Node.js 18 or later.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [task = '', ...rest] = process.argv.slice(2);
// Who may send SIGUSR1 to the service could otherwise read its keys with a debugger.
const NO_DEBUGGER = '--disable-sigusr1';
/** @type {Record<string, { run: string[], dev?: boolean, peers?: boolean }>} */
const tasks = {
  // A small nursery: most of what a request makes is gone before it is full, and a larger one only takes memory.
  start: { run: [NO_DEBUGGER, '--max-semi-space-size=4', 'src/main.ts', 'serve'] },
  demo: { run: [NO_DEBUGGER, 'src/main.ts', 'demo'] },
  cluster: { run: ['demo/cluster.ts'], dev: true },
  valetkey: { run: [NO_DEBUGGER, 'src/main.ts'] },
  test: { run: ['test/run.ts'], dev: true },
  rest: { run: ['test/run.ts', '--rest'], dev: true },
  all: { run: ['test/run.ts', '--all'], dev: true },
  check: { run: ['test/run.ts', '--check'], dev: true },
  // A nursery and a limit that the generator does not reach while it measures: its pauses would be charged to the servers.
  bench: { run: ['--max-semi-space-size=64', '--initial-old-space-size=3000', 'bench/run.ts'], dev: true, peers: true },
  languages: { run: ['tools/other-languages.mjs'], dev: true },
  guards: { run: ['test/guards/run.ts'], dev: true },
  nginx: { run: ['tools/nginx.mjs'], dev: true },
  prometheus: { run: ['tools/prometheus.mjs'], dev: true },
  failover: { run: ['tools/failover.mjs'], dev: true },
  'keep-databases': { run: ['test/upgrades/keep.ts'], dev: true },
  package: { run: ['tools/package.mjs'], dev: true },
  'set-version': { run: ['tools/release/versions.mjs'] },
  release: { run: ['tools/release.mjs'], dev: true },
};
const { run, dev = false, peers = false } = tasks[task] ?? giveUp(`name a task: ${Object.keys(tasks).join(', ')}.`);

// This process may be of a Node.js that does not know the option: with a listener it opens no debugger either.
process.on('SIGUSR1', () => {});

/** @type {import('node:child_process').ChildProcess | undefined} */
let child;
let stopped = 0;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    stopped = 128 + constants.signals[signal];
    if (!child) process.exit(stopped);
    // Ctrl-C in a terminal reaches the child by itself; handed on as well, it would be the second, impatient one.
    if (signal !== 'SIGINT' || !isatty(0)) child.kill(signal);
  });
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
let node = process.execPath;
if (major < 24 || (major === 24 && minor < 15)) {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch))
    giveUp(`this is Node.js ${process.versions.node}: install Node.js 24.15 or later, then run the command again.`);
  await install('tools/node', `a Node.js under tools/node, as ${process.versions.node} is too old`, false);
  node = join(root, `tools/node/node_modules/node-linux-${process.arch}/bin/node`);
}
await install('.', dev ? 'the packages, with those for development' : 'the packages', dev);
if (peers) await install('bench/peers', 'the packages to compare with', false);
// node:sqlite still calls itself experimental in some of the releases that serve; nobody who runs a command can act on it.
process.exit(await finish([node, '--disable-warning=ExperimentalWarning', ...run, ...rest], 'inherit'));

/**
 * Runs a program to its end, under the PATH of the chosen Node.js. Gives its exit code, or 128 + n if signal n ended it, as a shell does.
 * @param {string[]} command @param {import('node:child_process').StdioOptions} stdio @returns {Promise<number>}
 */
function finish([program = '', ...args], stdio) {
  // Compiled code is kept between runs, which halves the start.
  const cache = process.env['NODE_COMPILE_CACHE'] ?? join(root, 'node_modules/.cache/compiled');
  const PATH = dirname(node) + delimiter + process.env['PATH'];
  const env = { ...process.env, PATH, NODE_COMPILE_CACHE: cache };
  return new Promise((resolve) => {
    child = spawn(program, args, { cwd: root, env, stdio });
    child.on('error', () => giveUp(`${program} does not run here: install Node.js 24.15 or later, with npm.`));
    child.on('exit', (code, signal) => {
      child = undefined;
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']);
    });
  });
}

/**
 * Installs what a directory's lock names, unless it is there. Packages for development also serve the other tasks, and stay.
 * npm installs into a directory beside, and the result is swapped in: a task that runs meanwhile always finds its packages.
 * @param {string} directory @param {string} what @param {boolean} dev
 */
async function install(directory, what, dev) {
  const home = join(root, directory);
  const stamp = join(home, 'node_modules/.installed');
  const hash = createHash('sha256').update(readFileSync(join(home, 'package-lock.json')));
  const wanted = hash.update(process.platform + process.arch).digest('hex');
  const installed = () => (existsSync(stamp) ? readFileSync(stamp, 'utf8') : '');
  const enough = () => installed() === `${wanted} dev` || (!dev && installed() === `${wanted} prod`);
  if (enough()) return;
  const beside = join(home, '.installing');
  const unlock = await lock(beside);
  if (!enough()) {
    const kind = dev || installed().endsWith(' dev') ? 'dev' : 'prod';
    process.stderr.write(`setup: installing ${what}\n`);
    // npm leaves out optional packages that do not suit the Node.js it runs under: it runs under the one that will load them.
    const cli = process.env['npm_execpath'] ?? '';
    const npm = cli.endsWith('npm-cli.js') ? [node, cli] : ['npm'];
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    flags.push(kind === 'dev' ? '--include=dev' : '--omit=dev');
    for (const name of ['package.json', 'package-lock.json', '.npmrc'])
      if (existsSync(join(home, name))) copyFileSync(join(home, name), join(beside, name));
    const code = await finish([...npm, 'ci', '--prefix', beside, ...flags], ['ignore', 'ignore', 'inherit']);
    if (stopped) process.exit(stopped);
    if (code)
      giveUp(`npm could not install ${what}: check the network and npm's registry setting, then run this again.`);
    mkdirSync(join(beside, 'node_modules'), { recursive: true });
    writeFileSync(join(beside, 'node_modules/.installed'), `${wanted} ${kind}`);
    swapIn(beside, home);
  }
  unlock();
}

/**
 * Puts the packages that were installed beside in the place of those that are there. What was cached among them moves along.
 * @param {string} beside @param {string} home
 */
function swapIn(beside, home) {
  const [place, next] = [join(home, 'node_modules'), join(beside, 'node_modules')];
  const cache = join(place, '.cache');
  if (existsSync(cache)) renameSync(cache, join(next, '.cache'));
  if (existsSync(place)) renameSync(place, join(beside, 'before'));
  renameSync(next, place);
}

/**
 * Waits until no other task installs into the same place. A holder touches its lock every second, so one that was killed shows.
 * @param {string} path @returns {Promise<() => void>} what gives the lock back
 */
async function lock(path) {
  for (;;) {
    try {
      mkdirSync(path);
      break;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - touched > 10_000) rmSync(path, { recursive: true, force: true });
      await sleep(200);
    }
  }
  const beat = setInterval(() => utimesSync(path, new Date(), new Date()), 1000);
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.on('exit', remove);
  return () => {
    clearInterval(beat);
    process.off('exit', remove);
    remove();
  };
}

/** @param {string} sentence @returns {never} */
function giveUp(sentence) {
  process.stderr.write(`setup: ${sentence}\n`);
  process.exit(1);
}
