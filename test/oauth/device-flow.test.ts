/** A device, a person and the real store (RFC 8628). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Client } from '../../src/oauth/clients/client.ts';
import { DEVICE_CODE_LIFETIME } from '../../src/oauth/device/device-authorization.ts';
import type { DeviceCodes, ShownDeviceRequest } from '../../src/oauth/device/device-flow.ts';
import { type ErrorCode, Refusal } from '../../src/oauth/error.ts';
import { DEVICE_GRANT_TYPE } from '../../src/oauth/grants/device-grant.ts';
import { networksOf } from '../../src/oauth/guessing/networks.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { type AskedOfTokens, WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import { pressed, signedIn } from '../support/signed-in.ts';
import {
  event,
  openAsService,
  sampleAccount,
  sampleDeviceRequest,
  sampleResourceServer,
  secondConnection,
  temporaryPath,
} from '../support/storage.ts';
import { ada, addAccount } from './memory.ts';
import {
  actions,
  asOne,
  asPhone,
  assertGood,
  OWN_RESOURCE,
  one,
  operationsOn,
  origin,
  type Protocol,
  phone,
  setUp,
  wrongSecret,
} from './protocol.ts';
import { LETTERS } from './requests.ts';
import { assertRefusal, NOW, scopesOf } from './samples.ts';

type Asked = { readonly scope: string | undefined; readonly resource: string | null };
const nothing: Asked = { scope: undefined, resource: null };
const bob = sampleAccount({ id: 'usr_bob', username: null, email: 'bob@example.com' });

/** The television's client is registered for read, and for write, which may be left out. */
async function setUpDevices(context: TestContext, changes: Partial<Client> = {}): Promise<Protocol> {
  const protocol = await setUp(context);
  await addAccount(protocol, bob);
  const scopes = scopesOf('read', 'write').map((scope) => ({ ...scope, optional: scope.name === 'write' }));
  await protocol.store.updateClient({ ...phone, scopes, ...changes }, phone, event('client_updated'));
  const letters = sampleResourceServer({ resource: LETTERS });
  await protocol.store.registerResourceServer(letters, event('resource_server_registered'));
  return protocol;
}

async function begin({ deviceFlow }: Protocol, asked: Partial<Asked> = {}): Promise<DeviceCodes> {
  return assertGood(await deviceFlow.begin(asPhone, { ...nothing, ...asked }, origin));
}

async function find({ deviceFlow }: Protocol, { userCode }: DeviceCodes): Promise<ShownDeviceRequest> {
  return (await deviceFlow.find(userCode)) ?? assert.fail('nothing waits for the code');
}

function poll({ deviceFlow }: Protocol, { deviceCode }: DeviceCodes, asked: AskedOfTokens = WHOLE_GRANT) {
  return deviceFlow.poll(asPhone, deviceCode, asked, origin);
}

async function allow(protocol: Protocol, codes: DeviceCodes, by = ada.id, chosen: string[] = ['write']) {
  return protocol.deviceFlow.allow(
    await find(protocol, codes),
    await signedIn(protocol.store, by),
    pressed(chosen),
    origin,
  );
}

/** Polls after the pace of the device, and expects this refusal. */
async function assertPoll(protocol: Protocol, codes: DeviceCodes, code: ErrorCode, detail: RegExp): Promise<void> {
  protocol.clock.now += 5000;
  assertRefusal(await poll(protocol, codes), code, detail);
}

