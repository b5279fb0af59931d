import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { portsFrom } from '../../demo/free-ports.ts';
import { asCurl } from '../../demo/headless/print.ts';
import { walk } from '../../demo/headless/walk.ts';
import { addClient, addUser, freePort, PASSWORD, REDIRECT_URI, startTestService } from '../support/service.ts';
import { finish, invitationOf, startDemo } from './run-demo.ts';

test('the headless demo prints every step as a command with its answer, and leaves nothing behind', async (t) => {
  const run = startDemo(t, '--headless');
  const { code, stdout, stderr } = await finish(run);
  assert.equal(code, 0, stdout + stderr);
  const titles = stdout.match(/^\d+\. .*$/gm) ?? [];
  assert.equal(titles.length, stdout.match(/^ {3}curl -i /gm)?.length);
  assert.match(stdout, /HTTP 401.*"code": "invalid_token"/s);
  assert.match(stdout, new RegExp(`All ${titles.length} steps went as expected in \\d`));
  assert.deepEqual(readdirSync(run.temporary), []);
});

test('the headless demo with --json prints one object and nothing else', async (t) => {
  const { code, stdout } = await finish(startDemo(t, '--headless', '--json'));
  assert.equal(code, 0);
  const { ok, app_url, api_url, steps, ...more } = JSON.parse(stdout);
  assert.deepEqual([ok, more], [true, {}]);
  for (const { name, request, response, ok, ...more } of steps) {
    assert.deepEqual([typeof name, ok, more], ['string', true, {}]);
    assert.deepEqual(Object.keys(request), ['method', 'url', 'headers', 'body']);
    assert.deepEqual(Object.keys(response), ['status', 'headers', 'body']);
    assert.ok([app_url, api_url].includes(new URL(request.url).origin));
  }
  assert.deepEqual(
    steps.map(({ response }: { response: { status: number } }) => response.status),
    [200, 303, 200, 303, 200, 200, 200, 200, 200, 303, 401, 400, 200, 303, 200],
  );
});

test('the headless demo of a product prints the calls of its server among the steps', async (t) => {
  const run = startDemo(t, '--product', '--headless');
  const { code, stdout, stderr } = await finish(run);
  assert.equal(code, 0, stdout + stderr);
  const titles = stdout.match(/^\d+\. .*$/gm) ?? [];
  assert.equal(titles.length, stdout.match(/^ {3}curl -i /gm)?.length);
  assert.match(
    stdout,
    /server tells Valetkey who is signed in\n\n {3}curl -i http:\/\/localhost:\d+\/api\/auth\/oauth\/sign-in /,
  );
  assert.match(stdout, /Tintype’s server takes everything back.*"code": "invalid_token"/s);
  assert.match(stdout, new RegExp(`All ${titles.length} steps went as expected in \\d`));
  assert.deepEqual(readdirSync(run.temporary), []);
});

test('the headless demo of a product with --json prints one object and nothing else', async (t) => {
  const { code, stdout } = await finish(startDemo(t, '--product', '--headless', '--json'));
  assert.equal(code, 0);
  const { ok, app_url, api_url, product_url, steps, ...more } = JSON.parse(stdout);
  assert.deepEqual([ok, more], [true, {}]);
  const hosts: Record<string, string> = { [app_url]: 'app', [api_url]: 'api', [product_url]: 'product' };
  assert.deepEqual(
    steps.map(({ request, response }: { request: { url: string }; response: { status: number } }) => {
      const { origin, pathname } = new URL(request.url);
      return `${response.status} ${hosts[origin]} ${pathname}`;
    }),
    [
      '303 app /auth/oauth2/authorize',
      '303 product /oauth/sign-in',
      '303 product /oauth/sign-in',
      '200 product /sign-in',
      '303 product /sign-in',
      '200 app /api/auth/oauth/sign-in',
      '303 product /oauth/sign-in',
      '303 app /sign-in/continue',
      '200 app /auth/oauth2/authorize',
      '303 app /auth/oauth2/authorize',
      '200 app /api/auth/oauth/token',
      '200 api /v2/me',
      '200 app /api/auth/oauth/refreshToken',
      '200 api /v2/me',
      '200 app /api/auth/oauth/users/connections',
      '200 product /settings/apps',
      '204 app /api/auth/oauth/users/connections/revoke',
      '303 product /settings/apps',
      '401 api /v2/me',
      '400 app /api/auth/oauth/refreshToken',
      '200 app /api/auth/oauth/users/connections',
      '200 product /settings/apps',
      '204 app /api/auth/oauth/users/end-sessions',
      '303 product /sign-out',
      '303 app /auth/oauth2/authorize',
      '200 product /settings/apps',
    ],
  );
});

