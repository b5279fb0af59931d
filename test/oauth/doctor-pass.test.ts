/** The doctor's pass: made with a root key, and good for a minute. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { doctorPass, isDoctorPass } from '../../src/oauth/keys/doctor-pass.ts';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';

const NOON = Date.UTC(2026, 0, 15, 12);
const [mine, other] = [randomBytes(32), randomBytes(32)];
const keyring = createKeyring([mine]);
const pass = doctorPass(keyring, NOON);

test('a pass is good for a minute, where the clocks are less than a minute apart', () => {
  const isGood = (ms: number) => isDoctorPass(keyring, pass, NOON + ms);
  assert.deepEqual([-60_001, -60_000, 0, 59_999, 60_000].map(isGood), [false, true, true, true, false]);
});

test('a pass is proven by a root key of the service, and whole', () => {
  assert.equal(isDoctorPass(createKeyring([other]), pass, NOON), false);
  assert.equal(isDoctorPass(createKeyring([other, mine]), pass, NOON), true);
  const [keyId = '', expiresAt = '', proof = ''] = pass.split('.');
  const forged = [
    `${keyId}.${Number(expiresAt) + 1}.${proof}`,
    `${keyId}.${expiresAt}.${proof.slice(1)}`,
    `${keyId}.${expiresAt}.${'A'.repeat(43)}`,
    `${keyId}.${expiresAt}.`,
    `${pass}x`,
    '',
  ];
  for (const text of forged) assert.equal(isDoctorPass(keyring, text, NOON), false, text);
});
