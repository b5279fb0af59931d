import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesOf } from '../../src/oauth/grants/grant.ts';
import {
  type Credential,
  deriveCredential,
  isGenuine,
  readCredential,
  withChecksum,
} from '../../src/oauth/keys/credential.ts';
import type { CheckedToken } from '../../src/oauth/protocol/access-token.ts';
import { KnownTokens } from '../../src/oauth/protocol/known-tokens.ts';
import { WHOLE_GRANT } from '../../src/oauth/protocol/token-request.ts';
import { event, sampleResourceServer } from '../support/storage.ts';
import { asOne, assertGood, obtainPair, one, operationsOn, origin, setUp } from './protocol.ts';
import { activeGrant, assertRefusal, inContext, keyring, NOW, otherKeyring, PREFIX } from './samples.ts';

/** An access token of the sample grant, with another time when it ends. */
function tokenUntil(expiresAt: number): string {
  const header = {
    keyId: keyring.currentKeyId,
    grantId: activeGrant.id,
    generation: activeGrant.generation,
    expiresAt,
  };
  return deriveCredential(keyring, PREFIX, 'at', header, activeGrant.seed);
}

function readIfAny(tokens: KnownTokens, text: string): Credential | null {
  return tokens.read(text)?.credential ?? null;
}

function read(tokens: KnownTokens, text: string): Credential {
  return readIfAny(tokens, text) ?? assert.fail('not read');
}

/** Reads a token, proves it and remembers it. */
function use(tokens: KnownTokens, text: string): Credential {
  const token = tokens.read(text) ?? assert.fail('not read');
  const { credential } = token;
  assert.ok(isGenuine(keyring, credential, activeGrant.seed));
  tokens.remember(token);
  return credential;
}

test('design: a token that was proven says of itself what it said, and is proven no more', () => {
  const tokens = new KnownTokens(PREFIX);
  for (const expiresAt of [0, NOW, NOW + 1, 2 ** 48 - 1]) {
    const text = tokenUntil(expiresAt);
    const { unproven, ...said } = use(tokens, text);
    assert.ok(unproven);
    for (let n = 0; n < 3; n += 1) assert.deepEqual(use(tokens, text), { ...said, unproven: null });
  }
});

test('promise 4: of a token that was proven, no other text passes, whatever it begins with', () => {
  const tokens = new KnownTokens(PREFIX);
  const text = tokenUntil(NOW);
  use(tokens, text);
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (let at = 0; at < text.length; at += 1) {
    for (const character of `${characters}+/=. \n\0é`) {
      if (character === text[at]) continue;
      const changed = text.slice(0, at) + character + text.slice(at + 1);
      assert.equal(readIfAny(tokens, changed), null, changed);
      const rechecked = readIfAny(tokens, withChecksum(changed.slice(0, -6)));
      if (at < text.length - 6) assert.ok(!rechecked || !isGenuine(keyring, rechecked, activeGrant.seed), changed);
    }
  }
  for (const other of ['', text.slice(1), text.slice(0, -1), `${text}x`, `x${text}`, text.slice(0, -34), text + text])
    assert.equal(readIfAny(tokens, other), null, other);
  assert.equal(read(tokens, text).unproven, null);
});

test('promise 4: a token with the same beginning from another installation is not taken for the one that was proven', () => {
  const tokens = new KnownTokens(PREFIX);
  const text = tokenUntil(NOW);
  use(tokens, text);
  const header = readCredential(PREFIX, 'at', text) ?? assert.fail();
  const others = [
    deriveCredential(otherKeyring, PREFIX, 'at', { ...header, keyId: otherKeyring.currentKeyId }, activeGrant.seed),
    deriveCredential(keyring, PREFIX, 'at', header, Buffer.alloc(16, 'other')),
  ];
  for (const other of others) assert.ok(!isGenuine(keyring, read(tokens, other), activeGrant.seed));
});

