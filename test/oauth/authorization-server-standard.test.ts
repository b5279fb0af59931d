/** What the authorization server does on the standard face, over the real store. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Refusal } from '../../src/oauth/error.ts';
import { Parameters } from '../../src/oauth/parameters.ts';
import type { AuthorizationRequestOutcome } from '../../src/oauth/protocol/authorization-request.ts';
import type { Consent } from '../../src/oauth/protocol/consent.ts';
import { WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import { pressed, signedIn } from '../support/signed-in.ts';
import { event, sampleResourceServer } from '../support/storage.ts';
import { ada } from './memory.ts';
import {
  actions,
  asOne,
  asPhone,
  assertGood,
  asTwo,
  exchange,
  OWN_RESOURCE,
  obtainCode,
  obtainPair,
  obtainPhonePair,
  one,
  origin,
  type Protocol,
  phone,
  REDIRECT_URI,
  requestOf,
  setUp,
  two,
  VERIFIER,
  validRequest,
  wrongSecret,
} from './protocol.ts';
import { ISSUER, LETTERS, pkce } from './requests.ts';
import { assertRefusal, scopesOf } from './samples.ts';

/** Client one may ask for read, and for write, which may be left out; one resource server is registered. */
async function setUpLetters(context: TestContext): Promise<Protocol> {
  const scopes = scopesOf('read', 'write').map((scope) => ({ ...scope, optional: scope.name === 'write' }));
  const protocol = await setUp(context, { scopes });
  const letters = sampleResourceServer({ resource: LETTERS });
  await protocol.store.registerResourceServer(letters, event('resource_server_registered'));
  return protocol;
}

test('RFC 8707 §2: known are the resources of resource servers, and this service’s own API', async (context) => {
  const protocol = await setUpLetters(context);
  for (const resource of [LETTERS, OWN_RESOURCE])
    assert.equal((await validRequest(protocol, { resource }, 'standard')).resource, resource);
  for (const resource of ['https://unknown.test', `${OWN_RESOURCE}/x`, `${LETTERS}//`, ISSUER]) {
    const outcome = await protocol.server.validateRequest('standard', requestOf({ resource }));
    assertRefusal(outcome.kind === 'redirect' && outcome.refusal, 'invalid_target', /not known/);
  }
  await protocol.store.deleteResourceServer('rs_one', event('resource_server_deleted'));
  const gone = await protocol.server.validateRequest('standard', requestOf({ resource: LETTERS }));
  assertRefusal(gone.kind === 'redirect' && gone.refusal, 'invalid_target', /not known/);
});

test('RFC 8707 §2.2: the resource of a request is that of its tokens, which are good there alone', async (context) => {
  const protocol = await setUpLetters(context);
  const { server } = protocol;
  for (const [resource, isGoodHere] of [
    [LETTERS, false],
    [OWN_RESOURCE, true],
  ] as const) {
    const pair = await obtainPair(protocol, { resource }, 'standard');
    assert.equal((await server.checkAccessToken(pair.accessToken)) instanceof Refusal, !isGoodHere);
    const next = assertGood(
      await server.refresh(asOne, pair.refreshToken, { ...WHOLE_GRANT, resources: [resource] }, origin),
    );
    assert.equal((await server.checkAccessToken(next.accessToken)) instanceof Refusal, !isGoodHere);
    const elsewhere = { ...WHOLE_GRANT, resources: ['https://other.test'] };
    assertRefusal(await server.refresh(asOne, next.refreshToken, elsewhere, origin), 'invalid_target', /resource/);
    assertGood(await server.refresh(asOne, next.refreshToken, WHOLE_GRANT, origin));
  }
});

test('RFC 6749 §6: a refresh that asks for too much changes nothing', async (context) => {
  const protocol = await setUpLetters(context);
  const { server, store } = protocol;
  const pair = await obtainPair(protocol);
  const before = await store.listGrants({ limit: 1 });
  const asked = { scope: 'read admin', resources: [] };
  assertRefusal(await server.refresh(asOne, pair.refreshToken, asked, origin), 'invalid_scope', /not granted/);
  assert.deepEqual(await store.listGrants({ limit: 1 }), before);
  const less = await server.refresh(asOne, pair.refreshToken, { scope: 'read', resources: [] }, origin);
  assert.equal(assertGood(less).scope, 'read', 'only read was chosen');
});