test('RFC 8628: a device asks, waits, somebody allows it, and it gets a pair that works', async (context) => {
  const protocol = await setUpDevices(context);
  const { server, store, clock } = protocol;
  const codes = await begin(protocol, { scope: 'write read' });
  assert.equal(codes.expiresAt, NOW + DEVICE_CODE_LIFETIME * 1000);
  await assertPoll(protocol, codes, 'authorization_pending', /the user has not decided yet/);
  const shown = await find(protocol, codes);
  assert.deepEqual(shown.request.scope, ['read', 'write']);
  assert.equal(shown.client.id, phone.id);
  assert.equal(
    await protocol.deviceFlow.allow(shown, await signedIn(protocol.store, ada.id), pressed(['write']), origin),
    'allowed',
  );
  const pair = assertGood(await poll(protocol, codes));
  assert.equal(pair.scope, 'read write');
  assert.equal(assertGood(await server.checkAccessToken(pair.accessToken)).resourceOwner.id, ada.id);
  const next = assertGood(await server.refresh(asPhone, pair.refreshToken, WHOLE_GRANT, origin));
  assertGood(await server.checkAccessToken(next.accessToken));
  assert.deepEqual(await actions(protocol), ['consent_allowed', 'client_updated']);
  const [listed] = await store.listGrants({ limit: 1 });
  assert.equal(listed?.grant.redirectUri, DEVICE_GRANT_TYPE);
  const [recorded] = await store.listAuditEvents({ limit: 1 });
  assert.deepEqual(
    [recorded?.actor, recorded?.clientId, recorded?.resourceOwnerId, recorded?.detail],
    [
      { kind: 'user', id: ada.id, ...origin, by: null },
      phone.id,
      ada.id,
      '{"scopes":["read","write"],"for_device":true}',
    ],
  );
  assert.equal(clock.now, NOW + 5000);
});

test('promise 5: a device that asks, and one that polls, write nothing', async (context) => {
  const protocol = await setUpDevices(context);
  const before = await protocol.store.lastAuditSequence();
  const codes = await begin(protocol);
  await assertPoll(protocol, codes, 'authorization_pending', /decided/);
  assert.deepEqual(await protocol.store.listGrants({ limit: 1 }), []);
  assert.equal(await protocol.store.lastAuditSequence(), before);
});

const wrongBegins: [string, Partial<Asked>, Partial<Client>, ErrorCode, RegExp][] = [
  [
    'RFC 8628 §3.1: a client that is not registered for devices',
    {},
    { deviceFlow: false },
    'unauthorized_client',
    /devices/,
  ],
  ['RFC 6749 §3.3: a scope that is not the client’s', { scope: 'admin' }, {}, 'invalid_scope', /scope/],
  ['RFC 8707 §2: an unknown resource', { resource: 'https://unknown.test' }, {}, 'invalid_target', /not known/],
];
for (const [name, asked, changes, code, detail] of wrongBegins) {
  test(`${name} gets no codes`, async (context) => {
    const { deviceFlow } = await setUpDevices(context, changes);
    assertRefusal(await deviceFlow.begin(asPhone, { ...nothing, ...asked }, origin), code, detail);
  });
}

test('RFC 8628 §3.1, §5.6: who does not prove to be the client gets no codes', async (context) => {
  const { deviceFlow, store } = await setUpDevices(context);
  assertRefusal(await deviceFlow.begin(wrongSecret, nothing, origin), 'invalid_client', /wrong/);
  assertRefusal(await deviceFlow.begin({ ...asPhone, clientId: one.id }, nothing, origin), 'invalid_client', /confid/);
  await store.setClientStatus(phone.id, 'paused', event('client_paused'));
  assertRefusal(await deviceFlow.begin(asPhone, nothing, origin), 'invalid_client', /paused/);
});

test('RFC 8707 §2: a device’s tokens are for the resource that it asked for', async (context) => {
  const protocol = await setUpDevices(context);
  for (const [resource, isGoodHere] of [
    [LETTERS, false],
    [OWN_RESOURCE, true],
  ] as const) {
    const codes = await begin(protocol, { resource: resource });
    await allow(protocol, codes);
    const elsewhere = { ...WHOLE_GRANT, resources: ['https://other.test'] };
    assertRefusal(await poll(protocol, codes, elsewhere), 'invalid_target', /resource/);
    assertRefusal(await poll(protocol, codes, { ...WHOLE_GRANT, scope: 'admin' }), 'invalid_scope', /scope/);
    const pair = assertGood(await poll(protocol, codes, { ...WHOLE_GRANT, resources: [resource] }));
    assert.equal((await protocol.server.checkAccessToken(pair.accessToken)) instanceof Refusal, !isGoodHere);
  }
});

