import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  grantIdText,
  grantStatus,
  isEnded,
  newGrantId,
  parseGrantId,
  whyRefused,
} from '../../src/oauth/grants/grant.ts';
import { readCredential } from '../../src/oauth/keys/credential.ts';
import { newGrant } from '../../src/oauth/protocol/allow.ts';
import { currentGeneration, deriveTokens, nextGeneration } from '../../src/oauth/tokens/token-pair.ts';
import {
  activeGrant,
  allow,
  badStandings,
  DAY,
  goodStanding,
  inGeneration,
  issuedGrant,
  keyring,
  lifetimes,
  NOW,
  PREFIX,
  rotatedKeyring,
} from './samples.ts';

test('design: nothing stands in the way of a grant in good standing', () => {
  assert.equal(isEnded(activeGrant, goodStanding), false);
  assert.equal(whyRefused(activeGrant, goodStanding), null);
});

for (const { name, grant, standing, detail } of badStandings) {
  test(`promise 2: nothing of a grant works: ${name}`, () => {
    const refused = whyRefused({ ...activeGrant, ...grant }, { ...goodStanding, ...standing });
    assert.match(refused ?? '', detail);
  });
}

test('design: pausing a client and disabling an account end nothing, everything else ends for good', () => {
  for (const { name, grant, standing } of badStandings) {
    const isForAWhile = standing?.clientPaused || standing?.resourceOwnerDisabled;
    const ended = isEnded({ ...activeGrant, ...grant }, { ...goodStanding, ...standing });
    assert.equal(ended, !isForAWhile, name);
  }
});

const statuses: [string, string, Parameters<typeof grantStatus>][] = [
  ['issued', 'the code is not redeemed', [issuedGrant, goodStanding, NOW]],
  ['expired', 'the code has expired', [issuedGrant, goodStanding, NOW + 60_000]],
  ['issued', 'the code is about to expire', [issuedGrant, goodStanding, NOW + 59_999]],
  ['active', 'there is a pair', [activeGrant, goodStanding, NOW]],
  ['expired', 'the pair has expired', [activeGrant, goodStanding, activeGrant.expiresAt]],
  ['active', 'the client is paused', [activeGrant, { ...goodStanding, clientPaused: true }, NOW]],
  ['revoked', 'it was revoked', [{ ...activeGrant, revokedAt: NOW }, goodStanding, NOW]],
  [
    'revoked',
    'it was revoked and has expired',
    [{ ...activeGrant, revokedAt: 1 }, goodStanding, activeGrant.expiresAt],
  ],
];
for (const [status, name, given] of statuses) {
  test(`design: people are told that a grant is ${status} when ${name}`, () => {
    assert.equal(grantStatus(...given), status);
  });
}

test('design: the next generation begins now, with the newest key, one above', () => {
  assert.deepEqual(nextGeneration(activeGrant, 42, lifetimes, NOW + 5), {
    grantId: activeGrant.id,
    generation: 6,
    keyId: 42,
    rotatedAt: NOW + 5,
    accessTokenExpiresAt: NOW + 5 + 1_800_000,
    expiresAt: NOW + 5 + 30 * DAY * 1000,
  });
});

test('ASVS 10.4.8: neither expiry goes beyond the grant’s absolute one, however often it is rotated', () => {
  let grant = activeGrant;
  for (let now = NOW; now < grant.absoluteExpiresAt; now += 20 * DAY * 1000 + 1) {
    const next = nextGeneration(grant, grant.keyId, lifetimes, now);
    assert.ok(next.expiresAt <= grant.absoluteExpiresAt);
    assert.ok(next.accessTokenExpiresAt <= grant.absoluteExpiresAt);
    grant = inGeneration(grant, next);
  }
  const last = nextGeneration(grant, grant.keyId, lifetimes, grant.absoluteExpiresAt - 1000);
  assert.equal(last.expiresAt, grant.absoluteExpiresAt);
  assert.equal(last.accessTokenExpiresAt, grant.absoluteExpiresAt);
});

test('design: after a grant’s expiry nothing of it is valid: an access token never outlives the refresh token beside it', () => {
  const short = { ...lifetimes, refreshTokenIdle: 100 };
  const next = nextGeneration(activeGrant, activeGrant.keyId, short, NOW);
  assert.equal(next.expiresAt, NOW + 100_000);
  assert.equal(next.accessTokenExpiresAt, NOW + 100_000);
});

