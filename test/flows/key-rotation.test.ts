/** A root key takes over while the service runs: nothing is refused meanwhile. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCredential } from '../../src/oauth/keys/credential.ts';
import { rootKeyName } from '../../src/oauth/keys/root-key.ts';
import { Browser } from '../support/browser.ts';
import { runCommand } from '../support/command.ts';
import { exchange, me, obtainCode, obtainPair, pairOf, refresh, signedInBrowser, signIn } from '../support/flow.ts';
import { inhabited } from '../support/inhabited.ts';
import { PATIENT } from '../support/postgres.ts';
import { addClient, addUser, startTestService, type TestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { temporaryPath } from '../support/storage.ts';

const server = await sharedPostgres();
after(() => server.remove());

type KeyJson = { readonly key_id: string; readonly status: string; readonly passwords: number };

/** The id of the root key that a token was made with. */
function keyOf(kind: 'ac' | 'at' | 'rt', token: string): string {
  const read = readCredential('vk', kind, token);
  assert.ok(read);
  return rootKeyName(read.keyId);
}

test('interface §3: a root key takes over without a restart, and nothing is refused', async (t) => {
  const { program, serving, service, client, browser } = await inhabited(t);
  const list = async () => (await program.json(['keys', 'list'])) as unknown as KeyJson[];
  const [{ key_id: first } = assert.fail()] = await list();
  const before = await obtainPair(service, browser, client);
  let isOver = false;
  const statuses: number[] = [];
  const checks = (async () => {
    while (!isOver) statuses.push((await me(service, before.accessToken)).status);
  })();
  const { key_id: second } = await program.json(['keys', 'rotate']);
  const current = (await list()).find(({ status }) => status === 'current');
  assert.equal(current?.key_id, second);
  assert.notEqual(second, first);
  let pair = before;
  for (;;) {
    pair = pairOf(await refresh(service, client, pair.refreshToken));
    if (keyOf('rt', pair.refreshToken) === second) break;
  }
  assert.equal(keyOf('at', (await obtainPair(service, browser, client)).accessToken), second);
  while ((await list()).some(({ status, passwords }) => status !== 'current' && passwords > 0)) await sleep(200);
  assert.equal((await signIn(service, new Browser())).status, 303, 'the password was sealed anew');
  isOver = true;
  await checks;
  assert.deepEqual(new Set(statuses), new Set([200]));
  serving.child.kill('SIGTERM');
  assert.equal((await serving.ended).code, 0);
  assert.match(
    readFileSync(program.variables['VALETKEY_KEYS_FILE'] ?? '', 'utf8'),
    /^# Root keys.*(\nvk_rk_\S+){2,}\n# Serves/s,
  );
  await program.serve();
  assert.equal((await me(service, pair.accessToken)).status, 200);
});

