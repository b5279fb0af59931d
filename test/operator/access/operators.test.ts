// Operators, their keys, sessions and one-time addresses, on a database in memory with a clock of its own.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { makeThrottles } from '../../../src/accounts/sign-in/rate-limits.ts';
import { OperatorError, Refusal } from '../../../src/oauth/error.ts';
import { AccessEnded } from '../../../src/oauth/trail/audit.ts';
import { OperatorAccess } from '../../../src/operator/access/access.ts';
import {
  newOperatorSession,
  OPERATOR_SESSION_LIFETIMES,
  operatorTokenDigest,
} from '../../../src/operator/access/operator-session.ts';
import { OperatorRegistry } from '../../../src/operator/access/operators.ts';
import type { Access } from '../../../src/operator/access/rights.ts';
import { addressJson, operatorInFullJson } from '../../../src/operator/json/operator.ts';
import { operator as command, event, NOW, openAsService } from '../../support/storage.ts';

const DAY = 86_400_000;
const ORIGIN = { source: '192.0.2.1', requestId: 'r1' };
const RIGHTS = ['clients.read'] as const;

async function setUp(t: TestContext, operatorUrl: string | null = 'https://operators.example.com') {
  const clock = { now: NOW };
  const now = () => clock.now;
  const opened = await openAsService(':memory:', { now });
  t.after(() => opened.close());
  const { store } = opened;
  const parts = { store, prefix: 'vk', now };
  const operators = new OperatorRegistry({ ...parts, operatorUrl });
  const access = new OperatorAccess({ ...parts, throttle: makeThrottles(null).operatorKeys });
  const signIn = async (name: string, how: 'passkey' | 'address' = 'address') => {
    const { url, operator } = await operators.signInAddress(name, command);
    const token = new URL(url).searchParams.get('token') ?? '';
    const passkeyId = how === 'passkey' ? 'pk' : null;
    const begun = { operatorId: operator.id, passkeyId, source: '192.0.2.0/24', browser: 'Firefox' };
    const session = newOperatorSession(`session of ${token}`, begun, now());
    const digest = operatorTokenDigest(token);
    assert.equal(await store.beginSessionByAddress(session, digest, event('operator_signed_in')), true);
    return `session of ${token}`;
  };
  return { clock, store, operators, access, signIn };
}

const isAccess = (found: Access | Refusal | null) => found !== null && !(found instanceof Refusal);

function given(found: Access | Refusal | null): Access {
  assert.ok(found && !(found instanceof Refusal));
  return found;
}

test('operators §1: without an address of operators nobody is added or reset, and the remedy is said', async (t) => {
  const { operators } = await setUp(t, null);
  await assert.rejects(operators.add('Ann', 'admin', command), /set VALETKEY_OPERATOR_URL/);
  assert.deepEqual(await operators.list(), []);
});

test('operators §2: a program is added without a one-time address, and without an address of operators', async (t) => {
  const { store, operators } = await setUp(t, null);
  const portal = await operators.addProgram('portal', 'support', command);
  assert.deepEqual(await operators.show('portal'), { operator: portal, passkeys: [], sessions: [], keys: [] });
  await operators.addKey('portal', { name: 'k', rights: RIGHTS }, command);
  const [added] = (await store.listAuditEvents({ limit: 9 })).slice(-1);
  assert.deepEqual(
    [added?.action, added?.detail, added?.clientId],
    ['operator_added', '{"name":"portal","role":"support"}', portal.id],
  );
  await assert.rejects(operators.addProgram('portal', 'read', command), /choose another name/);
  await assert.rejects(operators.addProgram('por\u202etal', 'read', command), OperatorError);
});

test('operators §2: a one-time address has 256 random bits and its time, and is nowhere in the database', async (t) => {
  const { store, operators } = await setUp(t);
  const made = await operators.add('Ann', 'admin', command);
  const token = new URL(made.url).searchParams.get('token') ?? '';
  assert.equal(made.url, `https://operators.example.com/enroll?token=${token}`);
  assert.equal(Buffer.from(token, 'base64url').length, 32);
  assert.equal(made.expiresAt, NOW + DAY);
  const signIn = await operators.signInAddress('Ann', command);
  assert.match(signIn.url, /^https:\/\/operators\.example\.com\/sign-in\?token=/);
  assert.equal(signIn.expiresAt, NOW + 300_000);
  assert.ok(await store.findOneTimeAddress(operatorTokenDigest(token)), 'of the other purpose it stays');
});

