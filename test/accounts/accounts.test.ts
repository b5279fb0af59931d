import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AccountPace, TURN_TIMEOUT_MS } from '../../src/accounts/guessing/account-pace.ts';
import { GuessBudget } from '../../src/accounts/guessing/guess-budget.ts';
import { Throttle } from '../../src/accounts/guessing/throttle.ts';
import { readForeignHash } from '../../src/accounts/passwords/foreign-hash.ts';
import { PasswordHasher } from '../../src/accounts/passwords/password-hash.ts';
import type { NewAccount } from '../../src/accounts/people/new-account.ts';
import { newSignInTally } from '../../src/accounts/providers/sign-in-tally.ts';
import { Accounts } from '../../src/accounts/sign-in/accounts.ts';
import { KNOWN_BROWSER_LIFETIME, KnownBrowsers } from '../../src/accounts/sign-in/known-browser.ts';
import { makeThrottles } from '../../src/accounts/sign-in/rate-limits.ts';
import type { SignInAttempt, SignInOutcome } from '../../src/accounts/sign-in/sign-in.ts';
import { SignInFloor } from '../../src/accounts/sign-in/sign-in-floor.ts';
import { WrongSignIns } from '../../src/accounts/sign-in/wrong-sign-ins.ts';
import { NothingThere, OperatorError } from '../../src/oauth/error.ts';
import type { Keyring } from '../../src/oauth/keys/keyring.ts';
import { type Memory, openMemory, operator } from '../oauth/memory.ts';
import { keyring, rotatedKeyring } from '../oauth/samples.ts';
import { allAccounts } from '../support/all-accounts.ts';
import { event, sampleAccount } from '../support/storage.ts';

const HOUR = 3_600_000;
const PASSWORD = 'correct horse battery';
const here = { source: '192.0.2.1', requestId: 'r1' };
const there = { source: '192.0.2.2', requestId: 'r2' };
const newAda: NewAccount = {
  email: 'Ada@Example.com',
  name: 'Ada Lovelace',
  username: 'ada',
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

/** `floorEnds` is given what ends each floor. */
function accountsOn(
  memory: Memory,
  ring: Keyring = keyring,
  mostWaiting = 50,
  floorEnds: (act: () => void) => void = () => assert.fail('there is no floor'),
): Setup {
  const hasher = new CountingHasher(ring, { ofOneShare: mostWaiting, inAll: 500 });
  const throttles = {
    accountAndSource: new Throttle({ count: 5, seconds: 300 }),
    source: new Throttle({ count: 20, seconds: 600 }),
  };
  const { store, clock } = memory;
  const pace = new AccountPace({
    often: new Throttle({ count: 60, seconds: 60 }),
    seldom: new Throttle({ count: 1000, seconds: 60 }),
    accountAndNetwork: new Throttle({ count: 10, seconds: 86_400 }),
    now: () => clock.now,
    later: (_act, ms) => {
      assert.equal(ms, TURN_TIMEOUT_MS, 'nobody has to wait for a pace here');
      return () => {};
    },
  });
  const knownBrowsers = new KnownBrowsers(ring, {
    knownBrowsers: new Throttle({ count: 30, seconds: 600 }),
    knownBrowserFailures: new Throttle({ count: 10, seconds: 10 * KNOWN_BROWSER_LIFETIME }),
  });
  const accounts = new Accounts({
    store,
    hasher,
    signInThrottle: makeThrottles(null).signIns,
    methods: ['password'],
    budget: new GuessBudget(throttles),
    pace,
    knownBrowsers,
    floor: new SignInFloor({
      store,
      hasher,
      stopwatch: () => clock.now,
      later: (act) => {
        floorEnds(act);
        return () => {};
      },
    }),
    wrongSignIns: new WrongSignIns(store, () => clock.now),
    signIns: newSignInTally(),
    now: () => clock.now,
    guessable: ['Valetkey'],
  });
  return { ...memory, accounts, hasher };
}

async function setUp(context: TestContext): Promise<Setup> {
  const setup = accountsOn(await openMemory(context));
  await setup.accounts.add(newAda, operator);
  return setup;
}

/** What somebody typed into the form. */
function typed(
  email: string,
  password: string,
  replaces: string | null = null,
  knownBrowser: string | null = null,
): SignInAttempt {
  return { email, password, replaces, knownBrowser };
}

function assertSignedIn(outcome: SignInOutcome): Extract<SignInOutcome, { kind: 'signed_in' }> {
  assert.equal(outcome.kind, 'signed_in');
  return outcome as Extract<SignInOutcome, { kind: 'signed_in' }>;
}

async function signIn({ accounts }: Setup, replaces: string | null = null): Promise<string> {
  return assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD, replaces), here)).sessionToken;
}

