import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askAsNobody, startCounted } from './anonymous.ts';

const ROUNDS = 10_000;
/** Pages of a round, which posts as often; one round in 20 has a request of each kind as well. */
const CHEAP = ['/sign-in', '/', '/operators', `/enroll?token=${'x'.repeat(43)}`, '/nothing'];
const AT_ONCE = 16;

test('Promise 5: 100,000 anonymous requests at the operators’ address leave no row', {
  timeout: 900_000,
}, async (t) => {
  const { service, passkey, countRows } = await startCounted(t);
  const before = countRows();
  const { operatorUrl } = service;
  const headers = { 'Sec-Fetch-Site': 'same-origin', Origin: operatorUrl };
  let [left, asked] = [ROUNDS, 0];
  const ask = async () => {
    while (left-- > 0) {
      if (left % 20 === 0) await askAsNobody(service, passkey);
      const body = new URLSearchParams({ answer: `{"id":"${passkey.id}"}`, name: 'Eve', role: 'admin' });
      const posts = ['/sign-in', '/operators', '/confirm', `/sign-in?token=${'x'.repeat(43)}`, '/sign-out'];
      const answers = await Promise.all([
        ...CHEAP.map((path) => fetch(operatorUrl + path, { redirect: 'manual' })),
        ...posts.map((path) => fetch(operatorUrl + path, { method: 'POST', redirect: 'manual', headers, body })),
      ]);
      for (const answer of answers) await answer.body?.cancel();
      assert.ok(answers.every(({ status }) => [200, 303, 400, 403, 404].includes(status)));
      asked += answers.length;
      service.clock.advance(1); // Within the limit of one source.
      service.log.length = 0;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  assert.equal(asked, 100_000);
  assert.deepEqual(countRows(), before);
});
