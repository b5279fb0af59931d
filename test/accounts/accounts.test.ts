import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Accounts, type NewAccount, type SignInOutcome } from '../../src/accounts/accounts.ts';
import { PasswordHasher } from '../../src/accounts/password-hash.ts';
import { Throttle } from '../../src/accounts/throttle.ts';
import { OperatorError } from '../../src/oauth/error.ts';
import type { Keyring } from '../../src/oauth/keyring.ts';
import { type Memory, openMemory, operator } from '../oauth/memory.ts';
import { keyring, rotatedKeyring } from '../oauth/samples.ts';

const HOUR = 3_600_000;
const PASSWORD = 'correct horse battery';
const here = { source: '192.0.2.1', requestId: 'r1' };
const there = { source: '192.0.2.2', requestId: 'r2' };
const newAda: NewAccount = {
  email: 'Ada@Example.com',
  name: 'Ada Lovelace',
  username: 'ada',
  isOperator: false,
  password: PASSWORD,
};

/** The hasher, telling how often it worked. */
class CountingHasher extends PasswordHasher {
  worked = 0;

  override verify(...given: Parameters<PasswordHasher['verify']>): Promise<boolean> {
    this.worked += 1;
    return super.verify(...given);
  }
}

type Setup = Memory & { readonly accounts: Accounts; readonly hasher: CountingHasher };

function accountsOn(memory: Memory, ring: Keyring = keyring, mostWaiting = 50): Setup {
  const hasher = new CountingHasher(ring, 2, mostWaiting);
  const throttles = {
    accountAndSource: new Throttle({ count: 5, seconds: 300 }),
    source: new Throttle({ count: 20, seconds: 600 }),
  };
  const { store, clock } = memory;
  const accounts = new Accounts({ store, hasher, throttles, now: () => clock.now, guessable: ['Valetkey'] });
  return { ...memory, accounts, hasher };
}

async function setUp(context: TestContext): Promise<Setup> {
  const setup = accountsOn(await openMemory(context));
  await setup.accounts.add(newAda, operator);
  return setup;
}

function assertSignedIn(outcome: SignInOutcome): Extract<SignInOutcome, { kind: 'signed_in' }> {
  assert.equal(outcome.kind, 'signed_in');
  return outcome as Extract<SignInOutcome, { kind: 'signed_in' }>;
}

async function signIn({ accounts }: Setup, replaces: string | null = null): Promise<string> {
  return assertSignedIn(await accounts.signIn('ada@example.com', PASSWORD, replaces, here)).sessionToken;
}

async function actions({ store }: Setup): Promise<string[]> {
  return (await store.listAuditEvents({ limit: 100 })).map(({ action }) => action);
}

test('design: a person signs in with the address however it is typed, and the password exactly', async (context) => {
  const { accounts } = await setUp(context);
  for (const email of ['ada@example.com', ' ADA@EXAMPLE.COM ', 'Ada@Example.com'])
    assert.equal(assertSignedIn(await accounts.signIn(email, PASSWORD, null, here)).account.email, 'Ada@Example.com');
  for (const password of [`${PASSWORD} `, ` ${PASSWORD}`, PASSWORD.toUpperCase(), ''])
    assert.deepEqual(await accounts.signIn('ada@example.com', password, null, here), { kind: 'wrong_credentials' });
});

test('unknown, disabled and deleted accounts look like a wrong password, and cost the same work', async (context) => {
  const setup = await setUp(context);
  const { accounts, hasher } = setup;
  await accounts.add({ ...newAda, email: 'off@example.com', username: null }, operator);
  await accounts.disable('off@example.com', operator);
  await accounts.add({ ...newAda, email: 'gone@example.com', username: null }, operator);
  await accounts.delete('gone@example.com', operator);
  const tries: [string, string][] = [
    ['ada@example.com', 'a wrong password'],
    ['off@example.com', PASSWORD],
    ['gone@example.com', PASSWORD],
    ['nobody@example.com', PASSWORD],
    ['', PASSWORD],
    ['\0', PASSWORD],
    ['x'.repeat(65_000), PASSWORD],
  ];
  for (const [email, password] of tries) {
    const before = hasher.worked;
    assert.deepEqual(
      await accounts.signIn(email, password, null, here),
      { kind: 'wrong_credentials' },
      email.slice(0, 20),
    );
    assert.equal(hasher.worked, before + 1);
  }
});