async function actions({ store }: Setup): Promise<string[]> {
  return (await store.listAuditEvents({ limit: 100 })).map(({ action }) => action);
}

test('design: a person signs in with the address however it is typed, and the password exactly', async (context) => {
  const { accounts } = await setUp(context);
  for (const email of ['ada@example.com', ' ADA@EXAMPLE.COM ', 'Ada@Example.com'])
    assert.equal(assertSignedIn(await accounts.signIn(typed(email, PASSWORD), here)).account.email, 'Ada@Example.com');
  for (const password of [`${PASSWORD} `, ` ${PASSWORD}`, PASSWORD.toUpperCase(), ''])
    assert.deepEqual(await accounts.signIn(typed('ada@example.com', password), here), { kind: 'wrong_credentials' });
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
      await accounts.signIn(typed(email, password), here),
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
  for (let n = 0; n < 6; n += 1) kinds.push((await accounts.signIn(typed('ada@example.com', PASSWORD), here)).kind);
  assert.deepEqual(kinds, [...Array(5).fill('wrong_credentials'), 'throttled']);
});

test('a password over the limit is refused without hashing, and counted', async (context) => {
  const { accounts, hasher } = await setUp(context);
  for (const password of ['x'.repeat(1025), 'x'.repeat(1_000_000), 'é'.repeat(513), '', 'x'.repeat(4097)])
    assert.deepEqual(await accounts.signIn(typed('ada@example.com', password), here), { kind: 'wrong_credentials' });
  assert.equal(hasher.worked, 0);
  assert.equal((await accounts.signIn(typed('ada@example.com', PASSWORD), here)).kind, 'throttled');
});

test('design: an address that is longer than any is not cut to one that fits', async (context) => {
  const { accounts } = await setUp(context);
  const email = `${'x'.repeat(64)}@${'y'.repeat(185)}.com`;
  assert.equal(email.length, 254);
  await accounts.add({ ...newAda, email, username: null }, operator);
  assertSignedIn(await accounts.signIn(typed(email, PASSWORD), here));
  assert.equal((await accounts.signIn(typed(`${email}x`, PASSWORD), here)).kind, 'wrong_credentials');
});

test('promise 6: wrong passwords make their source wait, known account or not, and nobody else', async (context) => {
  const { accounts, hasher, clock } = await setUp(context);
  for (const email of ['ada@example.com', 'nobody@example.com']) {
    const kinds: string[] = [];
    for (let n = 0; n < 8; n += 1) kinds.push((await accounts.signIn(typed(email, 'a wrong password'), here)).kind);
    assert.deepEqual(kinds, [...Array(5).fill('wrong_credentials'), ...Array(3).fill('throttled')]);
  }
  const before = hasher.worked;
  const throttled = await accounts.signIn(typed('ADA@example.com ', PASSWORD), here);
  assert.deepEqual(throttled, { kind: 'throttled', retryAfterSeconds: 60 });
  assert.equal(hasher.worked, before, 'counted before hashing');
  assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD), there));
  clock.now += 60_000;
  assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD), here));
});

test('guessing at many accounts makes a source wait too', async (context) => {
  const { accounts } = await setUp(context);
  for (let n = 0; n < 20; n += 1)
    assert.equal((await accounts.signIn(typed(`nobody${n}@example.com`, 'x'), here)).kind, 'wrong_credentials');
  assert.equal((await accounts.signIn(typed('ada@example.com', PASSWORD), here)).kind, 'throttled');
  assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD), there));
});

test('interface: a success forgets what its source guessed at the account before', async (context) => {
  const { accounts } = await setUp(context);
  const guess = async () => (await accounts.signIn(typed('ada@example.com', ''), here)).kind;
  for (let n = 0; n < 4; n += 1) assert.equal(await guess(), 'wrong_credentials');
  assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD), here));
  for (let n = 0; n < 5; n += 1) assert.equal(await guess(), 'wrong_credentials');
  assert.equal(await guess(), 'throttled');
});