test('the demo prints where to go, and ends with its data when it is told to', async (t) => {
  const run = startDemo(t);
  const [greeting] = await once(run.child.stdout, 'data');
  assert.match(
    String(greeting),
    /Open +http:\/\/127\.0\.0\.1:\d+\n +Email +demo@example\.com\n +Password +[a-z-]+-\d\d\n/,
  );
  assert.equal(readdirSync(run.temporary).length, 1);
  run.child.kill('SIGTERM');
  const { code } = await finish(run);
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(run.temporary), []);
});

test('the demo of a product prints one address to open, and what to do there', async (t) => {
  const run = startDemo(t, '--product');
  const [greeting] = await once(run.child.stdout, 'data');
  assert.equal(String(greeting).match(/^ +Open +http:\/\/127\.0\.0\.1:\d+$/gm)?.length, 1);
  assert.match(String(greeting), /1\. At Postcards, press Connect.*2\. In Tintype's settings.*3\. Back at Postcards/s);
  run.child.kill('SIGTERM');
  const { code } = await finish(run);
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(run.temporary), []);
});

test('a closed terminal ends the demo like a signal to stop', async (t) => {
  const run = startDemo(t, '--json');
  await invitationOf(run);
  run.child.kill('SIGHUP');
  const { code } = await finish(run);
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(run.temporary), []);
});

test('two demos that start at the same moment get ports of their own', async (t) => {
  const both = await Promise.all([startDemo(t, '--json'), startDemo(t, '--json')].map(invitationOf));
  const addresses = both.flatMap(({ url, app_url, api_url }) => [url, app_url, api_url]);
  assert.equal(new Set(addresses).size, 6);
});

test('a port that somebody listens at is passed over, in either address family', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const port = await freePort();
    const server = createServer();
    await once(server.listen({ port, host }), 'listening');
    t.after(() => server.close());
    const [free] = await portsFrom(port, 1);
    assert.ok(free !== undefined && free > port, host);
  }
});

test('the walk stops at an answer that is not the expected one, and says what was', async (t) => {
  const service = await startTestService(t);
  const { email, name } = await addUser(service);
  const { client, ...credentials } = await addClient(service);
  const { appUrl, apiUrl } = service;
  const told: string[] = [];
  const route = { appUrl, apiUrl, ...credentials, email, name, appName: client.name, redirectUri: REDIRECT_URI };
  const steps = await walk({ ...route, password: `not ${PASSWORD}` }, (step) => told.push(step.name));
  assert.deepEqual(
    steps.map(({ ok }) => ok),
    [true, false],
  );
  assert.equal(steps[1]?.missing?.[0], 'status 303');
  assert.equal(told.length, 2);
});

test('a curl line survives the shell, whatever it carries', () => {
  const hostile = `it's "$HOME" \`id\` \\ !`;
  const request = { method: 'POST', url: 'http://localhost/a?b=1&c=2', headers: { cookie: hostile }, body: hostile };
  const words = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${asCurl(request)}`], { encoding: 'utf8' });
  assert.deepEqual(words.trimEnd().split('\n'), ['-i', request.url, '-H', `cookie: ${hostile}`, '-d', hostile]);
});