test('the right password of a disabled account is a guess like any other', async (context) => {
  const { accounts } = await setUp(context);
  await accounts.disable('ada@example.com', operator);
  const kinds: string[] = [];
  for (let n = 0; n < 6; n += 1) kinds.push((await accounts.signIn('ada@example.com', PASSWORD, null, here)).kind);
  assert.deepEqual(kinds, [...Array(5).fill('wrong_credentials'), 'throttled']);
});

test('a password over the limit is refused without hashing, and counted', async (context) => {
  const { accounts, hasher } = await setUp(context);
  for (const password of ['x'.repeat(1025), 'x'.repeat(1_000_000), 'é'.repeat(513), '', 'x'.repeat(4097)])
    assert.deepEqual(await accounts.signIn('ada@example.com', password, null, here), { kind: 'wrong_credentials' });
  assert.equal(hasher.worked, 0);
  assert.equal((await accounts.signIn('ada@example.com', PASSWORD, null, here)).kind, 'throttled');
});

test('design: an address that is longer than any is not cut to one that fits', async (context) => {
  const { accounts } = await setUp(context);
  const email = `${'x'.repeat(64)}@${'y'.repeat(185)}.com`;
  assert.equal(email.length, 254);
  await accounts.add({ ...newAda, email, username: null }, operator);
  assertSignedIn(await accounts.signIn(email, PASSWORD, null, here));
  assert.equal((await accounts.signIn(`${email}x`, PASSWORD, null, here)).kind, 'wrong_credentials');
});

test('promise 6: wrong passwords make their source wait, known account or not, and nobody else', async (context) => {
  const { accounts, hasher, clock } = await setUp(context);
  for (const email of ['ada@example.com', 'nobody@example.com']) {
    const kinds: string[] = [];
    for (let n = 0; n < 8; n += 1) kinds.push((await accounts.signIn(email, 'a wrong password', null, here)).kind);
    assert.deepEqual(kinds, [...Array(5).fill('wrong_credentials'), ...Array(3).fill('throttled')]);
  }
  const before = hasher.worked;
  const throttled = await accounts.signIn('ADA@example.com ', PASSWORD, null, here);
  assert.deepEqual(throttled, { kind: 'throttled', retryAfterSeconds: 60 });
  assert.equal(hasher.worked, before, 'counted before hashing');
  assertSignedIn(await accounts.signIn('ada@example.com', PASSWORD, null, there));
  clock.now += 60_000;
  assertSignedIn(await accounts.signIn('ada@example.com', PASSWORD, null, here));
});

test('guessing at many accounts makes a source wait too', async (context) => {
  const { accounts } = await setUp(context);
  for (let n = 0; n < 20; n += 1)
    assert.equal((await accounts.signIn(`nobody${n}@example.com`, 'x', null, here)).kind, 'wrong_credentials');
  assert.equal((await accounts.signIn('ada@example.com', PASSWORD, null, here)).kind, 'throttled');
  assertSignedIn(await accounts.signIn('ada@example.com', PASSWORD, null, there));
});

test('signing in is no guess: it may be done as often as one likes, and forgets no guesses at others', async (context) => {
  const setup = await setUp(context);
  for (let n = 0; n < 6; n += 1) await setup.accounts.signIn(`nobody${n}@example.com`, 'x', null, here);
  for (let n = 0; n < 5; n += 1) await setup.accounts.signIn('nobody@example.com', 'a wrong password', null, here);
  for (let n = 0; n < 12; n += 1) await signIn(setup);
  assert.equal((await setup.accounts.signIn('nobody@example.com', 'x', null, here)).kind, 'throttled');
  for (let n = 0; n < 9; n += 1) await setup.accounts.signIn(`somebody${n}@example.com`, 'x', null, here);
  assert.equal((await setup.accounts.signIn('one-more@example.com', 'x', null, here)).kind, 'throttled');
});