test('RFC 8628 §3.3: a code is found however it is typed, until somebody decides', async (context) => {
  const protocol = await setUpDevices(context);
  const { deviceFlow } = protocol;
  const codes = await begin(protocol);
  const { userCode } = codes;
  const readable = `${userCode.slice(0, 4)}-${userCode.slice(4)}`;
  for (const typed of [userCode, readable, readable.toLowerCase(), ` ${[...userCode].join(' ')} `])
    assert.deepEqual(await deviceFlow.find(typed), await find(protocol, codes), typed);
  for (const typed of ['', 'x', 'BCDF-GHJK', `${userCode}B`, userCode.slice(1), codes.deviceCode])
    assert.equal(await deviceFlow.find(typed), null, typed.slice(0, 20));
  await allow(protocol, codes);
  assert.equal(await deviceFlow.find(userCode), null);
});

test('RFC 8628 §3.3: a request of a client that was paused, deleted or is no longer for devices is not shown', async (context) => {
  const protocol = await setUpDevices(context);
  const { store, deviceFlow } = protocol;
  const codes = await begin(protocol);
  const { client } = await find(protocol, codes);
  await store.setClientStatus(phone.id, 'paused', event('client_paused'));
  assert.equal(await deviceFlow.find(codes.userCode), null);
  assertRefusal(await poll(protocol, codes), 'invalid_client', /paused/);
  await store.setClientStatus(phone.id, 'active', event('client_resumed'));
  await store.updateClient({ ...client, deviceFlow: false }, client, event('client_updated'));
  assert.equal(await deviceFlow.find(codes.userCode), null);
  await store.updateClient(client, { ...client, deviceFlow: false }, event('client_updated'));
  const shown = await find(protocol, codes);
  await store.deleteClient(phone.id, event('client_deleted'));
  assert.equal(await deviceFlow.find(codes.userCode), null);
  assert.equal(await deviceFlow.allow(shown, await signedIn(store, ada.id), pressed(), origin), 'gone');
  assertRefusal(await poll(protocol, codes), 'invalid_client', /no client/);
});

test('RFC 8628 §3.5: Deny is told, at any pace, and recorded, and nobody can allow after it', async (context) => {
  const protocol = await setUpDevices(context);
  const codes = await begin(protocol);
  const shown = await find(protocol, codes);
  assert.equal(await protocol.deviceFlow.deny(shown, ada.id, origin), 'denied');
  for (let n = 0; n < 3; n += 1) assertRefusal(await poll(protocol, codes), 'access_denied', /denied/);
  assert.equal(
    await protocol.deviceFlow.allow(shown, await signedIn(protocol.store, ada.id), pressed(['write']), origin),
    'gone',
  );
  assert.equal(await protocol.deviceFlow.deny(shown, ada.id, origin), 'gone');
  assert.deepEqual(await actions(protocol), ['consent_denied', 'client_updated']);
});

test('RFC 6749 §3.3: what was left out is not granted, and where nothing is left it was denied', async (context) => {
  const protocol = await setUpDevices(context);
  const both = await begin(protocol);
  await allow(protocol, both, ada.id, []);
  assert.equal(assertGood(await poll(protocol, both)).scope, 'read');
  const optional = await begin(protocol, { scope: 'write' });
  assert.equal(await allow(protocol, optional, ada.id, []), 'denied');
  assertRefusal(await poll(protocol, optional), 'access_denied', /denied/);
});

test('RFC 6749 §3.3: a scope that the client lost while the device waited is shown to nobody and granted by nobody', async (context) => {
  const protocol = await setUpDevices(context);
  const codes = await begin(protocol, { scope: 'read write' });
  const before = (await protocol.store.findClient(phone.id)) ?? assert.fail();
  await protocol.store.updateClient({ ...before, scopes: scopesOf('write') }, before, event('client_updated'));
  await allow(protocol, codes, ada.id, ['read', 'write']);
  assert.equal(assertGood(await poll(protocol, codes)).scope, 'write');
});

