/** Keys that sign ID tokens: made once, turned every 90 days, replaced at once, and nothing without their root key. */
import assert from 'node:assert/strict';
import { createPublicKey, type JsonWebKey, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, type TestContext, test } from 'node:test';
import type { ClientStore } from '../../src/oauth/clients/client-store.ts';
import { OperatorError } from '../../src/oauth/error.ts';
import { createKeyring, type Keyring } from '../../src/oauth/keys/keyring.ts';
import { NEVER, seal } from '../../src/oauth/keys/sealed.ts';
import { makeSigningKey, openSigningKey } from '../../src/oauth/openid/signing-key.ts';
import { FORMER_KEPT_MS, SIGNS_FOR_MS, SigningKeys } from '../../src/oauth/openid/signing-keys.ts';
import { openInstance } from '../postgresql/instance.ts';
import { PATIENT } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { event, openAsService, sampleClient, temporaryPath } from '../support/storage.ts';
import { openMemory, operator } from './memory.ts';
import { keyring, NOW, newKeyring, otherKeyring, rotatedKeyring } from './samples.ts';

const server = await sharedPostgres();
after(() => server.remove());

const service = { kind: 'service', id: 'host', source: null, requestId: null } as const;

const withSignIn = sampleClient({ signIn: true });
/** Keys are made for an app with sign-in alone. */
const addApp = (store: Pick<ClientStore, 'registerClient'>) =>
  store.registerClient(withSignIn, event('client_registered'));

async function keysIn(t: TestContext, ring: Keyring = keyring) {
  const memory = await openMemory(t, ring);
  await addApp(memory.store);
  const now = () => memory.clock.now;
  const signingKeys = new SigningKeys({ store: memory.store, keyring: ring, now, actor: service });
  const kids = async () => (await signingKeys.published()).map(({ kid }) => kid);
  const byState = async () => Object.fromEntries((await signingKeys.list()).map((key) => [key.state, key]));
  return { ...memory, signingKeys, kids, byState };
}

test('OpenID Connect Core §10.1: the key set has two RSA keys of 2048 bits, and a signature of the signing one verifies with it', async (t) => {
  const { signingKeys } = await keysIn(t);
  await signingKeys.ensure();
  const keys = await signingKeys.published();
  assert.equal(keys.length, 2);
  for (const key of keys) {
    assert.deepEqual(Object.keys(key).toSorted(), ['alg', 'e', 'kid', 'kty', 'n', 'use'], 'nothing private');
    assert.deepEqual([key.alg, key.use], ['RS256', 'sig']);
    const { asymmetricKeyDetails } = createPublicKey({ key: { ...key } as JsonWebKey, format: 'jwk' });
    assert.equal(asymmetricKeyDetails?.modulusLength, 2048);
  }
  const signing = await signingKeys.signing();
  assert.ok(signing);
  const published = keys.find(({ kid }) => kid === signing.kid);
  const signature = sign('RSA-SHA256', Buffer.from('a text'), signing.key);
  const publicKey = createPublicKey({ key: { ...published } as JsonWebKey, format: 'jwk' });
  assert.ok(verify('RSA-SHA256', Buffer.from('a text'), publicKey, signature));
});

test('the first keys are made once, however many ask, and not before an app has sign-in', async (t) => {
  const { store, signingKeys } = await keysIn(t);
  const plain = { ...withSignIn, signIn: false };
  await store.updateClient(plain, withSignIn, event('client_updated'));
  await signingKeys.keep();
  assert.deepEqual([await signingKeys.published(), await signingKeys.signing()], [[], null]);
  await assert.rejects(signingKeys.replace(operator), OperatorError);
  assert.deepEqual(await signingKeys.list(), []);
  await store.updateClient(withSignIn, plain, event('client_updated'));
  assert.deepEqual([await signingKeys.list(), await signingKeys.published()], [[], []], 'a read makes none');
  const all = await Promise.all(Array.from({ length: 20 }, () => signingKeys.signing()));
  assert.equal(new Set(all.map((signing) => signing?.kid)).size, 1);
  const events = await store.listAuditEvents({ action: 'signing_keys_made', limit: 9 });
  assert.deepEqual([events.length, events[0]?.actor.kind], [1, 'service']);
});

