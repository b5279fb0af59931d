/** What holds for authorization requests of both faces, and what for the published one alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Client } from '../../src/oauth/clients/client.ts';
import type { ErrorCode } from '../../src/oauth/error.ts';
import { type Parameter, Parameters } from '../../src/oauth/parameters.ts';
import { validateAuthorizationRequest } from '../../src/oauth/protocol/authorization-request.ts';
import {
  assertRedirected,
  assertShown,
  CHALLENGE,
  type Changes,
  client,
  FACES,
  ISSUER,
  LETTERS,
  pairsOf,
  pkce,
  R1,
  valid,
  validate,
  whole,
} from './requests.ts';
import { publicClient } from './samples.ts';
import { someText } from './some-text.ts';

test('RFC 6749 §3.1.1, §4.1.1: a request with client_id, redirect_uri and state is valid, and response_type means code', () => {
  const expected = {
    kind: 'valid',
    face: 'published',
    client,
    redirectUri: R1,
    state: 'some state',
    scope: ['read', 'write'],
    scopes: client.scopes,
    personFields: client.personFields,
    openid: null,
    codeChallenge: null,
    resource: null,
    resourceIsDefault: false,
    prompt: [],
    loginHint: null,
    maxAge: null,
    uiLocales: null,
    requestUri: null,
    issuer: null,
  };
  for (const response_type of [undefined, 'code', ''])
    assert.deepEqual(validate('published', { response_type }), expected);
});

for (const face of FACES) {
  test(`RFC 6749 §3.3: a part of the scope may be asked for (${face})`, () => {
    assert.deepEqual(valid(face, { scope: 'write' }).scope, ['write']);
  });

  test(`RFC 7636 §4.3, §4.4: an S256 challenge is kept (${face})`, () => {
    assert.equal(valid(face, pkce).codeChallenge, CHALLENGE);
    valid(face, pkce, { by: { ...client, requirePkce: true } });
  });
}

const shown: [string, Changes, Client | null, string, RegExp, Parameter[]?][] = [
  ['an unknown client', {}, null, 'unknown_client', /no client/],
  [
    'the address of a document that is not admitted',
    { client_id: 'https://agent.example/client.json' },
    null,
    'unadmitted_client',
    /client register --from/,
  ],
  [
    'an address that is none of a document',
    { client_id: 'https://agent.example/' },
    null,
    'unknown_client',
    /no client/,
  ],
  ['no client_id', { client_id: undefined }, null, 'missing_client_id', /missing/],
  ['an empty client_id', { client_id: '' }, null, 'missing_client_id', /missing/],
  ['the same client_id twice', {}, null, 'missing_client_id', /repeated/, [['client_id', 'app_two']]],
  [
    'an unknown client and a foreign redirect_uri',
    { redirect_uri: 'https://evil.test' },
    null,
    'unknown_client',
    /no client/,
  ],
  ['no redirect_uri', { redirect_uri: undefined }, client, 'missing_redirect_uri', /missing/],
  [
    'no redirect_uri with one registered',
    { redirect_uri: undefined },
    { ...client, redirectUris: [R1] },
    'missing_redirect_uri',
    /missing/,
  ],
  ['an empty redirect_uri', { redirect_uri: '' }, client, 'missing_redirect_uri', /missing/],
  ['a redirect_uri that is not text', { redirect_uri: null }, client, 'missing_redirect_uri', /missing/],
  ['a foreign redirect_uri', { redirect_uri: 'https://evil.test/cb' }, client, 'bad_redirect_uri', /not registered/],
  ['a redirect_uri with a path after it', { redirect_uri: `${R1}/x` }, client, 'bad_redirect_uri', /not registered/],
  ['the same redirect_uri twice', {}, client, 'missing_redirect_uri', /repeated/, [['redirect_uri', R1]]],
  [
    'a good and a foreign redirect_uri',
    {},
    client,
    'missing_redirect_uri',
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
  test(`RFC 6749 §3.1.2.3, §4.1.2.1: shown and never redirected: ${name}`, () => {
    for (const face of FACES) assertShown(validate(face, changes, { by, more: more ?? [] }), error, detail);
  });
}

const redirected: [string, Changes, ErrorCode, RegExp, (string | null)?][] = [
  ['no state', { state: undefined }, 'invalid_request', /state is required/, null],
  ['an empty state', { state: '' }, 'invalid_request', /state is required/, null],
  ['a state that is not text', { state: null }, 'invalid_request', /state is not a string/, null],
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
    /response_type is not a string/,
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
for (const [name, changes, code, detail, state] of redirected) {
  test(`${name} is redirected as ${code}`, () => {
    for (const face of FACES) assertRedirected(face, validate(face, changes), code, detail, state);
  });
}

test('RFC 9700 §2.1.1, RFC 7636 §5: a client that must use PKCE is refused without a challenge', () => {
  const by = { ...client, requirePkce: true };
  for (const face of FACES)
    assertRedirected(face, validate(face, {}, { by }), 'invalid_request', /required for this client/);
});

test('RFC 6749 §4.1.2.1: a public client may not use the published face, with or without PKCE', () => {
  const by = { ...publicClient, scopes: client.scopes };
  for (const changes of [{}, pkce])
    assertRedirected('published', validate('published', changes, { by }), 'unauthorized_client', /client secret/);
});

const repeatable: Changes = { ...whole, ...pkce, scope: 'read' };
for (const name of ['state', 'response_type', 'code_challenge', 'code_challenge_method', 'scope']) {
  for (const second of [repeatable[name] as string, 'other', '']) {
    test(`RFC 6749 §3.1: ${name} twice, then ${JSON.stringify(second)}, is invalid_request`, () => {
      for (const face of FACES) {
        const outcome = validate(face, repeatable, { more: [[name, second]] });
        const state = name === 'state' ? null : whole.state;
        assertRedirected(face, outcome, 'invalid_request', new RegExp(`^${name} is repeated`), state);
      }
    });
  }
}

const evilTwice: Parameter[] = [
  ['<b>evil', '1'],
  ['<b>evil', '2'],
];

test('RFC 6749 §3.1: an unknown parameter twice is invalid_request, and its name is not told', () => {
  for (const face of FACES)
    assertRedirected(face, validate(face, {}, { more: evilTwice }), 'invalid_request', /^a parameter is repeated$/);
});

test('RFC 6749 §3.1: unknown parameters are ignored', () => {
  const extras: Changes = { extra: 'foobar', nonce: 'n', display: 'page', claims: '{}', __proto__x: 'x', bad: null };
  for (const face of FACES) assert.deepEqual(validate(face, extras), validate(face));
});

test('interface: the published face does not know the parameters of the standard one', () => {
  const extras: Changes[] = [
    { prompt: 'none' },
    { prompt: 'nonsense' },
    { prompt: null },
    { resource: LETTERS },
    { resource: 'https://unknown.test' },
    { resource: null },
    { login_hint: 'ada@example.com' },
    { request: 'eyJ' },
    { request_uri: 'https://evil.test/request' },
    { request_uri: 'urn:ietf:params:oauth:request_uri:x' },
    { iss: 'https://evil.test' },
  ];
  for (const extra of extras) assert.deepEqual(validate('published', extra), validate('published'));
  const withoutState = validate('published', { ...pkce, state: undefined });
  assertRedirected('published', withoutState, 'invalid_request', /^state is required$/, null);
  const twice: Parameter[] = [
    ['resource', LETTERS],
    ['resource', 'https://unknown.test'],
  ];
  assertRedirected('published', validate('published', {}, { more: twice }), 'invalid_request', /repeated/);
});

test('RFC 6749 §4.1.2.1: of several mistakes the first is told: repetition, state, client type, response type, PKCE, scope', () => {
  const wrong: Changes = { state: undefined, response_type: 'token', code_challenge: 'x', scope: 'none' };
  const by: Client = { ...client, type: 'public', requirePkce: true };
  const steps: [Changes, Client, readonly Parameter[], ErrorCode, RegExp, string | null][] = [
    [wrong, by, evilTwice, 'invalid_request', /repeated/, null],
    [wrong, by, [], 'invalid_request', /state is required/, null],
    [{ ...wrong, state: 's' }, by, [], 'unauthorized_client', /secret/, 's'],
    [{ ...wrong, state: 's' }, client, [], 'unsupported_response_type', /code/, 's'],
    [{ ...wrong, state: 's', response_type: 'code' }, client, [], 'invalid_request', /S256/, 's'],
    [{ state: 's', scope: 'none' }, client, [], 'invalid_scope', /scope/, 's'],
  ];
  for (const [changes, who, more, code, detail, state] of steps)
    assertRedirected('published', validate('published', changes, { by: who, more }), code, detail, state);
});

test('a state of whatever text up to 4096 characters is kept unchanged', () => {
  for (const state of ['x'.repeat(4096), ' ', '0', 'null', '__proto__', 'a b+c%20', '\r\nSet-Cookie: x=1', '😀'])
    for (const face of FACES) assert.equal(valid(face, { state }).state, state);
  fc.assert(
    fc.property(someText, fc.constantFrom(...FACES), (state, face) => {
      assert.equal(valid(face, { state }).state, state);
    }),
  );
});

test('RFC 6749 §4.1.2.1: whatever comes, nothing is redirected to but a registered URI, and only with a state that came', () => {
  const someValue = fc.oneof(
    fc.constantFrom(R1, 'code', 'S256', CHALLENGE, 'read', client.id, LETTERS, 'login consent', 'none', '', null),
    fc.constantFrom(`${R1}/x`, 'https://evil.test'),
    fc.string(),
  );
  const names = [...Object.keys(repeatable), 'scope', 'prompt', 'resource', 'login_hint', 'request', 'request_uri'];
  const someName = fc.oneof(fc.constantFrom(...names), fc.string());
  const someMore = fc.array(fc.tuple(someName, someValue), { maxLength: 8 });
  fc.assert(
    fc.property(someMore, fc.boolean(), fc.constantFrom(...FACES), (more, isComplete, face) => {
      const pairs: Parameter[] = [...(isComplete ? pairsOf({}) : []), ...more];
      const context = { face, issuer: ISSUER, client, resources: [LETTERS] };
      const outcome = validateAuthorizationRequest(new Parameters(pairs), context);
      if (outcome.kind === 'show') return;
      assert.ok(client.redirectUris.includes(outcome.redirectUri));
      assert.equal(pairs.filter(([name]) => name === 'redirect_uri').length, 1);
      const states = pairs.filter(([name]) => name === 'state').map(([, value]) => value);
      assert.equal(outcome.state, states.length === 1 && states[0] ? states[0] : null);
      if (outcome.kind !== 'valid') return;
      const sent = pairs.map(([name]) => name).filter((name) => face === 'published' || name !== 'resource');
      assert.equal(new Set(sent).size, sent.length, 'nothing but resource may come twice');
      assert.ok(outcome.state !== null || (face === 'standard' && outcome.codeChallenge !== null), 'RFC 9700 §4.7.1');
      const resources = pairs.flatMap(([name, value]) => (name === 'resource' && value ? [value] : []));
      assert.deepEqual(outcome.resource, face === 'standard' ? (resources[0] ?? null) : null);
    }),
    { numRuns: 1000 },
  );
});
