import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../src/oauth/error.ts';
import { type Parameter, Parameters } from '../../src/oauth/parameters.ts';
import { WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import { drawInstead } from '../support/chance.ts';
import { pressed, signedIn } from '../support/signed-in.ts';
import { event } from '../support/storage.ts';
import { ada } from './memory.ts';
import {
  actions,
  asOne,
  assertGood,
  asTwo,
  exchange,
  first,
  obtainCode,
  obtainPair,
  one,
  operationsOn,
  origin,
  type Protocol,
  REDIRECT_URI,
  requestOf,
  setUp,
  two,
  wrongSecret,
} from './protocol.ts';
import { assertRefusal, DAY, NOW } from './samples.ts';

test('interface: authorize, exchange, check, refresh: the whole flow, and what a check tells', async (context) => {
  const setup = await setUp(context);
  const pair = await obtainPair(setup);
  const { grant, ...told } = assertGood(await setup.server.checkAccessToken(pair.accessToken));
  assert.deepEqual([grant.clientId, grant.resourceOwnerId], [one.id, ada.id]);
  assert.deepEqual(told, {
    resourceOwner: { id: ada.id, username: 'ada', email: ada.email, name: ada.name, avatarUrl: null },
    externalId: null,
    clientId: one.id,
    scope: '',
    grantedAt: NOW,
    expiresAt: NOW + 1_800_000,
  });
  const next = assertGood(await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin));
  assert.equal(new Set([pair, next].flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken])).size, 4);
  assertGood(await setup.server.checkAccessToken(next.accessToken));
  assertGood(await setup.server.checkAccessToken(pair.accessToken));
  assert.deepEqual(await actions(setup), ['consent_allowed']);
});

test('an unknown, empty, odd or repeated client_id finds no client', async (context) => {
  const { server } = await setUp(context);
  const ids: Parameter[][] = [
    [],
    [['client_id', 'nope']],
    [['client_id', '']],
    [['client_id', '\0']],
    [['client_id', `${one.id}\0`]],
    [['client_id', `${one.id} `]],
    [['client_id', one.id.toUpperCase()]],
    [['client_id', 'x'.repeat(10_240)]],
    [['client_id', null]],
    [
      ['client_id', one.id],
      ['client_id', one.id],
    ],
    [
      ['client_id', one.id],
      ['client_id', two.id],
    ],
  ];
  for (const pairs of ids) {
    const parameters = new Parameters([...pairs, ['redirect_uri', REDIRECT_URI], ['state', 's']]);
    const outcome = await server.validateRequest('published', parameters);
    const error = parameters.get('client_id') === undefined ? 'missing_client_id' : 'unknown_client';
    assert.equal(outcome.kind === 'show' && outcome.error, error);
  }
});

test('promise 5: validating a request writes nothing', async (context) => {
  const setup = await setUp(context);
  await setup.server.validateRequest('published', requestOf());
  assert.deepEqual(await actions(setup), []);
  assert.deepEqual(await setup.store.listGrants({ limit: 10 }), []);
});

test('Deny makes no grant, and is recorded', async (context) => {
  const setup = await setUp(context);
  const request = await setup.server.validateRequest('published', requestOf());
  assert.ok(request.kind === 'valid');
  const location = new URL(await setup.server.deny(request, ada.id, origin));
  assert.deepEqual([location.searchParams.get('error'), location.searchParams.get('state')], ['access_denied', 's']);
  assert.deepEqual(await setup.store.listGrants({ limit: 10 }), []);
  assert.deepEqual(await actions(setup), ['consent_denied']);
});

test('design: what was allowed of a client that changed, and whose grants were revoked then, is allowed no more', async (context) => {
  const { server, store } = await setUp(context);
  const request = await server.validateRequest('published', requestOf());
  assert.ok(request.kind === 'valid');
  await store.updateClient({ ...one, redirectUris: ['https://one.test/other'] }, one, event('client_updated'));
  await store.revokeClientGrants(one.id, event('client_grants_revoked'));
  assert.equal(await server.allow(request, await signedIn(store, ada.id), pressed(), origin), null);
  assert.deepEqual(await store.listGrants({ limit: 1 }), []);
});

