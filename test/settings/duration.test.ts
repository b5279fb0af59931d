import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readDuration } from '../../src/settings/duration.ts';

it('reads lengths of time in seconds', () => {
  const read = { '0': 0, '90': 90, '90s': 90, '30m': 1800, '12h': 43_200, '30d': 2_592_000 };
  for (const [text, seconds] of Object.entries(read)) assert.equal(readDuration(text), seconds, text);
});

it('answers null for anything else', () => {
  for (const text of ['', 's', '-1', '1.5', '1 m', '5w', '1h30m', '0x10', '1e3', '9999999999'])
    assert.equal(readDuration(text), null, text);
});
