import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountPace, type PaceBounds, TURN_TIMEOUT_MS } from '../../src/accounts/guessing/account-pace.ts';
import { TurnedAway } from '../../src/accounts/guessing/fair-line.ts';
import { Throttle } from '../../src/accounts/guessing/throttle.ts';

const ADA = 'ada@example.com';
const LIMITS = {
  often: { count: 10, seconds: 10 },
  seldom: { count: 10, seconds: 2 },
  accountAndNetwork: { count: 10, seconds: 86_400 },
};
const sourceOf = (network: number) => `2001:db8:${network.toString(16)}:1::/64`;

/** The pace with a clock of its own; checks end when `end` says so, right or wrong. */
function paceWith(bounds?: PaceBounds) {
  const clock = { now: Date.UTC(2026, 0, 2), elapsed: 0 };
  const timers = new Set<{ readonly at: number; readonly ms: number; readonly act: () => void }>();
  const pace = new AccountPace({
    often: new Throttle(LIMITS.often),
    seldom: new Throttle(LIMITS.seldom),
    accountAndNetwork: new Throttle(LIMITS.accountAndNetwork),
    now: () => clock.now,
    later: (act, ms) => {
      const timer = { at: clock.elapsed + ms, ms, act };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    ...(bounds ? { bounds } : {}),
  });
  const began: string[] = [];
  const busy: string[] = [];
  const ends: ((isRight: boolean) => void)[] = [];
  const come = (account: string, network: number, name = `${account} ${network}`, signal?: AbortSignal) => {
    const check = () => {
      began.push(name);
      return new Promise<boolean>((end) => ends.push(end));
    };
    void pace.run({ account, source: sourceOf(network) }, check, signal).catch((error: unknown) => {
      assert.ok(error instanceof TurnedAway);
      busy.push(name);
    });
  };
  const settled = () => new Promise(setImmediate);
  /** Ends all that are checked, again and again, until nobody is. */
  const endAll = async (isRight = false) => {
    for (await settled(); ends.length > 0; await settled()) for (const end of ends.splice(0)) end(isRight);
  };
  /** Ends one check. */
  const endOne = async (isRight = false) => {
    await settled();
    ends.shift()?.(isRight);
    await settled();
  };
  const advance = async (ms: number) => {
    clock.now += ms;
    clock.elapsed += Math.max(0, ms); // A timer knows nothing of a clock that steps back.
    for (const timer of [...timers].filter(({ at }) => at <= clock.elapsed)) if (timers.delete(timer)) timer.act();
    await settled();
  };
  /** Lets time pass, while whatever is checked ends at once. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      await advance(100);
      await endAll();
    }
  };
  /** How many alarms there are for a pace. */
  const alarms = () => [...timers].filter(({ ms }) => ms !== TURN_TIMEOUT_MS).length;
  return { pace, come, endAll, endOne, advance, pass, began, busy, timers, alarms };
}

/** A network that tried an account as often as it may until that is often. */
async function tryOften({ come, pass, began }: ReturnType<typeof paceWith>, network: number): Promise<void> {
  for (let n = 0; n < LIMITS.accountAndNetwork.count; n += 1) {
    come(ADA, network);
    await pass(200);
  }
  began.length = 0;
}

test('Promise 6: an account is tried by one stranger at a time, and other accounts meanwhile', async () => {
  const { come, endAll, began } = paceWith();
  for (const account of [ADA, ADA, 'bob@example.com', ADA, 'nobody@example.com']) come(account, 1);
  await new Promise(setImmediate);
  assert.deepEqual(began, [`${ADA} 1`, 'bob@example.com 1', 'nobody@example.com 1']);
  await endAll();
  assert.equal(began.length, 5);
});

test('Promise 6: of 277 guesses at one account from one /48 eleven are let in or wait; an owner elsewhere is next', async () => {
  const { come, endOne, began, busy } = paceWith();
  for (let n = 0; n < 277; n += 1) come(ADA, 1);
  await new Promise(setImmediate);
  come(ADA, 2, 'owner');
  await endOne();
  await endOne(true);
  assert.deepEqual([busy.length, began], [266, [`${ADA} 1`, `${ADA} 1`, 'owner']]);
});

test('Promise 6: 60 networks at one account have ten guesses checked at once and five a second; an owner has a turn among them, and others do not even wait', async () => {
  const { come, endAll, pass, began, busy } = paceWith();
  for (let n = 0; n < 10; n += 1) for (let network = 1; network <= 60; network += 1) come(ADA, network);
  come(ADA, 2000, 'owner');
  come('bob@example.com', 2001, 'bob');
  await endAll();
  assert.deepEqual([began.length, began.includes('bob')], [11, true]);
  await pass(10_000);
  assert.equal(began.length, 61);
  await pass(2000);
  assert.ok(began.includes('owner'), 'before the second one of each network');
  assert.deepEqual(busy, []);
});

test('Promise 6: a network that tried an account often has its turn within a second, though others come for the first time without end', async () => {
  const setup = paceWith();
  const { come, pass, began } = setup;
  await tryOften(setup, 1);
  for (let n = 0; n < LIMITS.often.count; n += 1) come(ADA, 1);
  for (let network = 100; network < 130; network += 1) come(ADA, network);
  await pass(100);
  come(ADA, 1, 'owner');
  for (let network = 200; !began.includes('owner'); network += 1) {
    assert.ok(network < 210, `${network - 200} tenths of a second`);
    come(ADA, network);
    await pass(100);
  }
});

test('Promise 6: nor does such a network wait longer where checks are slower than the pace of the others', async () => {
  const setup = paceWith();
  const { come, endOne, advance, began } = setup;
  await tryOften(setup, 1);
  for (let network = 100; network < 120; network += 1) come(ADA, network);
  come(ADA, 1, 'owner');
  for (let n = 0; n < 2; n += 1) {
    await advance(1000);
    await endOne();
  }
  assert.ok(began.includes('owner'), `${began}`);
});

test('Promise 6: nobody waits for longer than half a minute for a turn, and who then is turned away leaves no place behind', async () => {
  const setup = paceWith();
  const { come, pass, began, busy, timers } = setup;
  for (let network = 1; network <= 200; network += 1) come(ADA, network);
  await pass(TURN_TIMEOUT_MS - 100);
  assert.deepEqual([began.length, busy.length], [159, 0], 'ten, and five a second');
  await pass(100);
  assert.deepEqual([began.length + busy.length, timers.size], [200, 0]);
  come(ADA, 1000);
  await pass(200);
  assert.equal(began.at(-1), `${ADA} 1000`);
});

test('Promise 5: who hangs up while they wait is not checked, and leaves no place behind', async () => {
  const { come, endAll, began, busy, timers } = paceWith({ ofNetworkForOne: 2, ofNetwork: 2, inAll: 2 });
  const clients = Array.from({ length: 3 }, () => new AbortController());
  for (const { signal } of clients) come(ADA, 1, 'gone', signal);
  for (const client of clients.slice(1)) client.abort();
  come(ADA, 1, 'gone before', AbortSignal.abort());
  for (const name of ['honest', 'patient']) come(ADA, 1, name);
  await endAll();
  assert.deepEqual(began, ['gone', 'honest', 'patient'], 'the first was checked already');
  assert.deepEqual(busy, ['gone', 'gone', 'gone before']);
  assert.equal(timers.size, 0);
});

test('design: a network that tried an account often waits for the slower pace, and one that did not does not', async () => {
  const setup = paceWith();
  const { come, endAll, endOne, advance, began, alarms } = setup;
  for (const network of [1, 2]) await tryOften(setup, network);
  for (let n = 0; n < LIMITS.often.count; n += 1) come(ADA, 1);
  await endAll();
  assert.equal(began.splice(0).length, 10, 'ten at once');
  for (const network of [1, 2, 1]) come(ADA, network);
  await endAll();
  assert.deepEqual(began, []);
  come(ADA, 8, 'seldom');
  await endAll();
  assert.deepEqual(began, ['seldom'], 'which has a pace of its own');
  assert.equal(alarms(), 1, 'one is enough');
  const seconds = async () => {
    let count = 0;
    for (const before = began.length; began.length === before; count += 1) await advance(1000);
    await endOne();
    return count;
  };
  assert.deepEqual([await seconds(), await seconds(), await seconds()], [1, 1, 1], 'one each second');
  assert.deepEqual(began, ['seldom', `${ADA} 1`, `${ADA} 2`, `${ADA} 1`]);
  assert.equal(alarms(), 0);
  await advance(86_400_000);
  come(ADA, 1, 'the next day');
  await endAll();
  assert.equal(began.at(-1), 'the next day');
});

test('design: what is right is no guess: it slows down neither its network nor its account', async () => {
  const { come, endAll, began } = paceWith();
  for (let n = 0; n < 200; n += 1) {
    come(ADA, 1);
    await endAll(true);
  }
  assert.equal(began.length, 200);
});

test('design: a clock that steps back an hour holds nobody up for longer than the pace does', async () => {
  const setup = paceWith();
  await tryOften(setup, 1);
  for (let n = 0; n <= LIMITS.often.count; n += 1) setup.come(ADA, 1);
  await setup.endAll();
  assert.equal(setup.began.length, 10);
  await setup.advance(-3_600_000);
  for (let second = 0; second < 10; second += 1) await setup.advance(1000);
  assert.equal(setup.began.length, 11);
});

const bounds = { ofNetworkForOne: 2, ofNetwork: 3, inAll: 6 };

test('design: of a network a bounded number waits, for one account and for all', async () => {
  const { come, endAll, busy } = paceWith(bounds);
  for (const account of ['a', 'b', 'c']) come(account, 1);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) come(name.slice(0, 1), 1, name);
  come('a', 2, 'another network');
  await endAll();
  assert.deepEqual(busy, ['a3', 'b2', 'c1']);
});

