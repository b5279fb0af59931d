/** A short and small run of bench/not-reading.ts; how quick the others are answered is judged in the long one alone. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DOCUMENT, type Run, runNotReading } from '../../bench/not-reading.ts';

describe('backpressure: whoever pipelines and never reads costs little, and nobody else an answer', {
  concurrency: true,
}, () => {
  const run: Run = { request: DOCUMENT, at: 'app', sockets: 200, seconds: 2, variables: {} };
  for (const [name, most] of [
    // More than the others have under way on a busy machine: they are one source as well.
    ['as many as one source may have', '150'],
    ['all of them', '400'],
  ] as const)
    test(`backpressure: ${name}`, { timeout: 300_000 }, async (t) => {
      const { statuses, memory, flood, errors } = await runNotReading(t, {
        ...run,
        variables: { VALETKEY_MAX_CONNECTIONS_PER_SOURCE: most },
      });
      assert.deepEqual(Object.keys(statuses), ['200'], JSON.stringify(statuses));
      assert.ok(flood.opened >= run.sockets, 'they were there');
      assert.equal(flood.left, 0);
      assert.ok(memory.most - memory.before < 200, JSON.stringify(memory));
      for (const line of errors) assert.match(line, /too many connections|"error":"too_many_requests"/);
    });
});