test('RFC 6749 §3.1.2.3: an exchange without redirect_uri needs PKCE, and then its verifier', async (context) => {
  const protocol = await setUpLetters(context);
  const { server } = protocol;
  const without = { ...exchange, redirectUri: null };
  const plain = await obtainCode(protocol, {}, 'standard');
  assertRefusal(await server.exchangeAuthorizationCode(asOne, plain, without, origin), 'invalid_grant', /redirect_uri/);
  assertGood(await server.exchangeAuthorizationCode(asOne, plain, exchange, origin));
  const code = await obtainCode(protocol, pkce, 'standard');
  assertRefusal(await server.exchangeAuthorizationCode(asOne, code, without, origin), 'invalid_grant', /verifier/);
  assertGood(await server.exchangeAuthorizationCode(asOne, code, { ...without, codeVerifier: VERIFIER }, origin));
});

test('RFC 9700 §4.14.2: a public client exchanges and refreshes, and reuse ends its grant', async (context) => {
  const protocol = await setUp(context);
  const { server } = protocol;
  const pair = await obtainPhonePair(protocol);
  const next = assertGood(await server.refresh(asPhone, pair.refreshToken, WHOLE_GRANT, origin));
  assertRefusal(await server.refresh(asOne, next.refreshToken, WHOLE_GRANT, origin), 'invalid_grant', /another client/);
  assertGood(await server.checkAccessToken(next.accessToken));
  assertRefusal(await server.refresh(asPhone, pair.refreshToken, WHOLE_GRANT, origin), 'invalid_grant', /reuse/);
  assertRefusal(await server.checkAccessToken(next.accessToken), 'invalid_token', /refresh_reuse/);
});

const remembered = {
  ...{ granted: ['read', 'write'], leftOut: [], personFields: [], grantIds: [] },
  epochs: { installation: 0, client: 0, resourceOwner: 0 },
};
const consents: [Consent, string][] = [
  [pressed(['write']), 'consent_allowed'],
  [{ given: 'remembered', remembered }, 'consent_remembered'],
  [{ given: 'skipped' }, 'consent_skipped'],
];
for (const [consent, action] of consents) {
  test(`design: the trail tells that a request was ${consent.given}, by whom and for what`, async (context) => {
    const protocol = await setUpLetters(context);
    const request = await validRequest(protocol, {}, 'standard');
    await protocol.server.allow(request, await signedIn(protocol.store, ada.id), consent, origin);
    const [recorded] = await protocol.store.listAuditEvents({ limit: 1 });
    const { actor, clientId, resourceOwnerId, detail } = recorded ?? assert.fail();
    assert.deepEqual(
      { action: recorded?.action, actor, clientId, resourceOwnerId, detail },
      {
        action,
        actor: { kind: 'user', id: ada.id, ...origin, by: null },
        clientId: one.id,
        resourceOwnerId: ada.id,
        detail: '{"scopes":["read","write"]}',
      },
    );
  });
}

test('RFC 6749 §3.3: what may be left out is granted only when it was chosen', async (context) => {
  const protocol = await setUpLetters(context);
  const request = await validRequest(protocol, {}, 'standard');
  for (const [chosen, scope] of [
    [['write'], 'read write'],
    [[], 'read'],
    [['admin', 'read'], 'read'],
  ] as const) {
    protocol.clock.now += 1;
    await protocol.server.allow(request, await signedIn(protocol.store, ada.id), pressed(chosen), origin);
    const [listed] = await protocol.store.listGrants({ limit: 1 });
    assert.equal(listed?.grant.scope, scope, `${chosen}`);
  }
});

test('RFC 6749 §4.1.2.1: where nothing of what was asked for was chosen, it was denied', async (context) => {
  const protocol = await setUpLetters(context);
  const request = await validRequest(protocol, { scope: 'write' }, 'standard');
  const location = new URL(
    (await protocol.server.allow(request, await signedIn(protocol.store, ada.id), pressed(), origin)) ?? assert.fail(),
  );
  assert.equal(location.searchParams.get('error'), 'access_denied');
  assert.equal(location.searchParams.get('iss'), ISSUER);
  assert.deepEqual(await protocol.store.listGrants({ limit: 10 }), []);
  assert.deepEqual(await actions(protocol), ['consent_denied']);
});

async function push({ server }: Protocol, changes: Record<string, string> = {}): Promise<string> {
  return assertGood(await server.pushRequest(asOne, requestOf(changes), origin));
}