test('Promise 6: where there is no room, the account that most wait for loses who came last of its fullest network', async () => {
  const { come, endAll, busy } = paceWith(bounds);
  for (const account of ['a', 'b']) come(account, 100);
  for (const [network, name] of [
    [1, 'a1'],
    [1, 'a2'],
    [2, 'a3'],
    [3, 'a4'],
    [4, 'a5'],
    [5, 'a6'],
  ] as const)
    come('a', network, name);
  await new Promise(setImmediate);
  for (const [network, name] of [
    [6, 'b1'],
    [7, 'b2'],
    [8, 'b3'],
  ] as const) {
    come('b', network, name);
    await new Promise(setImmediate);
  }
  come('b', 9, 'b4');
  await endAll();
  assert.equal(busy[0], 'a2');
  assert.deepEqual(
    busy.map((name) => name.slice(0, 1)),
    ['a', 'a', 'a', 'b'],
  );
});

test('design: where there is no room, who tried the account often loses before who did not', async () => {
  const setup = paceWith({ ...bounds, inAll: 2 });
  for (const network of [1, 2]) await tryOften(setup, network);
  for (let n = 0; n < LIMITS.often.count; n += 1) {
    setup.come(ADA, 1);
    await setup.endAll();
  }
  for (const network of [1, 2]) setup.come(ADA, network, `often ${network}`);
  for (const network of [11, 12, 13, 14]) setup.come(ADA, network, `seldom ${network}`);
  await setup.endAll();
  assert.deepEqual([...setup.busy.slice(0, 2)].sort(), ['often 1', 'often 2']);
  assert.match(String(setup.busy[2]), /^seldom/);
  assert.equal(setup.began.filter((name) => name.startsWith('seldom')).length, 3);
});

test('design: at a stop whoever waits is turned away, and who comes then waits no more', async () => {
  const { pace, come, endAll, began, busy } = paceWith();
  for (let network = 1; network <= 20; network += 1) come(ADA, network);
  pace.stop();
  come(ADA, 21);
  await endAll();
  assert.deepEqual([began.length, busy.length], [1, 20]);
  come(ADA, 22);
  await endAll();
  assert.equal(began.length, 2, 'who need not wait is let in');
});
