import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { SIGN_IN_LIFETIME_MS } from '../../src/accounts/sign-in/form-token.ts';
import { compressed, seal } from '../../src/oauth/keys/sealed.ts';
import { type Parameter, Parameters } from '../../src/oauth/parameters.ts';
import {
  OPENED_REQUEST_LIFETIME_MS,
  PUSHED_REQUEST_LIFETIME,
  pushedRequest,
  REQUEST_URI_START,
  requestUriFor,
} from '../../src/oauth/protocol/pushed-request.ts';
import { keyring, NOW, otherKeyring, rotatedKeyring } from './samples.ts';
import { someText } from './some-text.ts';

const CLIENT = 'app_one';
const EXPIRY = NOW + PUSHED_REQUEST_LIFETIME * 1000;
const pairs: Parameter[] = [
  ['client_id', CLIENT],
  ['redirect_uri', 'https://one.test/cb?x=1&y=é'],
  ['state', 'a b+c%20😀'],
  ['response_type', 'code'],
  ['scope', 'read write'],
  ['code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
  ['code_challenge_method', 'S256'],
  ['resource', 'https://letters.test'],
  ['prompt', 'login'],
  ['login_hint', 'ada@example.com'],
];

function push(pushed: readonly Parameter[] = pairs, clientId = CLIENT): string {
  return (
    requestUriFor(keyring, { id: clientId, signIn: false }, new Parameters(pushed), NOW) ?? assert.fail('too long')
  );
}

function open(requestUri: string, clientId: string | undefined = CLIENT, now = NOW): Parameters | null {
  return pushedRequest(keyring, requestUri, clientId, now)?.parameters ?? null;
}

test('RFC 9126 §2.2, §7.1: a reference begins as it must, is printable and URL-safe, and another each time', () => {
  assert.match(push(), /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{100,}$/);
  assert.notEqual(push(), push());
});

test('RFC 9126 §4: behind the reference is the whole request, and no more', () => {
  const found = open(push());
  for (const [name, value] of pairs) assert.equal(found?.get(name), value, name);
  for (const name of ['request', 'request_uri', 'client_secret', 'constructor']) assert.equal(found?.has(name), false);
});

test('RFC 9126 §2.1: credentials, empty values and unknown parameters are not kept', () => {
  const more: Parameter[] = [
    ['client_secret', 'vk_cs_secret'],
    ['client_assertion', 'eyJ'],
    ['client_assertion_type', 'x'],
    ['extra', 'x'],
    ['nothing', ''],
  ];
  const uri = push([...pairs.filter(([name]) => name !== 'login_hint'), ['login_hint', ''], ...more]);
  const found = open(uri);
  for (const name of ['login_hint', ...more.map(([key]) => key)]) assert.equal(found?.has(name), false, name);
});

test('RFC 9126 §2.1: the client is the one that was authenticated, whatever the request names', () => {
  const uri = push([['client_id', 'app_two'], ...pairs.slice(1)]);
  assert.equal(open(uri)?.get('client_id'), CLIENT);
  assert.equal(open(uri, 'app_two'), null);
  assert.equal(open(push(pairs.slice(1)))?.get('client_id'), CLIENT);
});

test('RFC 9126 §2.2, §4: a reference is good for its own client until it expires', () => {
  const uri = push();
  assert.ok(open(uri, CLIENT, EXPIRY - 1));
  for (const now of [EXPIRY, EXPIRY + 1, EXPIRY + 1e9]) assert.equal(open(uri, CLIENT, now), null);
  const made = EXPIRY - PUSHED_REQUEST_LIFETIME * 1000;
  assert.ok(open(uri, CLIENT, made - 60_000));
  assert.equal(open(uri, CLIENT, made - 60_001), null, 'the clock stepped back');
  for (const clientId of [undefined, '', 'app_two', CLIENT.toUpperCase(), `${CLIENT} `])
    assert.equal(pushedRequest(keyring, uri, clientId, NOW), null, clientId);
});

test('RFC 9126 §2.2: a reference lives for 5 to 600 seconds', () => {
  assert.ok(PUSHED_REQUEST_LIFETIME >= 5 && PUSHED_REQUEST_LIFETIME <= 600);
});

test('RFC 9126 §4: what was opened in time goes on for as long as a sign-in form, then is over, and is never opened longer', () => {
  assert.equal(OPENED_REQUEST_LIFETIME_MS, SIGN_IN_LIFETIME_MS);
  const opened = pushedRequest(keyring, push(), CLIENT, EXPIRY - 1) ?? assert.fail();
  assert.equal(opened.isExpired, false);
  const end = EXPIRY - 1 + OPENED_REQUEST_LIFETIME_MS;
  for (const [now, isExpired] of [
    [EXPIRY, false],
    [end - 1, false],
    [end, true],
    [end + 1e9, true],
  ] as const) {
    const again = pushedRequest(keyring, opened.requestUri, CLIENT, now);
    assert.deepEqual([again?.isExpired, again?.requestUri], [isExpired, opened.requestUri]);
    assert.equal(again?.parameters.get('state'), 'a b+c%20😀');
  }
  assert.equal(open(opened.requestUri, 'app_two'), null);
  assert.equal(open(opened.requestUri, CLIENT, EXPIRY - 61_002), null, 'the clock stepped back');
});

test('RFC 9126 §2.2, §7.1: what this service did not make as a reference is none', () => {
  const uri = push();
  assert.equal(pushedRequest(otherKeyring, uri, CLIENT, NOW), null);
  assert.ok(pushedRequest(rotatedKeyring, uri, CLIENT, NOW), 'after a key rotation it still is');
  const device = REQUEST_URI_START + seal(keyring, 'device', compressed(JSON.stringify(pairs)), EXPIRY);
  for (const text of [device, REQUEST_URI_START, `${uri}A`, uri.slice(0, -1), `${uri}#x`, uri.toUpperCase()])
    assert.equal(open(text), null, text);
  for (let at = REQUEST_URI_START.length; at < uri.length; at += 1) {
    const forged = uri.slice(0, at) + (uri[at] === 'A' ? 'B' : 'A') + uri.slice(at + 1);
    assert.equal(open(forged), null, `character ${at}`);
  }
});

test('RFC 8707 §2: what is repeated when it is pushed is repeated when it is opened', () => {
  const uri = push([...pairs, ['resource', 'https://other.test']]);
  assert.deepEqual(open(uri)?.all('resource'), ['https://letters.test', 'https://other.test']);
  assert.equal(open(uri)?.get('resource'), undefined);
});

test('OAuth 2.1 §1.7.1, design: a reference fits into the headers that carry it, or is none', () => {
  const stateOf = (length: number) => [
    ...pairs.filter(([name]) => name !== 'state'),
    ['state', 'x'.repeat(length)] as const,
  ];
  const lengths = Array.from({ length: 100 }, (_, n) => n * 100);
  for (const length of lengths) {
    const uri = requestUriFor(keyring, { id: CLIENT, signIn: false }, new Parameters(stateOf(length)), NOW);
    assert.ok(uri === null ? length > 4096 : uri.length <= 8000, `${length}`);
  }
  const random = ['state', randomBytes(8000).toString('base64url').slice(0, 5000)] as const;
  const long = push([...pairs.filter(([name]) => name !== 'state'), random]);
  assert.ok(long.length <= 8000 && long.length > 5000);
  assert.equal(requestUriFor(keyring, { id: CLIENT, signIn: false }, new Parameters(stateOf(8000)), NOW), null);
});

test('RFC 9126 §4: whatever text is pushed comes back unchanged', () => {
  fc.assert(
    fc.property(someText, someText, (state, hint) => {
      const found = open(
        push([
          ['state', state],
          ['login_hint', hint],
        ]),
      );
      assert.deepEqual([found?.get('state'), found?.get('login_hint')], [state, hint]);
    }),
  );
});