function referringTo(request_uri: string, client_id: string = one.id, more: [string, string][] = []): Parameters {
  return new Parameters([['client_id', client_id], ['request_uri', request_uri], ...more]);
}

/** What came of a pushed request, but for the reference with which it goes on. */
function withoutReference(outcome: AuthorizationRequestOutcome): AuthorizationRequestOutcome {
  return outcome.kind === 'valid' ? { ...outcome, requestUri: null } : outcome;
}

test('RFC 9126 §4: a pushed request is validated as if it had come whole', async (context) => {
  const protocol = await setUpLetters(context);
  const changes = {
    ...pkce,
    scope: 'read',
    resource: LETTERS,
    prompt: 'login',
    login_hint: 'ada@example.com',
    state: 's',
  };
  const uri = await push(protocol, changes);
  const outcome = await protocol.server.validateRequest('standard', referringTo(uri));
  assert.deepEqual(withoutReference(outcome), await protocol.server.validateRequest('standard', requestOf(changes)));
  assert.deepEqual(await actions(protocol), [], 'promise 5: nothing is stored');
});

test('RFC 9101 §6.3: what comes beside the reference counts for nothing', async (context) => {
  const protocol = await setUpLetters(context);
  const uri = await push(protocol, { scope: 'read' });
  const beside: [string, string][] = [
    ['redirect_uri', 'https://evil.test/cb'],
    ['scope', 'read write'],
    ['state', 'other'],
    ['state', 'twice'],
    ['resource', LETTERS],
    ['prompt', 'none'],
    ['request', 'eyJ'],
  ];
  const outcome = await protocol.server.validateRequest('standard', referringTo(uri, one.id, beside));
  const whole = await protocol.server.validateRequest('standard', requestOf({ scope: 'read' }));
  assert.deepEqual(withoutReference(outcome), whole);
});

test('RFC 9126 §4: a reference of another client, an expired and a forged one are shown and never redirected', async (context) => {
  const protocol = await setUpLetters(context);
  const uri = await push(protocol);
  const refused = async (parameters: Parameters) => {
    const outcome = await protocol.server.validateRequest('standard', parameters);
    assert.equal(outcome.kind === 'show' && outcome.error, 'bad_request_uri');
  };
  for (const clientId of [two.id, 'app_nobody', '']) await refused(referringTo(uri, clientId));
  await refused(new Parameters([['request_uri', uri]]));
  const whole: [string, string][] = [
    ['redirect_uri', REDIRECT_URI],
    ['state', 's'],
    ['response_type', 'code'],
  ];
  for (const forged of [`${uri}x`, 'urn:ietf:params:oauth:request_uri:', 'urn:ietf:params:oauth:request_uri:x'])
    await refused(referringTo(forged, one.id, whole));
  protocol.clock.now += 600_000;
  await refused(referringTo(uri));
});

test('RFC 9126 §4: a client that was paused, or changed, since it pushed is judged as it is now', async (context) => {
  const protocol = await setUpLetters(context);
  const { store, server } = protocol;
  const uri = await push(protocol);
  await store.setClientStatus(one.id, 'paused', event('client_paused'));
  const paused = await server.validateRequest('standard', referringTo(uri));
  assert.equal(paused.kind === 'show' && paused.error, 'client_paused');
  await store.setClientStatus(one.id, 'active', event('client_resumed'));
  const before = (await store.findClient(one.id)) ?? assert.fail();
  await store.updateClient({ ...before, redirectUris: ['https://one.test/new'] }, before, event('client_updated'));
  const moved = await server.validateRequest('standard', referringTo(uri));
  assert.equal(moved.kind === 'show' && moved.error, 'bad_redirect_uri');
});

test('RFC 9126 §4: the published face knows no references, and looks at the request itself', async (context) => {
  const protocol = await setUpLetters(context);
  const uri = await push(protocol, { scope: 'read' });
  const outcome = await protocol.server.validateRequest('published', requestOf({ request_uri: uri }));
  assert.deepEqual(outcome, await protocol.server.validateRequest('published', requestOf()));
  const alone = await protocol.server.validateRequest('published', referringTo(uri));
  assert.equal(alone.kind === 'show' && alone.error, 'missing_redirect_uri');
});