test('OpenID Connect Core §10.1.1: every 90 days the next key signs, which was in the key set all the while; the former one stays for a day and an hour', async (t) => {
  const { store, clock, signingKeys, kids, byState } = await keysIn(t);
  await signingKeys.ensure();
  const { signing: first, next: second } = await byState();
  clock.now += SIGNS_FOR_MS - 1;
  await signingKeys.keep();
  assert.equal((await signingKeys.signing())?.kid, first?.id);
  clock.now += 1;
  await signingKeys.keep();
  const { signing, next, former } = await byState();
  assert.deepEqual([signing?.id, former?.id], [second?.id, first?.id]);
  assert.deepEqual((await kids()).toSorted(), [signing?.id, next?.id, former?.id].toSorted());
  assert.equal(former?.sealedKey, null, 'what never signs again is not there to be stolen');
  await signingKeys.keep();
  assert.equal((await kids()).length, 3, 'it turns once');
  clock.now += FORMER_KEPT_MS - 1;
  assert.equal((await kids()).length, 3);
  clock.now += 1;
  assert.deepEqual((await kids()).toSorted(), [signing?.id, next?.id].toSorted());
  const [event] = await store.listAuditEvents({ action: 'signing_keys_turned', limit: 9 });
  const members = { signing_key: signing?.id, next_key: next?.id, former_key: former?.id };
  assert.deepEqual(JSON.parse(String(event?.detail)), members);
});

test('keys that turned while the clock was years ahead turn again, once it is right', async (t) => {
  const { clock, signingKeys, byState } = await keysIn(t);
  await signingKeys.ensure();
  clock.now += 40 * SIGNS_FOR_MS;
  await signingKeys.keep();
  clock.now -= 40 * SIGNS_FOR_MS;
  const { next } = await byState();
  await signingKeys.keep();
  assert.equal((await byState())['signing']?.id, next?.id);
  await signingKeys.keep();
  assert.equal((await byState())['signing']?.id, next?.id, 'once');
});

test('a replacement drops all keys at once, on an instance that used the old one just now too', async (t) => {
  const { store, signingKeys, kids } = await keysIn(t);
  await signingKeys.ensure();
  const before = await kids();
  const old = await signingKeys.signing();
  const replaced = await signingKeys.replace(operator);
  assert.deepEqual(
    await kids(),
    replaced.map(({ id }) => id),
  );
  assert.ok(replaced.length === 2 && replaced.every(({ id, opens }) => opens && !before.includes(id)));
  const anew = await signingKeys.signing();
  assert.ok(anew && anew.kid !== old?.kid && !anew.key.equals(old?.key as never));
  const [event] = await store.listAuditEvents({ action: 'signing_keys_replaced', limit: 9 });
  assert.deepEqual([event?.actor.kind, JSON.parse(String(event?.detail)).signing_key], ['operator', anew.kid]);
});

