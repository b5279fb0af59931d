/** `client failures`, `client show` and `client list --failing-since`, over requests that failed on the wire. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { exchange, obtainCode, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';
import { Collector } from './collector.ts';

const service = await startTestService({ after });
const { installation, clock } = service;
await addUser(service);
const browser = await signedInBrowser(service);
const [failing, guessed, quiet] = [await addClient(service), await addClient(service), await addClient(service)];
const code = await obtainCode(service, browser, failing);
for (let n = 0; n < 2; n += 1) await exchange(service, failing, code);
await exchange(service, { ...guessed, clientSecret: 'wrong' }, 'x');
await installation.activity.flush();

/** Runs a command on the service's installation. */
async function run(...words: string[]): Promise<string> {
  const stdin = Object.assign(new PassThrough(), { isTTY: false, setRawMode: () => stdin });
  const [stdout, stderr] = [new Collector(), new Collector()];
  const open = async () => ({ ...installation, close: async () => {} });
  const code = await runProgram(words, { ...makeCommandContext({}), stdin, stdout, stderr, now: clock.now, open });
  assert.equal(code, 0, stderr.text);
  return stdout.text;
}

test('the operator reads why an app is refused, with the reason that the app was told', async () => {
  const shown = await run('client', 'failures', failing.clientId);
  assert.match(
    shown,
    /: 1 failure \(invalid_grant 1\); allowed 1, exchanges 1 since 2026-01-14 12:00 UTC \(counted by the hour\)\.\n/,
  );
  assert.match(shown, /invalid_grant +the authorization code was used already/);
  assert.match(shown, /token +127\.0\.0\.0\/24/);
  const json = JSON.parse(await run('client', 'failures', failing.clientId, '--json'));
  const [failure] = json.failures;
  assert.deepEqual([json.tally.failures, json.tally.invalid_grant, failure.error], [1, 1, 'invalid_grant']);
  assert.match(await run('grant', 'show', failure.grant_id), /code_replay/);
});

test('the operator reads where to look when nobody proved to be the app', async () => {
  const shown = await run('client', 'failures', guessed.clientId, '--since', '1h');
  assert.match(shown, /1 failure \(invalid_client 1\); nothing else since 2026-01-15 11:00 UTC/);
  assert.match(shown, /these requests did not authenticate as the app/);
});

test('client show tells the last 24 hours and the last failure', async () => {
  const shown = await run('client', 'show', failing.clientId);
  assert.match(shown, /^Last 24 hours {9}1 failure \(invalid_grant 1\); allowed 1, exchanges 1$/m);
  assert.match(shown, /^Last failure {10}2026-01-15 12:00:\d\d UTC, invalid_grant: the authorization code was used/m);
  const json = JSON.parse(await run('client', 'show', quiet.clientId, '--json'));
  assert.deepEqual([json.last_24_hours.failures, json.last_failure], [0, null]);
});

test('client list --failing-since lists the apps that were refused something', async () => {
  const ids = async (...words: string[]) =>
    (JSON.parse(await run('client', 'list', '--json', ...words)) as { client_id: string }[]).map(
      (app) => app.client_id,
    );
  assert.deepEqual(await ids('--failing-since', '1h'), [failing.clientId, guessed.clientId].sort());
  assert.equal((await ids()).length, 3);
  clock.advance(2 * 3600);
  assert.deepEqual(await ids('--failing-since', '1h'), []);
  assert.deepEqual(await ids('--failing-since', '3d'), [failing.clientId, guessed.clientId].sort());
});

test('failures are listed from the time that was asked, and counted from the start of its hour', async () => {
  const app = await addClient(service);
  clock.advance(3600 - ((clock.now() / 1000) % 3600) + 300);
  await exchange(service, app, 'x');
  await installation.activity.flush();
  clock.advance(45 * 60);
  const shown = await run('client', 'failures', app.clientId, '--since', '30m');
  assert.match(shown, /: 1 failure \(invalid_grant 1\); nothing else since .*:00 UTC \(counted by the hour\)/);
  assert.doesNotMatch(shown, /invalid_grant +the (authorization )?code/);
  assert.match(shown, /No reason is recorded: .* came before the time that you asked for/);
  assert.match(
    await run('client', 'failures', app.clientId, '--since', '1h'),
    /invalid_grant +the (authorization )?code/,
  );
});

test('the operator reads that a pause refused an app with the right secret, which the app is not told', async () => {
  const { operator, clients } = installation;
  const app = await addClient(service);
  await clients.pause(app.clientId, operator);
  assert.match(String((await exchange(service, app, 'x')).body['error_description']), /: check client_id/);
  await installation.activity.flush();
  assert.match(await run('client', 'failures', app.clientId), /invalid_client +this client is paused/);
});
