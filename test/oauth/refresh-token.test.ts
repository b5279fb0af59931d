import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../src/oauth/clients/client.ts';
import type { Grant, GrantInContext, Lifetimes, Standing } from '../../src/oauth/grants/grant.ts';
import type { Credential } from '../../src/oauth/keys/credential.ts';
import { decideRefresh, type RefreshDecision, retryTimes } from '../../src/oauth/tokens/refresh-token.ts';
import { type AskedOfTokens, WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import {
  activeGrant,
  assertRefusal,
  badStandings,
  confidentialClient,
  DAY,
  inContext,
  issuedGrant,
  keyring,
  lifetimes,
  NOW,
  otherKeyring,
  presented,
  publicClient,
  rotatedKeyring,
  strictClient,
  withWrongMac,
} from './samples.ts';

type Case = {
  /** How many generations the presented token is older than the row; negative when it is newer. */
  older?: number;
  /** Seconds since the rotation. */
  after?: number;
  isUsed?: boolean;
  client?: Client;
  settings?: Lifetimes;
  grant?: Partial<Grant>;
  standing?: Partial<Standing>;
  credential?: Credential;
  found?: GrantInContext | null;
  asked?: AskedOfTokens;
};

function decide(given: Case = {}): RefreshDecision {
  const {
    older = 0,
    after = 0,
    isUsed = false,
    client = confidentialClient,
    settings = lifetimes,
    asked = WHOLE_GRANT,
  } = given;
  const grant = { ...activeGrant, usedGeneration: isUsed ? 5 : 4, ...given.grant };
  const credential =
    given.credential ??
    presented('rt', activeGrant, { generation: activeGrant.generation - older, expiresAt: grant.expiresAt });
  const found = given.found === undefined ? inContext(grant, given.standing) : given.found;
  return decideRefresh({ keyring, lifetimes: settings, credential, found, client, asked, now: NOW + after * 1000 });
}

type Outcome = 'rotate' | 'again' | 'refused' | 'revoke';

function outcomeOf(decision: RefreshDecision): Outcome {
  if ('rotate' in decision) return 'rotate';
  if ('again' in decision) return 'again';
  return 'revoke' in decision ? 'revoke' : 'refused';
}

test('RFC 6749 §6: the current token rotates into the next generation, with the newest key', () => {
  const decision = decideRefresh({
    keyring: rotatedKeyring,
    lifetimes,
    credential: presented('rt', activeGrant),
    found: inContext(activeGrant),
    client: confidentialClient,
    asked: WHOLE_GRANT,
    now: NOW + 1000,
  });
  assert.deepEqual(decision, {
    grant: activeGrant,
    rotate: {
      grantId: activeGrant.id,
      generation: 6,
      keyId: rotatedKeyring.currentKeyId,
      rotatedAt: NOW + 1000,
      accessTokenExpiresAt: NOW + 1000 + 1_800_000,
      expiresAt: NOW + 1000 + 30 * DAY * 1000,
    },
  });
});

test('promise 3: a retry is answered with what the row says, and nothing newer', () => {
  const { generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt } = activeGrant;
  assert.deepEqual(decide({ older: 1, after: 5 }), {
    grant: { ...activeGrant, usedGeneration: 4 },
    again: { grantId: activeGrant.id, generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt },
  });
});

const trusted = { ...confidentialClient, refreshOverlap: 60, refreshRetryWindow: 1200 };
const overlapOnly = { ...confidentialClient, refreshRetryWindow: 0 };
const windowOnly = { ...confidentialClient, refreshOverlap: 0 };
const clients = {
  confidential: confidentialClient,
  public: publicClient,
  strict: strictClient,
  trusted,
  overlapOnly,
  windowOnly,
};

/** How old the token is, seconds after the rotation, whether the new pair is used, and what follows. */
const table: [client: keyof typeof clients, older: number, after: number, isUsed: boolean, Outcome][] = [
  // The current one, whenever.
  ['confidential', 0, 0, false, 'rotate'],
  ['confidential', 0, 0, true, 'rotate'],
  ['confidential', 0, 10 * DAY, true, 'rotate'],
  ['confidential', 0, -3600, true, 'rotate'],
  ['strict', 0, 0, false, 'rotate'],
  ['public', 0, 0, false, 'rotate'],
  // The predecessor: the overlap, whether or not the pair is used.
  ['confidential', 1, 0, false, 'again'],
  ['confidential', 1, 0, true, 'again'],
  ['confidential', 1, 9.999, false, 'again'],
  ['confidential', 1, 9.999, true, 'again'],
  // The predecessor: the retry window, while the pair is unused.
  ['confidential', 1, 10, false, 'again'],
  ['confidential', 1, 10, true, 'revoke'],
  ['confidential', 1, 599.999, false, 'again'],
  ['confidential', 1, 599.999, true, 'revoke'],
  // The predecessor: after both.
  ['confidential', 1, 600, false, 'revoke'],
  ['confidential', 1, 600, true, 'revoke'],
  ['confidential', 1, 29 * DAY, false, 'revoke'],
  // Older ones: late in the overlap, reuse after it, even in the retry window.
  ['confidential', 2, 0, false, 'refused'],
  ['confidential', 2, 9.999, true, 'refused'],
  ['confidential', 4, 0, false, 'refused'],
  ['confidential', 2, 10, false, 'revoke'],
  ['confidential', 2, 10, true, 'revoke'],
  ['confidential', 4, 300, false, 'revoke'],
  ['confidential', 2, 600, false, 'revoke'],
  // Newer than the row: an older database was restored, and two hold the grant.
  ['confidential', -1, 0, false, 'revoke'],
  ['confidential', -1, 3600, true, 'revoke'],
  ['strict', -1, 3600, true, 'revoke'],
  ['confidential', -1000, 0, false, 'revoke'],
  // Strict: reuse at once.
  ['strict', 1, 0, false, 'revoke'],
  ['strict', 1, 0, true, 'revoke'],
  ['strict', 1, 0.001, false, 'revoke'],
  ['strict', 2, 0, false, 'revoke'],
  // Public: no overlap, a minute of retry window.
  ['public', 1, 0, false, 'again'],
  ['public', 1, 0, true, 'revoke'],
  ['public', 1, 59.999, false, 'again'],
  ['public', 1, 60, false, 'revoke'],
  ['public', 2, 0, false, 'revoke'],
  // A client's own settings.
  ['trusted', 1, 59.999, true, 'again'],
  ['trusted', 1, 60, true, 'revoke'],
  ['trusted', 1, 1199.999, false, 'again'],
  ['trusted', 1, 1200, false, 'revoke'],
  ['trusted', 2, 59.999, false, 'refused'],
  ['overlapOnly', 1, 9.999, true, 'again'],
  ['overlapOnly', 1, 10, false, 'revoke'],
  ['windowOnly', 1, 0, true, 'revoke'],
  ['windowOnly', 1, 599.999, false, 'again'],
  ['windowOnly', 2, 0, false, 'revoke'],
  // A clock that stepped back: the rotation lies ahead.
  ['confidential', 1, -1, true, 'again'],
  ['confidential', 1, -3600, false, 'refused'],
  ['confidential', 2, -1, true, 'refused'],
  ['strict', 1, -1, false, 'revoke'],
  ['strict', 1, -3600, true, 'refused'],
  ['strict', 2, -3600, true, 'refused'],
  ['public', 1, -1, true, 'revoke'],
  ['public', 1, -1, false, 'again'],
];
for (const [client, older, after, isUsed, outcome] of table) {
  const age = older < 0 ? `${-older} newer` : `${older} older`;
  test(`RFC 9700 §4.14.2, design: ${client}, ${age}, ${after} s after the rotation, ${isUsed ? 'used' : 'unused'}: ${outcome}`, () => {
    const decision = decide({ older, after, isUsed, client: clients[client] });
    assert.equal(outcomeOf(decision), outcome);
    if ('revoke' in decision) {
      assert.equal(decision.revoke, older < 0 ? 'refresh_conflict' : 'refresh_reuse');
      assertRefusal(decision.refusal, 'invalid_grant', older < 0 ? /newer/ : /reuse/);
    }
  });
}

test('design: uses of older generations do not make the pair used, those of its own do', () => {
  for (const usedGeneration of [0, 3, 4])
    assert.equal(outcomeOf(decide({ older: 1, after: 100, grant: { usedGeneration } })), 'again');
  assert.equal(outcomeOf(decide({ older: 1, after: 100, grant: { usedGeneration: 5 } })), 'revoke');
});

test('RFC 9700 §4.14.2: the current token is refused from its expiry on, and nothing is revoked for it', () => {
  assert.equal(outcomeOf(decide({ after: 30 * DAY - 0.001 })), 'rotate');
  for (const after of [30 * DAY, 30 * DAY + 1, 365 * DAY]) assertRefusal(decide({ after }), 'invalid_grant', /expired/);
});

test('design: an older token of a live grant is reuse, its own expiry notwithstanding', () => {
  const expired = presented('rt', activeGrant, { generation: 3, expiresAt: NOW - 1000 });
  assert.equal(outcomeOf(decide({ credential: expired, after: 3600 })), 'revoke');
});

test('design: an expired predecessor within its windows gets the same pair, because that pair is live', () => {
  const expired = presented('rt', activeGrant, { generation: 4, expiresAt: NOW - 1000 });
  assert.equal(outcomeOf(decide({ credential: expired, after: 5 })), 'again');
});

test('nothing of an expired grant is answered again, and there is nothing left to revoke', () => {
  const grant = { expiresAt: NOW + 3000, accessTokenExpiresAt: NOW + 3000 };
  assert.equal(outcomeOf(decide({ older: 1, after: 2.999, grant })), 'again');
  for (const older of [0, 1, 2, 4])
    for (const after of [3, 5, 3600]) assertRefusal(decide({ older, after, grant }), 'invalid_grant', /expired/);
});

/** What is wrong with a request revokes nothing, however old the token is. */
const wrongRequests: [string, Case, RegExp][] = [
  ['a token of no grant', { found: null }, /no such grant/],
  ['a forged MAC', { credential: withWrongMac(presented('rt', activeGrant, { generation: 1 })) }, /forged/],
  [
    'a token of another installation',
    { credential: presented('rt', activeGrant, { generation: 1 }, otherKeyring) },
    /forged/,
  ],
  [
    'a token of another seed',
    { credential: presented('rt', { ...activeGrant, seed: Buffer.alloc(16), generation: 1 }) },
    /forged/,
  ],
  [
    'a changed generation',
    { credential: { ...presented('rt', activeGrant), generation: 4, unproven: Buffer.alloc(51) } },
    /forged/,
  ],
  [
    'an access token as refresh token',
    { credential: { ...presented('at', { ...activeGrant, generation: 1 }), kind: 'rt' } },
    /forged/,
  ],
  ['a code as refresh token', { credential: { ...presented('ac', issuedGrant), kind: 'rt' } }, /forged/],
  ['another client', { older: 3, client: { ...confidentialClient, id: 'app_two' } }, /another client/],
  ['another client with the current token', { client: { ...confidentialClient, id: 'app_two' } }, /another client/],
];
test('RFC 6749 §6, RFC 8707 §2.2: less than the grant may be asked for, and gets the whole of it', () => {
  const forLetters = { resource: 'https://letters.test' };
  for (const scope of [undefined, 'read', 'write read', 'read write', ' ', ''])
    assert.equal(outcomeOf(decide({ asked: { scope, resources: [] } })), 'rotate', JSON.stringify(scope));
  for (const resources of [[], [forLetters.resource]])
    assert.equal(outcomeOf(decide({ grant: forLetters, asked: { scope: undefined, resources } })), 'rotate');
});

const beyond: [string, Case, 'invalid_scope' | 'invalid_target'][] = [
  ['a scope that was not granted', { asked: { scope: 'read admin', resources: [] } }, 'invalid_scope'],
  ['a scope of another case', { asked: { scope: 'READ', resources: [] } }, 'invalid_scope'],
  [
    'a scope of a grant without any',
    { grant: { scope: '' }, asked: { scope: 'read', resources: [] } },
    'invalid_scope',
  ],
  [
    'a resource for a grant for any',
    { asked: { scope: undefined, resources: ['https://letters.test'] } },
    'invalid_target',
  ],
  [
    'another resource',
    { grant: { resource: 'https://letters.test' }, asked: { scope: undefined, resources: ['https://other.test'] } },
    'invalid_target',
  ],
];
for (const [name, wrong, code] of beyond) {
  test(`RFC 6749 §6, RFC 8707 §2.2: ${name} is ${code}, and rotates, tells and revokes nothing`, () => {
    for (const older of [-1, 0, 1, 3])
      for (const after of [0, 300, 3600, 31 * DAY])
        assertRefusal(decide({ older, after, ...wrong }), code, /not granted|resource differs/);
  });
  test(`design: who owns the token comes before ${name}`, () => {
    const client = { ...confidentialClient, id: 'app_two' };
    assertRefusal(decide({ client, ...wrong }), 'invalid_grant', /another client/);
    assertRefusal(decide({ ...wrong, standing: { clientPaused: true } }), 'invalid_grant', /paused/);
  });
}

for (const [name, wrong, detail] of wrongRequests) {
  test(`RFC 6749 §6, §10.4: ${name} is refused, and revokes nothing`, () => {
    for (const after of [0, 3600]) assertRefusal(decide({ after, ...wrong }), 'invalid_grant', detail);
  });
}

for (const { name, grant, standing, detail } of badStandings) {
  test(`promise 2: whatever token of a grant is refused, with nothing more to revoke: ${name}`, () => {
    for (const older of [-1, 0, 1, 3])
      for (const after of [0, 300, 3600])
        assertRefusal(
          decide({ older, after, ...(grant && { grant }), ...(standing && { standing }) }),
          'invalid_grant',
          detail,
        );
  });
}

test('design: a forged token of another client’s revoked grant tells of its forgery first, then of the client', () => {
  const client = { ...confidentialClient, id: 'app_two' };
  const grant = { revokedAt: NOW };
  const forged = withWrongMac(presented('rt', activeGrant));
  assertRefusal(decide({ credential: forged, client, grant }), 'invalid_grant', /forged/);
  assertRefusal(decide({ client, grant }), 'invalid_grant', /another client/);
});

test('design: a token of a grant whose code was not redeemed (a restored database) ends the grant', () => {
  const credential = presented('rt', issuedGrant, { generation: 1, expiresAt: NOW + 1000 });
  assertConflict(decide({ credential, found: inContext(issuedGrant) }));
});

/** Two hold the grant. */
function assertConflict(decision: RefreshDecision): void {
  assert.ok('revoke' in decision);
  assert.equal(decision.revoke, 'refresh_conflict');
  assertRefusal(decision.refusal, 'invalid_grant', /of another history/);
}

test('restore: a genuine refresh token of the generation of the row with another expiry or key ends the grant', () => {
  const [earlier] = rotatedKeyring.keyIds.filter((id) => id !== activeGrant.keyId);
  assert.equal(outcomeOf(decide()), 'rotate');
  for (const expiresAt of [activeGrant.expiresAt - 1, activeGrant.expiresAt + 1, NOW - 1])
    assertConflict(decide({ credential: presented('rt', activeGrant, { expiresAt }) }));
  assertConflict(decide({ grant: { keyId: earlier as number } }));
});

test('restore: a newer refresh token ends the grant although the row has expired, but not if it is forged, or the client paused', () => {
  const newer = presented('rt', activeGrant, { generation: 6 });
  assertConflict(decide({ credential: newer, after: 365 * DAY }));
  assertRefusal(decide({ credential: withWrongMac(newer) }), 'invalid_grant', /forged/);
  assertRefusal(decide({ credential: newer, standing: { clientPaused: true } }), 'invalid_grant', /paused/);
});

const times: [string, Client, Lifetimes, overlap: number, retryWindow: number][] = [
  ['the installation’s', confidentialClient, lifetimes, 10, 600],
  ['a public client’s own defaults', publicClient, lifetimes, 0, 60],
  ['the client’s own', trusted, lifetimes, 60, 1200],
  ['a public client’s own', { ...publicClient, refreshOverlap: 5, refreshRetryWindow: 90 }, lifetimes, 5, 90],
  ['strict', strictClient, lifetimes, 0, 0],
  ['the overlap alone is set', { ...confidentialClient, refreshOverlap: 3 }, lifetimes, 3, 600],
  ['the retry window alone is set', { ...confidentialClient, refreshRetryWindow: 3 }, lifetimes, 10, 3],
  ['never beyond the access token', confidentialClient, { ...lifetimes, accessToken: 5 }, 5, 5],
  ['the client’s own never beyond the access token', trusted, { ...lifetimes, accessToken: 30 }, 30, 30],
  ['a public client’s never beyond the access token', publicClient, { ...lifetimes, accessToken: 30 }, 0, 30],
];
for (const [name, client, settings, overlap, retryWindow] of times) {
  test(`interface: the retry times that hold: ${name}`, () => {
    const grant = pairOf(settings.accessToken);
    assert.deepEqual(retryTimes(client, settings, grant), { overlap, retryWindow });
  });
}

/** The sample grant with a pair whose access token lives so long (s). */
function pairOf(accessTokenLifetime: number): Grant {
  return { ...activeGrant, accessTokenExpiresAt: activeGrant.rotatedAt + accessTokenLifetime * 1000 };
}

test('interface: the pair at hand keeps the lifetime that it was given, and a window that was narrowed holds at once', () => {
  const grant = pairOf(300);
  for (const accessToken of [60, 300, 3600]) {
    const today = { ...lifetimes, accessToken };
    assert.deepEqual(retryTimes(confidentialClient, today, grant), { overlap: 10, retryWindow: 300 });
    const narrowed = { ...today, refreshOverlap: 2, refreshRetryWindow: 20 };
    assert.deepEqual(retryTimes(confidentialClient, narrowed, grant), { overlap: 2, retryWindow: 20 });
  }
});

for (const [name, client] of Object.entries(clients))
  for (const isUsed of [false, true])
    test(`promise 3: after a step of the clock back no window is open, and nothing ends: ${name}, pair ${isUsed ? 'used' : 'unused'}`, () => {
      for (const back of [2.001, 60, 3600, 30 * DAY])
        for (const older of [1, 2, 4])
          assertRefusal(decide({ client, isUsed, older, after: -back }), 'invalid_grant', /clock stepped back/);
    });

test('promise 3: instances whose clocks differ by two seconds see a rotation as new', () => {
  for (const back of [0, 0.001, 2]) assert.equal(outcomeOf(decide({ older: 1, after: -back })), 'again');
  assert.equal(outcomeOf(decide({ client: strictClient, older: 1, after: -2 })), 'revoke', '0 stays strict');
});

test('promise 3: after a step of the clock back the current refresh token rotates as always, which heals', () => {
  const decision = decide({ after: -3600 });
  assert.ok('rotate' in decision);
  assert.equal(decision.rotate.rotatedAt, activeGrant.rotatedAt - 3_600_000);
});