test('tries at once are counted before any of them is decided', async (context) => {
  const { accounts, hasher } = await setUp(context);
  const tries = Array.from({ length: 30 }, () => accounts.signIn('ada@example.com', 'a wrong password', null, here));
  const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === 'wrong_credentials').length, 5);
  assert.equal(hasher.worked, 5);
});

test('too many sign-ins at once are told that it is busy', async (context) => {
  const { accounts } = accountsOn(await openMemory(context), keyring, 1);
  const tries = Array.from({ length: 5 }, (_, n) => accounts.signIn(`nobody${n}@example.com`, 'x', null, here));
  const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
  assert.deepEqual(kinds.toSorted(), ['busy', 'busy', ...Array(3).fill('wrong_credentials')]);
});

test('signing in makes a new session and ends the one that it replaces', async (context) => {
  const setup = await setUp(context);
  const { accounts } = setup;
  const before = await signIn(setup);
  const elsewhere = await signIn(setup);
  const after = await signIn(setup, before);
  assert.equal(new Set([before, elsewhere, after]).size, 3);
  assert.equal(await accounts.accountOfSession(before), null);
  for (const token of [elsewhere, after])
    assert.equal((await accounts.accountOfSession(token))?.account.email, 'Ada@Example.com');
  await signIn(setup, 'a forged cookie');
});

test('a sign-in that fails ends nothing', async (context) => {
  const setup = await setUp(context);
  const token = await signIn(setup);
  await setup.accounts.signIn('ada@example.com', 'a wrong password', token, here);
  assert.ok(await setup.accounts.accountOfSession(token));
});

test('a session that signed out is dead, others live on', async (context) => {
  const setup = await setUp(context);
  const [one, two] = [await signIn(setup), await signIn(setup)];
  const account = await setup.accounts.show('ada@example.com');
  await setup.accounts.signOut(one, account, here);
  assert.equal(await setup.accounts.accountOfSession(one), null);
  assert.ok(await setup.accounts.accountOfSession(two));
  await setup.accounts.signOut(one, account, here);
  await setup.accounts.signOut('never was one', account, here);
  assert.equal((await actions(setup)).filter((action) => action === 'sign_out').length, 1, 'one event for one effect');
});

test('a session ends after 12 idle hours, and after 30 days in any case', async (context) => {
  const setup = await setUp(context);
  const { accounts, clock } = setup;
  const idle = await signIn(setup);
  clock.now += 12 * HOUR - 1;
  assert.ok(await accounts.accountOfSession(idle));
  clock.now += 12 * HOUR;
  assert.equal(await accounts.accountOfSession(idle), null);
  const busy = await signIn(setup);
  const began = clock.now;
  while (clock.now + 11 * HOUR < began + 30 * 24 * HOUR) {
    clock.now += 11 * HOUR;
    assert.ok(await accounts.accountOfSession(busy), String((clock.now - began) / HOUR));
  }
  clock.now = began + 30 * 24 * HOUR;
  assert.equal(await accounts.accountOfSession(busy), null);
});

test('a new password and disabling end all sessions; enabling brings none back', async (context) => {
  const setup = await setUp(context);
  const { accounts } = setup;
  let token = await signIn(setup);
  await accounts.setPassword('ada@example.com', 'another good password', operator);
  assert.equal(await accounts.accountOfSession(token), null);
  assert.equal((await accounts.signIn('ada@example.com', PASSWORD, null, here)).kind, 'wrong_credentials');
  token = assertSignedIn(await accounts.signIn('ada@example.com', 'another good password', null, here)).sessionToken;
  await accounts.disable('ada@example.com', operator);
  assert.equal(await accounts.accountOfSession(token), null);
  await accounts.enable('ada@example.com', operator);
  assert.equal(await accounts.accountOfSession(token), null);
  assertSignedIn(await accounts.signIn('ada@example.com', 'another good password', null, here));
});

test('signing in after a key rotation hashes the password anew, with the newest key', async (context) => {
  const memory = await openMemory(context);
  await accountsOn(memory).accounts.add(newAda, operator);
  const { accounts } = accountsOn(memory, rotatedKeyring);
  assert.equal((await accounts.signIn('ada@example.com', 'a wrong password', null, here)).kind, 'wrong_credentials');
  assert.equal((await accounts.show('ada@example.com')).password.keyId, keyring.currentKeyId);
  assertSignedIn(await accounts.signIn('ada@example.com', PASSWORD, null, here));
  assert.equal((await accounts.show('ada@example.com')).password.keyId, rotatedKeyring.currentKeyId);
  assertSignedIn(await accounts.signIn('ada@example.com', PASSWORD, null, here));
});