test('Allow answers null when the client or the account is gone', async (context) => {
  const { server, store } = await setUp(context);
  const request = await server.validateRequest('published', requestOf());
  assert.ok(request.kind === 'valid');
  assert.equal(await server.allow(request, await signedIn(store, 'usr_nobody'), pressed(), origin), null);
  await store.deleteClient(one.id, event('client_deleted'));
  assert.equal(await server.allow(request, await signedIn(store, ada.id), pressed(), origin), null);
});

test('RFC 7636 §4.4, OAuth 2.1 §4.1.2: a code is the same whatever its challenge is, so that nobody reads the challenge there', async (context) => {
  drawInstead(context, (bytes) => Buffer.alloc(bytes));
  const codes: string[] = [];
  for (const code_challenge of ['A'.repeat(43), 'B'.repeat(42).concat('A')])
    codes.push(await obtainCode(await setUp(context), { code_challenge, code_challenge_method: 'S256' }));
  assert.equal(codes[0], codes[1]);
});

test('promise 1: of fifty exchanges of one code at once one succeeds, and the others end its grant', async (context) => {
  const setup = await setUp(context);
  const code = await obtainCode(setup);
  const all = Array.from({ length: 50 }, () => setup.server.exchangeAuthorizationCode(asOne, code, exchange, origin));
  const outcomes = await Promise.all(all);
  const [pair, ...more] = outcomes.flatMap((outcome) => (outcome instanceof Refusal ? [] : [outcome]));
  assert.ok(pair);
  assert.deepEqual(more, []);
  for (const outcome of outcomes) if (outcome !== pair) assertRefusal(outcome, 'invalid_grant', /redeemed|revoked/);
  assertRefusal(await setup.server.checkAccessToken(pair.accessToken), 'invalid_token', /code_replay/);
  assert.deepEqual(await actions(setup), ['code_replay', 'consent_allowed'], 'one event for one effect');
});

test('RFC 6749 §4.1.2: a replayed code ends everything issued from it, also after its expiry', async (context) => {
  const setup = await setUp(context);
  for (const after of [0, 3_600_000]) {
    const code = await obtainCode(setup);
    const pair = assertGood(await setup.server.exchangeAuthorizationCode(asOne, code, exchange, origin));
    setup.clock.now += after;
    assertRefusal(
      await setup.server.exchangeAuthorizationCode(asOne, code, exchange, origin),
      'invalid_grant',
      /redeemed/,
    );
    assertRefusal(
      await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin),
      'invalid_grant',
      /revoked \(code_replay\)/,
    );
    assertRefusal(await setup.server.checkAccessToken(pair.accessToken), 'invalid_token', /code_replay/);
  }
});

test('whatever is wrong burns and revokes nothing', async (context) => {
  const setup = await setUp(context);
  const { server } = setup;
  const code = await obtainCode(setup);
  const elsewhere = { ...exchange, redirectUri: one.redirectUris[1] as string };
  assertRefusal(
    await server.exchangeAuthorizationCode(asTwo, code, exchange, origin),
    'invalid_grant',
    /another client/,
  );
  assertRefusal(await server.exchangeAuthorizationCode(wrongSecret, code, exchange, origin), 'invalid_client', /wrong/);
  assertRefusal(
    await server.exchangeAuthorizationCode(asOne, code, elsewhere, origin),
    'invalid_grant',
    /redirect_uri/,
  );
  const pair = assertGood(await server.exchangeAuthorizationCode(asOne, code, exchange, origin));
  assertRefusal(
    await server.exchangeAuthorizationCode(asTwo, code, exchange, origin),
    'invalid_grant',
    /another client/,
  );
  assertRefusal(await server.exchangeAuthorizationCode(wrongSecret, code, exchange, origin), 'invalid_client', /wrong/);
  assertRefusal(
    await server.exchangeAuthorizationCode(asOne, code, elsewhere, origin),
    'invalid_grant',
    /redirect_uri/,
  );
  assertRefusal(await server.refresh(asTwo, pair.refreshToken, WHOLE_GRANT, origin), 'invalid_grant', /another client/);
  assertRefusal(
    await server.refresh({ ...asOne, clientSecret: undefined }, pair.refreshToken, WHOLE_GRANT, origin),
    'invalid_client',
    /missing/,
  );
  const next = assertGood(await server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin));
  setup.clock.now += 3_600_000;
  assertRefusal(await server.refresh(asTwo, pair.refreshToken, WHOLE_GRANT, origin), 'invalid_grant', /another client/);
  assertGood(await server.refresh(asOne, next.refreshToken, WHOLE_GRANT, origin));
  assert.deepEqual(await actions(setup), ['consent_allowed']);
});

