/** Guesses that come all at once, on both stores: a guess counts before it is checked. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { withChecksum } from '../../src/oauth/keys/credential.ts';
import { newShared, startInstance } from '../instances/instances.ts';
import { startOnFile } from '../support/on-file.ts';
import { addKey, call, type KeyHolder, type TestApi } from '../support/operator-api.ts';
import { PATIENT } from '../support/postgres.ts';
import { addClient, freePort, type Lifetime, startTestService, type TestService } from '../support/service.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import {
  addResourceServer,
  assertionFields,
  type Fields,
  introspect,
  makeKey,
  post,
  postAs,
} from '../support/standard.ts';
import { storesOfRun } from '../support/stores.ts';

/** How many wrong guesses are checked, as the interface says. */
const LIMIT = 30;
const PARALLEL = 100;
/** Of one client and source, far more at once than may be wrong. */
const GOOD = 300;
/** Each of them comes on a connection of its own. */
const MANY = { VALETKEY_MAX_CONNECTIONS_PER_SOURCE: '1000' };

let server: SharedPostgres | undefined;
after(() => server?.remove());

/** Starts a service on each store. */
const STORES: Record<string, (t: Lifetime, variables?: Record<string, string>) => Promise<TestService>> = {
  SQLite: async (t, variables) => (await startOnFile(t, { ...MANY, ...variables })).service,
  PostgreSQL: async (t, variables) => {
    server ??= await sharedPostgres();
    return startTestService(t, { ...(await newShared(server)), ...MANY, ...variables }, undefined, PATIENT);
  },
};

