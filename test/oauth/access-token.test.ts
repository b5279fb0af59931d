import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessTokenRefusal } from '../../src/oauth/access-token.ts';
import {
  activeGrant,
  assertRefusal,
  badStandings,
  inContext,
  issuedGrant,
  keyring,
  NOW,
  otherKeyring,
  presented,
} from './samples.ts';

const good = presented('at', activeGrant);
const EXPIRY = NOW + 1_800_000;

test('RFC 6750 §2.1: a genuine token of a live grant is good until its expiry', () => {
  assert.equal(accessTokenRefusal(keyring, good, inContext(activeGrant), NOW), null);
  assert.equal(accessTokenRefusal(keyring, good, inContext(activeGrant), EXPIRY - 1), null);
});

test('interface: a token stays good after a rotation, until its own expiry', () => {
  const later = { ...activeGrant, generation: 9, accessTokenExpiresAt: EXPIRY + 1_000_000 };
  assert.equal(accessTokenRefusal(keyring, good, inContext(later), EXPIRY - 1), null);
  assertRefusal(accessTokenRefusal(keyring, good, inContext(later), EXPIRY), 'invalid_token', /expired/);
});

test('a token is refused from its expiry on', () => {
  for (const now of [EXPIRY, EXPIRY + 1, EXPIRY + 1e9])
    assertRefusal(accessTokenRefusal(keyring, good, inContext(activeGrant), now), 'invalid_token', /expired/);
});

test('a token of no grant is refused', () => {
  assertRefusal(accessTokenRefusal(keyring, good, null, NOW), 'invalid_token', /no such grant/);
});

test('design: a forged token is refused, whatever it says of itself', () => {
  const other = { ...activeGrant, seed: Buffer.alloc(16, 'other seed') };
  const forged = [
    presented('at', other),
    presented('at', activeGrant, {}, otherKeyring),
    { ...good, mac: Buffer.alloc(20) },
    { ...good, kind: 'rt' as const },
    { ...presented('at', other), generation: 99 },
  ];
  for (const credential of forged)
    assertRefusal(accessTokenRefusal(keyring, credential, inContext(activeGrant), NOW), 'invalid_token', /forged/);
});

test('design: a token that is newer than the grant is refused: an older database was restored', () => {
  for (const generation of [6, 7, 0xffffffff]) {
    const newer = presented('at', activeGrant, { generation });
    assertRefusal(accessTokenRefusal(keyring, newer, inContext(activeGrant), NOW), 'invalid_token', /newer/);
  }
  const issued = presented('at', issuedGrant, { generation: 1, expiresAt: EXPIRY });
  assertRefusal(accessTokenRefusal(keyring, issued, inContext(issuedGrant), NOW), 'invalid_token', /newer/);
});

for (const { name, grant, standing, detail } of badStandings) {
  test(`promise 2: a token of a grant is refused at once: ${name}`, () => {
    const found = inContext({ ...activeGrant, ...grant }, standing);
    assertRefusal(accessTokenRefusal(keyring, good, found, NOW), 'invalid_token', detail);
  });
}
