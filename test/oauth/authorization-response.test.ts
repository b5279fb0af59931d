import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AuthorizationRequest } from '../../src/oauth/authorization-request.ts';
import { allowedLocation, deniedLocation, errorLocation } from '../../src/oauth/authorization-response.ts';
import { invalidRequest } from '../../src/oauth/error.ts';
import { confidentialClient, someText } from './samples.ts';

const R1 = 'https://one.test/cb';

function requestWith(state: string, redirectUri = R1): AuthorizationRequest {
  return { kind: 'valid', client: confidentialClient, redirectUri, state, scope: [], codeChallenge: null };
}

/** What a client reads: the added pairs, form-decoded as URLSearchParams and as most languages do. */
function pairsOf(location: string): [string, string][] {
  return [...new URL(location).searchParams];
}

test('RFC 6749 §4.1.2: after Allow exactly code and state are added', () => {
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
  const location = errorLocation({ kind: 'redirect', refusal, redirectUri: R1, state: 'xyz' });
  assert.equal(location, `${R1}?error=invalid_request&error_description=public%20words&state=xyz`);
  const without = errorLocation({ kind: 'redirect', refusal, redirectUri: R1, state: undefined });
  assert.equal(without, `${R1}?error=invalid_request&error_description=public%20words`);
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
