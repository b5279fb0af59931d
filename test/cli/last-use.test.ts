/** Last uses on the wire, as commands show them: of each secret, wherever it proves somebody, and before it is retired. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { obtainPair, postForm, refresh, signedInBrowser } from '../support/flow.ts';
import { registerAhead } from '../support/provider.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';
import { assertionFields, exchangeCode, makeKey, standardCode } from '../support/standard.ts';
import { temporaryPath } from '../support/storage.ts';
import { Collector } from './collector.ts';

const service = await startTestService({ after });
const { installation, clock } = service;
const { clients, resourceServers, operator } = installation;

/** Runs a command on the service's installation; with `typed` at a terminal. */
async function run(words: readonly string[], typed: string | null = null, on = installation) {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== null, setRawMode: () => stdin });
  const [stdout, stderr] = [new Collector(), new Collector()];
  stdin.write(typed ?? '');
  const open = async () => ({ ...on, close: async () => {} });
  const code = await runProgram(words, { ...makeCommandContext({}), stdin, stdout, stderr, now: clock.now, open });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

type Used = { live_secrets: { last_used_at: string | null }[] };
const usesOf = async (...words: string[]) =>
  (JSON.parse((await run([...words, '--json'])).stdout) as Used).live_secrets.map((one) => one.last_used_at);
const isoAt = (seconds: number) => new Date(clock.now() + seconds * 1000).toISOString();
const isoNow = () => isoAt(0);

const ada = await addUser(service);
const app = await addClient(service);
const browser = await signedInBrowser(service, ada.email ?? '');

test('each live secret of an app shows when it was last used, and a wrong one marks nothing', async () => {
  const { secret: clientSecret } = await clients.rotateSecret(app.clientId, operator);
  assert.deepEqual(await usesOf('client', 'show', app.clientId), [null, null]);
  const usedAt = isoNow();
  const { refreshToken } = await obtainPair(service, browser, app);
  assert.deepEqual(await usesOf('client', 'show', app.clientId), [null, usedAt]);
  clock.advance(60);
  await refresh(service, { ...app, clientSecret: `${app.clientSecret}x` }, refreshToken);
  assert.deepEqual(await usesOf('client', 'show', app.clientId), [null, usedAt]);
  await refresh(service, { ...app, clientSecret }, refreshToken);
  assert.deepEqual(await usesOf('client', 'show', app.clientId), [isoNow(), usedAt]);
  assert.match((await run(['client', 'list'])).stdout, new RegExp(`Last used.*\n.*${isoNow().slice(0, 10)}`));
});

test('a public app shows when it was last issued tokens, and one with a key when that last proved it', async () => {
  const key = makeKey();
  const [open, signing] = [await addClient(service, {}, 'public'), await addClient(service, { keys: [key.jwk] })];
  const show = async ({ clientId }: { clientId: string }) =>
    JSON.parse((await run(['client', 'show', clientId, '--json'])).stdout) as {
      last_used_at: string | null;
      keys: object[];
    };
  assert.deepEqual([(await show(open)).last_used_at, (await show(signing)).last_used_at], [null, null]);
  const url = `${service.appUrl}/oauth2/token`;
  const asked = { grant_type: 'refresh_token', refresh_token: 'x' };
  await postForm(url, { ...asked, client_id: open.clientId });
  clock.advance(60);
  assert.equal((await show(open)).last_used_at, null, 'anybody can name it');
  await exchangeCode(service, open, await standardCode(service, browser, open));
  await postForm(url, { ...asked, ...(await assertionFields(service, signing, key)) });
  await postForm(url, { ...asked, client_id: signing.clientId });
  clock.advance(60);
  assert.equal((await show(open)).last_used_at, isoAt(-60));
  const { last_used_at, keys } = await show(signing);
  assert.deepEqual([last_used_at, keys], [isoAt(-60), [{ kid: null, kty: 'EC', alg: null, last_used_at }]]);
  const text = (await run(['client', 'show', open.clientId])).stdout;
  assert.match(text, /^Last used +\d{4}-.* UTC$/m);
});

test('who retires a secret that was used within a day is asked at a terminal, and all are told its last use', async () => {
  const retire = ['client', 'retire-secret', app.clientId];
  const refused = await run(retire, 'n\n');
  assert.match(refused.stderr, /^The older secret of Test App was last used \d{4}-.* UTC: retire it\? \[y\/N\] /);
  assert.equal(refused.code, 1);
  clock.advance(86_400);
  const retired = await run(retire, '');
  assert.match(
    retired.stdout,
    /^The older secret of Test App is refused from now on\. It was last used \d{4}-.* UTC\.\n$/,
  );
  assert.deepEqual([retired.code, retired.stderr], [0, '']);
});

test('the secret of a resource server shows when it last asked', async () => {
  const { row: resourceServer, secret } = await resourceServers.register(
    { name: 'API', resource: null, scopes: null },
    operator,
  );
  const url = `${service.appUrl}/oauth2/introspect`;
  const ask = (text: string) => postForm(url, { token: 'x', client_id: resourceServer.id, client_secret: text });
  assert.equal((await ask('wrong')).status, 401);
  assert.deepEqual(await usesOf('resource-server', 'show', resourceServer.id), [null]);
  assert.equal((await ask(secret)).status, 200);
  assert.deepEqual(await usesOf('resource-server', 'show', resourceServer.id), [isoNow()]);
});

test('the secret of an identity provider shows when it was last used', async (t) => {
  const database = { VALETKEY_DATABASE_URL: `sqlite:${temporaryPath(t)}`, VALETKEY_KEYS: makeRootKey() };
  const { secret } = await registerAhead(database, { rights: ['users'] }, clock);
  const own = await startTestService(t, { ...database, VALETKEY_SIGN_IN_METHODS: 'product' }, clock);
  const authorization = `Basic ${Buffer.from(`product:${secret}`).toString('base64')}`;
  const url = `${own.appUrl}/api/auth/oauth/users?subject=nobody`;
  assert.equal((await fetch(url, { headers: { authorization } })).status, 404);
  const { stdout } = await run(['identity-provider', 'show', 'product', '--json'], null, own.installation);
  assert.deepEqual((JSON.parse(stdout) as Used).live_secrets[0]?.last_used_at, isoNow());
});

test('a user shows the last sign-in, and when an app last came for them', async () => {
  await addUser(service, 'bob@example.com');
  const { stdout } = await run(['user', 'list', '--json']);
  const [bob, first] = JSON.parse(stdout) as Record<string, string | null>[];
  assert.deepEqual([bob?.['last_sign_in_at'], bob?.['apps_last_used_at']], [null, null]);
  assert.ok(first?.['last_sign_in_at'] && first['apps_last_used_at']);
  const shown = JSON.parse((await run(['user', 'show', ada.id, '--json'])).stdout);
  assert.deepEqual(
    [shown.last_sign_in_at, shown.apps_last_used_at],
    [first['last_sign_in_at'], first['apps_last_used_at']],
  );
});