test('no credential passes for another, and none is used up by trying', async (context) => {
  const setup = await setUp(context);
  const { server } = setup;
  const code = await obtainCode(setup);
  const { accessToken, refreshToken } = await obtainPair(setup);
  for (const text of [accessToken, refreshToken, first.text, `${code}\n`, `${code} `, code.toLowerCase(), '', 'x'])
    assertRefusal(
      await server.exchangeAuthorizationCode(asOne, text, exchange, origin),
      'invalid_grant',
      /not an authorization code/,
    );
  for (const text of [accessToken, code, first.text, `${refreshToken}\n`, ''])
    assertRefusal(await server.refresh(asOne, text, WHOLE_GRANT, origin), 'invalid_grant', /not a refresh token/);
  for (const text of [refreshToken, code, first.text, `${accessToken}\n`, ''])
    assertRefusal(await server.checkAccessToken(text), 'invalid_token', /not an access token/);
  assertGood(await server.exchangeAuthorizationCode(asOne, code, exchange, origin));
  assertGood(await server.refresh(asOne, refreshToken, WHOLE_GRANT, origin));
});

test('promise 3: fifty refreshes at once get one and the same new pair', async (context) => {
  const setup = await setUp(context);
  const pair = await obtainPair(setup);
  const all = Array.from({ length: 50 }, () => setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin));
  const outcomes = (await Promise.all(all)).map(assertGood);
  assert.equal(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size, 1);
  const [listed] = await setup.store.listGrants({ limit: 1 });
  assert.equal(listed?.grant.generation, 2);
});

test('promise 3: refreshes that read the clock at different moments still get one and the same new pair', async (context) => {
  const setup = await setUp(context);
  const pair = await obtainPair(setup);
  const { server } = operationsOn(setup, () => (setup.clock.now += 7));
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () => server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin)),
  );
  const texts = outcomes.map((outcome) => JSON.stringify(assertGood(outcome)));
  assert.equal(new Set(texts).size, 1);
});

test('promise 3: a lost answer costs nothing while the new pair is unused, and the retry writes nothing', async (context) => {
  const setup = await setUp(context);
  const pair = await obtainPair(setup);
  const lost = assertGood(await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin));
  setup.clock.now += 599_000;
  const before = await setup.store.listGrants({ limit: 1 });
  assert.deepEqual(await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin), lost);
  assert.deepEqual(await setup.store.listGrants({ limit: 1 }), before);
});