/** An installation on either store, whose commands run in this process. */
async function installation(t: TestContext, store: 'SQLite' | 'PostgreSQL') {
  const path = temporaryPath(t);
  const database = store === 'SQLite' ? `sqlite:${path}` : await server.createDatabase();
  const at = { VALETKEY_DATABASE_URL: database, VALETKEY_KEYS_FILE: join(dirname(path), 'keys') };
  const run = (words: string[], variables = {}) => runCommand([...words, '--json'], { ...at, ...variables });
  const json = async (words: string[], variables = {}) => {
    const { code, stdout, stderr } = await run(words, variables);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const serve = (variables = {}, clock?: TestService['clock']) =>
    startTestService(t, { ...at, ...variables }, clock, PATIENT);
  const list = async (variables = {}) => (await json(['keys', 'list'], variables)) as KeyJson[];
  return { path, at, run, json, serve, list };
}

for (const store of ['SQLite', 'PostgreSQL'] as const)
  test(`interface §3: exchanges, refreshes, checks and sign-ins go on while a root key takes over, ${store}`, async (t) => {
    const { at, json, serve, list } = await installation(t, store);
    if (store === 'PostgreSQL') await json(['keys', 'generate', '--file', at.VALETKEY_KEYS_FILE]);
    const service = await serve();
    await addUser(service);
    // Another person: the 51st sign-in ends the earliest session (MAX_SESSIONS), which the apps here need.
    await addUser(service, 'often@example.com');
    const client = await addClient(service);
    // An app of its own: one that is allowed a hundred times loses its earliest grants, which would be those of the others.
    const exchanging = await addClient(service);
    const browser = await signedInBrowser(service);
    const checked = await obtainPair(service, browser, client);
    let newest = await obtainPair(service, browser, client);
    const going = {
      exchange: async () => {
        const code = await obtainCode(service, browser, exchanging);
        return (await exchange(service, exchanging, code)).status;
      },
      refresh: async () => {
        const answer = await refresh(service, client, newest.refreshToken);
        if (answer.status === 200) newest = pairOf(answer);
        return answer.status;
      },
      check: async () => (await me(service, checked.accessToken)).status,
      signIn: async () => (await signIn(service, new Browser(), 'often@example.com')).status,
    };
    const statuses = new Map<string, number[]>(Object.keys(going).map((name) => [name, []]));
    let isOver = false;
    const loops = Object.entries(going).map(async ([name, once]) => {
      while (!isOver) {
        statuses.get(name)?.push(await once());
        service.clock.advance(name === 'check' ? 0 : 1); // Nobody is that fast, and throttles would say so.
      }
    });
    /** Waits until each was done some times more. */
    const eachOnce = async () => {
      const before = [...statuses.values()].map(({ length }) => length);
      while ([...statuses.values()].some(({ length }, n) => length < (before[n] ?? 0) + 2)) await sleep(5);
    };
    await eachOnce();
    const [{ key_id: first } = assert.fail()] = await list();
    const { key_id: second } = await json(['keys', 'rotate']);
    assert.notEqual(second, first);
    while (keyOf('rt', newest.refreshToken) !== second) await sleep(5);
    while ((await list()).some(({ status, passwords }) => status !== 'current' && passwords > 0)) await sleep(50);
    await eachOnce();
    isOver = true;
    await Promise.all(loops);
    for (const [name, found] of statuses)
      assert.deepEqual([...new Set(found)], [name === 'signIn' ? 303 : 200], `${name}: ${found}`);
    const code = await obtainCode(service, browser, client);
    const pair = pairOf(await exchange(service, client, code));
    const next = pairOf(await refresh(service, client, pair.refreshToken));
    const made = [
      keyOf('ac', code),
      ...[pair, next].flatMap(({ accessToken, refreshToken }) => [keyOf('at', accessToken), keyOf('rt', refreshToken)]),
    ];
    assert.deepEqual(made, Array(5).fill(second), 'what is made afterwards rests on the new key');
  });

test('operating: keys that come from the variable are rotated once the new one is in it and every instance has restarted', async (t) => {
  const { run, json, serve, list } = await installation(t, 'SQLite');
  const { key } = await json(['keys', 'generate']);
  const { key: added } = await json(['keys', 'generate']);
  const variables = (keys: string) => ({ VALETKEY_KEYS: keys, VALETKEY_KEYS_FILE: '' });
  const [alone, both] = [variables(key), variables(`${key} ${added}`)];
  let service = await serve(alone);
  await addUser(service);
  const client = await addClient(service);
  const before = await obtainPair(service, await signedInBrowser(service), client);
  const { code, stderr } = await run(['keys', 'rotate'], alone);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /the root keys are in VALETKEY_KEYS: make another with "keys generate", add it to the variable, restart every instance, and run this again/,
  );
  assert.deepEqual(
    (await list(alone)).map(({ status }) => status),
    ['current'],
  );
  await service.stop();
  service = await serve(both, service.clock);
  const { key_id: second } = await json(['keys', 'rotate'], both);
  assert.deepEqual((await list(both)).map(({ status }) => status).toSorted(), ['current', 'earlier']);
  assert.equal((await me(service, before.accessToken)).status, 200);
  let pair = before;
  do pair = pairOf(await refresh(service, client, pair.refreshToken));
  while (keyOf('rt', pair.refreshToken) !== second);
  assert.equal((await me(service, pair.accessToken)).status, 200);
});

test('operating: a key is not retired while the service may have issued tokens that live for a day, whatever the command is set to', async (t) => {
  const { path, run, json, serve, list } = await installation(t, 'SQLite');
  const service = await serve({ VALETKEY_ACCESS_TOKEN_TTL: '24h' });
  await addUser(service);
  const client = await addClient(service);
  const before = await obtainPair(service, await signedInBrowser(service), client);
  const { key_id: second, earlier_key_id: first } = await json(['keys', 'rotate']);
  let pair = before;
  do pair = pairOf(await refresh(service, client, pair.refreshToken));
  while (keyOf('rt', pair.refreshToken) !== second);
  while ((await list()).some(({ status, passwords }) => status !== 'current' && passwords > 0)) await sleep(50);
  const rotated = (secondsAgo: number) => {
    using database = new DatabaseSync(path);
    database.exec(
      `UPDATE root_key SET superseded_at = ${Date.now() - secondsAgo * 1000} WHERE superseded_at IS NOT NULL`,
    );
  };
  const day = 86_400;
  for (const [secondsAgo, left] of [
    [2 * 3600, '22 h 1 min'],
    [day + 30, '0 h 1 min'],
  ] as const) {
    rotated(secondsAgo);
    for (const command of [
      ['keys', 'list'],
      ['database', 'adopt-settings'],
    ])
      await json(command);
    const { code, stderr } = await run(['keys', 'retire', first, '--yes']);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`are valid for another ${left}`));
  }
  assert.equal((await me(service, before.accessToken)).status, 200);
  rotated(day + 61);
  await json(['keys', 'retire', first, '--yes']);
});

test('operating: a service whose keys file is gone, or open to others, says so once and goes on', async (t) => {
  const path = temporaryPath(t);
  const keysFile = join(dirname(path), 'keys');
  const at = { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS_FILE: keysFile };
  const service = await startTestService(t, at);
  await addUser(service);
  const { accessToken } = await obtainPair(service, await signedInBrowser(service), await addClient(service));
  const told = async (words: string, times: number) => {
    const found = () => service.log.filter((line) => line.includes(words)).length;
    while (found() < times) await sleep(20);
    assert.equal(found(), times, service.log.join(''));
  };
  renameSync(keysFile, `${keysFile}.away`);
  await told(`${keysFile} is gone: restore it`, 1);
  assert.equal((await me(service, accessToken)).status, 200);
  renameSync(`${keysFile}.away`, keysFile);
  chmodSync(keysFile, 0o644);
  await told(`others can read the keys file ${keysFile}: run`, 1);
  await told(`${keysFile} is gone`, 1);
});
