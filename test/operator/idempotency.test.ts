/** `Idempotency-Key`: what is made once, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Actor } from '../../src/oauth/trail/audit.ts';
import { Idempotency, KeyOfAnotherRequest } from '../../src/operator/idempotency.ts';
import { event, NOW, openAsService, operator, sampleClient } from '../support/storage.ts';

const DAY = 24 * 3_600_000;

async function start() {
  const { store } = await openAsService(':memory:');
  const clock = { now: NOW };
  const idempotency = new Idempotency(store, () => clock.now);
  let made = 0;
  const make = async (actor: Actor) => {
    made += 1;
    const id = `app_${made}`;
    const registered = await store.registerClient(
      sampleClient({ id }),
      event('client_registered', { clientId: id, actor }),
    );
    assert.equal(registered, true);
    return `new ${id}`;
  };
  const run = (key: string, request: readonly string[] = ['POST', '/x'], actor = operator) =>
    idempotency.run({ key, request }, actor, make, async (id) => `again ${id}`);
  return { store, clock, run };
}

test('a key makes one thing within 24 hours, and another one after them', async () => {
  const { clock, run } = await start();
  assert.equal(await run('a'), 'new app_1');
  clock.now += DAY - 1;
  assert.equal(await run('a'), 'again app_1');
  clock.now += 1;
  assert.equal(await run('a'), 'new app_2');
});

test('a key of another request is refused, and of another operator is another key', async () => {
  const { run } = await start();
  assert.equal(await run('a'), 'new app_1');
  await assert.rejects(run('a', ['POST', '/y']), KeyOfAnotherRequest);
  assert.equal(await run('a', ['POST', '/y'], { ...operator, id: 'opr_other' }), 'new app_2');
});

test('of requests with one key at once, one makes something, and the others get it', async () => {
  const { run } = await start();
  const answers = await Promise.all(Array.from({ length: 20 }, () => run('a')));
  const [first] = answers.filter((answer) => answer.startsWith('new'));
  assert.deepEqual(
    answers.filter((answer) => answer !== first),
    Array.from({ length: 19 }, () => `again ${first?.slice(4)}`),
  );
});

test('a key whose request failed is good for another try', async () => {
  const { store, run } = await start();
  await store.registerClient(sampleClient({ id: 'app_1' }), event('client_registered'));
  await assert.rejects(run('a'));
  assert.equal(await run('a'), 'new app_2');
});
