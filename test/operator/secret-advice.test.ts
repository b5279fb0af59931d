// Which of an app's live secrets is safe to retire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretAdvice } from '../../src/operator/secrets/secret-advice.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
/** Days before now; null is never. */
const ago = (days: number | null) => (days === null ? null : NOW - days * 86_400_000);

/** The advice on secrets that were last used so many days ago, newest first, beside such keys. */
function advice(secrets: (number | null)[], keys: (number | null)[] = []) {
  const live = secrets.map((days) => ({ createdAt: NOW, lastUsedAt: ago(days) }));
  return secretAdvice({ secrets: live, keys: keys.map(ago) }, NOW).map(({ kind }) => kind);
}

test('operators §7: a rotation never kills production: a secret is safe only once something newer is in use for a week', () => {
  assert.deepEqual(advice([0]), ['only']);
  assert.deepEqual(advice([null, 0]), ['unused', 'used'], 'the developer has not got the newer one');
  assert.deepEqual(advice([null, 90]), ['unused', 'used'], 'an app that sleeps needs its secret when it wakes');
  assert.deepEqual(advice([90, 60]), ['used', 'used'], 'the app went back to the older one');
  assert.deepEqual(advice([0, 0.5]), ['used', 'used'], 'some instances still have the older one');
  assert.deepEqual(advice([0, 6.9]), ['used', 'waiting']);
  assert.deepEqual(advice([0, 7]), ['used', 'safe']);
  assert.deepEqual(advice([0, null]), ['used', 'never']);
  assert.deepEqual(advice([null, null]), ['unused', 'unused']);
});

test('operators §7: a key replaces a secret', () => {
  assert.deepEqual(advice([9], [0]), ['safe']);
  assert.deepEqual(advice([9], [null]), ['used'], 'no key was used yet');
  assert.deepEqual(advice([null], [3]), ['never']);
});