test('design: guesses count for the networks of their source too, which have 4 and 32 times the budget', async (context) => {
  const { accounts } = await setUp(context);
  const from = (source: string) => ({ source, requestId: 'r' });
  const guess = async (n: number, email: string) =>
    // Refused before any hashing, but counted.
    (await accounts.signIn(typed(email, ''), from(`2001:db8:1:${n.toString(16)}::/64`))).kind;
  const through = async (email: string, sources: number[]) => {
    let count = 0;
    for (const n of sources)
      for (let turn = 0; turn < 6; turn += 1) if ((await guess(n, email)) !== 'throttled') count += 1;
    return count;
  };
  const [one, of56, of48] = [
    [0x0100],
    [1, 2, 3, 4, 5, 6],
    Array.from({ length: 64 }, (_, n) => 0x1000 + 0x100 * (n % 32) + n),
  ];
  assert.equal(await through('one@example.com', one), 5);
  assert.equal(await through('two@example.com', of56), 20, 'four times as many for a /56');
  assert.equal(await through('three@example.com', of48), 160, '32 times as many for a /48');
  assert.equal(await guess(0xffff, 'three@example.com'), 'throttled');
  assert.equal(await guess(0xffff, 'four@example.com'), 'wrong_credentials');
  assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD), from('2001:db8:2:1::/64')));
});

test('design: addresses of one IPv4 /24 have 32 times the budget of one', async (context) => {
  const { accounts } = await setUp(context);
  const kinds: string[] = [];
  for (let n = 0; n < 256; n += 1)
    kinds.push(
      (await accounts.signIn(typed('ada@example.com', ''), { source: `198.51.100.${n}`, requestId: 'r' })).kind,
    );
  assert.deepEqual([kinds.indexOf('throttled'), kinds.lastIndexOf('wrong_credentials')], [160, 159]);
  assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD), here));
});

/** Signs Ada in and answers by what her browser is known. */
async function knownBrowser({ accounts }: Setup, marks: string | null = null): Promise<string> {
  return assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD, null, marks), there)).knownBrowser;
}

test('Promise 6: in a browser that signed in before, guesses of strangers at the same address hinder nobody', async (context) => {
  const setup = await setUp(context);
  const marks = await knownBrowser(setup);
  for (let n = 0; n < 20; n += 1) await setup.accounts.signIn(typed(`nobody${n}@example.com`, ''), here);
  for (const email of ['ada@example.com', 'nobody@example.com'])
    assert.equal((await setup.accounts.signIn(typed(email, PASSWORD), here)).kind, 'throttled');
  const known = (email: string) => setup.accounts.signIn(typed(email, PASSWORD, null, marks), here);
  assertSignedIn(await known('ada@example.com'));
  assert.equal((await known('nobody@example.com')).kind, 'throttled', 'a mark counts for its own account');
});

test('Promise 6: while strangers wait in a flood, a browser that signed in before does not', async (context) => {
  const setup = await setUp(context);
  const marks = await knownBrowser(setup);
  let through = 0;
  const flood = Array.from({ length: 300 }, async (_, n) => {
    const [name, source] = [n % 2 === 0 ? 'ada' : `nobody${n}`, `2001:db8:${n.toString(16)}:1::/64`];
    await setup.accounts.signIn(typed(`${name}@example.com`, 'a wrong password'), { source, requestId: 'r' });
    through += 1;
  });
  await Promise.race(flood);
  await knownBrowser(setup, marks);
  assert.ok(through < 100, `${through} of 300 came first`);
  setup.accounts.turnStrangersAway();
  await Promise.all(flood);
});

