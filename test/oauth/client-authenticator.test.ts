import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Client, ClientCredentials } from '../../src/oauth/clients/client.ts';
import { invalidRequest, Refusal } from '../../src/oauth/error.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import { event } from '../support/storage.ts';
import { assertion, claims, ecKeys, forged, keyed, SECONDS } from './assertions.ts';
import {
  asOne,
  asPhone,
  assertGood,
  exchange,
  MAX_GUESSES,
  obtainCode,
  one,
  operationsOn,
  origin,
  type Protocol,
  phone,
  setUp,
  wrongSecret,
} from './protocol.ts';
import { ISSUER } from './requests.ts';
import { assertRefusal } from './samples.ts';

const other = ecKeys();
const elsewhere = { ...origin, source: '192.0.2.2' };

/** The usual clients, and one that proves itself with a key. */
async function setUpKeyed(context: TestContext, changes: Partial<Client> = {}): Promise<Protocol> {
  const protocol = await setUp(context);
  await protocol.store.registerClient({ ...keyed, ...changes }, event('client_registered'));
  return protocol;
}

function by(text: string, clientId?: string): ClientCredentials {
  return { method: 'assertion', clientId, assertion: text };
}

test('RFC 6749 §2.3: each method proves its client, as it is in the store right now', async (context) => {
  const { clients, store } = await setUpKeyed(context);
  for (const [credentials, expected] of [
    [asOne, one],
    [asPhone, phone],
    [by(await assertion()), keyed],
    [by(await assertion(), keyed.id), keyed],
  ] as const)
    assert.deepEqual(await clients.authenticate(credentials, origin, 'token'), expected);
  await store.updateClient({ ...one, name: 'Uno' }, one, event('client_updated'));
  assert.equal(assertGood(await clients.authenticate(asOne, origin, 'token')).name, 'Uno');
});

test('RFC 6749 §2.3: an id that can be nobody’s is looked up by nobody', async (context) => {
  const { clients } = await setUp(context);
  assert.deepEqual(await clients.find(one.id), one);
  for (const id of [undefined, '', 'app_nobody', `${one.id}\0`, 'x'.repeat(101), 'é'])
    assert.equal(await clients.find(id), null, id);
});

test('a malformed request is answered without the store, which its record alone needs', async (context) => {
  const protocol = await setUp(context);
  const store = {
    ...protocol.store,
    findClient: () => Promise.reject(new StoreUnavailable('away')),
  };
  const { server } = operationsOn({ ...protocol, store });
  await server.recordMalformed(asOne, invalidRequest('code is required'), 'token', origin);
});

const unproven: [string, ClientCredentials, RegExp][] = [
  ['a secret for a client that has keys alone', { method: 'secret', clientId: keyed.id, clientSecret: '' }, /wrong/],
  ['nothing for a client that has keys', { method: 'none', clientId: keyed.id }, /confidential/],
  ['an assertion for a client that has a secret', by(forged({ alg: 'ES256' }, claims({ sub: one.id }))), /no public/],
  ['an assertion for a public client', by(forged({ alg: 'ES256' }, claims({ sub: phone.id }))), /no public key/],
  ['an assertion for nobody', by(forged({ alg: 'ES256' }, claims({ sub: 'app_nobody' }))), /names no client/],
  ['an assertion that cannot be read', by('x'), /names no client/],
  ['an assertion that cannot be read, with a client_id', by('x', keyed.id), /names no client/],
  [
    'an assertion whose subject is a list',
    by(forged({ alg: 'ES256' }, claims({ sub: [keyed.id] }))),
    /names no client/,
  ],
  ['an assertion whose subject can be nobody', by(forged({ alg: 'ES256' }, claims({ sub: 'a b' }))), /names no client/],
];
for (const [name, credentials, detail] of unproven) {
  test(`RFC 7521 §4.2.1: ${name} is invalid_client, and is counted as a guess`, async (context) => {
    const { clients } = await setUpKeyed(context);
    for (let n = 0; n < MAX_GUESSES; n += 1)
      assertRefusal(await clients.authenticate(credentials, origin, 'token'), 'invalid_client', detail);
    assertRefusal(await clients.authenticate(credentials, origin, 'token'), 'temporarily_unavailable', /throttled/);
    assertRefusal(await clients.authenticate(credentials, elsewhere, 'token'), 'invalid_client', detail);
  });
}

