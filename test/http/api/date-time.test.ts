/** Moments in JSON answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateTime } from '../../../src/http/json/date-time.ts';

test('RFC 3339 §5.6: a moment is written as JavaScript writes it, on any day and at any time', () => {
  const STEP = 86_400_000 * 3 + 1_234_567;
  for (let at = -62_000_000_000_000; at < 253_402_300_799_999; at += STEP * 997)
    assert.equal(dateTime(at), new Date(at).toISOString());
  for (const at of [-1, 0, 1, 999, 1000, 59_999, 60_000, 3_599_999, 86_399_999, 86_400_000, 1_795_324_208_120])
    assert.equal(dateTime(at), new Date(at).toISOString());
});
