// Crowds at sign-in, through the program: one subscriber with thousands of networks, and many networks at one account.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRootKey } from '../../../src/settings/root-keys.ts';
import { Browser, formOf, type Visit } from '../../support/browser.ts';
import { PATIENT } from '../../support/postgres.ts';
import { hold, requestHead } from '../../support/raw-http.ts';
import { addUser, type Lifetime, PASSWORD, startTestService, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { storesOfRun } from '../../support/stores.ts';

const server = await sharedPostgres();
after(() => server.remove());

/** Networks that come to one account; nobody of them waits for half a minute, after which they are turned away. */
const CROWD = 60;
const WRONG = 'a wrong password';
const trusted = { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' };

/** The instances of an installation: one on SQLite, two on PostgreSQL, which share their counters. */
const stores: Record<string, (t: Lifetime) => Promise<TestService[]>> = {
  SQLite: async (t) => [await startTestService(t, trusted)],
  PostgreSQL: async (t) => {
    const shared = { ...trusted, VALETKEY_KEYS: makeRootKey(), VALETKEY_DATABASE_URL: await server.createDatabase() };
    return [
      await startTestService(t, shared, undefined, PATIENT),
      await startTestService(t, shared, undefined, PATIENT),
    ];
  },
};

/** Somebody's tries to sign in, each from an address of its own, with one form. */
async function guesser({ appUrl }: TestService) {
  const browser = new Browser();
  const page = await browser.get(`${appUrl}/sign-in`);
  return (from: string, email = 'ada@example.com'): Promise<Visit> =>
    browser.submit(page, '/sign-in', { email, password: WRONG }, { 'X-Forwarded-For': from });
}

/** Signs somebody in from an address, in a browser of theirs or in a new one. */
async function signInFrom(
  { appUrl }: TestService,
  from: string,
  email = 'ada@example.com',
  browser = new Browser(),
): Promise<Visit> {
  browser.headers['X-Forwarded-For'] = from;
  browser.cookies.delete('valetkey_session');
  return browser.submit(await browser.get(`${appUrl}/sign-in`), '/sign-in', { email, password: PASSWORD });
}

/** Sends a guess from an address, and does not wait for the answer. */
async function postAndHold({ appUrl }: TestService, from: string) {
  const browser = new Browser();
  const { fields } = formOf((await browser.get(`${appUrl}/sign-in`)).body, '/sign-in');
  const body = String(new URLSearchParams({ ...fields, email: 'ada@example.com', password: WRONG }));
  const head = requestHead(appUrl, 'POST /sign-in', {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': String(body.length),
    'Sec-Fetch-Site': 'same-origin',
    Origin: appUrl,
    'X-Forwarded-For': from,
    Cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  });
  return hold(appUrl, head + body);
}

/** Asks and is answered a few times: what was sent before has been read by then. */
async function laterRequests({ appUrl }: TestService): Promise<void> {
  for (let n = 0; n < 3; n += 1) await new Browser().get(`${appUrl}/sign-in`);
}

/** Lets the clocks go on while something is waited for. */
async function whileTimeGoesOn<T>(instances: readonly TestService[], happening: Promise<T>): Promise<T> {
  const going = setInterval(() => instances.forEach(({ clock }) => void clock.advance(1)), 50);
  return happening.finally(() => clearInterval(going));
}

/** Visits that are under way: how many have been answered, and when all but so many are. */
function watched(visits: readonly Promise<Visit>[]) {
  const answered = { count: 0 };
  for (const visit of visits) void visit.then(() => (answered.count += 1));
  const allBut = async (rest: number) => {
    const open = new Set(visits);
    for (const visit of visits) void visit.then(() => open.delete(visit));
    while (open.size > rest) await Promise.race(open);
  };
  return { all: Promise.all(visits), allBut, answered };
}

for (const [store, start] of storesOfRun(stores))
  describe(`on ${store}`, () => {
    test('Promise 6: 277 guesses from the /64s of one /48 do not pass, and the owner signs in from elsewhere at once', async (t) => {
      const instances = await start(t);
      const [one] = instances as [TestService];
      await addUser(one);
      const guessers = await Promise.all(instances.map(guesser));
      const attack = watched(
        Array.from({ length: 277 }, (_, n) => {
          const guess = guessers[n % guessers.length] as (from: string) => Promise<Visit>;
          // From a /56 of its own, as far as they go: none of those counts enough to be refused for its own guesses.
          return guess(`2001:db8:1:${((n % 256) * 256 + Math.floor(n / 256)).toString(16)}::1`);
        }),
      );
      // Two instances may let in so many guesses at first that the owner waits for a second or two: time goes on as outside.
      let seconds = 0;
      const going = setInterval(() => {
        seconds += 1;
        for (const { clock } of instances) clock.advance(1);
      }, 1000);
      const owners = await Promise.all(
        Array.from({ length: 5 }, (_, n) => signInFrom(instances.at(-1) as TestService, `192.0.2.${n}`)),
      ).finally(() => clearInterval(going));
      assert.deepEqual([...new Set(owners.map(({ status }) => status))], [303]);
      await attack.allBut(10 * instances.length);
      await Promise.all(instances.map((instance) => instance.stop()));
      const statuses = (await attack.all).map(({ status }) => status);
      const passed = statuses.filter((status) => status === 400).length;
      // Of each instance at most: ten at once at each pace, then one each second, and at the faster pace, five each second,
      // the ten who waited when the network became one that tried often.
      const ofEach = 10 + 10 + seconds + Math.min(10, 5 * seconds);
      assert.ok(passed <= ofEach * instances.length, `${passed} passed in ${seconds} s`);
      assert.deepEqual([...new Set(statuses)].sort(), [400, 503]);
      for (const { status, headers } of await attack.all) assert.equal(headers.has('retry-after'), status === 503);
    });

    test('Promise 6: a crowd of networks at one account keeps its owner waiting as a stranger, but refuses nobody, and others sign in at once', async (t) => {
      const instances = await start(t);
      const [own, other = own] = instances as [TestService, TestService | undefined];
      await addUser(own);
      await addUser(own, 'bob@example.com');
      const known = new Browser();
      assert.equal((await signInFrom(own, '192.0.2.1', 'ada@example.com', known)).status, 303);
      const guess = await guesser(own);
      const crowd = watched(Array.from({ length: CROWD }, (_, n) => guess(`10.0.${n}.1`)));
      const owner = signInFrom(own, '192.0.2.1');
      for (const instance of [own, other]) {
        // The crowd’s own address: what is counted for a network does not count for a browser that is known.
        assert.equal((await signInFrom(instance, '10.0.0.1', 'ada@example.com', known)).status, 303);
      }
      assert.ok(crowd.answered.count < CROWD / 2, `${crowd.answered.count} were before the owner’s own browser`);
      assert.equal((await signInFrom(own, '198.51.100.1', 'bob@example.com')).status, 303);
      // Ten at once of each instance, and the clock stands still.
      assert.ok(crowd.answered.count <= 10, `${crowd.answered.count} were before him`);
      assert.equal((await whileTimeGoesOn(instances, owner)).status, 303);
      const statuses = (await whileTimeGoesOn(instances, crowd.all)).map(({ status }) => status);
      assert.deepEqual([...new Set(statuses)], [400]);
    });

    test('Promise 6: an owner whose network tried the account often signs in while others come for the first time without end', async (t) => {
      const instances = await start(t);
      const [own] = instances as [TestService];
      await addUser(own);
      const guess = await guesser(own);
      for (let n = 0; n < 12; n += 1) {
        assert.equal((await guess(`192.0.2.${n}`)).status, 400);
        own.clock.advance(1);
      }
      const crowd = Array.from({ length: 3 }, (_, n) => guess(`10.0.${n}.1`));
      let isIn = false;
      const keepOn = async (third: number) => {
        await crowd[third];
        for (let n = 1; !isIn && n < 60; n += 1) await guess(`10.${third + 1}.${n}.1`);
        return isIn;
      };
      const attack = Promise.all([0, 1, 2].map(keepOn));
      const owner = signInFrom(own, '192.0.2.200').finally(() => (isIn = true));
      assert.equal((await whileTimeGoesOn(instances, owner)).status, 303);
      assert.deepEqual(await whileTimeGoesOn(instances, attack), [true, true, true], 'before the crowd was through');
    });

    test('Promise 6: a right password forgets the wrong ones before it', async (t) => {
      const [own] = (await start(t)) as [TestService];
      await addUser(own);
      const guess = await guesser(own);
      const from = '192.0.2.1';
      const guesses = async (count: number) => {
        const statuses: number[] = [];
        for (let n = 0; n < count; n += 1) {
          statuses.push((await guess(from)).status);
          own.clock.advance(0.2);
        }
        return statuses;
      };
      assert.deepEqual(await guesses(5), Array(5).fill(400));
      for (let n = 0; n < 3; n += 1) assert.equal((await signInFrom(own, from)).status, 303);
      assert.deepEqual(await guesses(11), [...Array(10).fill(400), 429]);
    });

    test('Promise 5: who hangs up while they wait leaves no place behind', async (t) => {
      const instances = await start(t);
      const [own] = instances as [TestService];
      await addUser(own);
      const guess = await guesser(own);
      for (let n = 0; n < 10; n += 1) assert.equal((await guess(`10.0.${n}.1`)).status, 400);
      // From here on strangers wait at this account, as the clock stands still.
      const sockets = await Promise.all(Array.from({ length: 10 }, (_, n) => postAndHold(own, `10.9.0.${n}`)));
      await laterRequests(own);
      for (const socket of sockets) socket.destroy();
      const left = () => own.log.filter((line) => /"route":"\/sign-in","status":503/.test(line)).length;
      while (left() < sockets.length) await sleep(10);
      const owner = signInFrom(own, '10.9.0.200');
      assert.equal((await whileTimeGoesOn(instances, owner)).status, 303);
    });
  });

test('stop: whoever waits to be let in is told to come again', async (t) => {
  const own = await startTestService(t, trusted);
  const guess = await guesser(own);
  for (let n = 0; n < 20; n += 1) assert.equal((await guess(`10.0.0.${n}`)).status, 400);
  // The network waits for the slower pace from here on, and the clock stands still.
  const waiting = Array.from({ length: 5 }, (_, n) => guess(`10.0.0.${100 + n}`));
  await laterRequests(own);
  await own.stop();
  const visits = await Promise.all(waiting);
  assert.deepEqual([...new Set(visits.map(({ status }) => status))], [503]);
});