test('Promise 5: ids that nobody has count as one for each source, and who is registered goes on', async (context) => {
  const { clients } = await setUp(context);
  const guess = (n: number, from = origin) =>
    clients.authenticate({ ...asOne, clientId: `app_made_up_${n}` }, from, 'token');
  for (let n = 0; n < MAX_GUESSES; n += 1) assertRefusal(await guess(n), 'invalid_client', /./);
  assertRefusal(await guess(MAX_GUESSES), 'temporarily_unavailable', /throttled/);
  assertRefusal(await guess(MAX_GUESSES, elsewhere), 'invalid_client', /./);
  assertGood(await clients.authenticate(asOne, origin, 'token'));
});

test('RFC 7521 §4.2: a client_id beside an assertion is the assertion’s', async (context) => {
  const { clients } = await setUpKeyed(context);
  for (const clientId of [one.id, 'app_nobody', ' '])
    for (const text of [await assertion(), forged({ alg: 'none' }, claims())])
      assertRefusal(
        await clients.authenticate(by(text, clientId), origin, 'token'),
        'invalid_request',
        /client_id differs/,
      );
  assertGood(await clients.authenticate(by(await assertion(), keyed.id), origin, 'token'));
});

test('RFC 7523 §3 (7): an assertion is good once', async (context) => {
  const protocol = await setUpKeyed(context);
  const text = await assertion();
  assertGood(await protocol.clients.authenticate(by(text), origin, 'token'));
  assertRefusal(await protocol.clients.authenticate(by(text), origin, 'token'), 'invalid_client', /used before/);
  const sameJti = await assertion({ claims: { jti: 'same', exp: SECONDS + 60 } });
  const again = await assertion({ claims: { jti: 'same', exp: SECONDS + 300 } });
  assertGood(await protocol.clients.authenticate(by(sameJti), origin, 'token'));
  assertRefusal(await protocol.clients.authenticate(by(again), origin, 'token'), 'invalid_client', /used before/);
  // Another service on the same store knows it as well.
  const another = operationsOn(protocol).clients;
  assertRefusal(await another.authenticate(by(text), origin, 'token'), 'invalid_client', /used before/);
});

test('RFC 7523 §3 (7): of fifty requests with one assertion at once one is its client’s', async (context) => {
  const { clients } = await setUpKeyed(context);
  const text = await assertion();
  const all = Array.from({ length: 50 }, (_, n) =>
    clients.authenticate(by(text), { ...origin, source: `192.0.2.${n}` }, 'token'),
  );
  const outcomes = await Promise.all(all);
  assert.equal(outcomes.filter((outcome) => !(outcome instanceof Refusal)).length, 1);
  for (const outcome of outcomes)
    if (outcome instanceof Refusal) assertRefusal(outcome, 'invalid_client', /used before/);
});

test('design: an assertion that fails is not used up', async (context) => {
  const protocol = await setUpKeyed(context);
  const { clients, clock } = protocol;
  const early = await assertion({ claims: { nbf: SECONDS + 40, exp: SECONDS + 100 } });
  assertRefusal(await clients.authenticate(by(early), origin, 'token'), 'invalid_client', /nbf/);
  const jti = 'taken by a stranger';
  const stranger = await assertion({ claims: { jti }, by: other });
  assertRefusal(await clients.authenticate(by(stranger), origin, 'token'), 'invalid_client', /signature/);
  assertGood(await clients.authenticate(by(await assertion({ claims: { jti } })), origin, 'token'));
  clock.now += 20_000;
  assertGood(await clients.authenticate(by(early), origin, 'token'));
});

test('RFC 7523 §3 (7): a mark that is as old as its assertion lets nothing through', async (context) => {
  const { clients, clock } = await setUpKeyed(context);
  const text = await assertion({ claims: { exp: SECONDS + 60 } });
  assertGood(await clients.authenticate(by(text), origin, 'token'));
  for (const detail of [/used before/, /used before/, /exp/]) {
    clock.now += 44_000;
    assertRefusal(await clients.authenticate(by(text), origin, 'token'), 'invalid_client', detail);
  }
});

test('RFC 6749 §5.2: a paused client is refused whatever its method, and is not counted', async (context) => {
  const { clients, store } = await setUpKeyed(context);
  for (const { id } of [one, phone, keyed]) await store.setClientStatus(id, 'paused', event('client_paused'));
  for (let n = 0; n < MAX_GUESSES + 1; n += 1)
    for (const credentials of [asOne, asPhone, by(await assertion())])
      assertRefusal(await clients.authenticate(credentials, origin, 'token'), 'invalid_client', /paused/);
  assertRefusal(await clients.authenticate(wrongSecret, origin, 'token'), 'invalid_client', /wrong/);
});