test('operators §2: no token and no key stands in the audit trail or in what is shown later', async (t) => {
  const { store, operators } = await setUp(t);
  const made = await operators.add('Ann', 'admin', command);
  const { text } = await operators.addKey('Ann', { name: 'portal', rights: RIGHTS }, command);
  const addresses = [made, await operators.signInAddress('Ann', command), await operators.reset('Ann', command)];
  const shown = JSON.stringify([
    operatorInFullJson(await operators.show('Ann')),
    await store.listAuditEvents({ limit: 99 }),
  ]);
  for (const secret of [text, ...addresses.map(({ url }) => url)].map((one) => one.slice(-40)))
    assert.ok(!shown.includes(secret));
  assert.ok(JSON.stringify(addresses.map(addressJson)).includes(made.url));
  const id = (await operators.listKeys('Ann'))[0]?.id;
  assert.deepEqual(
    (await store.listAuditEvents({ limit: 99 })).map(({ action, detail }) => [action, detail]).toReversed(),
    [
      ['operator_added', '{"name":"Ann","role":"admin"}'],
      ['operator_key_added', JSON.stringify({ name: 'Ann', key: id, key_name: 'portal', rights: ['clients.read'] })],
      ['operator_sign_in_address_made', '{"name":"Ann"}'],
      ['operator_reset', '{"name":"Ann"}'],
    ],
  );
});

test('operators §2: only a command takes the last admin away', async (t) => {
  const { operators, access, signIn } = await setUp(t);
  await operators.add('Ann', 'admin', command);
  await operators.add('Bob', 'support', command);
  const ann = access.actor(given(await access.bySession(await signIn('Ann'))), ORIGIN);
  await assert.rejects(operators.update('Ann', { role: 'read' }, ann), /Ann is the last admin/);
  await assert.rejects(operators.disable('Ann', ann), /last admin/);
  await assert.rejects(operators.delete('Ann', ann), /last admin/);
  await operators.disable('Bob', ann);
  await operators.update('Ann', { role: 'read' }, command);
  assert.equal((await operators.find('Ann')).role, 'read');
});

test('operators §3: a key gives its rights until it expires or ends, or its operator is disabled', async (t) => {
  const { clock, operators, access } = await setUp(t);
  const { operator } = await operators.add('portal', 'support', command);
  const add = (lifetime?: number) =>
    operators.addKey('portal', { name: 'k', rights: RIGHTS, ...(lifetime ? { lifetime } : {}) }, command);
  const { key, text } = await add();
  assert.match(text, /^vk_ok_[A-Za-z0-9_-]{49}$/);
  assert.equal(key.expiresAt, NOW + 90 * DAY);
  const found = given(await access.byKey(text, ORIGIN.source));
  assert.deepEqual(found, { operator, by: { kind: 'key', keyId: key.id, rights: RIGHTS } });
  assert.equal((await operators.listKeys('portal'))[0]?.lastUsedAt, NOW);
  const refused = async (presented: string) => {
    const answer = await access.byKey(presented, ORIGIN.source);
    assert.ok(answer instanceof Refusal);
    return [answer.code, answer.detail];
  };
  assert.deepEqual(await refused(`${text.slice(0, -1)}x`), [
    'invalid_client',
    'it has not the form of an operator key, or was mistyped',
  ]);
  const { key: short, text: shortText } = await add(DAY);
  clock.now += DAY;
  assert.deepEqual(await refused(shortText), ['invalid_client', `the operator key ${short.id} has expired`]);
  assert.ok(!((await access.byKey(text, ORIGIN.source)) instanceof Refusal));
  const { key: third, text: thirdText } = await add(365 * DAY);
  await operators.endKey('portal', third.id, command);
  assert.deepEqual(await refused(thirdText), ['invalid_client', 'there is no such operator key']);
  await operators.disable('portal', command);
  await operators.enable('portal', command);
  assert.deepEqual(await refused(text), ['invalid_client', 'there is no such operator key'], 'it died with that');
  await assert.rejects(add(365 * DAY + 1), OperatorError);
  await assert.rejects(operators.addKey('portal', { name: 'k', rights: [] }, command), /each once/);
});