test('promise 5: so many tokens are remembered, and no more', () => {
  const tokens = new KnownTokens(PREFIX);
  const texts = Array.from({ length: 16_385 }, (_, index) => tokenUntil(NOW + index * 256));
  for (const text of texts) use(tokens, text);
  const remembered = texts.filter((text) => read(tokens, text).unproven === null);
  assert.deepEqual(remembered, texts.slice(-1));
});

test('promise 2: what a check found holds for one version of the store, and for a time', () => {
  const tokens = new KnownTokens(PREFIX);
  const text = tokenUntil(NOW + 700_000);
  use(tokens, text);
  const known = tokens.read(text) ?? assert.fail();
  const checked: CheckedToken = {
    resourceOwner: inContext(activeGrant).resourceOwner,
    externalId: null,
    clientId: activeGrant.clientId,
    scope: activeGrant.scope,
    grantedAt: activeGrant.grantedAt,
    expiresAt: NOW + 700_000,
    grant: namesOf(activeGrant),
  };
  assert.equal(known.checked(0, NOW), null);
  const period = { from: NOW - 1, until: NOW + 1 };
  known.keep(checked, null, period);
  for (const version of [null, -1, 0]) assert.equal(known.checked(version, NOW), null);
  known.keep(checked, 7, period);
  assert.equal(tokens.read(text)?.checked(7, NOW), checked);
  assert.equal(known.checked(7, NOW + 1), null);
  assert.equal(known.checked(7, NOW - 1), checked);
  assert.equal(known.checked(7, NOW - 2), null, 'the clock stepped back');
  for (const version of [null, 6, 8]) assert.equal(known.checked(version, NOW), null);
  const another = { ...checked, resourceOwner: { ...checked.resourceOwner, name: 'Another' } };
  known.keep(another, 8, period);
  assert.equal(known.checked(8, NOW), another);
});

test('promise 2: what a token is good for is decided at each use, proven or not', async (context) => {
  const protocol = await setUp(context);
  const { server, clock } = protocol;
  const { accessToken } = await obtainPair(protocol);
  for (let n = 0; n < 3; n += 1) assertGood(await server.checkAccessToken(accessToken));
  clock.now = NOW + 1_800_000 - 1;
  assertGood(await server.checkAccessToken(accessToken));
  clock.now += 1;
  assertRefusal(await server.checkAccessToken(accessToken), 'invalid_token', /expired/);
});

test('promise 4: a forged token is refused however often it comes, and does not put out the one that it copies', async (context) => {
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

test('design: that a token which is known is used is noted every ten minutes, and of the newest generation at once', async (context) => {
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
  await store.updateClient({ ...one, name: 'Another' }, one, event('client_updated')); // So that it is looked at anew.
  assert.deepEqual(await checkAt(NOW + 599_999, pair.accessToken), [1, NOW]);
  assert.deepEqual(await checkAt(NOW + 600_000, pair.accessToken), [1, NOW + 600_000]);
  const next = assertGood(await server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin));
  assert.deepEqual(await checkAt(NOW + 600_001, pair.accessToken), [1, NOW + 600_000]);
  assert.deepEqual(await checkAt(NOW + 600_002, next.accessToken), [2, NOW + 600_002]);
});

test('design: a use that could not be noted is to be noted with the next', async (context) => {
  const protocol = await setUp(context);
  const { accessToken } = await obtainPair(protocol);
  let notes = 0;
  const noteUse = () => {
    notes += 1;
    return null;
  };
  const { server } = operationsOn({ ...protocol, store: { ...protocol.store, noteUse } });
  for (let n = 0; n < 3; n += 1) assertGood(await server.checkAccessToken(accessToken));
  assert.equal(notes, 3);
});

test('design: what cannot be a token is refused without any read', async (context) => {
  const protocol = await setUp(context);
  let asked = 0;
  const version = () => {
    asked += 1;
    return protocol.store.version();
  };
  const { server } = operationsOn({ ...protocol, store: { ...protocol.store, version } });
  assertRefusal(await server.checkAccessToken('x'), 'invalid_token', /not an access token/);
  assert.equal(asked, 0);
});
