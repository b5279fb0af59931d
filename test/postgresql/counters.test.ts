import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type SharedCounters, Throttle } from '../../src/accounts/guessing/throttle.ts';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { addKey, call, type TestApi } from '../support/operator-api.ts';
import { PATIENT } from '../support/postgres.ts';
import { Clock, freePort, startTestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { NOW } from '../support/storage.ts';
import { openInstance } from './instance.ts';

const server = await sharedPostgres();
after(() => server.remove());
const url = await server.createDatabase();
const [one, other] = [await openInstance(url, PATIENT), await openInstance(url, PATIENT)];
after(() => Promise.all([one.close(), other.close()]));

const LIMIT = { count: 10, seconds: 300 };
/** What was moved, and is not answered yet. */
const moving: Promise<number>[] = [];
const throttles = () =>
  [one, other].map(({ counters }) => new Throttle(LIMIT, 'guesses', noted(counters ?? assert.fail()))) as [
    Throttle,
    Throttle,
  ];

/** The same counters, of which a test knows when they have answered. */
function noted(counters: SharedCounters): SharedCounters {
  return {
    move(...parameters) {
      const answer = counters.move(...parameters);
      moving.push(answer);
      return answer;
    },
  };
}

/** Guesses once, if that may be, and waits until the database has counted it. */
async function guess(throttle: Throttle, key: string): Promise<boolean> {
  if (throttle.wait([key], NOW) > 0) return false;
  throttle.count([key], NOW);
  await Promise.all(moving.splice(0));
  return true;
}

test('Promise 6: guesses at two instances count together, but for the one that an instance has not heard of', async () => {
  const [here, there] = throttles();
  let through = 0;
  for (let turn = 0; turn < 20; turn += 1) if (await guess(turn % 2 === 0 ? here : there, 'ada')) through += 1;
  assert.ok(through === LIMIT.count || through === LIMIT.count + 1, String(through));
  assert.equal(await guess(here, 'somebody else'), true);
});

/** The same counters, whose answers are held until `open` lets them through. */
function held(counters: SharedCounters) {
  const moves: { readonly answer: Promise<number>; readonly open: () => void }[] = [];
  const move: SharedCounters['move'] = (...parameters) => {
    const gate = Promise.withResolvers<void>();
    const answer = Promise.all([counters.move(...parameters), gate.promise]).then(([arrival]) => arrival);
    moves.push({ answer, open: gate.resolve });
    return answer;
  };
  return { moves, counters: { move } };
}

test('Promise 6: guesses that never pause count together too: an instance learns of others while its own are under way', async () => {
  const limit = { count: 100, seconds: 100 };
  const instances = [one, other].map(({ counters }) => {
    const { moves, counters: own } = held(counters ?? assert.fail());
    return { moves, throttle: new Throttle(limit, 'busy', own) };
  });
  /** Lets these answers through, and waits until they are taken over. */
  const answer = async (moves: { readonly answer: Promise<number>; readonly open: () => void }[]) => {
    for (const { open } of moves) open();
    await Promise.all(moves.map((move) => move.answer));
  };
  let through = 0;
  while (instances.some(({ throttle }) => throttle.wait(['ada'], NOW) === 0)) {
    const earlier = instances.flatMap(({ moves }) => moves.splice(0));
    // Each is answered when the next guess is under way.
    for (const { throttle } of instances) {
      if (throttle.wait(['ada'], NOW) > 0) continue;
      throttle.count(['ada'], NOW);
      through += 1;
    }
    await answer(earlier);
  }
  assert.ok(through < 1.5 * limit.count, `${through} of 100`);
  while (instances.some(({ moves }) => moves.length > 0))
    await answer(instances.flatMap(({ moves }) => moves.splice(0)));
  for (const { throttle } of instances) assert.equal(throttle.left('ada', NOW), 0);
});

test('Promise 6: a success is told after the guesses before it and before those after it, while none was answered', async () => {
  const [here, there] = throttles();
  for (let n = 0; n < 5; n += 1) here.count(['mixed'], NOW);
  here.reset('mixed', NOW);
  for (let n = 0; n < 3; n += 1) here.count(['mixed'], NOW);
  assert.equal(here.left('mixed', NOW), LIMIT.count - 3);
  while (moving.length > 0) await Promise.all(moving.splice(0));
  assert.equal(here.left('mixed', NOW), LIMIT.count - 3);
  await guess(there, 'mixed');
  assert.equal(there.left('mixed', NOW), LIMIT.count - 4);
});

test('Promise 6: a success at one instance forgets what was guessed at all of them', async () => {
  const [here, there] = throttles();
  for (let turn = 0; turn < LIMIT.count; turn += 1) await guess(here, 'forgetful');
  assert.ok(here.wait(['forgetful'], NOW) > 0);
  here.reset('forgetful', NOW);
  await Promise.all(moving.splice(0));
  for (let turn = 0; turn < LIMIT.count; turn += 1) assert.equal(await guess(there, 'forgetful'), true, String(turn));
});

test('Promise 6: after wrong guesses and a success as many may follow as at first, before and after the database has answered', async () => {
  const [here, there] = throttles();
  for (let n = 0; n < 5; n += 1) await guess(here, 'right');
  here.count(['right'], NOW);
  here.refund(['right'], NOW);
  here.reset('right', NOW);
  assert.equal(here.left('right', NOW), LIMIT.count);
  for (const answer of moving.splice(0)) {
    await answer;
    assert.equal(here.left('right', NOW), LIMIT.count);
  }
  for (let n = 0; n < LIMIT.count; n += 1) assert.equal(await guess(here, 'right'), true, String(n));
  assert.equal(await guess(here, 'right'), false);
  assert.equal(await guess(there, 'right'), true, 'which had not heard of them');
  assert.equal(await guess(there, 'right'), false);
});

test('Promise 6: what is counted and taken back at once leaves nothing, and a guess of another instance meanwhile is counted', async () => {
  const [here, there] = throttles();
  for (let n = 0; n < 5; n += 1) {
    here.count(['pairs'], NOW);
    here.refund(['pairs'], NOW);
  }
  await Promise.all(moving.splice(0));
  assert.equal(here.left('pairs', NOW), LIMIT.count);
  there.count(['pairs'], NOW);
  await Promise.all(moving.splice(0));
  here.count(['pairs'], NOW);
  await Promise.all(moving.splice(0));
  assert.equal(here.left('pairs', NOW), LIMIT.count - 2);
  there.reset('pairs', NOW);
  await Promise.all(moving.splice(0));
  here.count(['pairs'], NOW);
  here.refund(['pairs'], NOW);
  await Promise.all(moving.splice(0));
  assert.equal(here.left('pairs', NOW), LIMIT.count, 'nor is what another instance forgot');
});

test('Promise 6: networks have their budget, and a known browser its ten wrong passwords, at all instances together', async () => {
  const year = 365 * 24 * 3600;
  const cases = [
    { limit: { count: 10, seconds: 10 * year }, key: 'mark', most: 10 },
    { limit: LIMIT, key: { key: '2001:db8:1:100::/56', weight: 4 }, most: 40 },
  ];
  for (const { limit, key, most } of cases) {
    const [here, there] = [one, other].map(
      ({ counters }) => new Throttle(limit, 'wide', noted(counters ?? assert.fail())),
    ) as [Throttle, Throttle];
    let through = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      const throttle = turn % 2 === 0 ? here : there;
      if (throttle.wait([key], NOW) > 0) continue;
      throttle.count([key], NOW);
      await Promise.all(moving.splice(0));
      through += 1;
    }
    assert.ok(through === most || through === most + 1, `${through} of ${most}`);
    const later = NOW + (limit.seconds / limit.count) * 1000 - 1000;
    assert.ok(limit === LIMIT || here.wait([key], later) > 0, 'none is forgotten for a year');
  }
});

