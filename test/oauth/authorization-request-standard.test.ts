/** Authorization requests of the standard face. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../src/oauth/clients/client.ts';
import type { ErrorCode } from '../../src/oauth/error.ts';
import type { Parameter } from '../../src/oauth/parameters.ts';
import {
  assertRedirected,
  CHALLENGE,
  type Changes,
  type Circumstances,
  client,
  ISSUER,
  LETTERS,
  pkce,
  R1,
  valid,
  validate,
} from './requests.ts';
import { publicClient } from './samples.ts';

const publicOne: Client = { ...publicClient, scopes: client.scopes };

test('RFC 6749 §4.1.1: what a valid request says', () => {
  assert.deepEqual(validate('standard'), {
    kind: 'valid',
    face: 'standard',
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
    issuer: ISSUER,
  });
  const more = { ...pkce, scope: 'read', resource: LETTERS, prompt: 'login consent', login_hint: 'ada@example.com' };
  assert.deepEqual(validate('standard', more), {
    ...valid('standard'),
    scope: ['read'],
    codeChallenge: CHALLENGE,
    resource: LETTERS,
    prompt: ['login', 'consent'],
    loginHint: 'ada@example.com',
    maxAge: null,
    uiLocales: null,
    requestUri: null,
  });
});

test('RFC 9700 §4.7.1, RFC 6749 §4.1.1, RFC 9126 §7.5: state may be left out with PKCE, and with nothing else', () => {
  for (const state of [undefined, ''])
    for (const by of [client, publicOne]) assert.equal(valid('standard', { ...pkce, state }, { by }).state, null);
});

const mistakes: [string, Changes, ErrorCode, RegExp, (string | null | undefined)?, Circumstances?][] = [
  ['RFC 6749 §3.1.1: no response_type', { response_type: undefined }, 'invalid_request', /response_type is required/],
  ['RFC 6749 §3.1.1: an empty response_type', { response_type: '' }, 'invalid_request', /response_type is required/],
  ['RFC 9700 §4.7.1: neither state nor PKCE', { state: undefined }, 'invalid_request', /unless a code_challenge/, null],
  [
    'RFC 9700 §4.7.1, RFC 6749 §3.1: an empty challenge in place of state',
    { state: undefined, code_challenge: '' },
    'invalid_request',
    /unless a code_challenge/,
    null,
  ],
  [
    'RFC 9700 §4.7.1: a challenge that is none in place of state',
    { state: undefined, ...pkce, code_challenge: 'x' },
    'invalid_request',
    /43 base64url/,
    null,
  ],
  [
    'RFC 9700 §4.7.1: a plain challenge in place of state',
    { state: undefined, code_challenge: CHALLENGE },
    'invalid_request',
    /must be S256/,
    null,
  ],
  [
    'RFC 9700 §2.1.1: a public client without PKCE',
    {},
    'invalid_request',
    /code_challenge is required/,
    undefined,
    { by: publicOne },
  ],
  [
    'RFC 7636 §4.4.1: a public client with plain',
    { ...pkce, code_challenge_method: 'plain' },
    'invalid_request',
    /must be S256/,
    undefined,
    { by: publicOne },
  ],
  ['RFC 9101 §7: request', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported', /request is not/],
  [
    'RFC 9101 §7: a request_uri that is a URL',
    { request_uri: 'https://one.test/request.jwt' },
    'request_uri_not_supported',
    /pushed request/,
  ],
  ['RFC 8707 §2: an unknown resource', { resource: 'https://unknown.test' }, 'invalid_target', /not known/],
  ['RFC 8707 §2: a resource with one more slash', { resource: `${LETTERS}//` }, 'invalid_target', /not known/],
  ['RFC 8707 §2: a resource with another path', { resource: `${LETTERS}/V1` }, 'invalid_target', /not known/],
  ['RFC 8707 §2: a resource that is no URI', { resource: 'letters' }, 'invalid_target', /not known/],
  ['RFC 8707 §2: a resource with a fragment', { resource: `${LETTERS}#x` }, 'invalid_target', /not known/],
  ['RFC 8707 §2: a resource that is no text', { resource: null }, 'invalid_request', /resource is not a string/],
  ...[
    [LETTERS, 'https://unknown.test'],
    ['https://unknown.test', LETTERS],
    [LETTERS, LETTERS],
  ].map((both): (typeof mistakes)[number] => [
    `RFC 9700 §2.3, RFC 8707 §2: the resources ${both}`,
    {},
    'invalid_target',
    /one resource at a time/,
    undefined,
    { more: both.map((resource) => ['resource', resource] as const) },
  ]),
  ...['nonsense', 'select_acount', 'NONE', 'login,consent', 'login nonsense', 'create'].map(
    (prompt): (typeof mistakes)[number] => [
      `OpenID Connect Core §3.1.2.1: prompt ${prompt}`,
      { prompt },
      'invalid_request',
      /prompt must be/,
    ],
  ),
  ...['none login', 'consent none', 'none none', 'login consent none'].map((prompt): (typeof mistakes)[number] => [
    `OpenID Connect Core §3.1.2.1: prompt ${prompt}`,
    { prompt },
    'invalid_request',
    /must be the only value/,
  ]),
];
for (const [name, changes, code, detail, state, circumstances] of mistakes) {
  test(`${name} is redirected as ${code}`, () => {
    assertRedirected('standard', validate('standard', changes, circumstances), code, detail, state);
  });
}

test('RFC 6749 §3.1: whatever comes without a value is as good as absent', () => {
  for (const name of ['request', 'request_uri', 'prompt', 'login_hint', 'resource', 'scope'])
    assert.deepEqual(validate('standard', { [name]: '' }), validate('standard'), name);
});

test('RFC 6749 §3.1: a resource without a value is as good as none', () => {
  assert.equal(valid('standard', { resource: '' }).resource, null);
  for (const more of [
    ['', LETTERS],
    [LETTERS, ''],
  ]) {
    const pairs = more.map((resource): Parameter => ['resource', resource]);
    assert.equal(valid('standard', {}, { more: pairs }).resource, LETTERS, 'and never one for all');
  }
});

const prompts: [string | undefined, string[]][] = [
  [undefined, []],
  ['', []],
  [' ', []],
  ['none', ['none']],
  ['login', ['login']],
  ['consent', ['consent']],
  ['consent login', ['consent', 'login']],
  ['  login  ', ['login']],
];
for (const [prompt, expected] of prompts) {
  test(`OpenID Connect Core §3.1.2.1: prompt ${JSON.stringify(prompt)} is taken`, () => {
    assert.deepEqual(valid('standard', { prompt }).prompt, expected);
  });
}

test('RFC 6749 §4.1.2.1: of several mistakes the first is told', () => {
  const twice: Parameter[] = [
    ['x', '1'],
    ['x', '2'],
  ];
  const wrong: Changes = {
    request: 'x',
    request_uri: 'https://one.test/request',
    state: undefined,
    response_type: undefined,
    scope: 'none',
    resource: 'https://unknown.test',
    prompt: 'nonsense',
  };
  let [current, circumstances]: [Changes, Circumstances] = [wrong, { by: publicOne, more: twice }];
  const steps: [Changes, Circumstances, ErrorCode, RegExp][] = [
    [{}, circumstances, 'invalid_request', /repeated/],
    [{}, { by: publicOne }, 'request_not_supported', /request/],
    [{ request: undefined }, { by: publicOne }, 'request_uri_not_supported', /request_uri/],
    [{ request_uri: undefined }, { by: publicOne }, 'invalid_request', /state is required/],
    [{ state: 'x'.repeat(4097) }, { by: publicOne }, 'invalid_request', /response_type is required/],
    [{ response_type: 'token' }, { by: publicOne }, 'invalid_request', /longer/],
    [{ state: 'some state' }, { by: publicOne }, 'unsupported_response_type', /code/],
    [{ response_type: 'code' }, { by: publicOne }, 'invalid_request', /code_challenge is required/],
    [pkce, { by: publicOne }, 'invalid_scope', /scope/],
    [{ scope: undefined }, { by: publicOne }, 'invalid_target', /resource/],
    [{ resource: undefined }, { by: publicOne }, 'invalid_request', /prompt/],
  ];
  for (const [fix, next, code, detail] of steps) {
    current = { ...current, ...fix };
    circumstances = next;
    const state = current['state'] ?? null;
    assertRedirected('standard', validate('standard', current, circumstances), code, detail, state);
  }
  valid('standard', { ...current, prompt: undefined }, circumstances);
});