test('promise 1: of a hundred people who allow one code at once one makes its grant', async (context) => {
  const protocol = await setUpDevices(context);
  const codes = await begin(protocol);
  const shown = await find(protocol, codes);
  const owners = [await signedIn(protocol.store, ada.id), await signedIn(protocol.store, bob.id)] as const;
  const all = Array.from({ length: 100 }, (_, n) =>
    n % 3 === 2
      ? protocol.deviceFlow.deny(shown, ada.id, origin)
      : protocol.deviceFlow.allow(shown, n % 3 === 0 ? owners[0] : owners[1], pressed(['write']), origin),
  );
  const outcomes = await Promise.all(all);
  assert.equal(outcomes.filter((outcome) => outcome !== 'gone').length, 1);
  const grants = await protocol.store.listGrants({ limit: 10 });
  const decided = (await actions(protocol)).filter((action) => action.startsWith('consent'));
  assert.equal(decided.length, 1);
  assert.equal(grants.length, outcomes.includes('allowed') ? 1 : 0);
});

test('promise 1: of fifty polls at once all get one and the same pair', async (context) => {
  const protocol = await setUpDevices(context);
  const codes = await begin(protocol);
  await allow(protocol, codes);
  const outcomes = (await Promise.all(Array.from({ length: 50 }, () => poll(protocol, codes)))).map(assertGood);
  assert.equal(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size, 1);
  assertGood(await protocol.server.checkAccessToken(outcomes[0]?.accessToken ?? ''));
});

test('design: where no retry is allowed, polls at once are a replay, as with a code', async (context) => {
  const protocol = await setUpDevices(context, { refreshOverlap: 0, refreshRetryWindow: 0 });
  const codes = await begin(protocol);
  await allow(protocol, codes);
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => poll(protocol, codes)));
  const pairs = outcomes.flatMap((outcome) => (outcome instanceof Refusal ? [] : [outcome]));
  assert.equal(pairs.length, 1);
  assertRefusal(await protocol.server.checkAccessToken(pairs[0]?.accessToken ?? ''), 'invalid_token', /code_replay/);
});

test('promise 3: a lost answer costs nothing within a minute, while the pair is unused', async (context) => {
  const protocol = await setUpDevices(context);
  const codes = await begin(protocol);
  await allow(protocol, codes);
  const lost = assertGood(await poll(protocol, codes));
  protocol.clock.now += 59_000;
  assert.deepEqual(await poll(protocol, codes), lost);
  assertGood(await protocol.server.checkAccessToken(lost.accessToken));
  assertRefusal(await poll(protocol, codes), 'invalid_grant', /already redeemed/);
  assertRefusal(await protocol.server.checkAccessToken(lost.accessToken), 'invalid_token', /code_replay/);
  assert.deepEqual(await actions(protocol), ['code_replay', 'consent_allowed', 'client_updated']);
  const [recorded] = await protocol.store.listAuditEvents({ limit: 1 });
  assert.deepEqual(recorded?.actor, { kind: 'client', id: phone.id, ...origin, by: null });
  assert.ok(recorded?.grantId && recorded.resourceOwnerId === ada.id);
});

test('RFC 8628 §3.5: the pace is kept by who polls too fast, and grows by five seconds each time', async (context) => {
  const protocol = await setUpDevices(context);
  const { clock } = protocol;
  const codes = await begin(protocol);
  const after = async (seconds: number, code: ErrorCode) => {
    clock.now += seconds * 1000;
    assertRefusal(await poll(protocol, codes), code, /./);
  };
  await after(0, 'authorization_pending');
  await after(5, 'authorization_pending');
  await after(4, 'slow_down');
  await after(9, 'slow_down');
  await after(15, 'authorization_pending');
  await after(10, 'slow_down');
  await after(20, 'authorization_pending');
  await allow(protocol, codes);
  assertGood(await poll(protocol, codes));
});

test('RFC 8628 §3.5: two devices keep their own paces', async (context) => {
  const protocol = await setUpDevices(context);
  const [a, b] = [await begin(protocol), await begin(protocol)];
  assert.notEqual(a.userCode, b.userCode);
  for (const codes of [a, b]) assertRefusal(await poll(protocol, codes), 'authorization_pending', /./);
  assertRefusal(await poll(protocol, a), 'slow_down', /./);
  protocol.clock.now += 5000;
  assertRefusal(await poll(protocol, b), 'authorization_pending', /./);
});

