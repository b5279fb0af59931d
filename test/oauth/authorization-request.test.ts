import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type AuthorizationRequestOutcome,
  requestFingerprint,
  validateAuthorizationRequest,
} from '../../src/oauth/authorization-request.ts';
import type { Client } from '../../src/oauth/client.ts';
import type { ErrorCode } from '../../src/oauth/error.ts';
import { type Parameter, Parameters } from '../../src/oauth/parameters.ts';
import { assertRefusal, confidentialClient, publicClient, someText } from './samples.ts';

const R1 = 'https://one.test/cb';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const client: Client = {
  ...confidentialClient,
  scopes: [
    { name: 'read', sentence: null },
    { name: 'write', sentence: null },
  ],
};
const whole = { client_id: client.id, redirect_uri: R1, state: 'some state' };
const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

type Changes = Record<string, string | null | undefined>;

function pairsOf(changes: Changes): Parameter[] {
  const all: Changes = { ...whole, ...changes };
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function validate(
  changes: Changes = {},
  by: Client | null = client,
  more: Parameter[] = [],
): AuthorizationRequestOutcome {
  return validateAuthorizationRequest(new Parameters([...pairsOf(changes), ...more]), by);
}

function assertShown(outcome: AuthorizationRequestOutcome, error: string, detail: RegExp): void {
  assert.equal(outcome.kind, 'show');
  if (outcome.kind !== 'show') return;
  assert.equal(outcome.error, error);
  assert.match(outcome.detail, detail);
  assert.deepEqual(Object.keys(outcome).sort(), ['detail', 'error', 'kind'], 'nothing that could be redirected to');
}

function assertRedirected(outcome: AuthorizationRequestOutcome, code: ErrorCode, detail: RegExp, state?: string): void {
  assert.equal(outcome.kind, 'redirect');
  if (outcome.kind !== 'redirect') return;
  assertRefusal(outcome.refusal, code, detail);
  assert.equal(outcome.redirectUri, R1);
  assert.equal(outcome.state, state);
}

test('RFC 6749 §4.1.1: a request with client_id, redirect_uri and state is valid, and response_type means code', () => {
  const expected = {
    kind: 'valid',
    client,
    redirectUri: R1,
    state: 'some state',
    scope: ['read', 'write'],
    codeChallenge: null,
  };
  assert.deepEqual(validate(), expected);
  assert.deepEqual(validate({ response_type: 'code' }), expected);
  assert.deepEqual(validate({ response_type: '' }), expected);
});

test('RFC 6749 §3.3: a part of the scope may be asked for', () => {
  const outcome = validate({ scope: 'write' });
  assert.deepEqual(outcome.kind === 'valid' && outcome.scope, ['write']);
});

test('RFC 7636 §4.3: an S256 challenge is kept', () => {
  const outcome = validate(pkce);
  assert.equal(outcome.kind === 'valid' && outcome.codeChallenge, CHALLENGE);
  assert.equal(validate(pkce, { ...client, requirePkce: true }).kind, 'valid');
});

const shown: [string, Changes, Client | null, string, RegExp, Parameter[]?][] = [
  ['an unknown client', {}, null, 'unknown_client', /no client/],
  [
    'an unknown client and a foreign redirect_uri',
    { redirect_uri: 'https://evil.test' },
    null,
    'unknown_client',
    /no client/,
  ],
  ['no redirect_uri', { redirect_uri: undefined }, client, 'bad_redirect_uri', /missing/],
  [
    'no redirect_uri with one registered',
    { redirect_uri: undefined },
    { ...client, redirectUris: [R1] },
    'bad_redirect_uri',
    /missing/,
  ],
  ['an empty redirect_uri', { redirect_uri: '' }, client, 'bad_redirect_uri', /missing/],
  ['a redirect_uri that is not text', { redirect_uri: null }, client, 'bad_redirect_uri', /missing/],
  ['a foreign redirect_uri', { redirect_uri: 'https://evil.test/cb' }, client, 'bad_redirect_uri', /not registered/],
  ['a redirect_uri with a path after it', { redirect_uri: `${R1}/x` }, client, 'bad_redirect_uri', /not registered/],
  ['the same redirect_uri twice', {}, client, 'bad_redirect_uri', /repeated/, [['redirect_uri', R1]]],
  [
    'a good and a foreign redirect_uri',
    {},
    client,
    'bad_redirect_uri',
    /repeated/,
    [['redirect_uri', 'https://evil.test']],
  ],
  [
    'a foreign redirect_uri of a paused client',
    { redirect_uri: 'https://evil.test' },
    { ...client, status: 'paused' },
    'bad_redirect_uri',
    /not registered/,
  ],
  ['a paused client', {}, { ...client, status: 'paused' }, 'client_paused', /paused/],
  [
    'a paused client with everything else wrong',
    { state: undefined, response_type: 'token' },
    { ...client, status: 'paused' },
    'client_paused',
    /paused/,
  ],
  [
    'a foreign redirect_uri with everything else wrong',
    { redirect_uri: 'https://evil.test', state: undefined },
    client,
    'bad_redirect_uri',
    /not registered/,
  ],
];
for (const [name, changes, by, error, detail, more] of shown) {
  test(`RFC 6749 §4.1.2.1: shown and never redirected: ${name}`, () => {
    assertShown(validate(changes, by, more), error, detail);
  });
}

const redirected: [string, Changes, ErrorCode, RegExp, (string | undefined)?][] = [
  ['no state', { state: undefined }, 'invalid_request', /state is required/, undefined],
  ['an empty state', { state: '' }, 'invalid_request', /state is required/, undefined],
  ['a state that is not text', { state: null }, 'invalid_request', /state is not text/, undefined],
  ['a state of 4097 characters', { state: 'x'.repeat(4097) }, 'invalid_request', /longer/, 'x'.repeat(4097)],
  ...['token', 'id_token', 'code token', 'code id_token', 'none', 'CODE', 'code code', ' code', 'code ', 'code\n'].map(
    (response_type): [string, Changes, ErrorCode, RegExp] => [
      `response_type ${JSON.stringify(response_type)}`,
      { response_type },
      'unsupported_response_type',
      /must be code/,
    ],
  ),
  [
    'RFC 6749 §3.1: a response_type that is not text',
    { response_type: null },
    'invalid_request',
    /response_type is not text/,
  ],
  ['method plain', { ...pkce, code_challenge_method: 'plain' }, 'invalid_request', /method must be S256/],
  ['no method', { ...pkce, code_challenge_method: undefined }, 'invalid_request', /method must be S256/],
  ['an empty method', { ...pkce, code_challenge_method: '' }, 'invalid_request', /method must be S256/],
  ['method s256', { ...pkce, code_challenge_method: 's256' }, 'invalid_request', /method must be S256/],
  ['method S512', { ...pkce, code_challenge_method: 'S512' }, 'invalid_request', /method must be S256/],
  ['a challenge of 42 characters', { ...pkce, code_challenge: CHALLENGE.slice(1) }, 'invalid_request', /43 base64url/],
  ['a challenge of 44 characters', { ...pkce, code_challenge: `${CHALLENGE}A` }, 'invalid_request', /43 base64url/],
  ['a challenge of 128 characters', { ...pkce, code_challenge: 'A'.repeat(128) }, 'invalid_request', /43 base64url/],
  ['a padded challenge', { ...pkce, code_challenge: `${CHALLENGE}=` }, 'invalid_request', /43 base64url/],
  [
    'a challenge in standard base64',
    { ...pkce, code_challenge: `+/${CHALLENGE.slice(2)}` },
    'invalid_request',
    /43 base64url/,
  ],
  ['a method without a challenge', { code_challenge_method: 'S256' }, 'invalid_request', /missing or empty/],
  ['an empty challenge with a method', { ...pkce, code_challenge: '' }, 'invalid_request', /missing or empty/],
  ['an empty challenge without a method', { code_challenge: '' }, 'invalid_request', /missing or empty/],
  ['RFC 6749 §3.3: a scope that is not the client’s', { scope: 'read admin' }, 'invalid_scope', /not registered/],
];
for (const [name, changes, code, detail, ...state] of redirected) {
  test(`${name} is redirected as ${code}`, () => {
    assertRedirected(validate(changes), code, detail, state.length > 0 ? state[0] : whole.state);
  });
}

test('RFC 9700 §2.1.1: a client that must use PKCE is refused without a challenge', () => {
  assertRedirected(
    validate({}, { ...client, requirePkce: true }),
    'invalid_request',
    /required for this client/,
    whole.state,
  );
});

test('RFC 6749 §4.1.2.1: a public client may not use this endpoint, with or without PKCE', () => {
  const by = { ...publicClient, scopes: client.scopes };
  for (const changes of [{}, pkce])
    assertRedirected(validate(changes, by), 'unauthorized_client', /client secret/, whole.state);
});

const repeatable: Changes = { ...whole, ...pkce, response_type: 'code', scope: 'read' };
for (const name of ['state', 'response_type', 'code_challenge', 'code_challenge_method', 'scope']) {
  for (const second of [repeatable[name] as string, 'other', '']) {
    test(`RFC 6749 §3.1: ${name} twice, then ${JSON.stringify(second)}, is invalid_request`, () => {
      const outcome = validate(repeatable, client, [[name, second]]);
      assertRedirected(
        outcome,
        'invalid_request',
        new RegExp(`^${name} is repeated`),
        name === 'state' ? undefined : whole.state,
      );
    });
  }
}

test('RFC 6749 §3.1: an unknown parameter twice is invalid_request, and its name is not told', () => {
  const outcome = validate({}, client, [
    ['<b>evil', '1'],
    ['<b>evil', '2'],
  ]);
  assertRedirected(outcome, 'invalid_request', /^a parameter is repeated$/, whole.state);
});

test('unknown parameters are ignored', () => {
  const extras: Changes = {
    extra: 'foobar',
    nonce: 'n',
    ui_locales: 'se',
    claims: '{}',
    prompt: 'none',
    __proto__x: 'x',
    bad: null,
  };
  assert.deepEqual(validate(extras), validate());
});

test('RFC 6749 §4.1.2.1: of several mistakes the first is told: repetition, state, client type, response type, PKCE, scope', () => {
  const wrong: Changes = { state: undefined, response_type: 'token', code_challenge: 'x', scope: 'none' };
  const by: Client = { ...client, type: 'public', requirePkce: true };
  const outcomes: [Changes, Client, Parameter[], ErrorCode, RegExp, string?][] = [
    [
      wrong,
      by,
      [
        ['x', '1'],
        ['x', '2'],
      ],
      'invalid_request',
      /repeated/,
    ],
    [wrong, by, [], 'invalid_request', /state is required/],
    [{ ...wrong, state: 's' }, by, [], 'unauthorized_client', /secret/, 's'],
    [{ ...wrong, state: 's' }, client, [], 'unsupported_response_type', /code/, 's'],
    [{ ...wrong, state: 's', response_type: 'code' }, client, [], 'invalid_request', /S256/, 's'],
    [{ state: 's', scope: 'none' }, client, [], 'invalid_scope', /scope/, 's'],
  ];
  for (const [changes, client_, more, code, detail, state] of outcomes)
    assertRedirected(validate(changes, client_, more), code, detail, state);
});

test('a state of whatever text up to 4096 characters is kept unchanged', () => {
  for (const state of ['x'.repeat(4096), ' ', '0', 'null', '__proto__', 'a b+c%20', '\r\nSet-Cookie: x=1', '😀'])
    assert.equal((validate({ state }) as { state?: string }).state, state);
  fc.assert(
    fc.property(someText, (state) => {
      assert.equal((validate({ state }) as { state?: string }).state, state);
    }),
  );
});

test('RFC 6749 §4.1.2.1: whatever comes, nothing is redirected to but a registered URI, and only with a state that came', () => {
  const someValue = fc.oneof(
    fc.constantFrom(R1, 'code', 'S256', CHALLENGE, 'read', client.id, '', null, `${R1}/x`, 'https://evil.test'),
    fc.string(),
  );
  const someName = fc.oneof(fc.constantFrom(...Object.keys(repeatable), 'scope'), fc.string());
  fc.assert(
    fc.property(fc.array(fc.tuple(someName, someValue), { maxLength: 8 }), fc.boolean(), (more, isComplete) => {
      const pairs: Parameter[] = [...(isComplete ? pairsOf({}) : []), ...more];
      const outcome = validateAuthorizationRequest(new Parameters(pairs), client);
      if (outcome.kind === 'show') return;
      assert.ok(client.redirectUris.includes(outcome.redirectUri));
      assert.equal(pairs.filter(([name]) => name === 'redirect_uri').length, 1);
      const states = pairs.filter(([name]) => name === 'state').map(([, value]) => value);
      assert.equal(outcome.state, states.length === 1 && states[0] ? states[0] : undefined);
      if (outcome.kind === 'valid') assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length);
    }),
    { numRuns: 500 },
  );
});

test('the fingerprint of a request differs as soon as anything that Allow would grant differs', () => {
  const other: Client = { ...client, id: 'app_two' };
  const requests = [
    validate(),
    validate({}, other),
    validate({ redirect_uri: 'https://one.test/other' }),
    validate({ state: 'other' }),
    validate({ scope: 'read' }),
    validate(pkce),
    validate({ ...pkce, code_challenge: `${CHALLENGE.slice(1)}A` }),
    validate({ state: 'some state",["read"],null]' }),
  ];
  const prints = requests.map((request) => {
    assert.ok(request.kind === 'valid');
    return requestFingerprint(request);
  });
  assert.equal(new Set(prints).size, prints.length);
  const again = validate({ extra: 'ignored' });
  assert.ok(again.kind === 'valid');
  assert.equal(requestFingerprint(again), prints[0]);
});
