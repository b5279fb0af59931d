import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ASSUMED, plan, planTable } from '../../bench/scaling.ts';

test("the scaling plan's table is what the script computes", () => {
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  assert.ok(page.includes(`\n${planTable()}\n`), 'put the output of `node bench/scaling.ts` into docs/scaling.md');
});

test('the busiest hour has its multiple of the mean, and a token its checks', () => {
  const { refresh, check, written } = plan({
    ...ASSUMED,
    grants: 86_400,
    refreshesPerDay: 10,
    peak: 2,
    checksPerToken: 3,
    marksPerToken: 5,
    grantDays: 1,
  });
  assert.deepEqual({ refresh, check }, { refresh: 20, check: 60 });
  // A mark for each check, since they come ten minutes apart, and two writes for each of two Allows.
  assert.equal(written, 20 + 60 + 2 * 2);
});

test('SQLite serves while half a core and 10 GB are enough; what one server cannot do needs more than one', () => {
  const storeOf = (some: Partial<typeof ASSUMED>, grants: number) => plan({ ...ASSUMED, ...some, grants }).store;
  assert.equal(storeOf({}, 1e6), 'SQLite');
  assert.equal(storeOf({ refreshesPerDay: 48 }, 1e6), '1 PostgreSQL');
  assert.equal(storeOf({ eventsPerGrant: 250 }, 1e6), '1 PostgreSQL');
  assert.match(storeOf({}, 1e9), /^[2-9] PostgreSQL$/);
});

test('more of anything never needs less', () => {
  for (const name of ['refreshesPerDay', 'checksPerToken', 'marksPerToken', 'eventsPerGrant', 'peak'] as const) {
    const [less, more] = [1, 2].map((times) => plan({ ...ASSUMED, grants: 1e8, [name]: ASSUMED[name] * times }));
    for (const need of ['rows', 'written', 'walMB'] as const)
      assert.ok((less?.[need] ?? 0) <= (more?.[need] ?? 0), name);
    for (const end of [0, 1]) assert.ok((less?.serverCores?.[end] ?? 0) <= (more?.serverCores?.[end] ?? 0), name);
  }
});
