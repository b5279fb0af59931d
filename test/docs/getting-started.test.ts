/** The transcript of docs/getting-started.md, run as it stands in a shell; only the addresses are those of free ports. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Browser } from '../support/browser.ts';
import { freePort, PASSWORD } from '../support/service.ts';
import { appears, hasCurl, pathWithStandIn, patternOf, readSteps, temporaryFolder } from './transcript.ts';

const root = new URL('../..', import.meta.url);
const page = readFileSync(new URL('docs/getting-started.md', root), 'utf8');

if (hasCurl)
  test('getting started: the transcript works as it stands', { timeout: 300_000 }, (t) =>
    walkTranscript(t, temporaryFolder(t), process.env['PATH'] ?? ''),
  );

test('getting started: the transcript needs Node.js and npm alone: what it sends is right where there is no curl', {
  timeout: 300_000,
}, (t) => {
  const folder = temporaryFolder(t);
  return walkTranscript(t, folder, pathWithStandIn(folder));
});

test('the stand-in for curl sends what curl sends', async (t) => {
  const folder = temporaryFolder(t);
  const server = createServer(async (request, response) => {
    const { authorization, accept, 'content-type': type } = request.headers;
    const asked = { method: request.method, path: request.url, authorization, accept, type };
    response.end(JSON.stringify({ ...asked, body: await text(request) }));
  });
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c`;
  const command = `curl -s ${url} -H "Authorization: Bearer $TOKEN" -d 'a=1 2%20&' -d b=é`;
  const paths = [pathWithStandIn(folder), ...(hasCurl ? [process.env['PATH']] : [])];
  for (const PATH of paths) {
    const child = spawn('bash', ['-c', command], { env: { ...process.env, PATH, TOKEN: 'x' } });
    assert.deepEqual(JSON.parse(await text(child.stdout)), {
      method: 'POST',
      path: '/a?b=c',
      authorization: 'Bearer x',
      accept: '*/*',
      type: 'application/x-www-form-urlencoded',
      body: 'a=1 2%20&&b=é',
    });
  }
});

test('the stand-in for curl refuses what it does not know', (t) => {
  const folder = temporaryFolder(t);
  pathWithStandIn(folder);
  for (const words of [
    '-i http://x.test',
    '--data a http://x.test',
    '-d @file http://x.test',
    '-s',
    'http://a http://b',
  ]) {
    const { status, stderr } = spawnSync(join(folder, 'curl'), words.split(' '), { encoding: 'utf8' });
    assert.equal(status, 2, words);
    assert.match(stderr, /^the stand-in for curl does not know this: /);
  }
});

async function walkTranscript(t: TestContext, folder: string, PATH: string): Promise<void> {
  const ports = { 3000: await freePort(), 3001: await freePort(), 8080: await freePort() };
  const onFreePorts = (text: string) =>
    text.replace(/\b(?:300[01]|8080)\b/g, (port) => String(ports[Number(port) as keyof typeof ports]));
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    PATH,
    VALETKEY_APP_URL: onFreePorts('http://localhost:3000'),
    VALETKEY_API_URL: onFreePorts('http://localhost:3001'),
    VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'valetkey.db')}`,
    VALETKEY_KEYS_FILE: join(folder, 'keys'),
  };
  const [start, ...steps] = readSteps(page);
  assert.match(start?.command ?? '', /^npm start$/);
  const service = spawn('npm', ['start'], {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  t.after(() => process.kill(-(service.pid as number), 'SIGTERM'));
  await appears(service.stdout, onFreePorts(start?.answer ?? ''));

  for (const { command, answer } of steps) {
    if (command.includes('.listen(8080)')) {
      const brought = await listenAndAllow(onFreePorts, command, environment);
      assert.match(brought, patternOf(onFreePorts(answer)), command);
      environment['CODE'] = new URL(brought.trim(), 'http://127.0.0.1').searchParams.get('code') ?? '';
      continue;
    }
    const run = spawnSync('bash', ['-c', onFreePorts(command)], {
      cwd: root,
      env: environment,
      encoding: 'utf8',
      input: '',
    });
    assert.equal(run.status, 0, `${command}\n${run.stderr}`);
    assert.match(run.stdout, patternOf(onFreePorts(answer)), command);
    Object.assign(environment, foundIn(run.stdout));
  }
}

/** Runs what listens where the app would be, has the browser bring it the code, and answers what it printed. */
async function listenAndAllow(
  onFreePorts: (text: string) => string,
  command: string,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  const listener = spawn('bash', ['-c', onFreePorts(command)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = text(listener.stdout);
  const [, address = ''] = /^ {4}(http:\/\/localhost:3000\/auth\S+)$/m.exec(page) ?? [];
  const location = await pressAllow(
    onFreePorts(address.replace(/app_\w+/, environment['CLIENT_ID'] ?? '')),
    environment['PASSWORD'] ?? '',
  );
  await fetchOnceThere(location);
  return printed;
}

/** Signs the user of the transcript in, presses Allow for its app, and answers where the browser is sent. */
async function pressAllow(url: string, password: string): Promise<string> {
  const browser = new Browser();
  const person = { email: 'ada@example.com', password };
  const mustChange = await browser.submit(await browser.get(url), '/sign-in', person);
  const own = { password: PASSWORD, password_again: PASSWORD };
  const signedIn = await browser.submit(mustChange, '/sign-in/new-password', own);
  assert.equal(signedIn.status, 303, 'the printed password works, and another one takes its place');
  const allowed = await browser.submit(await browser.get(url), '/auth/oauth2/authorize', { decision: 'allow' });
  return allowed.headers.get('location') ?? '';
}

/** Fetches an address as soon as somebody listens there. */
async function fetchOnceThere(url: string): Promise<void> {
  for (;;) {
    try {
      assert.equal((await fetch(url)).status, 200);
      return;
    } catch (error) {
      if ((error as { cause?: { code?: string } }).cause?.code !== 'ECONNREFUSED') throw error;
      await pause(50);
    }
  }
}

/** What the next commands need of an answer, as variables. */
function foundIn(answer: string): NodeJS.ProcessEnv {
  const forms = {
    PASSWORD: /^Password +(\S+)$/m,
    CLIENT_ID: /^ *Client ID +(app_\S+)$/m,
    CLIENT_SECRET: /^ *Client Secret +(vk_cs_\S+)$/m,
    ACCESS_TOKEN: /"access_token":"([^"]+)"/,
    REFRESH_TOKEN: /"refresh_token":"([^"]+)"/,
  };
  const found = Object.entries(forms).map(([name, form]) => [name, form.exec(answer)?.[1]]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}