test('three instances make, turn and replace the keys at the same time, and there are always two', async (t) => {
  const url = await server.createDatabase();
  let at = NOW;
  const instances: SigningKeys[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { store, close } = await openInstance(url, { keyring, now: () => at, ...PATIENT });
    t.after(close);
    if (count === 0) await addApp(store);
    instances.push(new SigningKeys({ store, keyring, now: () => at, actor: service }));
  }
  const [one] = instances as [SigningKeys];
  const onAll = (act: (keys: SigningKeys) => Promise<unknown>) => Promise.all(instances.map(act));
  const states = async () => (await one.list()).map(({ state }) => state).toSorted();
  await onAll((keys) => keys.ensure());
  assert.deepEqual(await states(), ['next', 'signing']);
  for (let turn = 1; turn <= 3; turn += 1) {
    const next = (await one.list()).find(({ state }) => state === 'next');
    at += SIGNS_FOR_MS;
    await onAll((keys) => keys.keep());
    assert.deepEqual(await states(), ['former', 'next', 'signing']);
    for (const keys of instances) assert.equal((await keys.signing())?.kid, next?.id, 'the turn was one step');
  }
  at += SIGNS_FOR_MS;
  await onAll((keys) => Promise.all([keys.keep(), keys.replace(operator)]));
  const left = (await states()).filter((state) => state !== 'former');
  assert.deepEqual(left, ['next', 'signing']);
});

test('Promise 4: a stolen database signs nothing: no private key stands in it, and no other root key opens one', async (t) => {
  const path = temporaryPath(t);
  const { store, close } = await openAsService(path);
  await addApp(store);
  const signingKeys = new SigningKeys({ store, keyring, now: () => NOW, actor: service });
  const signing = await signingKeys.signing();
  const stored = await store.listSigningKeys();
  await close();
  const file = readFileSync(path);
  const jwk = signing?.key.export({ format: 'jwk' }) as Record<string, string>;
  const n = jwk['n'] as string;
  assert.ok(file.includes(n), 'the test looks at the right place');
  for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi'])
    for (const form of [Buffer.from(jwk[member] as string), Buffer.from(jwk[member] as string, 'base64url')])
      assert.ok(!file.includes(form), `${member} is in the database`);
  for (const key of stored) {
    assert.ok(openSigningKey(keyring, key));
    assert.equal(openSigningKey(otherKeyring, key), null);
    assert.equal(openSigningKey(createKeyring([Buffer.alloc(32, 'a guess')]), key), null);
  }
});

test('a key that cannot be opened signs nothing, and no other one signs in its place', async (t) => {
  const { store, clock, signingKeys } = await keysIn(t, keyring);
  await signingKeys.ensure();
  const elsewhere = new SigningKeys({ store, keyring: otherKeyring, now: () => clock.now, actor: service });
  assert.equal(await elsewhere.signing(), null);
  assert.deepEqual(
    (await elsewhere.list()).map(({ opens }) => opens),
    [false, false],
  );
  assert.equal((await elsewhere.published()).length, 2, 'what was signed before still verifies');
  clock.now += SIGNS_FOR_MS;
  await elsewhere.keep();
  assert.equal((await store.listSigningKeys()).length, 2, 'it lets no key sign that it cannot open');
});

test('a private key in the row of another, and one sealed for another purpose, are not opened', async () => {
  const [one, other] = await Promise.all([makeSigningKey(keyring, NOW), makeSigningKey(keyring, NOW)]);
  assert.ok(openSigningKey(keyring, one));
  assert.equal(openSigningKey(keyring, { ...one, sealedKey: other.sealedKey }), null);
  assert.equal(openSigningKey(keyring, { ...one, publicKey: other.publicKey }), null);
  assert.equal(openSigningKey(keyring, { ...one, sealedKey: seal(keyring, 'password', 'a text', NEVER) }), null);
});

test('after a rotation of root keys, a running service seals the keys again, and they open without the earlier one', async (t) => {
  const { store, clock, signingKeys } = await keysIn(t);
  const before = await signingKeys.signing();
  const [current] = rotatedKeyring.keyIds;
  const running = new SigningKeys({ store, keyring: rotatedKeyring, now: () => clock.now, actor: service });
  await running.keep();
  const keys = await store.listSigningKeys();
  assert.deepEqual(
    keys.map(({ rootKeyId }) => rootKeyId),
    [current, current],
  );
  assert.ok(keys.every((key) => openSigningKey(newKeyring, key)));
  assert.equal((await running.signing())?.kid, before?.kid);
});
