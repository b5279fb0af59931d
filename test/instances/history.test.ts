/** The judge is judged: it takes a good history, and finds what is wrong with each bad one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { grantIdText, newGrantId } from '../../src/oauth/grants/grant.ts';
import { deriveCredential } from '../../src/oauth/keys/credential.ts';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { type Act, type Entry, type Outcome, type Pair, violations } from './history.ts';

const keyring = createKeyring([Buffer.alloc(32, 'a key')]);
const [one, other] = [newGrantId(1), newGrantId(2)];

function credential(kind: 'ac' | 'at' | 'rt', generation: number, grantId = one): string {
  const header = { keyId: keyring.currentKeyId, grantId, generation, expiresAt: 1_000_000 };
  return deriveCredential(keyring, 'vk', kind, header, grantId);
}

function pair(generation: number, grantId = one): Pair {
  return { accessToken: credential('at', generation, grantId), refreshToken: credential('rt', generation, grantId) };
}

function entry(act: Act, started: number, ended: number, outcome: Outcome = 'done', instance = 'a'): Entry {
  return { ...act, instance, started, ended, outcome, detail: '' };
}

const CODE = credential('ac', 0);
const whose = { grantId: grantIdText(one) };
const allow = (started: number, ended: number, code = CODE) =>
  entry({ kind: 'allow', clientId: 'app_one', resourceOwnerId: 'usr_ada', code }, started, ended);
const exchange = (started: number, ended: number, outcome: Outcome = 'done') =>
  entry({ kind: 'exchange', code: CODE, pair: outcome === 'done' ? pair(1) : null }, started, ended, outcome);
const refresh = (from: number, to: Pair | null, started: number, ended: number, outcome: Outcome = 'done') =>
  entry({ kind: 'refresh', refreshToken: pair(from).refreshToken, pair: to }, started, ended, outcome);
const check = (generation: number, started: number, ended: number, outcome: Outcome = 'done') =>
  entry({ kind: 'check', accessToken: pair(generation).accessToken }, started, ended, outcome);
const listen = (heard: Extract<Act, { kind: 'listen' }>['heard']) => entry({ kind: 'listen', heard }, 0, 10_000);

/** A grant that was allowed, redeemed, refreshed and used. */
const LIFE = [allow(0, 1), exchange(2, 3), check(1, 4, 5), refresh(1, pair(2), 6, 7), check(2, 8, 9), check(1, 8, 9)];

const POSSIBLE: Readonly<Record<string, readonly Entry[]>> = {
  'a life': LIFE,
  'a refresh that was asked twice, and answered twice alike': [...LIFE, refresh(1, pair(2), 6, 12)],
  'a refresh whose answer was lost with its instance, and asked again': [
    ...LIFE.slice(0, 3),
    entry({ kind: 'down' }, 5, 9),
    refresh(1, null, 5, 6, 'lost'),
    refresh(1, pair(2), 7, 8),
  ],
  'a revocation, after which nothing works, and a check that it overtook': [
    ...LIFE,
    entry({ kind: 'revoke', whose }, 20, 30),
    check(2, 19, 31, 'done'),
    check(2, 31, 32, 'refused'),
  ],
  'a revocation that was not answered, and happened': [
    ...LIFE,
    entry({ kind: 'revoke', whose }, 20, 30, 'unavailable'),
    check(2, 31, 32, 'refused'),
  ],
  'a replay, which ends the grant': [...LIFE, exchange(20, 21, 'refused'), check(2, 22, 23, 'refused')],
  'a pause, and the end of it': [
    ...LIFE,
    entry({ kind: 'suspend', whose: { clientId: 'app_one' } }, 20, 21),
    check(2, 22, 23, 'refused'),
    entry({ kind: 'resume', whose: { clientId: 'app_one' } }, 24, 25),
    check(2, 26, 27),
  ],
  'a token that is older than the predecessor, and late': [
    ...LIFE,
    refresh(2, pair(3), 10, 11),
    refresh(1, null, 12, 13, 'refused'),
    check(3, 14, 15),
  ],
  'an Allow after the revocation of everything': [entry({ kind: 'revoke', whose: {} }, -9, -8), ...LIFE],
  'a stream that tells a revocation': [...LIFE, entry({ kind: 'revoke', whose }, 20, 30), listen([{ whose, at: 200 }])],
};