test('design: known browsers have their turn by account: who tries often keeps nobody else waiting', async (context) => {
  const setup = await setUp(context);
  const { accounts } = setup;
  await accounts.add({ ...newAda, email: 'bob@example.com', username: null }, operator);
  const [adas, bobs] = await Promise.all(
    ['ada', 'bob'].map(async (name) => {
      const outcome = await accounts.signIn(typed(`${name}@example.com`, PASSWORD), there);
      return assertSignedIn(outcome).knownBrowser;
    }),
  );
  const order: string[] = [];
  const come = async (name: string, marks: string | undefined) => {
    assertSignedIn(await accounts.signIn(typed(`${name}@example.com`, PASSWORD, null, String(marks)), here));
    order.push(name);
  };
  await Promise.all([...Array.from({ length: 8 }, () => come('ada', adas)), come('bob', bobs)]);
  assert.ok(order.indexOf('bob') <= 2, `${order}`);
});

test('design: ten wrong passwords end what a browser is known by, for good; a right one gives it a new mark', async (context) => {
  const setup = await setUp(context);
  const { accounts, clock } = setup;
  const marks = await knownBrowser(setup);
  const guess = async (shown: string, password = 'a wrong password') =>
    (await accounts.signIn(typed('ada@example.com', password, null, shown), here)).kind;
  const guessAtOnce = (count: number, shown: string) => Promise.all(Array.from({ length: count }, () => guess(shown)));
  await guessAtOnce(9, marks);
  const renewed = await knownBrowser(setup, marks);
  assert.equal(await guess(marks), 'wrong_credentials', 'the tenth');
  for (let n = 0; n < 5; n += 1) assert.equal(await guess(marks), 'wrong_credentials', 'as a stranger');
  assert.equal(await guess(marks, PASSWORD), 'throttled');
  clock.now += (KNOWN_BROWSER_LIFETIME - 3600) * 1000;
  for (let n = 0; n < 5; n += 1) assert.equal(await guess(marks), 'wrong_credentials');
  assert.equal(await guess(marks, PASSWORD), 'throttled', 'a year later still');
  assert.equal(await guess(renewed, PASSWORD), 'signed_in', 'the new mark is as good as new');
});

test('design: a known browser’s right passwords are counted too: who shares it becomes a stranger', async (context) => {
  const setup = await setUp(context);
  const marks = await knownBrowser(setup);
  for (let n = 0; n < 20; n += 1) await setup.accounts.signIn(typed(`nobody${n}@example.com`, ''), here);
  const known = () => setup.accounts.signIn(typed('ada@example.com', PASSWORD, null, marks), here);
  for (let n = 0; n < 30; n += 1) assertSignedIn(await known());
  assert.equal((await known()).kind, 'throttled');
});

test('design: a new password makes browsers strangers, and one that is hashed anew does not', async (context) => {
  const memory = await openMemory(context);
  const before = accountsOn(memory);
  await before.accounts.add(newAda, operator);
  const marks = await knownBrowser(before);
  const setup = accountsOn(memory, rotatedKeyring);
  const { id, password } = await setup.accounts.show('ada@example.com');
  assert.ok(password);
  await memory.store.rehashPassword(id, password, await setup.hasher.hash(PASSWORD));
  assert.notDeepEqual((await setup.accounts.show(id)).password, password, 'hashed anew');
  for (let n = 0; n < 5; n += 1) await setup.accounts.signIn(typed('ada@example.com', ''), here);
  const known = async (shown: string) =>
    (await setup.accounts.signIn(typed('ada@example.com', PASSWORD, null, shown), here)).kind;
  assert.equal(await known(marks), 'signed_in', 'also with the key of before');
  for (let n = 0; n < 5; n += 1) await setup.accounts.signIn(typed('ada@example.com', ''), here);
  memory.clock.now += 1;
  await setup.accounts.setPassword('ada@example.com', PASSWORD, operator);
  assert.equal(await known(marks), 'throttled');
});

test('Promise 1: what a browser is known by opens nothing', async (context) => {
  const setup = await setUp(context);
  const marks = await knownBrowser(setup);
  for (const password of ['', 'a wrong password', marks])
    assert.equal(
      (await setup.accounts.signIn(typed('ada@example.com', password, null, marks), here)).kind,
      'wrong_credentials',
    );
  assert.equal(await setup.accounts.accountOfSession(marks), null);
  await setup.accounts.disable('ada@example.com', operator);
  assert.equal(
    (await setup.accounts.signIn(typed('ada@example.com', PASSWORD, null, marks), here)).kind,
    'wrong_credentials',
  );
});