const wrongAccounts: [string, Partial<NewAccount>, RegExp][] = [
  ['no address', { email: 'ada' }, /^email: /],
  ['no name', { name: '' }, /^name: /],
  ['a user name in upper case', { username: 'Ada' }, /^username: /],
  ['a short password', { password: 'short' }, /at least 8/],
  ['a common password', { password: 'password1' }, /most common/],
  ['the product’s name', { password: 'valetkey1' }, /hardly more/],
  ['the own name', { password: 'lovelace1' }, /hardly more/],
  ['the own address', { password: 'new@example.com', email: 'new@example.com' }, /hardly more/],
  ['an address that is taken', { email: 'ADA@example.com', username: null }, /e-mail address already/],
  ['a user name that is taken', { email: 'new@example.com' }, /user name already/],
];
for (const [name, wrong, message] of wrongAccounts) {
  test(`an account is refused, and nothing is added: ${name}`, async (context) => {
    const { accounts } = await setUp(context);
    const refused = accounts.add({ ...newAda, ...wrong }, operator);
    await assert.rejects(refused, (error) => error instanceof OperatorError && message.test(error.message));
    assert.equal((await accounts.list(100)).length, 1);
  });
}

test('a new password follows the same rules as the first', async (context) => {
  const setup = await setUp(context);
  for (const password of ['short', 'password1', 'lovelace1', 'nul\0inside it'])
    await assert.rejects(setup.accounts.setPassword('ada@example.com', password, operator), OperatorError);
  await signIn(setup);
});

test('interface: an account is named by id or address, and acts on one that is not there say so', async (context) => {
  const { accounts } = await setUp(context);
  const account = await accounts.show('ADA@example.com');
  assert.deepEqual(await accounts.show(account.id), account);
  assert.equal((await accounts.disable(account.id, operator)).status, 'disabled');
  await assert.rejects(accounts.disable(account.id, operator), /disabled already/);
  assert.equal((await accounts.enable(account.id, operator)).status, 'active');
  await assert.rejects(accounts.enable(account.id, operator), /active already/);
  await accounts.revokeGrants(account.id, operator);
  assert.equal((await accounts.show(account.id)).epoch, 1);
  await accounts.delete(account.id, operator);
  for (const act of [
    accounts.show(account.id),
    accounts.show('ada@example.com'),
    accounts.setPassword(account.id, PASSWORD, operator),
    accounts.disable(account.id, operator),
    accounts.enable(account.id, operator),
    accounts.revokeGrants(account.id, operator),
    accounts.delete(account.id, operator),
  ])
    await assert.rejects(act, /there is no account/);
});

test('promise 4: neither passwords nor session tokens are stored or recorded in clear', async (context) => {
  const setup = await setUp(context);
  const token = await signIn(setup);
  const kept = JSON.stringify([await setup.accounts.list(100), await setup.store.listAuditEvents({ limit: 100 })]);
  for (const secret of [PASSWORD, token]) assert.ok(!kept.includes(secret));
});

test('promise 5: failed sign-ins write nothing', async (context) => {
  const setup = await setUp(context);
  await setup.accounts.signIn('ada@example.com', 'a wrong password', null, here);
  await setup.accounts.signIn('nobody@example.com', 'a wrong password', null, here);
  assert.deepEqual(await actions(setup), ['user_added']);
});

test('Promise 5: whatever is typed as an address, the others do not wait for it', async (context) => {
  const setup = await setUp(context);
  const marks = '\u0344'.repeat(15_500) + '\u0316'.repeat(15_500);
  const start = performance.now();
  const outcome = setup.accounts.signIn(marks, PASSWORD, null, here);
  const ms = performance.now() - start;
  assert.equal((await outcome).kind, 'wrong_credentials');
  assert.ok(ms < 100, `${ms} ms`);
  await signIn(setup);
});