test('RFC 6749 §2.3.1: guesses at one client from one source hinder nobody else, and end in a minute', async (context) => {
  const { clients, clock } = await setUpKeyed(context);
  for (let n = 0; n < MAX_GUESSES; n += 1) await clients.authenticate(wrongSecret, origin, 'token');
  assertRefusal(await clients.authenticate(asOne, origin, 'token'), 'temporarily_unavailable', /throttled/);
  assertGood(await clients.authenticate(asOne, elsewhere, 'token'));
  assertGood(await clients.authenticate(asPhone, origin, 'token'));
  assertGood(await clients.authenticate(by(await assertion()), origin, 'token'));
  clock.now += 60_000;
  assertGood(await clients.authenticate(asOne, origin, 'token'));
});

test('RFC 6749 §2.3.1: sources of one network share no limit, as the servers of many apps share a cloud’s addresses', async (context) => {
  const { clients } = await setUpKeyed(context);
  for (const from of [(n: number) => `2001:db8:1:${n.toString(16)}::/64`, (n: number) => `198.51.100.${n % 256}`])
    for (let n = 0; n < 40 * MAX_GUESSES; n += 1)
      assertRefusal(
        await clients.authenticate(wrongSecret, { ...origin, source: from(n) }, 'token'),
        'invalid_client',
        /./,
      );
});

test('Promise 6: of wrong credentials that arrive together no more are checked than of those one after the other', async (context) => {
  const { clients } = await setUpKeyed(context);
  const stranger = await assertion({ by: other });
  for (const [guess, detail] of [
    [wrongSecret, /wrong/],
    [by(stranger), /signature/],
    [{ ...wrongSecret, clientId: 'app_nobody' }, /no client/],
  ] as const) {
    const all = await Promise.all(Array.from({ length: 50 }, () => clients.authenticate(guess, origin, 'token')));
    for (const [n, outcome] of all.entries())
      if (n < MAX_GUESSES) assertRefusal(outcome, 'invalid_client', detail);
      else assertRefusal(outcome, 'temporarily_unavailable', /throttled/);
  }
});

test('RFC 7521 §4.2: who is throttled uses up no assertion', async (context) => {
  const { clients, clock } = await setUpKeyed(context);
  const stranger = await assertion({ by: other });
  for (let n = 0; n < MAX_GUESSES; n += 1) await clients.authenticate(by(stranger), origin, 'token');
  const text = await assertion({ claims: { exp: SECONDS + 300 } });
  assertRefusal(await clients.authenticate(by(text), origin, 'token'), 'temporarily_unavailable', /throttled/);
  clock.now += 60_000;
  assertGood(await clients.authenticate(by(text), origin, 'token'));
});

test('RFC 7517 §4: a key that was taken from a client proves nothing any more, and a new one does at once', async (context) => {
  const { clients, store } = await setUpKeyed(context);
  await store.updateClient({ ...keyed, keys: [other.jwk] }, keyed, event('client_updated'));
  assertRefusal(await clients.authenticate(by(await assertion()), origin, 'token'), 'invalid_client', /signature/);
  assertGood(await clients.authenticate(by(await assertion({ by: other })), origin, 'token'));
});

test('RFC 7523 §3 (3): the audience is one of the names of this service', async (context) => {
  const { clients } = await setUpKeyed(context);
  for (const aud of [ISSUER, `${ISSUER}/oauth2/token`])
    assertGood(await clients.authenticate(by(await assertion({ claims: { aud } })), origin, 'token'));
  assertRefusal(
    await clients.authenticate(
      by(await assertion({ claims: { aud: `${ISSUER}/oauth2/introspect` } })),
      origin,
      'token',
    ),
    'invalid_client',
    /aud/,
  );
});

test('Promise 2: a grant that is revoked while an assertion is proven gives no pair, not even the same again', async (context) => {
  const protocol = await setUpKeyed(context);
  const { server, store } = protocol;
  const code = await obtainCode(protocol, { client_id: keyed.id });
  const pair = assertGood(await server.exchangeAuthorizationCode(by(await assertion()), code, exchange, origin));
  assertGood(await server.refresh(by(await assertion()), pair.refreshToken, WHOLE_GRANT, origin));
  const [listed] = await store.listGrants({ limit: 1 });
  const again = server.refresh(by(await assertion()), pair.refreshToken, WHOLE_GRANT, origin);
  for (let step = 0; step < 10; step += 1) await null; // The grant is found, and the signature not checked yet.
  await store.revokeGrant((listed ?? assert.fail()).grant.id, 'user', event('grant_revoked'));
  assertRefusal(await again, 'invalid_grant', /revoked/);
});
