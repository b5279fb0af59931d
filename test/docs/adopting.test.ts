/**
 * docs/adopting.md, and its reference without a package: the transcript is run as it stands, the code is that of the example,
 * the error texts are those of the service.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ADA, EXAMPLES, linesForValetkey } from '../examples/product.ts';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/service.ts';
import { appears, hasCurl, pathWithStandIn, patternOf, readSteps, temporaryFolder } from './transcript.ts';

/** The columns and rows of a screen. */
const COLUMNS = 100;
const ROWS = 40;

const root = new URL('../..', import.meta.url);
const adopting = readFileSync(new URL('docs/adopting.md', root), 'utf8');
const wire = readFileSync(new URL('docs/reference/product-sign-in.md', root), 'utf8');
const steps = [adopting, wire].flatMap(readSteps);

test('adopting: the transcript works as it stands, from the registration to an app that was taken back', {
  timeout: 300_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  const ports = { 3000: await freePort(), 3001: await freePort(), 8000: await freePort() };
  const onFreePorts = (text: string) =>
    text.replace(/\b(3000|3001|8000)\b/g, (port) => String(ports[Number(port) as keyof typeof ports]));
  const PATH = [dirname(process.execPath), hasCurl ? process.env['PATH'] : pathWithStandIn(folder)].join(delimiter);
  const appUrl = onFreePorts('http://localhost:3000');
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    PATH,
    PORT: String(ports[8000]),
    OAUTH_URL: appUrl,
    VALETKEY_APP_URL: appUrl,
    VALETKEY_API_URL: onFreePorts('http://localhost:3001'),
    VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'valetkey.db')}`,
    VALETKEY_KEYS_FILE: join(folder, 'keys'),
  };
  const said: string[] = [];
  for (const { command, answer } of steps) {
    const line = onFreePorts(command);
    if (/npm start$|^OAUTH_SECRET=/.test(command)) {
      const stream = output(t, line, environment);
      stream.on('data', (chunk) => said.push(String(chunk)));
      await appears(stream, onFreePorts(answer));
      continue;
    }
    if (command.includes('/users/connections?')) await connect(appUrl, environment);
    const run = spawnSync('bash', ['-c', line], { cwd: root, env: environment, encoding: 'utf8', input: '' });
    assert.equal(run.status, 0, `${command}\n${run.stderr}`);
    assert.match(run.stdout, patternOf(onFreePorts(answer)), command);
    environment['PROVIDER_SECRET'] ??= /vk_ps_\S+/.exec(run.stdout)?.[0];
    environment['CLIENT_ID'] ??= /app_\S+/.exec(run.stdout)?.[0];
  }
  assert.doesNotMatch(said.join(''), /user add/, 'nobody is advised to add users where they sign in elsewhere');
  const [list = { command: '' }] = steps.filter(({ command }) => command.includes('/users/connections?'));
  const after = spawnSync('bash', ['-c', onFreePorts(list.command)], { env: environment, encoding: 'utf8' });
  assert.equal(after.stdout, '{"connections":[],"next":null}');
});

test('adopting: the page begins with the three lines of the README, and fits on three screens', () => {
  const [, code = ''] = /^# [^\n]*\n\n```js\n(.*?)```/s.exec(adopting) ?? [];
  assert.equal(code.trim().split('\n').length, 3);
  assert.ok(readFileSync(new URL('README.md', root), 'utf8').includes(code));
  const shown = adopting
    .trimEnd()
    .split('\n')
    .map((line) => Math.max(1, Math.ceil(line.length / COLUMNS)));
  const lines = shown.reduce((sum, rows) => sum + rows, 0);
  assert.ok(lines <= 3 * ROWS, `${lines} lines of ${COLUMNS} characters`);
});

test('adopting: the code is that of the example', () => {
  const [, code] = /^```js\n(async function signIn.*?)```$/ms.exec(wire) ?? [];
  const plain = EXAMPLES.find(({ file }) => file.includes('plain'));
  assert.ok(plain);
  assert.equal(code, `${linesForValetkey(plain).slice(0, -1).join('\n')}\n`, 'all but the line that calls it');
});

test('adopting: each error text is one of the service, letter by letter', () => {
  const sources = globSync('src/**/*.ts', { cwd: root })
    .map((file) => readFileSync(new URL(file, root), 'utf8'))
    .join('');
  const [, rows = ''] = /^\| you see \| because \|\n\|---\|---\|\n(.*?)\n(?:\n|$(?![\s\S]))/ms.exec(wire) ?? [];
  const seen = rows.split('\n').map((row) => row.split(' | ')[0] ?? '');
  const quoted = seen.flatMap((cell) =>
    [...cell.matchAll(/`([a-z_]+ [^`]+)`|page "([^"]+)"/g)].map((found) => found[1] ?? found[2]),
  );
  assert.ok(quoted.length > 12, `${quoted.length} texts`);
  for (const text of quoted) assert.ok(sources.includes(text ?? ''), text);
});

/** Signs Ada in at the product, and allows the app. */
async function connect(appUrl: string, { CLIENT_ID }: NodeJS.ProcessEnv): Promise<void> {
  const [, address = ''] = /^ {4}http:\/\/localhost:3000(\/auth\S+)$/m.exec(adopting) ?? [];
  const browser = new Browser();
  const path = address.replace('CLIENT_ID', String(CLIENT_ID));
  const form = await follow(browser, appUrl + path);
  const signedIn = await browser.submit(form, '/sign-in', ADA);
  const consent = await follow(browser, new URL(signedIn.headers.get('location') ?? '', form.url).href);
  const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
  assert.match(allowed.headers.get('location') ?? '', /^http:\/\/127\.0\.0\.1:8080\/callback\?code=/);
}

async function follow(browser: Browser, address: string) {
  let visit = await browser.get(address);
  for (let hops = 0; visit.status === 303 && hops < 10; hops += 1)
    visit = await browser.get(new URL(visit.headers.get('location') ?? '', visit.url).href);
  return visit;
}

/** Starts a command that stays, in a group of its own that ends with the test; what it prints. */
function output(t: TestContext, line: string, env: NodeJS.ProcessEnv): NodeJS.ReadableStream {
  const child: ChildProcess = spawn('bash', ['-c', line], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  t.after(() => {
    if (child.exitCode === null) process.kill(-Number(child.pid), 'SIGTERM');
  });
  return child.stdout as NodeJS.ReadableStream;
}