test('RFC 9101 §7: a reference that came twice is none, and is told by redirect', async (context) => {
  const { server } = await setUpLetters(context);
  const pairs = Object.entries({ client_id: one.id, redirect_uri: REDIRECT_URI, response_type: 'code', state: 's' });
  const uri = 'urn:ietf:params:oauth:request_uri:x';
  const outcome = await server.validateRequest(
    'standard',
    new Parameters([...pairs, ['request_uri', uri], ['request_uri', uri]]),
  );
  assertRefusal(outcome.kind === 'redirect' && outcome.refusal, 'invalid_request', /request_uri is repeated/);
});

const wrongPushes: [string, Record<string, string>, Refusal['code'], RegExp][] = [
  [
    'RFC 9126 §2.1: with a reference in it',
    { request_uri: 'urn:ietf:params:oauth:request_uri:x' },
    'invalid_request',
    /must not/,
  ],
  [
    'RFC 9126 §2.1: with a URL as reference',
    { request_uri: 'https://one.test/request' },
    'invalid_request',
    /must not/,
  ],
  ['RFC 9126 §3: with a request object', { request: 'eyJ' }, 'request_not_supported', /request/],
  [
    'RFC 9126 §2.3: for a redirect URI that is not registered',
    { redirect_uri: 'https://evil.test' },
    'invalid_request',
    /redirect_uri/,
  ],
  ['RFC 9126 §2.3: without a redirect URI', { redirect_uri: '' }, 'invalid_request', /redirect_uri/],
  ['RFC 9126 §2.3: without a response type', { response_type: '' }, 'invalid_request', /response_type/],
  ['RFC 9126 §2.3: for a scope that is not the client’s', { scope: 'admin' }, 'invalid_scope', /scope/],
  ['RFC 9126 §2.3: for an unknown resource', { resource: 'https://unknown.test' }, 'invalid_target', /resource/],
  ['RFC 9126 §2.3: with plain PKCE', { ...pkce, code_challenge_method: 'plain' }, 'invalid_request', /S256/],
  ['RFC 9126 §2.3: that is too long', { state: '€'.repeat(4000) }, 'invalid_request', /too long/],
];
for (const [name, changes, code, detail] of wrongPushes) {
  test(`${name} is refused where it is pushed`, async (context) => {
    const { server } = await setUpLetters(context);
    assertRefusal(await server.pushRequest(asOne, requestOf(changes), origin), code, detail);
  });
}

test('RFC 9126 §2, §2.1: who pushes proves to be the client, and pushes for itself alone', async (context) => {
  const protocol = await setUpLetters(context);
  const { server, store } = protocol;
  assertRefusal(await server.pushRequest(wrongSecret, requestOf(), origin), 'invalid_client', /wrong/);
  const uri = assertGood(await server.pushRequest(asTwo, requestOf(), origin));
  const outcome = await server.validateRequest('standard', referringTo(uri, two.id));
  assert.equal(outcome.kind === 'valid' && outcome.client.id, two.id, 'whatever client_id was pushed');
  const ones = await server.validateRequest('standard', referringTo(uri, one.id));
  assert.equal(ones.kind, 'show');
  const onlyOnes = { redirect_uri: 'https://one.test/only' };
  const before = (await store.findClient(one.id)) ?? assert.fail();
  await store.updateClient({ ...before, redirectUris: [onlyOnes.redirect_uri] }, before, event('client_updated'));
  assertGood(await server.pushRequest(asOne, requestOf(onlyOnes), origin));
  const asOther = await server.pushRequest(asTwo, requestOf(onlyOnes), origin);
  assertRefusal(asOther, 'invalid_request', /not registered for this client/);
  await store.setClientStatus(one.id, 'paused', event('client_paused'));
  assertRefusal(await server.pushRequest(asOne, requestOf(), origin), 'invalid_client', /paused/);
});

test('RFC 9126 §2: a public client pushes with its id alone, and must use PKCE', async (context) => {
  const { server } = await setUp(context);
  const own = { client_id: phone.id };
  assertRefusal(
    await server.pushRequest(asPhone, requestOf(own), origin),
    'invalid_request',
    /code_challenge is required/,
  );
  const uri = assertGood(await server.pushRequest(asPhone, requestOf({ ...own, ...pkce }), origin));
  const outcome = await server.validateRequest('standard', referringTo(uri, phone.id));
  assert.equal(outcome.kind === 'valid' && outcome.client.id, phone.id);
});
