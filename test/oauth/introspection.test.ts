import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Refusal } from '../../src/oauth/error.ts';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { makeSecret } from '../../src/oauth/keys/secret.ts';
import type { ResourceServer } from '../../src/oauth/resource-servers/resource-server.ts';
import { event, sampleResourceServer } from '../support/storage.ts';
import { ada } from './memory.ts';
import {
  asOne,
  assertGood,
  MAX_GUESSES,
  obtainCode,
  obtainPair,
  one,
  origin,
  type Protocol,
  setUp,
} from './protocol.ts';
import { LETTERS } from './requests.ts';
import { assertRefusal, NOW, PREFIX, scopesOf } from './samples.ts';

const secret = makeSecret(PREFIX, 'rs', NOW);
const letters: ResourceServer = sampleResourceServer({
  resource: LETTERS,
  acceptsUnbound: true,
  scopes: null,
  secrets: [secret.secret],
});
const anywhere: ResourceServer = { ...letters, id: 'rs_any', resource: null, acceptsUnbound: false };
const asLetters = { id: letters.id, secret: secret.text };

async function setUpServers(context: TestContext): Promise<Protocol> {
  const protocol = await setUp(context, { scopes: scopesOf('read', 'write') });
  for (const server of [letters, anywhere])
    await protocol.store.registerResourceServer(server, event('resource_server_registered'));
  return protocol;
}

test('RFC 7662 §2.2: a good token tells what it is good for, and nothing else is told', async (context) => {
  const protocol = await setUpServers(context);
  const { accessToken } = await obtainPair(protocol, { scope: 'read' });
  const [listed] = await protocol.store.listGrants({ limit: 1 });
  assert.ok(listed);
  const expected = {
    scope: 'read',
    clientId: one.id,
    resourceOwner: { id: ada.id, username: ada.username, email: ada.email, name: ada.name, avatarUrl: null },
    resource: null,
    expiresAt: NOW + 1_800_000,
    externalId: null,
    grant: { grantId: grantIdText(listed.grant.id), clientId: one.id, resourceOwnerId: ada.id },
  };
  for (const server of [letters, anywhere])
    assert.deepEqual(await protocol.introspection.introspect(server, accessToken), expected);
  const strict = { ...letters, acceptsUnbound: false };
  assert.equal(await protocol.introspection.introspect(strict, accessToken), null, 'RFC 9700 §2.3');
});

test('RFC 8707 §2: a token for one resource is told of there, and nowhere else', async (context) => {
  const protocol = await setUpServers(context);
  const { accessToken } = await obtainPair(protocol, { resource: LETTERS }, 'standard');
  const { introspection } = protocol;
  assert.equal((await introspection.introspect(letters, accessToken))?.resource, LETTERS);
  assert.equal(await introspection.introspect(anywhere, accessToken), null);
  assert.equal(await introspection.introspect({ ...letters, resource: 'https://other.test' }, accessToken), null);
  assertRefusal(await protocol.server.checkAccessToken(accessToken), 'invalid_token', /another resource/);
});

test('RFC 7662 §4: a resource server is told only of scopes that it may know', async (context) => {
  const protocol = await setUpServers(context);
  const { accessToken } = await obtainPair(protocol);
  const told = async (scopes: string[] | null) =>
    (await protocol.introspection.introspect({ ...letters, scopes }, accessToken))?.scope;
  assert.equal(await told(null), 'read write');
  assert.equal(await told(['write']), 'write');
  assert.equal(await told(['admin']), undefined);
});

test('RFC 7662 §2.2: whatever is no access token of this service tells nothing', async (context) => {
  const protocol = await setUpServers(context);
  const code = await obtainCode(protocol);
  const { accessToken, refreshToken } = await obtainPair(protocol);
  const others = [
    refreshToken,
    code,
    secret.text,
    '',
    'x',
    `${accessToken}\n`,
    `${accessToken} `,
    accessToken.slice(1),
  ];
  for (const token of [...others, accessToken.toUpperCase(), '\0', 'x'.repeat(1e6)])
    assert.equal(await protocol.introspection.introspect(letters, token), null, token.slice(0, 80));
  assert.ok(await protocol.introspection.introspect(letters, accessToken));
});

const { id } = one;
const ends: Record<string, [(protocol: Protocol, grantId: Buffer) => unknown, back?: (protocol: Protocol) => unknown]> =
  {
    'it has expired': [({ clock }) => (clock.now += 1_800_000)],
    'its grant was revoked': [({ store }, grantId) => store.revokeGrant(grantId, 'user', event('grant_revoked'))],
    'its app was disconnected': [({ store }) => store.revokeGrantsOfClient(ada.id, id, event('grant_revoked'))],
    'all grants were revoked': [({ store }) => store.revokeAllGrants(event('all_grants_revoked'))],
    'its client’s grants were revoked': [({ store }) => store.revokeClientGrants(id, event('client_grants_revoked'))],
    'its user’s grants were revoked': [({ store }) => store.revokeAccountGrants(ada.id, event('user_grants_revoked'))],
    'its client was deleted': [({ store }) => store.deleteClient(id, event('client_deleted'))],
    'its user was deleted': [({ store }) => store.deleteAccount(ada.id, event('user_deleted'))],
    'its client is paused': [
      ({ store }) => store.setClientStatus(id, 'paused', event('client_paused')),
      ({ store }) => store.setClientStatus(id, 'active', event('client_resumed')),
    ],
    'its user is disabled': [
      ({ store }) => store.setAccountStatus(ada.id, 'disabled', event('user_disabled')),
      ({ store }) => store.setAccountStatus(ada.id, 'active', event('user_enabled')),
    ],
  };