test('a counter never reaches further ahead than its window, however many count at once', async () => {
  const moves = Array.from({ length: 100 }, () => one.counters?.move('flood', 30_000, 300_000, NOW));
  const arrivals = await Promise.all(moves);
  assert.equal(Math.max(...arrivals.map(Number)), NOW + 300_000);
  assert.equal(await one.counters?.move('flood', -300_000, 300_000, NOW), NOW);
});

test('operators §4: a key makes 100 calls in 10 s at all instances together, however many at once', async (t) => {
  const url = await server.createDatabase();
  const [variables, clock] = [{ VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: makeRootKey() }, new Clock()];
  const instances: TestApi[] = [];
  for (const _ of [1, 2]) {
    const operatorUrl = `http://localhost:${await freePort()}`;
    const started = await startTestService(t, { ...variables, VALETKEY_OPERATOR_URL: operatorUrl }, clock);
    instances.push({ ...started, operatorUrl });
  }
  const { key } = await addKey(instances[0] as TestApi);
  const statuses: number[] = [];
  const callers = instances.flatMap((instance) => Array.from({ length: 8 }, () => instance));
  const callOften = async (instance: TestApi) => {
    for (let n = 0; n < 15; n += 1) statuses.push((await call(instance, key, '/v1/scopes')).status);
  };
  await Promise.all(callers.map(callOften));
  const allowed = statuses.filter((status) => status === 200).length;
  assert.ok(allowed >= 100 && allowed < 150, `${allowed} of ${statuses.length}`);
  for (const instance of instances) assert.equal((await call(instance, key, '/v1/scopes')).status, 429);
  clock.advance(10);
  for (const instance of instances) assert.equal((await call(instance, key, '/v1/scopes')).status, 200);
});

test('Promise 5: wrong keys of the operators’ API leave no row, so that no number of networks fills the table', async (t) => {
  const url = await server.createDatabase();
  const operatorUrl = `http://localhost:${await freePort()}`;
  const variables = { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: makeRootKey(), VALETKEY_OPERATOR_URL: operatorUrl };
  const service = await startTestService(t, variables);
  const ask = () => fetch(`${operatorUrl}/v1/clients`, { headers: { Authorization: 'Bearer vk_ok_wrong' } });
  for (let time = 0; time < 30; time += 1) assert.equal((await ask()).status, 401);
  assert.equal((await ask()).status, 429);
  await service.stop();
  assert.deepEqual(await server.query(url, 'SELECT 1 FROM throttle'), []);
});
