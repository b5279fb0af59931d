import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { invalidRequest, Refusal } from '../../src/oauth/error.ts';
import type { AuthorizationRequest } from '../../src/oauth/protocol/authorization-request.ts';
import {
  allowedLocation,
  deniedLocation,
  errorLocation,
  refusedLocation,
} from '../../src/oauth/protocol/authorization-response.ts';
import { ISSUER, R1, valid } from './requests.ts';
import { someText } from './some-text.ts';

function requestWith(state: string | null, redirectUri = R1): AuthorizationRequest {
  return { ...valid('published'), redirectUri, state };
}

/** The same on the standard face. */
function issuedBy(issuer: string, state: string | null = 's'): AuthorizationRequest {
  return { ...valid('standard'), state, issuer };
}

/** What a client reads: the added pairs, form-decoded as URLSearchParams and as most languages do. */
function pairsOf(location: string): [string, string][] {
  return [...new URL(location).searchParams];
}

test('RFC 6749 §4.1.2, RFC 9207 §2: after Allow exactly code and state are added', () => {
  assert.equal(allowedLocation(requestWith('xyz'), 'vk_ac_A-_'), `${R1}?code=vk_ac_A-_&state=xyz`);
});

test('RFC 6749 §4.1.2.1: after Deny the client is told access_denied, with the state', () => {
  assert.deepEqual(pairsOf(deniedLocation(requestWith('xyz'))), [
    ['error', 'access_denied'],
    ['error_description', 'the resource owner denied the request'],
    ['state', 'xyz'],
  ]);
});

test('RFC 6749 §4.1.2.1: an error carries its code, its public text and the state, if one came, but never its detail', () => {
  const refusal = invalidRequest('public words', 'private detail');
  const error = { kind: 'redirect', refusal, redirectUri: R1, issuer: null } as const;
  const location = errorLocation({ ...error, state: 'xyz' });
  assert.equal(location, `${R1}?error=invalid_request&error_description=public%20words&state=xyz`);
  const without = errorLocation({ ...error, state: null });
  assert.equal(without, `${R1}?error=invalid_request&error_description=public%20words`);
});

test('RFC 9207 §2: on the standard face every answer says who gives it, form-encoded, last and once', () => {
  const request = issuedBy(ISSUER);
  const refusal = new Refusal('login_required', 'nobody is signed in', 'private detail');
  const iss = 'iss=https%3A%2F%2Fapp.test';
  assert.equal(allowedLocation(request, 'c'), `${R1}?code=c&state=s&${iss}`);
  assert.equal(allowedLocation(issuedBy(ISSUER, null), 'c'), `${R1}?code=c&${iss}`);
  const denied = 'error=access_denied&error_description=the%20resource%20owner%20denied%20the%20request';
  assert.equal(deniedLocation(request), `${R1}?${denied}&state=s&${iss}`);
  const refused = 'error=login_required&error_description=nobody%20is%20signed%20in';
  assert.equal(refusedLocation(request, refusal), `${R1}?${refused}&state=s&${iss}`);
  const error = { kind: 'redirect', refusal, redirectUri: R1, state: null, issuer: ISSUER } as const;
  assert.equal(errorLocation(error), `${R1}?${refused}&${iss}`);
});

test('RFC 9207 §2: an issuer with a port and a path comes whole', () => {
  for (const issuer of ['http://localhost:3000', 'https://app.test/a?b=c&d#e'])
    assert.deepEqual(new URL(allowedLocation(issuedBy(issuer), 'c')).searchParams.getAll('iss'), [issuer]);
});

test('RFC 6749 §4.1.2: without a state none is added', () => {
  assert.equal(allowedLocation(requestWith(null), 'c'), `${R1}?code=c`);
  assert.ok(!deniedLocation(requestWith(null)).includes('state'));
});

const queries: [string, string][] = [
  ['https://one.test/cb', 'https://one.test/cb?code=c&state=s'],
  ['https://one.test', 'https://one.test?code=c&state=s'],
  ['https://one.test/cb?', 'https://one.test/cb?code=c&state=s'],
  ['https://one.test/cb?tenant=7', 'https://one.test/cb?tenant=7&code=c&state=s'],
  ['https://one.test/cb?tenant=7&', 'https://one.test/cb?tenant=7&code=c&state=s'],
  ['https://one.test/cb?a=%20b+c&a', 'https://one.test/cb?a=%20b+c&a&code=c&state=s'],
  ['http://127.0.0.1:51234/cb', 'http://127.0.0.1:51234/cb?code=c&state=s'],
  ['com.example.app:/cb', 'com.example.app:/cb?code=c&state=s'],
];
for (const [redirectUri, location] of queries) {
  test(`RFC 6749 §3.1.2: the query of ${redirectUri} is kept as it is`, () => {
    assert.equal(allowedLocation(requestWith('s', redirectUri), 'c'), location);
  });
}

const states = [
  'a b',
  'a+b',
  '&=#%',
  '%20',
  '%',
  `'"<>`,
  '"><script>alert(1)</script>',
  '\r\nSet-Cookie: x=1',
  '\0',
  '😀',
  'é',
  'x'.repeat(1000),
  'x'.repeat(2048),
  '__proto__',
  'null',
  'undefined',
  '&code=evil',
  '#code=evil',
  'a;b',
  '\u2028\ufeff',
  '/../?',
];
for (const state of states) {
  test(`RFC 6749 §4.1.2: the state ${JSON.stringify(state.slice(0, 40))} comes back unchanged`, () => {
    assertUnchanged(state);
  });
}

test('RFC 6749 §4.1.2: any state comes back unchanged, once, in a location without raw or harmful characters', () => {
  fc.assert(fc.property(someText, assertUnchanged), {
    numRuns: 1000,
  });
});

function assertUnchanged(state: string): void {
  for (const redirectUri of [R1, `${R1}?tenant=7`]) {
    const request = requestWith(state, redirectUri);
    for (const location of [allowedLocation(request, 'c'), deniedLocation(request)]) {
      assert.match(location, /^[\x21-\x7e]+$/);
      assert.doesNotMatch(location, /[#"<>\\^`{|}]/);
      assert.ok(location.startsWith(redirectUri));
      assert.deepEqual(new URL(location).searchParams.getAll('state'), [state]);
      const raw = /[?&]state=([^&]*)$/.exec(location)?.[1] ?? '';
      assert.equal(decodeURIComponent(raw.replaceAll('+', ' ')), state);
    }
  }
}
