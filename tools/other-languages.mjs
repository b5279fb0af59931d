// npm run test:languages: OAuth clients of other languages, as Debian packages them, against a fresh service, packages/verify
// on Deno and Bun, and the examples of products in Python. What is missing is installed where root runs this on Debian; with
// --no-install only what is there is tried.
import { spawnSync } from 'node:child_process';
import { startWorld } from '../test/clients/walk.ts';
import { hasPythonFrameworks, PYTHON } from '../test/examples/product.ts';
import { programsOf, runProgram } from '../test/other-languages/page-programs.ts';
import { installRuntimes, RUNTIMES, walkRuntime } from '../test/other-languages/runtimes.ts';
import { isThere, libraries, typesFor, walk } from '../test/other-languages/walk.ts';
import { aptGet, whyNotInstallable } from './debian.mjs';

/** All of it together, with the downloads; ms. */
const LONGEST_RUN = 20 * 60_000;
const started = performance.now();

/** @type {string[]} */
const failures = [];
/** @type {(() => Promise<void> | void)[]} */
const ends = [];
const missing = [...libraries.filter((library) => !isThere(library)), ...(hasPythonFrameworks() ? [] : [PYTHON])];
const reasons = missing.length > 0 ? install() : [];
const there = libraries.filter(isThere);
for (const [index, { name, packages }] of missing.entries())
  if (name === PYTHON.name ? !hasPythonFrameworks() : !there.some((library) => library.name === name))
    console.log(`${name}: not tried, as ${packages.join(' ')} is not installed: ${reasons[index]}`);

const overdue = setTimeout(() => {
  console.error('test:languages: this took too long');
  process.exit(1);
}, remaining());
const world = await startWorld({ after: (end) => void ends.push(end) });
for (const library of there)
  for (const type of typesFor(library)) {
    const title = `${library.name}, ${type} client`;
    try {
      console.log(`${title}: ${(await walk(world, library, type)).join(', ')}`);
    } catch (error) {
      console.log(`${title}: failed\n${error instanceof Error ? error.message : error}`);
      failures.push(title);
    }
  }
for (const program of programsOf(world).filter(isInstalled)) {
  const title = `the developers' page, ${program.name}`;
  try {
    await runProgram(world, program);
    console.log(`${title}: runs as it is copied`);
  } catch (error) {
    console.log(`${title}: failed\n${error instanceof Error ? error.message : error}`);
    failures.push(title);
  }
}
if (!process.argv.includes('--no-install')) await walkRuntimes();
for (const end of ends.reverse()) await end();
clearTimeout(overdue);
if (hasPythonFrameworks() && !walkExamples()) failures.push(PYTHON.name);
for (const title of failures) console.error(`test:languages: ${title} failed, see above`);
if (there.length === 0) console.error('test:languages: there was nothing to try');
process.exitCode = failures.length > 0 || there.length === 0 ? 1 : 0;

/** Whether the library of a program is there: it is among those that are tried.
 * @param {{ readonly name: string }} program */
function isInstalled({ name }) {
  const [language = '', library = ''] = name.split(', ');
  return language === 'JavaScript' || there.some((each) => each.name === `${library} of ${language}`);
}

/** Installs what is missing, one by one, so that a package that this Debian lacks stops no other; answers what was in the way of each. */
function install() {
  const cannot = process.argv.includes('--no-install') ? '--no-install was given' : whyNotInstallable();
  const complaint = cannot || aptGet(['update'], remaining());
  return missing.map(({ name, packages }) => {
    if (cannot) return cannot;
    console.log(`${name}: installing ${packages.join(' ')}`);
    const failed = aptGet(['install', '-y', '--no-install-recommends', ...packages], remaining());
    return failed || complaint || 'apt-get installed it, and yet it does not run';
  });
}

/** packages/verify on Deno and Bun, which npm brings. */
async function walkRuntimes() {
  const folder = installRuntimes();
  for (const runtime of RUNTIMES) {
    const title = `packages/verify on ${runtime.name}`;
    try {
      await walkRuntime({ after: (end) => void ends.push(end) }, folder, runtime);
      console.log(`${title}: metadata, a refusal, and checks from its cache`);
    } catch (error) {
      console.log(`${title}: failed\n${error instanceof Error ? error.message : error}`);
      failures.push(title);
    }
  }
}

/** The examples, with those that need Flask and Django; answers whether all went well. */
function walkExamples() {
  const files = ['test/examples/with-package.test.ts', 'test/examples/hostile.test.ts'];
  const options = ['--disable-warning=ExperimentalWarning', '--test', ...files];
  return spawnSync(process.execPath, options, { stdio: 'inherit', timeout: remaining() }).status === 0;
}

function remaining() {
  return Math.max(1000, Math.floor(started + LONGEST_RUN - performance.now()));
}