test('§5.11: an event of replay or reuse tells of both presentations, when and from where', async (context) => {
  const setup = await setUp(context);
  const [here, there, last] = ['192.0.2.1', '198.51.100.7', '2001:db8::/64'].map((source) => ({ ...origin, source }));
  const newest = async () => (await setup.store.listAuditEvents({ limit: 1 }))[0];
  const code = await obtainCode(setup);
  const redeemedAt = new Date(setup.clock.now).toISOString();
  assertGood(await setup.server.exchangeAuthorizationCode(asOne, code, exchange, here as typeof origin));
  setup.clock.now += 1000;
  await setup.server.exchangeAuthorizationCode(asOne, code, exchange, there as typeof origin);
  const replay = await newest();
  assert.equal(replay?.detail, JSON.stringify({ exchanged_at: redeemedAt, presented_from: '192.0.2.1' }));
  assert.deepEqual([replay?.actor.source, replay?.at], ['198.51.100.7', setup.clock.now]);
  const pair = await obtainPair(setup);
  const refreshedAt = new Date(setup.clock.now).toISOString();
  const next = assertGood(await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, last as typeof origin));
  assertGood(await setup.server.checkAccessToken(next.accessToken));
  setup.clock.now += 60_000;
  await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, here as typeof origin);
  const reuse = await newest();
  assert.equal(reuse?.action, 'refresh_reuse');
  assert.equal(reuse?.detail, JSON.stringify({ refreshed_at: refreshedAt, presented_from: '2001:db8::/64' }));
  assert.deepEqual([reuse?.actor.source, reuse?.at], ['192.0.2.1', setup.clock.now]);
});

test('promise 3: an older token is reuse as soon as the new access token was used, and ends the grant', async (context) => {
  const setup = await setUp(context);
  const pair = await obtainPair(setup);
  const next = assertGood(await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin));
  setup.clock.now += 10_000;
  assertGood(await setup.server.checkAccessToken(next.accessToken));
  assertRefusal(await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin), 'invalid_grant', /reuse/);
  for (const token of [pair, next]) {
    assertRefusal(await setup.server.checkAccessToken(token.accessToken), 'invalid_token', /refresh_reuse/);
    assertRefusal(
      await setup.server.refresh(asOne, token.refreshToken, WHOLE_GRANT, origin),
      'invalid_grant',
      /refresh_reuse/,
    );
  }
  assert.deepEqual(await actions(setup), ['refresh_reuse', 'consent_allowed']);
});

test('a grant ends when it is idle too long, and at its absolute end however often it is refreshed', async (context) => {
  const setup = await setUp(context);
  const idle = await obtainPair(setup);
  let { refreshToken } = await obtainPair(setup);
  for (let day = 0; day < 365; day += 29) {
    refreshToken = assertGood(await setup.server.refresh(asOne, refreshToken, WHOLE_GRANT, origin)).refreshToken;
    setup.clock.now = Math.min(setup.clock.now + 29 * DAY * 1000, NOW + 365 * DAY * 1000);
  }
  assertRefusal(await setup.server.refresh(asOne, refreshToken, WHOLE_GRANT, origin), 'invalid_grant', /expired/);
  assertRefusal(await setup.server.refresh(asOne, idle.refreshToken, WHOLE_GRANT, origin), 'invalid_grant', /expired/);
});

test('promise 2: each way to end or stop a grant is seen by the very next request', async (context) => {
  const ended = event('grant_revoked');
  const ways: [
    string,
    (setup: Protocol, id: Buffer) => Promise<unknown>,
    comesBack?: (setup: Protocol) => Promise<unknown>,
  ][] = [
    ['revoked', ({ store }, id) => store.revokeGrant(id, 'operator', ended)],
    ['disconnected', ({ store }) => store.revokeGrantsOfClient(ada.id, one.id, ended)],
    ['all revoked', ({ store }) => store.revokeAllGrants(ended)],
    ['client’s revoked', ({ store }) => store.revokeClientGrants(one.id, ended)],
    ['account’s revoked', ({ store }) => store.revokeAccountGrants(ada.id, ended)],
    ['account deleted', ({ store }) => store.deleteAccount(ada.id, ended)],
    [
      'account disabled',
      ({ store }) => store.setAccountStatus(ada.id, 'disabled', ended),
      ({ store }) => store.setAccountStatus(ada.id, 'active', ended),
    ],
    [
      'client paused',
      ({ store }) => store.setClientStatus(one.id, 'paused', ended),
      ({ store }) => store.setClientStatus(one.id, 'active', ended),
    ],
  ];
  for (const [name, stop, comeBack] of ways) {
    const setup = await setUp(context);
    const code = await obtainCode(setup);
    const pair = await obtainPair(setup);
    const ids = (await setup.store.listGrants({ limit: 10 })).map(({ grant }) => grant.id);
    // Since it was used, what was proven of it is remembered.
    for (let n = 0; n < 3; n += 1) assertGood(await setup.server.checkAccessToken(pair.accessToken));
    for (const id of ids) await stop(setup, id);
    assert.ok((await setup.server.checkAccessToken(pair.accessToken)) instanceof Refusal, name);
    assert.ok((await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin)) instanceof Refusal, name);
    assert.ok((await setup.server.exchangeAuthorizationCode(asOne, code, exchange, origin)) instanceof Refusal, name);
    await comeBack?.(setup);
    const checked = await setup.server.checkAccessToken(pair.accessToken);
    assert.equal(checked instanceof Refusal, comeBack === undefined, name);
    if (!comeBack) continue;
    assertGood(await setup.server.refresh(asOne, pair.refreshToken, WHOLE_GRANT, origin));
    assertGood(await setup.server.exchangeAuthorizationCode(asOne, code, exchange, origin));
  }
});

