/** tools/go.mjs: installing packages beside those that another task is using. A stand-in for npm says when it goes on. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from './support/until.ts';

/** As `npm ci --prefix` does: removes the packages at the prefix, and then writes those of the lock there. */
const NPM = `
const { existsSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const prefix = process.argv[process.argv.indexOf('--prefix') + 1];
rmSync(join(prefix, 'node_modules'), { recursive: true, force: true });
writeFileSync(process.env.SIGNS + '/begun', '');
const goOn = setInterval(() => {
  if (!existsSync(process.env.SIGNS + '/go-on')) return;
  clearInterval(goOn);
  if (process.env.NPM_FAILS) process.exit(1);
  mkdirSync(join(prefix, 'node_modules/dep'), { recursive: true });
  writeFileSync(join(prefix, 'node_modules/dep/index.mjs'), 'export const version = 2;');
}, 10);
`;

/** A project whose packages are of an earlier lock. */
function makeProject(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'valetkey-first-run-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['tools', 'src', 'node_modules/dep', 'node_modules/.cache'])
    mkdirSync(join(root, folder), { recursive: true });
  copyFileSync('tools/go.mjs', join(root, 'tools/go.mjs'));
  const files = {
    'package.json': '{}',
    'package-lock.json': '{}',
    'npm-cli.js': NPM,
    'src/main.ts': "import { version } from '../node_modules/dep/index.mjs';\nconsole.log(version);",
    'node_modules/dep/index.mjs': 'export const version = 1;',
    'node_modules/.installed': 'of an earlier lock prod',
    'node_modules/.cache/kept': '',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  return root;
}

function go(root: string, variables: Record<string, string> = {}): { child: ChildProcess; output: Promise<string> } {
  const env = { ...process.env, SIGNS: root, npm_execpath: join(root, 'npm-cli.js'), ...variables };
  const child = spawn(process.execPath, ['tools/go.mjs', 'valetkey'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  return { child, output: once(child, 'close').then(() => text.trim()) };
}

const versionIn = (root: string) => readFileSync(join(root, 'node_modules/dep/index.mjs'), 'utf8');

test('tasks beside each other: packages stay in their place until the new ones are whole, and the cache moves along', async (t) => {
  const root = makeProject(t);
  const one = go(root);
  await until(() => existsSync(join(root, 'begun')));
  assert.match(versionIn(root), /= 1/, 'another task still finds its packages');
  const other = go(root);
  writeFileSync(join(root, 'go-on'), '');
  assert.deepEqual(await Promise.all([one.output, other.output]), ['2', '2']);
  assert.match(readFileSync(join(root, 'node_modules/.installed'), 'utf8'), /^[0-9a-f]{64} prod$/);
  assert.ok(existsSync(join(root, 'node_modules/.cache/kept')));
  assert.ok(!existsSync(join(root, '.installing')));
});

test('tasks beside each other: an installation that fails leaves the packages that are there', async (t) => {
  const root = makeProject(t);
  writeFileSync(join(root, 'go-on'), '');
  const { child, output } = go(root, { NPM_FAILS: '1' });
  assert.equal(await output, '');
  assert.equal(child.exitCode, 1);
  assert.match(versionIn(root), /= 1/);
  assert.ok(!existsSync(join(root, '.installing')));
});