/** How many answers have each status. */
async function statuses(asked: Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(asked)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const refresh: Fields = { grant_type: 'refresh_token', refresh_token: 'x' };

for (const [name, start] of storesOfRun(STORES)) {
  describe(`RFC 6749 §2.3.1, Promise 6 (${name}): of wrong guesses at once no more are checked than of those one after the other`, () => {
    test(`Promise 6 (${name}): at a client’s secret`, async (t) => {
      const service = await start(t);
      const { clientId, clientSecret } = await addClient(service);
      const guess = (n: number) => postAs(service, { clientId, clientSecret: `wrong ${n}` }, 'token', refresh);
      assert.deepEqual(await statuses(times(PARALLEL, guess)), { 401: LIMIT, 429: PARALLEL - LIMIT });
      assert.equal((await postAs(service, { clientId, clientSecret }, 'token', refresh)).status, 429);
    });

    test(`Promise 6 (${name}): at operators’ keys; one that was right before still passes, until it ended`, async (t) => {
      const operatorUrl = `http://localhost:${await freePort()}`;
      const api: TestApi = { ...(await start(t, { VALETKEY_OPERATOR_URL: operatorUrl })), operatorUrl };
      const ask = async (key: string) => (await call(api, key, '/v1/scopes')).status;
      const made = await Promise.all(times(5, () => addKey(api)));
      const [right, ended, disabled, expired, unused] = made as [KeyHolder, KeyHolder, KeyHolder, KeyHolder, KeyHolder];
      api.clock.advance(3500);
      const late = await addKey(api);
      for (const { key } of [right, ended, disabled, expired, late]) assert.equal(await ask(key), 200);

      const guesses = times(PARALLEL, (n) => call(api, withChecksum(`vk_ok_${n}`), '/v1/scopes'));
      assert.deepEqual(await statuses(times(GOOD / 4, () => call(api, late.key, '/v1/scopes'))), { 200: GOOD / 4 });
      assert.deepEqual(await statuses(guesses), { 401: LIMIT, 429: PARALLEL - LIMIT });
      assert.equal(await ask(right.key), 200);
      assert.equal(await ask(unused.key), 429, 'it may be a guess');

      const { registry } = api.installation.operators;
      await registry.endKey(ended.operator.id, ended.keyId, api.installation.operator);
      await registry.disable(disabled.operator.id, api.installation.operator);
      for (const { key } of [ended, disabled]) assert.deepEqual([await ask(key), await ask(key)], [401, 429]);
      api.clock.advance(99);
      await statuses(times(PARALLEL, (n) => call(api, withChecksum(`vk_ok_${n}`), '/v1/scopes')));
      assert.equal(await ask(expired.key), 200, 'a second before it expires');
      api.clock.advance(1);
      assert.deepEqual([await ask(expired.key), await ask(expired.key)], [401, 429]);
      assert.equal(await ask(late.key), 200);
    });

    test(`Promise 6 (${name}): with client assertions, forged ones and one that is replayed`, async (t) => {
      const service = await start(t);
      const [key, stranger] = [makeKey(), makeKey()];
      const one = await addClient(service, { keys: [key.jwk] });
      const forged = await Promise.all(times(PARALLEL, () => assertionFields(service, one, stranger)));
      const forgeries = forged.map((fields) => post(service, 'token', { ...refresh, ...fields }));
      assert.deepEqual(await statuses(forgeries), { 401: LIMIT, 429: PARALLEL - LIMIT });
      const two = await addClient(service, { keys: [key.jwk] });
      const fields = await assertionFields(service, two, key);
      const replays = times(PARALLEL, () => post(service, 'token', { ...refresh, ...fields }));
      assert.deepEqual(await statuses(replays), { 400: 1, 401: LIMIT, 429: PARALLEL - LIMIT - 1 });
    });

    test(`Promise 6 (${name}): at a resource server’s secret, and at ids that nobody has`, async (t) => {
      const service = await start(t);
      const { id } = await addResourceServer(service);
      const guess = (n: number) => introspect(service, { id, secret: `wrong ${n}` }, 'x');
      assert.deepEqual(await statuses(times(PARALLEL, guess)), { 401: LIMIT, 429: PARALLEL - LIMIT });
      const made = (n: number) => introspect(service, { id: `rs_made_up_${n}`, secret: 'x' }, 'x');
      assert.deepEqual(await statuses(times(PARALLEL, made)), { 401: LIMIT, 429: PARALLEL - LIMIT });
    });
  });

  test(`Promise 6 (${name}): being under way refuses nobody: hundreds of good calls of one client at once succeed`, async (t) => {
    const service = await start(t);
    const key = makeKey();
    const [secretive, keyed] = [await addClient(service), await addClient(service, { keys: [key.jwk] })];
    const resourceServer = await addResourceServer(service);
    const bySecret = times(GOOD, () => postAs(service, secretive, 'revoke', { token: 'x' }));
    assert.deepEqual(await statuses(bySecret), { 200: GOOD });
    const signed = await Promise.all(times(GOOD, () => assertionFields(service, keyed, key)));
    const byAssertion = signed.map((fields) => post(service, 'revoke', { token: 'x', ...fields }));
    assert.deepEqual(await statuses(byAssertion), { 200: GOOD });
    const asked = times(GOOD, () => introspect(service, resourceServer, 'x'));
    assert.deepEqual(await statuses(asked), { 200: GOOD });
  });
}

test('Promise 6: guesses at two instances at once are no more than the limit for each, and then none at either', async (t) => {
  server ??= await sharedPostgres();
  const shared = await newShared(server);
  const [one, other] = [await startInstance(t, 'one', shared), await startInstance(t, 'other', shared)];
  const { clientId, clientSecret } = await addClient(one);
  const guess = (n: number) =>
    postAs(n % 2 === 0 ? one : other, { clientId, clientSecret: `wrong ${n}` }, 'token', refresh);
  const { 401: checked = 0 } = await statuses(times(2 * PARALLEL, guess));
  assert.ok(checked >= LIMIT && checked <= 2 * LIMIT, `${checked}`);
  for (const instance of [one, other])
    assert.equal((await postAs(instance, { clientId, clientSecret }, 'token', refresh)).status, 429);
});
