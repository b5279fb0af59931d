import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../src/oauth/error.ts';
import type { Grant, GrantInContext } from '../../src/oauth/grants/grant.ts';
import type { Credential } from '../../src/oauth/keys/credential.ts';
import { isGoodAtOwnApi } from '../../src/oauth/resource-servers/resource-server.ts';
import { decideAccessToken } from '../../src/oauth/tokens/access-token.ts';
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
  withWrongMac,
} from './samples.ts';

const good = presented('at', activeGrant);
const EXPIRY = NOW + 1_800_000;
const API = 'https://api.test';

/** Why a token is refused, or null when its own grant comes back. */
function refusalOf(
  credential: Credential,
  found: GrantInContext | null,
  ownResource: string,
  now: number,
): Refusal | null {
  const isGoodHere = (grant: Grant) => isGoodAtOwnApi(ownResource, grant);
  const decision = decideAccessToken({ keyring, credential, found, isGoodHere, now });
  if (decision instanceof Refusal) return decision;
  assert.equal(decision, found);
  return null;
}

test('RFC 6750 §2.1: a genuine token of a live grant is good until its expiry', () => {
  assert.equal(refusalOf(good, inContext(activeGrant), API, NOW), null);
  assert.equal(refusalOf(good, inContext(activeGrant), API, EXPIRY - 1), null);
});

test('interface: a token stays good after a rotation, until its own expiry', () => {
  const later = { ...activeGrant, generation: 9, accessTokenExpiresAt: EXPIRY + 1_000_000 };
  assert.equal(refusalOf(good, inContext(later), API, EXPIRY - 1), null);
  assertRefusal(refusalOf(good, inContext(later), API, EXPIRY), 'invalid_token', /expired/);
});

test('a token is refused from its expiry on', () => {
  for (const now of [EXPIRY, EXPIRY + 1, EXPIRY + 1e9])
    assertRefusal(refusalOf(good, inContext(activeGrant), API, now), 'invalid_token', /expired/);
});

test('promise: a step of the clock back by more than a minute lets no token outlive its time', () => {
  const refusalAt = (now: number, grant: Grant = activeGrant) => refusalOf(good, inContext(grant), API, now);
  assert.equal(refusalAt(NOW - 60_000), null);
  assertRefusal(refusalAt(NOW - 60_001), 'invalid_token', /clock stepped back/);
  // The current token rotated after the step, which does not make those before it live for longer.
  const at = NOW - 3_600_000;
  const healed = { ...activeGrant, generation: 6, rotatedAt: at, accessTokenExpiresAt: at + 1_800_000 };
  assertRefusal(refusalAt(at, healed), 'invalid_token', /clock stepped back/);
  assert.equal(refusalAt(NOW - 60_000, healed), null, 'when its own time has come again');
});

test('interface: the lifetime of a token is that of its own rotation, whatever is set today', () => {
  const long = { ...activeGrant, rotatedAt: NOW - 80_000_000 };
  assert.equal(refusalOf(good, inContext(long), API, NOW), null);
});

test('a token of no grant is refused', () => {
  assertRefusal(refusalOf(good, null, API, NOW), 'invalid_token', /no such grant/);
});

test('design: a forged token is refused, whatever it says of itself', () => {
  const other = { ...activeGrant, seed: Buffer.alloc(16, 'other seed') };
  const forged = [
    presented('at', other),
    presented('at', activeGrant, {}, otherKeyring),
    withWrongMac(good),
    { ...good, kind: 'rt' as const },
    { ...presented('at', other), generation: 99 },
  ];
  for (const credential of forged)
    assertRefusal(refusalOf(credential, inContext(activeGrant), API, NOW), 'invalid_token', /forged/);
});

test('design: a token that is newer than the grant is refused: an older database was restored', () => {
  for (const generation of [6, 7, 0xffffffff]) {
    const newer = presented('at', activeGrant, { generation });
    assertRefusal(refusalOf(newer, inContext(activeGrant), API, NOW), 'invalid_token', /newer/);
  }
  // Of the row's own generation, but of another history (restore).
  for (const expiresAt of [EXPIRY - 1, EXPIRY + 1])
    assertRefusal(
      refusalOf(presented('at', activeGrant, { expiresAt }), inContext(activeGrant), API, NOW),
      'invalid_token',
      /another history/,
    );
  const issued = presented('at', issuedGrant, { generation: 1, expiresAt: EXPIRY });
  assertRefusal(refusalOf(issued, inContext(issuedGrant), API, NOW), 'invalid_token', /newer/);
});

for (const { name, grant, standing, detail } of badStandings) {
  test(`promise 2: a token of a grant is refused at once: ${name}`, () => {
    const found = inContext({ ...activeGrant, ...grant }, standing);
    assertRefusal(refusalOf(good, found, API, NOW), 'invalid_token', detail);
  });
}

const resources: [grantedFor: string | null, at: string, 'good' | 'refused'][] = [
  [null, API, 'good'],
  [API, API, 'good'],
  [API, 'https://other.test', 'refused'],
  // RFC 3986 §6.2.3: one resource, however its scheme, host and empty path are written.
  [API, `${API}/`, 'good'],
  [`${API}/`, API, 'good'],
  [API, API.toUpperCase(), 'good'],
  [`${API}/a`, `${API}/A`, 'refused'],
  [API, '', 'refused'],
];
for (const [resource, at, expected] of resources) {
  test(`RFC 8707 §2: a token for ${resource ?? 'any resource'} is ${expected} at ${JSON.stringify(at)}`, () => {
    const refusal = refusalOf(good, inContext({ ...activeGrant, resource }), at, NOW);
    if (expected === 'good') assert.equal(refusal, null);
    else assertRefusal(refusal, 'invalid_token', /another resource/);
  });
}

test('order: forgery, restored database, standing, expiry, resource: of several mistakes the first is told', () => {
  const wrong: Grant = { ...activeGrant, resource: 'https://other.test', revokedAt: NOW };
  const refused = (credential = good, grant = wrong, standing = {}, now = EXPIRY) =>
    refusalOf(credential, inContext(grant, standing), API, now);
  const newer = presented('at', activeGrant, { generation: 9 });
  assertRefusal(refused(withWrongMac(newer)), 'invalid_token', /forged/);
  assertRefusal(refused(newer), 'invalid_token', /newer/);
  assertRefusal(refused(), 'invalid_token', /revoked/);
  const standing = { ...wrong, revokedAt: null };
  assertRefusal(refused(good, standing, { clientPaused: true }), 'invalid_token', /paused/);
  assertRefusal(refused(good, standing), 'invalid_token', /expired/);
  assertRefusal(refused(good, standing, {}, EXPIRY - 1), 'invalid_token', /another resource/);
});