test('signing in is no guess: it may be done as often as one likes, and forgets no guesses at others', async (context) => {
  const setup = await setUp(context);
  for (let n = 0; n < 6; n += 1) await setup.accounts.signIn(typed(`nobody${n}@example.com`, 'x'), here);
  for (let n = 0; n < 5; n += 1) await setup.accounts.signIn(typed('nobody@example.com', 'a wrong password'), here);
  for (let n = 0; n < 12; n += 1) await signIn(setup);
  assert.equal((await setup.accounts.signIn(typed('nobody@example.com', 'x'), here)).kind, 'throttled');
  for (let n = 0; n < 9; n += 1) await setup.accounts.signIn(typed(`somebody${n}@example.com`, 'x'), here);
  assert.equal((await setup.accounts.signIn(typed('one-more@example.com', 'x'), here)).kind, 'throttled');
});

test('tries at once are counted before any of them is decided', async (context) => {
  const { accounts, hasher } = await setUp(context);
  const tries = Array.from({ length: 30 }, () => accounts.signIn(typed('ada@example.com', 'a wrong password'), here));
  const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === 'wrong_credentials').length, 5);
  assert.equal(hasher.worked, 5);
});

test('too many sign-ins at once are told that it is busy', async (context) => {
  const { accounts } = accountsOn(await openMemory(context), keyring, 2);
  const tries = Array.from({ length: 5 }, (_, n) => accounts.signIn(typed(`nobody${n}@example.com`, 'x'), here));
  const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
  assert.deepEqual(kinds.toSorted(), ['busy', 'busy', ...Array(3).fill('wrong_credentials')]);
});

test('Promise 6: who is turned away is not counted at the account, but for their source: a crowd comes at a price', async (context) => {
  const { accounts } = accountsOn(await openMemory(context), keyring, 1);
  const crowd = async (size: number) => {
    const tries = Array.from({ length: size }, (_, n) => accounts.signIn(typed(`nobody${n}@example.com`, 'x'), here));
    return (await Promise.all(tries)).map(({ kind }) => kind);
  };
  assert.deepEqual((await crowd(20)).toSorted(), [...Array(18).fill('busy'), ...Array(2).fill('wrong_credentials')]);
  assert.deepEqual(await crowd(1), ['throttled']);
});

test('Promise 6: a guess that nobody checked, as too many waited, does not count at the account', async (context) => {
  const { accounts, hasher } = accountsOn(await openMemory(context), keyring, 1);
  const fill = [1, 2].map((n) => accounts.signIn(typed(`nobody${n}@example.com`, 'x'), here));
  while (hasher.worked < fill.length) await new Promise(setImmediate);
  const guess = () => accounts.signIn(typed('ada@example.com', 'x'), here);
  const kinds = (await Promise.all(Array.from({ length: 5 }, guess))).map(({ kind }) => kind);
  assert.deepEqual([...new Set(kinds)], ['busy']);
  await Promise.all(fill);
  assert.equal((await guess()).kind, 'wrong_credentials');
});