test('RFC 8628 §3.5: what nobody decided expires, and then nobody can', async (context) => {
  const protocol = await setUpDevices(context);
  const codes = await begin(protocol);
  const shown = await find(protocol, codes);
  protocol.clock.now += DEVICE_CODE_LIFETIME * 1000 - 1;
  assertRefusal(await poll(protocol, codes), 'authorization_pending', /decided/);
  await find(protocol, codes);
  protocol.clock.now += 1;
  assertRefusal(await poll(protocol, codes), 'expired_token', /expired/);
  assert.equal(await protocol.deviceFlow.find(codes.userCode), null);
  assert.equal(
    await protocol.deviceFlow.allow(shown, await signedIn(protocol.store, ada.id), pressed(['write']), origin),
    'gone',
  );
  assert.equal(await protocol.deviceFlow.deny(shown, ada.id, origin), 'gone');
  assert.deepEqual(await protocol.store.listGrants({ limit: 1 }), []);
  assert.deepEqual(await actions(protocol), ['client_updated']);
});

test('RFC 8628 §3.5: what somebody allowed at the last moment can still be fetched, for a minute', async (context) => {
  const protocol = await setUpDevices(context);
  for (const [seconds, isGood] of [
    [59.999, true],
    [60, false],
  ] as const) {
    const codes = await begin(protocol);
    protocol.clock.now += DEVICE_CODE_LIFETIME * 1000 - 1;
    await allow(protocol, codes);
    protocol.clock.now += seconds * 1000;
    const outcome = await poll(protocol, codes);
    assert.equal(outcome instanceof Refusal, !isGood);
    if (outcome instanceof Refusal) assertRefusal(outcome, 'expired_token', /expired/);
  }
});

test('RFC 8628 §3.4: another client’s device code, and what is none, is refused', async (context) => {
  const protocol = await setUpDevices(context);
  const { deviceFlow } = protocol;
  const codes = await begin(protocol);
  await allow(protocol, codes);
  assertRefusal(await deviceFlow.poll(asOne, codes.deviceCode, WHOLE_GRANT, origin), 'invalid_grant', /another client/);
  for (const code of ['', 'x', codes.userCode, `${codes.deviceCode}x`])
    assertRefusal(await deviceFlow.poll(asPhone, code, WHOLE_GRANT, origin), 'invalid_grant', /not a device code/);
  assertRefusal(await deviceFlow.poll(wrongSecret, codes.deviceCode, WHOLE_GRANT, origin), 'invalid_client', /wrong/);
  assertGood(await poll(protocol, codes));
});

test('promise 2: a grant that was ended between Allow and the poll gives nothing', async (context) => {
  for (const end of [
    ({ store }: Protocol) => store.revokeGrantsOfClient(ada.id, phone.id, event('grant_revoked')),
    ({ store }: Protocol) => store.revokeAllGrants(event('all_grants_revoked')),
    ({ store }: Protocol) => store.setAccountStatus(ada.id, 'disabled', event('user_disabled')),
  ]) {
    const protocol = await setUpDevices(context);
    const codes = await begin(protocol);
    await allow(protocol, codes);
    await end(protocol);
    assertRefusal(await poll(protocol, codes), 'invalid_grant', /revoked|disabled/);
  }
});

/** The same on a file, beside which a test has its own connection. */
async function setUpFile(
  context: TestContext,
): Promise<{ protocol: Protocol; path: string; restart(): Promise<Protocol> }> {
  const path = temporaryPath(context);
  let opened = await openAsService(path);
  const clock = { now: NOW };
  const protocol = operationsOn({ store: opened.store, clock });
  await addAccount(protocol, ada);
  await opened.store.registerClient({ ...phone, scopes: scopesOf('read', 'write') }, event('client_registered'));
  context.after(() => opened.close());
  return {
    protocol,
    path,
    async restart() {
      await opened.close();
      opened = await openAsService(path);
      return operationsOn({ store: opened.store, clock });
    },
  };
}

test('an Allow whose write is not confirmed stands if it was made, and is undone if it was not', async (context) => {
  const protocol = await setUpDevices(context);
  const { store } = protocol;
  for (const isMade of [true, false]) {
    const codes = await begin(protocol);
    const issueGrant: typeof store.issueGrant = async (...all) => {
      if (isMade) assert.equal(await store.issueGrant(...all), true);
      throw new StoreUnavailable('lost');
    };
    const unsure = operationsOn({ ...protocol, store: { ...store, issueGrant } });
    await assert.rejects(allow(unsure, codes), StoreUnavailable);
    const decided = await protocol.deviceFlow.findDecision(codes.userCode, ada.id);
    assert.equal(decided === 'pending' ? decided : (decided?.decision ?? null), isMade ? 'allowed' : null);
    if (isMade) assertGood(await poll(protocol, codes));
    else assert.equal(await allow(protocol, codes), 'allowed');
  }
});