const IMPOSSIBLE: Readonly<Record<string, readonly [rule: RegExp, entries: readonly Entry[]]>> = {
  'a code that is redeemed twice': [/^a code is redeemed once: exchange/, [...LIFE, exchange(3, 4)]],
  'two successors of one generation': [
    /^a generation has one pair/,
    [...LIFE, refresh(1, { ...pair(2), accessToken: pair(2, other).accessToken }, 6, 7)],
  ],
  'a refresh that skips a generation': [/^a generation has one pair/, [...LIFE.slice(0, 3), refresh(1, pair(3), 6, 7)]],
  'a generation that comes back': [
    /^generations only grow: refresh/,
    [...LIFE, refresh(2, pair(3), 10, 11), refresh(1, pair(2), 12, 13)],
  ],
  'a check that works after an answered revocation': [
    /^nothing works after an answered revocation/,
    [...LIFE, entry({ kind: 'revoke', whose }, 20, 30), check(2, 31, 32)],
  ],
  'a refresh that works after everything of a person was revoked': [
    /^nothing works after an answered revocation/,
    [...LIFE, entry({ kind: 'revoke', whose: { resourceOwnerId: 'usr_ada' } }, 20, 30), refresh(2, pair(3), 31, 32)],
  ],
  'a check that works while the client is paused': [
    /^nothing works after an answered revocation, or while suspended/,
    [...LIFE, entry({ kind: 'suspend', whose: { clientId: 'app_one' } }, 20, 30), check(2, 31, 32)],
  ],
  'a grant that comes back to life': [
    /^what is dead stays dead/,
    [...LIFE, exchange(10, 11, 'refused'), check(2, 12, 13)],
  ],
  'an acknowledged token that is refused': [/^what was answered works: check/, [...LIFE, check(2, 20, 21, 'refused')]],
  'an acknowledged code that is refused': [
    /^what was answered works: exchange/,
    [allow(0, 1), exchange(2, 3, 'refused')],
  ],
  'a refresh that is refused after its predecessor was answered': [
    /^what was answered works: refresh/,
    [...LIFE, refresh(2, null, 20, 21, 'refused')],
  ],
  'a token refused for a revocation that came later': [
    /^what was answered works/,
    [...LIFE, check(2, 20, 21, 'refused'), entry({ kind: 'revoke', whose }, 22, 23)],
  ],
  'a pair from nowhere': [/^a credential comes from an Allow/, LIFE.slice(1)],
  'an answer that is none of ours': [
    /^every answer is one of those that are promised/,
    [...LIFE, check(1, 9, 10, 'broken')],
  ],
  'a lost answer of an instance that nobody killed': [
    /^every answer is one of those/,
    [...LIFE, entry({ kind: 'down' }, 0, 9, 'done', 'b'), check(1, 4, 5, 'lost')],
  ],
  'a stream that keeps a revocation to itself': [
    /^a stream tells each revocation/,
    [...LIFE, entry({ kind: 'revoke', whose }, 20, 30), listen([])],
  ],
  'a stream that tells a revocation too late': [
    /^a stream tells each revocation/,
    [...LIFE, entry({ kind: 'revoke', whose }, 20, 30), listen([{ whose, at: 2000 }])],
  ],
};

describe('a history', () => {
  for (const [name, entries] of Object.entries(POSSIBLE))
    test(`may be: ${name}`, () => assert.deepEqual(violations(entries), []));

  for (const [name, [rule, entries]] of Object.entries(IMPOSSIBLE))
    test(`cannot be: ${name}`, () => {
      const found = violations(entries);
      assert.ok(found.length > 0, 'found');
      for (const sentence of found) assert.match(sentence, rule);
    });
});