for (const [why, [end, back]] of Object.entries(ends)) {
  test(`RFC 7662 §2.2, promise 2: the very next answer about a token tells nothing: ${why}`, async (context) => {
    const protocol = await setUpServers(context);
    const { accessToken } = await obtainPair(protocol);
    const [listed] = await protocol.store.listGrants({ limit: 1 });
    // Since it was used, what was proven of it is remembered.
    for (let n = 0; n < 3; n += 1) assert.ok(await protocol.introspection.introspect(letters, accessToken));
    await end(protocol, listed?.grant.id ?? assert.fail());
    assert.equal(await protocol.introspection.introspect(letters, accessToken), null);
    await back?.(protocol);
    assert.equal((await protocol.introspection.introspect(letters, accessToken)) === null, back === undefined);
  });
}

test('promise 3: an answer about a good token counts as a use of it, and no other answer does', async (context) => {
  const protocol = await setUpServers(context);
  const { introspection, store, clock } = protocol;
  const { accessToken } = await obtainPair(protocol);
  const marks = async () => {
    const [listed] = await store.listGrants({ limit: 1 });
    return [listed?.grant.usedGeneration, listed?.grant.lastUsedAt];
  };
  await introspection.introspect({ ...letters, scopes: ['admin'] }, accessToken);
  await introspection.introspect(letters, `${accessToken.slice(0, -1)}x`);
  assert.deepEqual(await marks(), [0, null]);
  clock.now += 1000;
  await introspection.introspect(letters, accessToken);
  assert.deepEqual(await marks(), [1, NOW + 1000]);
});

test('promise 3: a token that was introspected closes the retry window of the one before it', async (context) => {
  const protocol = await setUpServers(context);
  const { server, introspection, clock } = protocol;
  const pair = await obtainPair(protocol);
  const whole = { scope: undefined, resources: [] };
  const next = assertGood(await server.refresh(asOne, pair.refreshToken, whole, origin));
  clock.now += 60_000;
  await introspection.introspect(letters, next.accessToken);
  assertRefusal(await server.refresh(asOne, pair.refreshToken, whole, origin), 'invalid_grant', /reuse/);
});

test('RFC 7662 §2.1: a resource server proves itself, as it is in the store right now', async (context) => {
  const { introspection, store } = await setUpServers(context);
  assert.deepEqual(await introspection.authenticate(asLetters, origin), letters);
  const narrow = { ...letters, scopes: ['read'] };
  await store.updateResourceServer(narrow, letters, event('resource_server_updated'));
  assert.deepEqual(await introspection.authenticate(asLetters, origin), narrow);
  await store.deleteResourceServer(letters.id, event('resource_server_deleted'));
  assertRefusal(await introspection.authenticate(asLetters, origin), 'invalid_client', /no resource server/);
});

test('RFC 7662 §4: a client is no resource server, and a resource server no client', async (context) => {
  const { introspection, clients } = await setUpServers(context);
  const asClient = { id: asOne.clientId, secret: asOne.clientSecret };
  assertRefusal(await introspection.authenticate(asClient, origin), 'invalid_client', /no resource server/);
  const asResourceServer = { method: 'secret', clientId: letters.id, clientSecret: secret.text } as const;
  assertRefusal(await clients.authenticate(asResourceServer, origin, 'token'), 'invalid_client', /no client/);
});

test('RFC 7662 §4: wrong secrets throttle their source alone, for this resource server alone', async (context) => {
  const { introspection, clients, clock } = await setUpServers(context);
  for (let n = 0; n < 20; n += 1) assertGood(await introspection.authenticate(asLetters, origin));
  const wrong = { ...asLetters, secret: 'x' };
  for (let n = 0; n < MAX_GUESSES; n += 1)
    assertRefusal(await introspection.authenticate(wrong, origin), 'invalid_client', /is wrong/);
  const throttled = await introspection.authenticate(asLetters, origin);
  assertRefusal(throttled, 'temporarily_unavailable', /throttled/);
  assert.ok(throttled instanceof Refusal && Number(throttled.retryAfter) > 0 && Number(throttled.retryAfter) <= 60);
  assertGood(await introspection.authenticate(asLetters, { ...origin, source: '192.0.2.2' }));
  assertGood(await introspection.authenticate({ ...asLetters, id: anywhere.id }, origin));
  assertGood(await clients.authenticate(asOne, origin, 'token'));
  clock.now += 60_000;
  assertGood(await introspection.authenticate(asLetters, origin));
});

test('promise 5: ids that nobody has count as one for each source, and who is registered goes on', async (context) => {
  const { introspection } = await setUpServers(context);
  const guess = (n: number) => introspection.authenticate({ id: `api_made_up_${n}`, secret: 'x' }, origin);
  for (let n = 0; n < MAX_GUESSES; n += 1) assertRefusal(await guess(n), 'invalid_client', /./);
  assertRefusal(await guess(MAX_GUESSES), 'temporarily_unavailable', /throttled/);
  assertGood(await introspection.authenticate(asLetters, origin));
});

test('promise 5: made-up ids fill no memory: what cannot be anybody’s shares one counter of its source', async (context) => {
  const { introspection } = await setUpServers(context);
  const odd = ['x'.repeat(65_000), 'é', '\0', 'a\nb', undefined, ''];
  const outcomes: unknown[] = [];
  for (const each of odd) {
    const outcome = await introspection.authenticate({ id: each, secret: 'x' }, origin);
    outcomes.push(outcome instanceof Refusal ? outcome.code : outcome);
  }
  assert.deepEqual(outcomes, [...Array.from({ length: 5 }, () => 'invalid_client'), 'temporarily_unavailable']);
});