test('operators §3: wrong keys count by their source, and lock out no other', async (t) => {
  const { operators, access } = await setUp(t);
  await operators.add('portal', 'support', command);
  const { text } = await operators.addKey('portal', { name: 'k', rights: RIGHTS }, command);
  for (let guess = 0; guess < 30; guess += 1) await access.byKey(`vk_ok_${guess}`, ORIGIN.source);
  const limited = await access.byKey(text, ORIGIN.source);
  assert.ok(limited instanceof Refusal && limited.code === 'temporarily_unavailable');
  given(await access.byKey(text, '192.0.2.9'));
});

test('operators §2: a session ends after 30 minutes idle, 12 hours in all, or an hour at an address', async (t) => {
  const { clock, store, operators, access, signIn } = await setUp(t);
  const { operator } = await operators.add('Ann', 'admin', command);
  const idle = await signIn('Ann', 'passkey');
  clock.now += OPERATOR_SESSION_LIFETIMES.idle;
  assert.equal(await access.bySession(idle), null);
  for (const [how, hours] of [
    ['passkey', 12],
    ['address', 1],
  ] as const) {
    const token = await signIn('Ann', how);
    const begun = clock.now;
    for (; clock.now < begun + hours * 3_600_000; clock.now += 20 * 60_000)
      assert.equal(given(await access.bySession(token)).operator.id, operator.id, `${how} ${clock.now - begun}`);
    assert.equal(await access.bySession(token), null, how);
  }
  const token = await signIn('Ann');
  const [session] = await store.listOperatorSessions(operator.id);
  clock.now += 59_999;
  await access.bySession(token);
  assert.equal((await store.listOperatorSessions(operator.id))[0]?.lastSeenAt, session?.lastSeenAt, 'no write yet');
  clock.now += 1;
  await access.bySession(token);
  assert.equal((await store.listOperatorSessions(operator.id))[0]?.lastSeenAt, clock.now);
  await operators.disable('Ann', command);
  assert.equal(await access.bySession(token), null);
});

test('operators §2: a clock that is set back lengthens no key and no session', async (t) => {
  const { clock, operators, access, signIn } = await setUp(t);
  await operators.add('Ann', 'admin', command);
  clock.now += DAY;
  const { text } = await operators.addKey('Ann', { name: 'k', rights: RIGHTS }, command);
  const token = await signIn('Ann', 'passkey');
  const taken = async () => [await access.byKey(text, ORIGIN.source), await access.bySession(token)].map(isAccess);
  clock.now -= 60_000;
  assert.deepEqual(await taken(), [true, true], 'a small step');
  clock.now -= 1;
  assert.deepEqual(await taken(), [false, false]);
  clock.now += 20 * 60_000;
  assert.deepEqual(await taken(), [true, true], 'and seen later');
  clock.now -= 60_001;
  assert.deepEqual(await taken(), [true, false], 'the session was seen after it began');
});

test('operators §2: what an operator began before the end of the sessions is refused', async (t) => {
  const { operators, access, signIn } = await setUp(t);
  await operators.add('Ann', 'admin', command);
  const ann = access.actor(given(await access.bySession(await signIn('Ann'))), ORIGIN);
  await operators.endSessions('Ann', command);
  await assert.rejects(operators.add('Eve', 'admin', ann), AccessEnded);
  assert.equal((await operators.list()).length, 1);
});

test('operators §3: a refused act is recorded once an hour for an operator and an act', async (t) => {
  const { clock, store, operators, access, signIn } = await setUp(t);
  const { operator } = await operators.add('Ann', 'read', command);
  const ann = given(await access.bySession(await signIn('Ann')));
  const other = new OperatorAccess({
    ...{ store, prefix: 'vk', now: () => clock.now },
    throttle: makeThrottles(null).operatorKeys,
  });
  for (let time = 0; time < 9; time += 1) {
    await access.refused('clients.pause', ann, 'role', ORIGIN);
    await other.refused('clients.pause', ann, 'role', ORIGIN);
  }
  await access.refused('users.invite', ann, 'presence', ORIGIN);
  clock.now += 3_600_000;
  await access.refused('clients.pause', ann, 'role', ORIGIN);
  const events = await store.listAuditEvents({ action: 'operator_refused', limit: 99 });
  assert.deepEqual(
    events.map(({ detail }) => detail),
    [
      '{"act":"clients.pause","reason":"the role does not allow it"}',
      '{"act":"users.invite","reason":"no passkey was used within 5 minutes"}',
      '{"act":"clients.pause","reason":"the role does not allow it"}',
    ],
  );
  const by = 'address 2026-01-02T03:04:05.678Z';
  assert.deepEqual(events[0]?.actor, { kind: 'operator', id: operator.id, ...ORIGIN, by });
});
