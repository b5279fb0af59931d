/** `identify`: what a credential is that somebody found. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { after, describe, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { exchange, obtainCode, obtainPair, pairOf, refresh, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';
import { addResourceServer, DEVICE_GRANT, post } from '../support/standard.ts';
import { Collector } from './collector.ts';

const service = await startTestService({ after });
const { installation, clock, log } = service;
const { clients, grants, operator } = installation;
const ada = await addUser(service);
const browser = await signedInBrowser(service);
const app = await addClient(service);
await addClient(service);

/** Runs `identify` with a text on standard input. */
async function run(text: string, ...options: string[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: false, setRawMode: () => stdin });
  const [stdout, stderr] = [new Collector(), new Collector()];
  stdin.end(text);
  const open = async () => ({ ...installation, close: async () => {} });
  const words = ['identify', ...options];
  const code = await runProgram(words, { ...makeCommandContext({}), stdin, stdout, stderr, now: clock.now, open });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

async function found(text: string) {
  const { code, stdout, stderr } = await run(`${text}\n`, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('each kind of credential is told with its app, user and grant, and if it works', () => {
  test('a code, before and after it was used', async () => {
    const code = await obtainCode(service, browser, app);
    const { kind, owner_id, user_id, grant_id, alive, made_at } = await found(code);
    assert.deepEqual([kind, owner_id, user_id, alive], ['authorization code', app.clientId, ada.id, true]);
    assert.equal(made_at, new Date(clock.now()).toISOString());
    await exchange(service, app, code);
    const used = await found(code);
    assert.deepEqual(
      [used['grant_id'], used['alive'], used['dead_because']],
      [grant_id, false, 'the authorization code was used'],
    );
  });

  test('an access token, until its grant ends', async () => {
    const { accessToken } = await obtainPair(service, browser, app);
    const { kind, alive, grant_id } = await found(accessToken);
    assert.deepEqual([kind, alive], ['access token', true]);
    await grants.revoke(String(grant_id), operator);
    assert.match(String((await found(accessToken))['dead_because']), /its grant ended/);
  });

  test('a refresh token that was rotated is dead, and its look changes nothing', async () => {
    const first = await obtainPair(service, browser, app);
    const second = pairOf(await refresh(service, app, first.refreshToken));
    clock.advance(3600);
    const old = await found(first.refreshToken);
    assert.deepEqual([old['kind'], old['alive']], ['refresh token', false]);
    assert.match(String(old['dead_because']), /rotated/);
    assert.equal((await found(second.refreshToken))['alive'], true, 'a look is no reuse, which would end the grant');
    pairOf(await refresh(service, app, second.refreshToken));
  });

  test('the secrets of an app and of an API', async () => {
    const server = await addResourceServer(service);
    const [ofApp, ofServer] = [await found(app.clientSecret), await found(server.secret)];
    assert.deepEqual([ofApp['kind'], ofApp['owner_id'], ofApp['alive']], ['client secret', app.clientId, true]);
    assert.deepEqual([ofServer['kind'], ofServer['owner_id']], ['secret of an API', server.id]);
    await clients.pause(app.clientId, operator);
    assert.match(String((await found(app.clientSecret))['dead_because']), /paused/);
    await clients.resume(app.clientId, operator);
  });

  test('a device code', async () => {
    const device = await addClient(service, { deviceFlow: true }, 'public');
    const { body } = await post(service, 'device_authorization', { client_id: device.clientId });
    const { kind, owner_id, alive } = await found(String(body['device_code']));
    assert.deepEqual([kind, owner_id, alive], ['device code', device.clientId, true]);
    await clients.pause(device.clientId, operator);
    assert.match(String((await found(String(body['device_code'])))['dead_because']), /paused/);
    await clients.resume(device.clientId, operator);
    assert.equal((await found(String(body['device_code'])))['alive'], true);
    clock.advance(600);
    assert.match(String((await found(String(body['device_code'])))['dead_because']), /expired/);
  });

  test('a device code that was denied, and one that gets its pair again for a while', async () => {
    const device = await addClient(service, { deviceFlow: true }, 'public');
    const begin = async () => (await post(service, 'device_authorization', { client_id: device.clientId })).body;
    const decide = async (codes: Record<string, unknown>, decision: string) => {
      const page = await browser.get(`${service.appUrl}/device?user_code=${codes['user_code']}`);
      await browser.submit(page, '/device', { decision });
      return String(codes['device_code']);
    };
    const denied = await decide(await begin(), 'deny');
    assert.match(String((await found(denied))['dead_because']), /denied/);
    const allowed = await decide(await begin(), 'allow');
    const poll = { client_id: device.clientId, grant_type: DEVICE_GRANT, device_code: allowed };
    assert.equal((await found(allowed))['alive'], true);
    assert.equal((await post(service, 'token', poll)).status, 200);
    assert.equal((await found(allowed))['alive'], true, 'its pair is given again');
    clock.advance(60);
    assert.match(String((await found(allowed))['dead_because']), /already redeemed/);
  });
});

test('a forged, foreign or mistyped credential is said to be none of ours', async () => {
  const { accessToken } = await obtainPair(service, browser, app);
  const forged = accessToken.replace(/(?<=_at_.{60})./, (one) => (one === 'A' ? 'B' : 'A'));
  for (const text of ['', 'x', forged, accessToken.slice(0, -1), `${app.clientSecret}x`, 'vk_rs_x', 'ghp_0123456789']) {
    const { code, stdout, stderr } = await run(text);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /not a credential of this installation, or it is mistyped/);
  }
  assert.match((await run('x'.repeat(5000))).stderr, /longer than any credential/);
});

test('a whole credential of which nothing is kept is not said to be foreign for sure', async () => {
  const gone = await addClient(service);
  const { refreshToken } = await obtainPair(service, browser, gone);
  await clients.delete(gone.clientId, operator);
  for (const text of [refreshToken, gone.clientSecret]) {
    const { code, stderr } = await run(text);
    assert.equal(code, 1);
    assert.match(stderr, /gives no access here: .* or its access ended more than a day ago/);
  }
});

test('people read what it is and how to end it, and no part of it comes back or is logged', async () => {
  const { refreshToken } = await obtainPair(service, browser, app);
  const { stdout, stderr } = await run(refreshToken);
  assert.match(stdout, /^Kind +refresh token\nOf +Test App \(app_\w+\)\nUser +ada@example\.com \(usr_\w+\)\nGrant +/);
  assert.match(stdout, /^Works +yes$/m);
  assert.match(stderr, /Next: "valetkey grant revoke [0-9a-f-]{36}" ends it/);
  assert.match((await run(app.clientSecret)).stderr, new RegExp(`client rotate-secret ${app.clientId}`));
  for (const secret of [refreshToken, app.clientSecret])
    assert.ok(![stdout, stderr, ...log].some((line) => line.includes(secret.slice(8))));
});

test('operators §4: a one-time link is told with the command that ends it, and one that is gone may be mistyped', async () => {
  const { handOvers, accounts } = installation;
  const handed = await addClient(service, { name: 'Handed Over' });
  const { address } = await handOvers.make({ kind: 'client', id: handed.clientId }, operator);
  const pickUp = await run(`${address}\n`);
  assert.match(pickUp.stdout, /^Kind +pick-up link\nOf +Handed Over \(app_\w+\)\nMade/);
  assert.match(pickUp.stderr, new RegExp(`client rotate-secret ${handed.clientId} --hand-over" makes a new link`));
  const { account, token } = await accounts.invite(ada.id, operator);
  const json = await found(token);
  assert.deepEqual(
    [json['kind'], json['owner_kind'], json['owner_id'], json['user_email'], json['made_at'], json['alive']],
    ['invitation link', 'user', account.id, 'ada@example.com', new Date(clock.now()).toISOString(), true],
  );
  clock.advance(24 * 3600);
  assert.equal((await found(token))['dead_because'], 'the link has expired');
  const gone = await run(token.replace(/.{43}$/, 'A'.repeat(43)));
  assert.deepEqual([gone.code, gone.stdout], [1, '']);
  assert.match(gone.stderr, /no link of this installation has this token now: it was used, replaced or withdrawn/);
  for (const secret of [token, address.slice(-43)])
    assert.ok(![pickUp.stdout, pickUp.stderr, ...log].some((line) => line.includes(secret.slice(-24))));
});