test('promise 2: an Allow that raced the end of everything is born dead', async (context) => {
  const { protocol, path } = await setUpFile(context);
  const codes = await begin(protocol);
  // Everything ends between the moment when Allow reads the epochs and the moment when its grant is written.
  const race = 'BEFORE INSERT ON oauth_grant BEGIN UPDATE installation SET epoch = epoch + 1; END';
  secondConnection(context, path).exec(`CREATE TRIGGER race ${race}`);
  assert.equal(await allow(protocol, codes), 'allowed');
  assertRefusal(await poll(protocol, codes), 'invalid_grant', /revoked/);
});

test('design: an Allow or a Deny that could not be written is undecided again, and can be pressed once more', async (context) => {
  const { protocol, path } = await setUpFile(context);
  const codes = await begin(protocol);
  const shown = await find(protocol, codes);
  const owner = await signedIn(protocol.store, ada.id);
  const database = secondConnection(context, path);
  database.exec("CREATE TRIGGER fault BEFORE INSERT ON audit_event BEGIN SELECT RAISE(ABORT, 'fault'); END");
  await assert.rejects(protocol.deviceFlow.allow(shown, owner, pressed(['write']), origin), /fault/);
  await assert.rejects(protocol.deviceFlow.deny(shown, ada.id, origin), /fault/);
  assertRefusal(await poll(protocol, codes), 'authorization_pending', /decided/);
  database.exec('DROP TRIGGER fault');
  assert.equal(await allow(protocol, codes), 'allowed');
  assertGood(await poll(protocol, codes));
});

test('RFC 8628 §3.2, design: a restart costs a waiting device a new code, and an allowed one nothing', async (context) => {
  const { protocol, restart } = await setUpFile(context);
  const [waiting, allowed] = [await begin(protocol), await begin(protocol)];
  assert.equal(await allow(protocol, allowed), 'allowed');
  const after = await restart();
  assert.equal(await after.deviceFlow.find(waiting.userCode), null);
  assertRefusal(await poll(after, waiting), 'expired_token', /expired/);
  assertGood(await poll(after, allowed));
});

test('RFC 8628 §3.5: a device whose user code is another’s by now is told that its own has expired', async (context) => {
  const { protocol, restart } = await setUpFile(context);
  const codes = await begin(protocol);
  const after = await restart();
  const request = sampleDeviceRequest({ userCode: codes.userCode, clientId: phone.id });
  const waiting = { request, decision: null, pace: { polledAt: 0, interval: 5 } };
  await after.store.addDeviceRequest(waiting, networksOf(origin.source), NOW);
  assertRefusal(await poll(after, codes), 'expired_token', /expired/);
  assert.equal(await allow(after, codes), 'allowed', 'to the other device');
  assertRefusal(await poll(after, codes), 'expired_token', /expired/);
});

test('promise 5: so many devices may wait and no more, and each that expires makes room', async (context) => {
  const protocol = await setUpDevices(context);
  const { deviceFlow, clock } = protocol;
  const first = await begin(protocol);
  clock.now += 1000;
  const elsewhere = async (n: number) =>
    assertGood(await deviceFlow.begin(asPhone, nothing, { ...origin, source: `10.${n >> 8}.${n & 255}.1` }));
  for (let n = 1; n < 10_000; n += 1) await elsewhere(n);
  const full = await deviceFlow.begin(asPhone, nothing, origin);
  assertRefusal(full, 'temporarily_unavailable', /./);
  assert.ok(full instanceof Refusal && Number(full.retryAfter) > 0);
  assert.ok(await deviceFlow.find(first.userCode), 'and nobody who waits is pushed out');
  clock.now = first.expiresAt;
  await elsewhere(10_000);
  assertRefusal(await deviceFlow.begin(asPhone, nothing, origin), 'temporarily_unavailable', /./);
});