test('promise 3: from the same row the same pair is derived again, whatever the settings and the newest key are by then', () => {
  const next = nextGeneration(issuedGrant, keyring.currentKeyId, lifetimes, NOW);
  const row = inGeneration(issuedGrant, next);
  const pair = deriveTokens(keyring, PREFIX, issuedGrant, next);
  assert.deepEqual(currentGeneration(row), next);
  assert.deepEqual(deriveTokens(rotatedKeyring, PREFIX, row, currentGeneration(row)), pair);
});

test('RFC 6749 §5.1: what is issued says when its access token expires, and what it is for', () => {
  const pair = nextGeneration(issuedGrant, keyring.currentKeyId, lifetimes, NOW);
  const { accessToken, refreshToken, grant, ...rest } = deriveTokens(keyring, PREFIX, issuedGrant, pair);
  const { clientId, resourceOwnerId } = issuedGrant;
  assert.deepEqual(grant, { grantId: grantIdText(issuedGrant.id), clientId, resourceOwnerId });
  assert.deepEqual(rest, { accessTokenExpiresAt: NOW + 1_800_000, scope: 'read write' });
  assert.equal(readCredential(PREFIX, 'at', accessToken)?.expiresAt, NOW + 1_800_000);
  assert.equal(readCredential(PREFIX, 'rt', refreshToken)?.expiresAt, NOW + 30 * DAY * 1000);
});

test('design: a new grant is in generation 0, with a seed of its own, and ends in a year at the latest', () => {
  const { id, keyId } = { ...issuedGrant, id: newGrantId(NOW) };
  // That of the client is as it was read with the client.
  const epochs = { ...issuedGrant.epochs, client: allow.asked.client.epoch };
  const made = { id, epochs, keyId, expiresAt: NOW + 600_000 };
  const read = { ...made, epochs: { ...epochs, client: epochs.client + 1 } };
  const { seed, ...rest } = newGrant(allow, read, lifetimes, NOW);
  const { seed: _, ...usual } = issuedGrant;
  const { codeChallenge, resource, resourceIsDefault } = allow.asked;
  const { session: __, authTime, amr, ...signIn } = allow.owner;
  assert.deepEqual([authTime, amr], [null, []]);
  assert.deepEqual(rest, {
    ...usual,
    ...made,
    ...signIn,
    leftOut: 'send',
    codeChallenge,
    resource,
    resourceIsDefault,
  });
  assert.equal(seed.length, 16);
  assert.notDeepEqual(newGrant(allow, made, lifetimes, NOW).seed, seed);
});

test('design: all tokens of all generations differ', () => {
  const tokens = Array.from({ length: 100 }, (_, generation) => {
    const pair = { ...currentGeneration(activeGrant), generation };
    const { accessToken, refreshToken } = deriveTokens(keyring, PREFIX, activeGrant, pair);
    return [accessToken, refreshToken];
  }).flat();
  assert.equal(new Set(tokens).size, 200);
});

test('RFC 9562 §5.7: a grant id is a UUID of version 7, ordered by time', () => {
  const ids = [NOW, NOW + 1, NOW + 1000].map((now) => grantIdText(newGrantId(now)));
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(newGrantId(NOW).readUIntBE(0, 6), NOW);
});

test('RFC 9562 §5.7: ids of one moment differ in 74 random bits', () => {
  const ids = Array.from({ length: 1000 }, () => newGrantId(NOW));
  assert.equal(new Set(ids.map((id) => id.toString('hex'))).size, 1000);
  const flips = Buffer.alloc(16);
  for (const id of ids)
    for (const [at, byte] of id.entries()) flips[at] = (flips[at] ?? 0) | (byte ^ (ids[0]?.[at] ?? 0));
  assert.equal(flips.toString('hex'), '0000000000000fff3fffffffffffffff');
});

test('design: a grant id goes to text and back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const id = Buffer.from(bytes);
      const text = grantIdText(id);
      assert.deepEqual(parseGrantId(text), id);
      assert.deepEqual(parseGrantId(text.toUpperCase()), id);
    }),
  );
});

const text = grantIdText(issuedGrant.id);
for (const wrong of [
  '',
  'x',
  text.slice(1),
  `${text}0`,
  `${text}\n`,
  ` ${text}`,
  text.replaceAll('-', ''),
  `{${text}}`,
  text.replace('0', 'g'),
]) {
  test(`design: ${JSON.stringify(wrong)} is no grant id`, () => {
    assert.equal(parseGrantId(wrong), null);
  });
}