test('RFC 6749 §2.3.1, OAuth 2.1 §2.4.1: wrong secrets throttle their source alone, and right ones are never counted', async (context) => {
  const { server, clock } = await setUp(context);
  for (let n = 0; n < 20; n += 1)
    assertRefusal(await server.refresh(asTwo, 'x', WHOLE_GRANT, origin), 'invalid_grant', /not a refresh/);
  for (let n = 0; n < 5; n += 1)
    assertRefusal(await server.refresh(wrongSecret, 'x', WHOLE_GRANT, origin), 'invalid_client', /wrong/);
  const throttled = await server.refresh(asOne, 'x', WHOLE_GRANT, origin);
  assertRefusal(throttled, 'temporarily_unavailable', /throttled/);
  assert.ok(
    throttled instanceof Refusal &&
      throttled.retryAfter !== undefined &&
      throttled.retryAfter > 0 &&
      throttled.retryAfter <= 60,
  );
  assertRefusal(
    await server.refresh(asOne, 'x', WHOLE_GRANT, { ...origin, source: '192.0.2.2' }),
    'invalid_grant',
    /not a refresh/,
  );
  assertRefusal(await server.refresh(asTwo, 'x', WHOLE_GRANT, origin), 'invalid_grant', /not a refresh/);
  clock.now += 60_000;
  assertRefusal(await server.refresh(asOne, 'x', WHOLE_GRANT, origin), 'invalid_grant', /not a refresh/);
});

test('RFC 6749 §5.2: a paused client is refused like a wrong secret, and is not counted as one', async (context) => {
  const { server, store } = await setUp(context);
  await store.setClientStatus(one.id, 'paused', event('client_paused'));
  for (let n = 0; n < 10; n += 1)
    assertRefusal(await server.refresh(asOne, 'x', WHOLE_GRANT, origin), 'invalid_client', /paused/);
  await store.setClientStatus(one.id, 'active', event('client_resumed'));
  assertRefusal(await server.refresh(asOne, 'x', WHOLE_GRANT, origin), 'invalid_grant', /not a refresh/);
});

test('promise 5: made-up client ids fill no memory: what cannot be a client’s shares one counter of its source', async (context) => {
  const { server } = await setUp(context);
  const odd = ['x'.repeat(65_000), 'é', '\0', 'a\nb', `${one.id}\0`, '\ud800'];
  const outcomes: Refusal[] = [];
  for (const clientId of odd) {
    const outcome = await server.refresh({ method: 'secret', clientId, clientSecret: 'x' }, 'x', WHOLE_GRANT, origin);
    outcomes.push(outcome instanceof Refusal ? outcome : assert.fail());
  }
  assert.deepEqual(
    outcomes.map(({ code }) => code),
    [...Array.from({ length: 5 }, () => 'invalid_client'), 'temporarily_unavailable'],
  );
});
