import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../src/oauth/clients/client.ts';
import { type ErrorCode, Refusal } from '../../src/oauth/error.ts';
import type { Grant, GrantInContext, Standing } from '../../src/oauth/grants/grant.ts';
import type { Credential } from '../../src/oauth/keys/credential.ts';
import { type CodeDecision, type CodeExchange, decideCodeExchange } from '../../src/oauth/tokens/authorization-code.ts';
import { WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
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
  rotatedKeyring,
  withWrongMac,
} from './samples.ts';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const withChallenge = { codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' };
type Exchange = CodeExchange & { readonly client: Client };
const good: Exchange = {
  client: confidentialClient,
  redirectUri: issuedGrant.redirectUri,
  codeVerifier: undefined,
  asked: WHOLE_GRANT,
};
const code = presented('ac', issuedGrant);
/** The same grant after its code was redeemed. */
const redeemed: Partial<Grant> = { ...activeGrant, generation: 1, grantedAt: NOW };

type Case = {
  grant?: Partial<Grant>;
  standing?: Partial<Standing>;
  exchange?: Partial<Exchange>;
  credential?: Credential;
  found?: GrantInContext | null;
  now?: number;
};

function decide({ grant, standing, exchange, credential = code, found, now = NOW }: Case = {}): CodeDecision {
  const context = found === undefined ? inContext({ ...issuedGrant, ...grant }, standing) : found;
  return decideCodeExchange({ keyring, lifetimes, credential, found: context, ...good, ...exchange, now });
}

function assertRedeemed(decision: CodeDecision): void {
  assert.ok('redeem' in decision, JSON.stringify(decision));
}

function assertReplay(decision: CodeDecision): void {
  assert.ok('revoke' in decision, JSON.stringify(decision));
  assert.equal(decision.revoke, 'code_replay');
  assertRefusal(decision.refusal, 'invalid_grant', /already redeemed/);
}

test('RFC 6749 §4.1.3: a code with everything right is redeemed into generation 1, with the newest key', () => {
  const found = inContext(issuedGrant);
  const now = NOW + 1000;
  const decision = decideCodeExchange({ ...good, keyring: rotatedKeyring, lifetimes, credential: code, found, now });
  assert.deepEqual(decision, {
    grant: issuedGrant,
    redeem: {
      grantId: issuedGrant.id,
      generation: 1,
      keyId: rotatedKeyring.currentKeyId,
      rotatedAt: NOW + 1000,
      accessTokenExpiresAt: NOW + 1000 + 1_800_000,
      expiresAt: NOW + 1000 + 30 * DAY * 1000,
    },
  });
});

test('RFC 6749 §4.1.2: a code is good until its expiry and not a moment longer', () => {
  assertRedeemed(decide({ now: NOW + 59_999 }));
  for (const now of [NOW + 60_000, NOW + 61_000, NOW + 365 * DAY * 1000])
    assertRefusal(decide({ now }), 'invalid_grant', /expired/);
});

/** What is wrong with a request. Each is found before anything about the code's use, and so revokes nothing. */
const wrongRequests: [name: string, wrong: Case, code: ErrorCode, detail: RegExp][] = [
  ['a code of no grant', { found: null }, 'invalid_grant', /no such grant/],
  ['a forged MAC', { credential: withWrongMac(code) }, 'invalid_grant', /forged/],
  [
    'a code of another installation',
    { credential: presented('ac', issuedGrant, {}, otherKeyring) },
    'invalid_grant',
    /forged/,
  ],
  [
    'a code of another seed',
    { credential: presented('ac', { ...issuedGrant, seed: Buffer.alloc(16) }) },
    'invalid_grant',
    /forged/,
  ],
  [
    'a code of a generation that no code has',
    { credential: presented('ac', { ...issuedGrant, generation: 1 }) },
    'invalid_grant',
    /forged/,
  ],
  [
    'an access token as code',
    { credential: { ...presented('at', issuedGrant), kind: 'ac' } },
    'invalid_grant',
    /forged/,
  ],
  [
    'a refresh token as code',
    { credential: { ...presented('rt', issuedGrant), kind: 'ac' } },
    'invalid_grant',
    /forged/,
  ],
  [
    'another client',
    { exchange: { client: { ...confidentialClient, id: 'app_two' } } },
    'invalid_grant',
    /another client/,
  ],
  [
    'a client of another case',
    { exchange: { client: { ...confidentialClient, id: good.client.id.toUpperCase() } } },
    'invalid_grant',
    /another client/,
  ],
  ...[
    'https://one.test/other',
    'https://one.test/cb/',
    'https://one.test/c%62',
    'https://one.test/cb?',
    'https://one.test/cb?x=1',
    'https://ONE.test/cb',
    'https://one.test/cb ',
    '',
  ].map((redirectUri): [string, Case, ErrorCode, RegExp] => [
    `redirect_uri ${JSON.stringify(redirectUri)}`,
    { exchange: { redirectUri } },
    'invalid_grant',
    /redirect_uri differs/,
  ]),
  [
    'another port on loopback',
    { grant: { redirectUri: 'http://127.0.0.1:5000/cb' }, exchange: { redirectUri: 'http://127.0.0.1:5001/cb' } },
    'invalid_grant',
    /redirect_uri differs/,
  ],
  ['no verifier', { grant: withChallenge }, 'invalid_grant', /verifier is missing/],
  [
    'a wrong verifier',
    { grant: withChallenge, exchange: { codeVerifier: `${VERIFIER.slice(0, -1)}x` } },
    'invalid_grant',
    /does not match/,
  ],
  [
    'the challenge as verifier',
    { grant: withChallenge, exchange: { codeVerifier: withChallenge.codeChallenge } },
    'invalid_grant',
    /does not match/,
  ],
  [
    'a verifier of 42 characters',
    { grant: withChallenge, exchange: { codeVerifier: VERIFIER.slice(1) } },
    'invalid_request',
    /43 to 128/,
  ],
  [
    'a verifier of 129 characters',
    { grant: withChallenge, exchange: { codeVerifier: 'x'.repeat(129) } },
    'invalid_request',
    /43 to 128/,
  ],
  [
    'a verifier with other characters',
    { grant: withChallenge, exchange: { codeVerifier: `${VERIFIER}+/` } },
    'invalid_request',
    /43 to 128/,
  ],
  ['an empty verifier', { grant: withChallenge, exchange: { codeVerifier: '' } }, 'invalid_request', /43 to 128/],
  [
    'RFC 9700 §4.8.2: a verifier without a challenge',
    { exchange: { codeVerifier: VERIFIER } },
    'invalid_request',
    /no code_challenge/,
  ],
];

const forLetters = { resource: 'https://letters.test' };
const asking = (asked: Partial<CodeExchange['asked']>): Partial<CodeExchange> => ({
  asked: { ...WHOLE_GRANT, ...asked },
});
wrongRequests.push(
  [
    'RFC 6749 §4.1.3: no redirect_uri and no PKCE',
    { exchange: { redirectUri: null } },
    'invalid_grant',
    /redirect_uri/,
  ],
  [
    'OAuth 2.1 §10.2: no redirect_uri and a wrong verifier',
    { grant: withChallenge, exchange: { redirectUri: null, codeVerifier: 'x'.repeat(43) } },
    'invalid_grant',
    /does not match/,
  ],
  [
    'OAuth 2.1 §10.2: another redirect_uri with the right verifier',
    { grant: withChallenge, exchange: { redirectUri: 'https://one.test/other', codeVerifier: VERIFIER } },
    'invalid_grant',
    /redirect_uri differs/,
  ],
  [
    'RFC 8707 §2.2: a resource for a grant for any',
    { exchange: asking({ resources: ['https://letters.test'] }) },
    'invalid_target',
    /resource differs/,
  ],
  [
    'RFC 8707 §2.2: another resource than the grant’s',
    { grant: forLetters, exchange: asking({ resources: ['https://other.test'] }) },
    'invalid_target',
    /resource differs/,
  ],
  [
    'RFC 8707 §2.2: another resource beside the grant’s',
    { grant: forLetters, exchange: asking({ resources: ['https://letters.test', 'https://other.test'] }) },
    'invalid_target',
    /resource differs/,
  ],
  [
    'RFC 6749 §6: a scope beyond the grant’s',
    { exchange: asking({ scope: 'read admin' }) },
    'invalid_scope',
    /not granted/,
  ],
);

for (const [name, wrong, errorCode, detail] of wrongRequests) {
  test(`${name} is ${errorCode}, and burns and revokes nothing`, () => {
    assertRefusal(decide(wrong), errorCode, detail);
  });
  test(`RFC 9700 §2.1.1, OAuth 2.1 §7.5.3: ${name} is ${errorCode} after the redemption too, and revokes nothing`, () => {
    assertRefusal(decide({ ...wrong, grant: { ...redeemed, ...wrong.grant } }), errorCode, detail);
    const expired = { ...wrong, grant: { ...redeemed, ...wrong.grant }, now: NOW + 3_600_000 };
    assertRefusal(decide(expired), errorCode, detail);
  });
}

test('RFC 7636 §4.6: the right verifier redeems, also after wrong ones', () => {
  assertRedeemed(decide({ grant: withChallenge, exchange: { codeVerifier: VERIFIER } }));
});

test('OAuth 2.1 §10.2: with PKCE the redirect_uri need not be repeated', () => {
  const exchange = { codeVerifier: VERIFIER, redirectUri: null };
  assertRedeemed(decide({ grant: withChallenge, exchange }));
  assertReplay(decide({ grant: { ...redeemed, ...withChallenge }, exchange }));
});

test('RFC 8707 §2.2: the resource of the grant may be named again, and left out', () => {
  for (const resources of [[], [forLetters.resource], [forLetters.resource, forLetters.resource]])
    assertRedeemed(decide({ grant: forLetters, exchange: asking({ resources }) }));
});

test('RFC 6749 §4.1.2: a redeemed code, with everything right, is a replay and ends the grant', () => {
  assertReplay(decide({ grant: redeemed }));
  assertReplay(decide({ grant: { ...redeemed, generation: 40 } }));
  assertReplay(decide({ grant: { ...redeemed, ...withChallenge }, exchange: { codeVerifier: VERIFIER } }));
});

test('design: the replay of a redeemed code that has expired since still ends the grant, for its whole life', () => {
  for (const now of [NOW + 60_000, NOW + 3_600_000, NOW + 29 * DAY * 1000])
    assertReplay(decide({ grant: redeemed, now }));
});

for (const { name, grant, standing, detail } of badStandings) {
  test(`promise 2: a code of a grant is refused, before and after its redemption: ${name}`, () => {
    for (const state of [{}, redeemed])
      assertRefusal(decide({ grant: { ...state, ...grant }, standing: standing ?? {} }), 'invalid_grant', detail);
  });
}

const stranger = { ...confidentialClient, id: 'app_two', redirectUris: [] };

test('RFC 6749 §4.1.2, §4.1.3, §10.6: order: forgery, client, redirect_uri, PKCE, what is asked, standing, replay, expiry: of several mistakes the first is told', () => {
  const beyond = asking({ scope: 'admin', resources: ['https://other.test'] });
  const wrong: Required<Omit<Case, 'found'>> = {
    credential: withWrongMac(code),
    exchange: { ...beyond, client: stranger, redirectUri: 'https://one.test/other', codeVerifier: VERIFIER },
    grant: { ...redeemed, revokedAt: NOW },
    standing: { clientPaused: true, resourceOwnerDisabled: true },
    now: NOW + 3_600_000,
  };
  const steps: [Partial<Case>, ErrorCode, RegExp][] = [
    [{}, 'invalid_grant', /forged/],
    [{ credential: code }, 'invalid_grant', /another client/],
    [
      { exchange: { ...beyond, redirectUri: 'https://one.test/other', codeVerifier: VERIFIER } },
      'invalid_grant',
      /redirect_uri/,
    ],
    [{ exchange: { ...beyond, codeVerifier: VERIFIER } }, 'invalid_request', /code_challenge/],
    [{ exchange: beyond }, 'invalid_scope', /not granted/],
    [{ exchange: asking({ resources: ['https://other.test'] }) }, 'invalid_target', /resource differs/],
    [{ exchange: {} }, 'invalid_grant', /revoked/],
    [{ grant: redeemed }, 'invalid_grant', /client is paused/],
    [{ standing: { resourceOwnerDisabled: true } }, 'invalid_grant', /account is disabled/],
  ];
  let current: Case = wrong;
  for (const [fix, errorCode, detail] of steps) {
    current = { ...current, ...fix };
    assertRefusal(decide(current), errorCode, detail);
  }
  current = { ...current, standing: {} };
  assertReplay(decide(current));
  assertRefusal(decide({ ...current, grant: {} }), 'invalid_grant', /expired/);
});

test('RFC 6749 §4.1.3: a code whose redirect URI was removed since is refused, and one that was redeemed is still a replay', () => {
  const exchange = { client: { ...confidentialClient, redirectUris: ['https://one.test/other'] } };
  const refusal = decide({ exchange });
  assertRefusal(refusal, 'invalid_grant', /redirect URI was removed/);
  assertReplay(decide({ exchange, grant: redeemed }));
});

test('RFC 8252 §7.3: a code for a loopback address is good at the port that it was asked for with', () => {
  const redirectUri = 'http://127.0.0.1:51234/cb';
  const exchange = { redirectUri, client: { ...confidentialClient, redirectUris: ['http://127.0.0.1/cb'] } };
  assert.ok('redeem' in decide({ exchange, grant: { redirectUri } }));
});

test('RFC 6749 §5.2: all invalid_grant of a code share one public text, so that nobody learns what was wrong', () => {
  const texts = wrongRequests
    .map(([, wrong]) => decide(wrong))
    .filter((decision) => decision instanceof Refusal)
    .filter((refusal) => refusal.code === 'invalid_grant')
    .map((refusal) => refusal.description);
  assert.equal(new Set(texts).size, 1);
});