test('design: at a stop strangers who wait to be hashed are turned away, and known browsers have their answer', async (context) => {
  const setup = await setUp(context);
  const marks = await knownBrowser(setup);
  const strangers = Array.from({ length: 10 }, (_, n) =>
    setup.accounts.signIn(typed(`nobody${n}@example.com`, 'x'), here),
  );
  const own = setup.accounts.signIn(typed('ada@example.com', PASSWORD, null, marks), here);
  while (setup.hasher.worked < 11 + 1) await new Promise(setImmediate);
  setup.accounts.turnStrangersAway();
  const kinds = (await Promise.all(strangers)).map(({ kind }) => kind);
  assert.ok(kinds.filter((kind) => kind === 'busy').length >= 8, `${kinds}`);
  assertSignedIn(await own);
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
  await setup.accounts.signIn(typed('ada@example.com', 'a wrong password', token), here);
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

test('an act on the id of a found account touches no account that this id names otherwise', async (context) => {
  const { accounts } = await setUp(context);
  const ada = await accounts.show('ada@example.com');
  const found = { id: 'ada@example.com' };
  for (const act of [
    () => accounts.show(found),
    () => accounts.invite(found, operator),
    () => accounts.update(found, { name: 'Other' }, operator),
    () => accounts.setPassword(found, 'another good password', operator),
    () => accounts.disable(found, operator),
    () => accounts.enable(found, operator),
    () => accounts.endSessions(found, operator),
    () => accounts.revokeGrants(found, operator),
    () => accounts.delete(found, operator),
  ])
    await assert.rejects(act, NothingThere, String(act));
  assert.deepEqual(await accounts.show(ada), ada);
});

test('ASVS 7.4.5: an operator ends all sessions of an account, and its password stays', async (context) => {
  const setup = await setUp(context);
  const { accounts } = setup;
  const tokens = [await signIn(setup), await signIn(setup)];
  await accounts.endSessions('ada@example.com', operator);
  for (const token of tokens) assert.equal(await accounts.accountOfSession(token), null);
  const [{ action, actor, resourceOwnerId } = assert.fail()] = await setup.store.listAuditEvents({ limit: 1 });
  const { id } = await accounts.show('ada@example.com');
  assert.deepEqual([action, actor, resourceOwnerId], ['user_sessions_ended', { ...operator, by: null }, id]);
  assert.ok(await accounts.accountOfSession(await signIn(setup)));
});

test('a new password and disabling end all sessions; enabling brings none back', async (context) => {
  const setup = await setUp(context);
  const { accounts } = setup;
  let token = await signIn(setup);
  await accounts.setPassword('ada@example.com', 'another good password', operator);
  assert.equal(await accounts.accountOfSession(token), null);
  assert.equal((await accounts.signIn(typed('ada@example.com', PASSWORD), here)).kind, 'wrong_credentials');
  token = assertSignedIn(await accounts.signIn(typed('ada@example.com', 'another good password'), here)).sessionToken;
  await accounts.disable('ada@example.com', operator);
  assert.equal(await accounts.accountOfSession(token), null);
  await accounts.enable('ada@example.com', operator);
  assert.equal(await accounts.accountOfSession(token), null);
  assertSignedIn(await accounts.signIn(typed('ada@example.com', 'another good password'), here));
});

test('signing in after a key rotation needs no new hash: the password is opened with its own key', async (context) => {
  const memory = await openMemory(context);
  await accountsOn(memory).accounts.add(newAda, operator);
  const { accounts } = accountsOn(memory, rotatedKeyring);
  const { password } = await accounts.show('ada@example.com');
  assert.equal((await accounts.signIn(typed('ada@example.com', 'a wrong password'), here)).kind, 'wrong_credentials');
  assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD), here));
  assert.deepEqual((await accounts.show('ada@example.com')).password, password);
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
  ['an address that is taken', { email: 'ADA@example.com', username: null }, /email address already/],
  ['a user name that is taken', { email: 'new@example.com' }, /user name already/],
];
for (const [name, wrong, message] of wrongAccounts) {
  test(`an account is refused, and nothing is added: ${name}`, async (context) => {
    const { accounts } = await setUp(context);
    const refused = accounts.add({ ...newAda, ...wrong }, operator);
    await assert.rejects(refused, (error) => error instanceof OperatorError && message.test(error.message));
    assert.equal((await allAccounts(accounts)).length, 1);
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
  assert.deepEqual(await accounts.endSessions(account.id, operator), account);
  await accounts.revokeGrants(account.id, operator);
  assert.equal((await accounts.show(account.id)).epoch, 1);
  await accounts.delete(account.id, operator);
  for (const act of [
    accounts.show(account.id),
    accounts.show('ada@example.com'),
    accounts.setPassword(account.id, PASSWORD, operator),
    accounts.disable(account.id, operator),
    accounts.enable(account.id, operator),
    accounts.endSessions(account.id, operator),
    accounts.revokeGrants(account.id, operator),
    accounts.delete(account.id, operator),
  ])
    await assert.rejects(act, /there is no account/);
});

test('promise 4: neither passwords nor session tokens are stored or recorded in clear', async (context) => {
  const setup = await setUp(context);
  const token = await signIn(setup);
  const kept = JSON.stringify([await allAccounts(setup.accounts), await setup.store.listAuditEvents({ limit: 100 })]);
  for (const secret of [PASSWORD, token]) assert.ok(!kept.includes(secret));
});

test('promise 5: failed sign-ins write nothing', async (context) => {
  const setup = await setUp(context);
  await setup.accounts.signIn(typed('ada@example.com', 'a wrong password'), here);
  await setup.accounts.signIn(typed('nobody@example.com', 'a wrong password'), here);
  assert.deepEqual(await actions(setup), ['user_added']);
});

test('Promise 5: whatever is typed as an address, the others do not wait for it', async (context) => {
  const setup = await setUp(context);
  const marks = '\u0344'.repeat(15_500) + '\u0316'.repeat(15_500);
  const start = process.threadCpuUsage();
  const outcome = setup.accounts.signIn(typed(marks, PASSWORD), here);
  const ms = process.threadCpuUsage(start).user / 1000;
  assert.equal((await outcome).kind, 'wrong_credentials');
  assert.ok(ms < 100, `${ms} ms`);
  await signIn(setup);
});

/** Of the password `U*U*`. */
const BCRYPT = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK';

/** Adds Bob, with a hash of another program. */
async function addBob({ store, hasher }: Pick<Setup, 'store' | 'hasher'>): Promise<void> {
  const hash = readForeignHash(BCRYPT);
  assert.ok('madeBy' in hash);
  const password = await hasher.wrap(hasher.seal(hash));
  const bob = sampleAccount({ id: 'usr_bob', username: null, email: 'bob@example.com', password });
  assert.equal(await store.addAccount(bob, 'bob@example.com', event('user_imported')), null);
}

test('ASVS 6.3.8: while there is a foreign hash, whatever was checked is answered when the floor is over', async (context) => {
  const memory = await openMemory(context);
  const ends: (() => void)[] = [];
  const setup = accountsOn(memory, keyring, 50, (end) => void ends.push(end));
  await setup.accounts.add(newAda, operator);
  await addBob(setup);
  for (const [email, password, kind] of [
    ['ada@example.com', PASSWORD, 'signed_in'],
    ['ada@example.com', 'wrong', 'wrong_credentials'],
    ['bob@example.com', 'wrong', 'wrong_credentials'],
    ['nobody@example.com', 'wrong', 'wrong_credentials'],
    ['ada@example.com', '', 'wrong_credentials'],
    ['bob@example.com', 'U*U*', 'signed_in'],
  ] as const) {
    let answered = false;
    const worked = setup.hasher.worked;
    const outcome = setup.accounts.signIn(typed(email, password), here).finally(() => {
      answered = true;
    });
    while (ends.length === 0 || (password !== '' && setup.hasher.worked === worked)) await new Promise(setImmediate);
    // The other lane: what was before it is done by then.
    await setup.hasher.verify(null, 'x', { lane: 'unknown', share: 'other' });
    await setup.hasher.verify(null, 'x', { lane: 'known', share: 'other' });
    await new Promise(setImmediate);
    assert.equal(answered, false, `${email} ${password}`);
    (ends.pop() as () => void)();
    assert.equal((await outcome).kind, kind);
  }
  assert.ok(!('foreign' in ((await setup.accounts.show('bob@example.com')).password ?? {})), 'our own now');
  assertSignedIn(await setup.accounts.signIn(typed('bob@example.com', 'U*U*'), here));
  assert.equal(ends.length, 0, 'and no floor is left');
});

test('an account has 60 sign-ins in ten minutes, whoever tries it with a wrong password beside', async (context) => {
  const setup = await setUp(context);
  const { accounts, clock, store } = setup;
  await accounts.add({ ...newAda, email: 'bob@example.com', username: null }, operator);
  const known = assertSignedIn(await accounts.signIn(typed('ada@example.com', PASSWORD), here)).knownBrowser;
  const again = () => accounts.signIn(typed('ada@example.com', PASSWORD, null, known), here);
  await accounts.signIn(typed('ada@example.com', 'a wrong password'), there);
  for (let n = 1; n < 60; n += 1) await again();
  assert.deepEqual(await again(), { kind: 'throttled', retryAfterSeconds: 10 });
  const events = await store.listAuditEvents({ action: 'sign_in', limit: 100 });
  assert.equal(events.length, 60, 'what is refused leaves no event');
  assertSignedIn(await accounts.signIn(typed('bob@example.com', PASSWORD), here));
  clock.now += 10_000;
  assertSignedIn(await again());
});
