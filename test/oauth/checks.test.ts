/** Checks of access tokens: each decides anew. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withChecksum } from '../../src/oauth/keys/credential.ts';
import { WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import { sampleResourceServer } from '../support/storage.ts';
import { asOne, assertGood, obtainPair, operationsOn, origin, setUp } from './protocol.ts';
import { assertRefusal, NOW } from './samples.ts';

test('promise 2: what a token is good for is decided at each use', async (context) => {
  const protocol = await setUp(context);
  const { server, clock } = protocol;
  const { accessToken } = await obtainPair(protocol);
  for (let n = 0; n < 3; n += 1) assertGood(await server.checkAccessToken(accessToken));
  clock.now = NOW + 1_800_000 - 1;
  assertGood(await server.checkAccessToken(accessToken));
  clock.now += 1;
  assertRefusal(await server.checkAccessToken(accessToken), 'invalid_token', /expired/);
});

test('promise 4: a forged token is refused however often it comes', async (context) => {
  const protocol = await setUp(context);
  const { server, introspection } = protocol;
  const { accessToken } = await obtainPair(protocol);
  const letter = accessToken.at(-7) === 'A' ? 'B' : 'A';
  const forged = withChecksum(accessToken.slice(0, -7) + letter);
  const anywhere = sampleResourceServer({ resource: null, scopes: null });
  for (let n = 0; n < 3; n += 1) assert.equal(await introspection.introspect(anywhere, forged), null);
  assert.ok(await introspection.introspect(anywhere, accessToken));
  for (let n = 0; n < 3; n += 1) {
    assertRefusal(await server.checkAccessToken(forged), 'invalid_token', /forged/);
    assert.equal(await introspection.introspect(anywhere, forged), null);
    assertGood(await server.checkAccessToken(accessToken));
    assertRefusal(await server.checkAccessToken(forged), 'invalid_token', /forged/);
  }
});

test('design: the use of a token is noted every ten minutes, and of the newest generation at once', async (context) => {
  const protocol = await setUp(context);
  const { server, store, clock } = protocol;
  const pair = await obtainPair(protocol);
  const marks = async () => {
    const [listed] = await store.listGrants({ limit: 1 });
    return [listed?.grant.usedGeneration, listed?.grant.lastUsedAt];
  };
  const checkAt = async (now: number, accessToken: string) => {
    clock.now = now;
    for (let n = 0; n < 3; n += 1) assertGood(await server.checkAccessToken(accessToken));
    return marks();
  };
  assert.deepEqual(await checkAt(NOW, pair.accessToken), [1, NOW]);
  assert.deepEqual(await checkAt(NOW + 599_999, pair.accessToken), [1, NOW]);
  assert.deepEqual(await checkAt(NOW + 600_000, pair.accessToken), [1, NOW + 600_000]);
  const next = assertGood(await server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin));
  assert.deepEqual(await checkAt(NOW + 600_001, pair.accessToken), [1, NOW + 600_000]);
  assert.deepEqual(await checkAt(NOW + 600_002, next.accessToken), [2, NOW + 600_002]);
});

test('design: what cannot be a token is refused without any read', async (context) => {
  const protocol = await setUp(context);
  const findGrant = () => assert.fail('a read');
  const { server, introspection } = operationsOn({ ...protocol, store: { ...protocol.store, findGrant } });
  assertRefusal(await server.checkAccessToken('x'), 'invalid_token', /not an access token/);
  assert.equal(await introspection.introspect(sampleResourceServer(), 'x'), null);
});
