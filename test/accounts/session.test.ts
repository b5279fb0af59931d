import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  newSessionToken,
  passwordSession,
  sessionDigest,
  sessionExpiresAt,
  shouldNoteSeen,
} from '../../src/accounts/people/session.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 0, 2);

// That it has its random bits, test/random-bits.test.ts counts.
test('a session token is written in URL-safe characters, and none is made twice', () => {
  const tokens = Array.from({ length: 1000 }, newSessionToken);
  for (const token of tokens) assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(new Set(tokens).size, 1000);
});

test('ASVS 6.5.2, promise 4: what is stored of a token is its SHA-256 (FIPS 180-4, one block)', () => {
  const expected = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.equal(sessionDigest('abc').toString('hex'), expected);
  assert.notDeepEqual(sessionDigest('ABC'), sessionDigest('abc'));
});

const ends: [name: string, createdAt: number, lastSeenAt: number, endsAt: number][] = [
  ['12 hours after it began', NOW, NOW, NOW + 12 * HOUR],
  ['12 hours after it was seen', NOW, NOW + DAY, NOW + DAY + 12 * HOUR],
  ['30 days after it began, however often it was seen', NOW, NOW + 30 * DAY - 1, NOW + 30 * DAY],
  ['30 days after it began, even if it was seen in the future', NOW, NOW + 900 * DAY, NOW + 30 * DAY],
];
for (const [name, createdAt, lastSeenAt, endsAt] of ends) {
  test(`ASVS 7.3: a session ends ${name}`, () => {
    assert.equal(sessionExpiresAt({ ...passwordSession('token', 'usr_ada', createdAt), lastSeenAt }), endsAt);
  });
}

test('design: being seen is noted every five minutes at most', () => {
  const session = passwordSession('token', 'usr_ada', NOW);
  assert.equal(shouldNoteSeen(session, NOW), false);
  assert.equal(shouldNoteSeen(session, NOW + 299_999), false);
  assert.equal(shouldNoteSeen(session, NOW + 300_000), true);
  assert.equal(shouldNoteSeen(session, NOW - DAY), false);
});
