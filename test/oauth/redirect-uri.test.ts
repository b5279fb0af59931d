import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClientType } from '../../src/oauth/clients/client.ts';
import {
  dotlessScheme,
  isAppBound,
  isOriginOf,
  isRegisteredRedirectUri,
  isRepeatedRedirectUri,
  lastingRedirectHost,
  redirectHost,
  redirectUriProblem,
} from '../../src/oauth/clients/redirect-uri.ts';

const confidential: [string, RegExp | null][] = [
  ['https://app.example/cb', null],
  ['https://app.example', null],
  ['https://app.example/', null],
  ['https://app.example:8443/cb', null],
  ['https://app.example/cb?tenant=7', null],
  ['https://app.example/cb?', null],
  ['https://xn--bcher-kva.example/cb', null],
  ['https://192.0.2.1/cb', null],
  ['http://127.0.0.1/cb', null],
  ['http://127.0.0.1:8080/cb', null],
  ['http://[::1]/cb', null],
  ['http://localhost:3000/cb', null],
  ['http://localhost', null],
  [`https://app.example/${'x'.repeat(1980)}`, null],
  [`https://app.example/${'x'.repeat(1981)}`, /longer/],
  ['', /printable ASCII/],
  ['http://app.example/cb', /use https/],
  ['http://127.0.0.2/cb', /use https/],
  ['http://localhost.evil.test/cb', /use https/],
  ['http://127.0.0.1.evil.test/cb', /use https/],
  ['http://[::2]/cb', /use https/],
  ['http://[::ffff:127.0.0.1]/cb', /use https/],
  ['http://0.0.0.0/cb', /use https/],
  ['http://127.1/cb', /normal form/],
  ['http://2130706433/cb', /normal form/],
  ['http://0x7f.0.0.1/cb', /normal form/],
  ['http://127.0.0.1:80/cb', /normal form/],
  ['http://localhost./cb', /use https/],
  ['https://app.example/cb?code=x', /must not hold code/],
  ['https://app.example/cb?a=b&st%61te', /must not hold state/],
  ['https://app.example/cb?iss=&error=', /must not hold iss/],
  ['https://app.example/cb#', /fragment/],
  ['https://app.example/cb#x', /fragment/],
  ['https://*.example/cb', /wildcard/],
  ['https://app.example/*', /wildcard/],
  ['https://app.example/cb?x=*', /wildcard/],
  ['https://ada@app.example/cb', /user name/],
  ['https://ada:secret@app.example/cb', /user name/],
  ['https://@app.example/cb', /normal form/],
  ['https://:@app.example/cb', /normal form/],
  ['http://127.0.0.1@evil.test/cb', /user name/],
  ['JaVaScRiPt:alert(1)', /scheme must be https/],
  ['javascript://app.example/%0aalert(1)', /scheme must be https/],
  ['data:text/html,x', /scheme must be https/],
  ['blob:https://app.example/x', /scheme must be https/],
  ['file:///etc/passwd', /scheme must be https/],
  ['ftp://app.example/cb', /scheme must be https/],
  ['vbscript:x', /scheme must be https/],
  ['about:blank', /scheme must be https/],
  ['com.example.app:/cb', /scheme must be https/],
  ['/cb', /absolute/],
  ['//app.example/cb', /absolute/],
  ['app.example/cb', /absolute/],
  ['cb', /absolute/],
  ['https:', /absolute/],
  ['https://', /absolute/],
  ['https://:443/cb', /absolute/],
  ['https:///cb', /normal form/],
  ['https:app.example/cb', /normal form/],
  ['https:/app.example/cb', /normal form/],
  ['https:\\\\app.example\\cb', /normal form/],
  ['https://app.example\\cb', /normal form/],
  ['https://APP.example/cb', /normal form/],
  ['HTTPS://app.example/cb', /normal form/],
  ['https://app.example:443/cb', /normal form/],
  ['https://app.example:/cb', /normal form/],
  ['https://app.example/a/../cb', /normal form/],
  ['https://app.example/./cb', /normal form/],
  ['https://app.example/%2e%2e/cb', /normal form/],
  ['https://app.ex%61mple/cb', /normal form/],
  ['https://app.example?x=1', /normal form/],
  ['https://bücher.example/cb', /printable ASCII/],
  ['https://аpp.example/cb', /printable ASCII/],
  ['https://app.example./cb', /end with a dot/],
  ['https://app.example/c b', /printable ASCII/],
  [' https://app.example/cb', /printable ASCII/],
  ['https://app.example/cb ', /printable ASCII/],
  ['https://app.example/cb\n', /printable ASCII/],
  ['https://app.example/\tcb', /printable ASCII/],
  ['https://app.example/cb\0', /printable ASCII/],
  ['https://app.example:99999/cb', /absolute/],
];
for (const [uri, problem] of confidential) {
  test(`RFC 6749 §3.1.2, §3.1.2.1, RFC 9700 §4.1.3: ${JSON.stringify(uri.slice(0, 50))} may ${problem ? `not be registered: ${problem.source}` : 'be registered'}`, () => {
    const actual = redirectUriProblem(uri, 'confidential');
    if (problem) assert.match(actual ?? '', problem);
    else assert.equal(actual, null);
  });
}

const privateUse: [string, RegExp | null][] = [
  ['com.example.app:/cb', null],
  ['com.example.app://cb', null],
  ['https://app.example/cb', null],
  ['http://127.0.0.1/cb', null],
  ['myapp:/cb', null],
  ['cursor://anysphere.cursor-mcp/oauth/callback', null],
  ['vscode://vscode.github-authentication/did-authenticate', null],
  ['JaVaScRiPt:alert(1)', /javascript: it runs a script/],
  ['javascript://app.example/%0aalert(1)', /javascript: it runs a script/],
  ['vbscript:x', /it runs a script/],
  ['data:text/html,x', /data: the browser opens it itself/],
  ['file:///etc/passwd', /the browser opens it itself/],
  ['about:blank', /the browser opens it itself/],
  ['blob:https://app.example/x', /the browser opens it itself/],
  ['view-source:https://app.example/', /the browser opens it itself/],
  ['intent://scan/', /whichever app the address names/],
  ['ms-msdt:/id', /it belongs to Windows/],
  ['ms-settings:', /it belongs to Windows/],
  ['chrome://settings', /belongs to a browser/],
  ['chrome-extension://abc/cb', /belongs to a browser/],
  ['moz-extension://abc/cb', /belongs to a browser/],
  ['mailto:ada@example.com', /mailto: it belongs to a protocol/],
  ['MAILTO:ada@example.com', /mailto: it belongs to a protocol/],
  ['tel:+123', /it belongs to a protocol/],
  ['ftp://app.example/cb', /it belongs to a protocol/],
  ['ws://app.example/cb', /it belongs to a protocol/],
  ['soap.beep://app.example/cb', /soap.beep: it belongs to a protocol/],
  ['z39.50s://app.example/cb', /it belongs to a protocol/],
  ['coap+tcp://app.example/cb', /it belongs to a protocol/],
  ['localhost:33418/cb', /write http:\/\/ before it/],
  ['COM.example.app:/cb', /lower case/],
  ['Cursor://cb', /lower case/],
  ['com.example.app:/cb#x', /fragment/],
  ['com.example.app:/cb?state=x', /must not hold state/],
  ['com.example.app:/*', /wildcard/],
  ['com.example.app://ada@cb', /user name/],
  ['http://app.example/cb', /use https/],
];
for (const [uri, problem] of privateUse) {
  test(`RFC 8252 §7, §7.1, §8.3: ${uri} of a public client may ${problem ? `not be registered: ${problem.source}` : 'be registered'}`, () => {
    const actual = redirectUriProblem(uri, 'public');
    if (problem) assert.match(actual ?? '', problem);
    else assert.equal(actual, null);
  });
}

const R1 = 'https://c1.test/cb';
const pathConfusions = [
  '/FAKEPATH',
  '%2FFAKEPATH',
  '/..%2FFAKEPATH',
  '/%2e%2e%2FFAKEPATH',
  '/..%252FFAKEPATH',
  '/%252e%252e%252FFAKEPATH',
  '/FAKEPATH/..',
  '%2FFAKEPATH%2F..',
  '%2FFAKEPATH%2F%2e%2e',
  '%252FFAKEPATH%252F..',
  '%252FFAKEPATH%252F%252e%252e',
  '/;/../../FAKEPATH',
  '/%3B/../../FAKEPATH',
  '%3B%2F..%2F..%2FFAKEPATH',
  '%3B%2F%2e%2e%2F%2F%2e%2eFAKEPATH',
  '%253B%252F..%252F..%252FFAKEPATH',
  '%0A%0D/../../FAKEPATH',
  '%0A%0D%2F..%2F..%2FFAKEPATH',
  '%0A%0D%2F%2e%2e%2F%2F%2e%2eFAKEPATH',
  '%250A%250D%252F..%252F..%252FFAKEPATH',
];
const others = [
  `${R1}/`,
  `${R1}/x`,
  `${R1}x`,
  `${R1}?`,
  `${R1}?extra=oauch`,
  `${R1}#`,
  `${R1}#x`,
  `${R1} `,
  ` ${R1}`,
  `${R1}\n`,
  `${R1}\0`,
  'https://c1.test/c%62',
  'https://c1.test/CB',
  'https://C1.test/cb',
  'HTTPS://c1.test/cb',
  'https://c1.test/',
  'https://c1.test',
  'https://c1.test:443/cb',
  'https://c1.test:8443/cb',
  'https://c1.test./cb',
  'https://c1.test//cb',
  'https://c1.test/x/../cb',
  'https://evil.test/cb',
  'https://c1.test.evil.test/cb',
  'https://c1.test@evil.test/cb',
  'https://evil.test\\@c1.test/cb',
  'https://sub.c1.test/cb',
  'http://c1.test/cb',
  'c1.test/cb',
  '',
];
for (const requested of [...pathConfusions.map((path) => R1 + path), ...others]) {
  test(`RFC 9700 §2.1, RFC 6749 §3.1.2.3, OAuth 2.1 §2.3.1: ${JSON.stringify(requested)} is not the registered ${R1}`, () => {
    for (const type of ['confidential', 'public'] as const) {
      assert.equal(isRegisteredRedirectUri([R1], requested, type), false);
      assert.equal(isRegisteredRedirectUri([], requested, type), false);
    }
  });
}

test('RFC 9700 §2.1, RFC 8252 §7.2, §8.4: the registered URI itself matches, and so does each of several', () => {
  assert.equal(isRegisteredRedirectUri([R1], R1, 'confidential'), true);
  assert.equal(isRegisteredRedirectUri(['https://c1.test/other', R1], R1, 'public'), true);
});

test('a registered query is part of the string', () => {
  const registered = ['https://c1.test/cb?tenant=7'];
  assert.equal(isRegisteredRedirectUri(registered, 'https://c1.test/cb?tenant=7', 'public'), true);
  for (const requested of [R1, `${R1}?tenant=8`, `${R1}?tenant=7&x=1`, `${R1}?tenant=7&`, `${R1}?`])
    assert.equal(isRegisteredRedirectUri(registered, requested, 'public'), false, requested);
});

test('RFC 9700 §2.1, draft-ietf-oauth-client-id-metadata-document §4.2: https, and any host but a loopback address, is matched as a string and nothing else', () => {
  const part = (...options: string[]) => fc.constantFrom(...options);
  const someUri = fc
    .tuple(
      part('https://', 'http://'),
      part('c1.test', 'localhost.test', '192.0.2.1'),
      part('', ':80', ':81'),
      part('', '/', '/cb', '?x'),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(someUri, someUri, (one, two) => {
      assert.equal(isRegisteredRedirectUri([one], two, 'public'), one === two);
    }),
    { numRuns: 300 },
  );
});

const loopback: [registered: string, requested: string, matches: boolean | ClientType][] = [
  ['http://127.0.0.1/cb', 'http://127.0.0.1/cb', true],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/cb', true],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:1/cb', true],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:65535/cb', true],
  ['http://127.0.0.1:8080/cb', 'http://127.0.0.1:51234/cb', true],
  ['http://127.0.0.1:8080/cb', 'http://127.0.0.1/cb', true],
  ['http://127.0.0.1/cb?x=1', 'http://127.0.0.1:51234/cb?x=1', true],
  ['http://127.0.0.1', 'http://127.0.0.1:51234', true],
  ['http://[::1]/cb', 'http://[::1]:51234/cb', true],
  ['http://127.0.0.1/cb', 'http://[::1]:51234/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/other', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/cb/', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/cb?x=1', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/cb#x', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/cb\n', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234', false],
  ['http://127.0.0.1', 'http://127.0.0.1:51234/', true],
  ['http://127.0.0.1:33418', 'http://127.0.0.1:33418/', true],
  ['http://127.0.0.1:33418/', 'http://127.0.0.1:33418', true],
  ['http://127.0.0.1/?x=1', 'http://127.0.0.1:51234?x=1', true],
  ['http://[::1]/', 'http://[::1]:51234', true],
  ['http://localhost:3000', 'http://localhost:3000/', true],
  ['http://localhost:3000', 'http://localhost:3001/', 'public'],
  ['http://127.0.0.1', 'http://127.0.0.1:51234//', false],
  ['http://127.0.0.1', 'http://127.0.0.1:51234/x', false],
  ['http://127.0.0.1/x', 'http://127.0.0.1:51234/x/', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:0/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:080/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:65536/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:99999/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:123456/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:x/cb', false],
  ['http://127.0.0.1/cb', 'https://127.0.0.1:51234/cb', false],
  ['http://127.0.0.1/cb', 'http://localhost:51234/cb', false],
  ['http://127.0.0.1/cb', 'http://localhost.evil.test/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1.evil.test/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234.evil.test/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1@evil.test/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234@evil.test/cb', false],
  ['http://127.0.0.1/cb', 'http://127.0.0.1:51234\\@evil.test/cb', false],
  ['http://127.0.0.1/cb', 'http://127.1/cb', false],
  ['http://127.0.0.1/cb', 'http://[::ffff:127.0.0.1]/cb', false],
  ['http://127.0.0.1/cb', 'HTTP://127.0.0.1:51234/cb', false],
  ['http://localhost/cb', 'http://localhost/cb', true],
  ['http://localhost/cb', 'http://localhost:51234/cb', 'public'],
  ['http://localhost:3000/cb', 'http://localhost:3001/cb', 'public'],
  ['http://localhost:3000/cb', 'http://localhost/cb', 'public'],
  ['http://localhost/cb', 'http://localhost:51234/other', false],
  ['http://localhost/cb', 'http://localhost:65536/cb', false],
  ['http://localhost/cb', 'http://localhost:51234.evil.test/cb', false],
  ['http://localhost/cb', 'http://localhost:51234@evil.test/cb', false],
  ['http://localhost/cb', 'http://localhost.:51234/cb', false],
  ['http://localhost/cb', 'http://LOCALHOST:51234/cb', false],
  ['http://localhost/cb', 'https://localhost:51234/cb', false],
  ['http://localhost/cb', 'http://127.0.0.1:51234/cb', false],
  ['http://localhost/cb', 'http://app.localhost:51234/cb', false],
  ['https://localhost/cb', 'https://localhost:51234/cb', false],
  ['https://127.0.0.1/cb', 'https://127.0.0.1:51234/cb', false],
  ['com.example.app:/cb', 'com.example.app:/cb', true],
  ['com.example.app:/cb', 'com.example.app:/CB', false],
];
for (const [registered, requested, matches] of loopback) {
  const who = matches === 'public' ? ' for public clients alone' : '';
  test(`RFC 8252 §7.3, OAuth 2.1 §8.4.2: ${registered} is ${matches ? '' : 'not '}matched by ${JSON.stringify(requested)}${who}`, () => {
    for (const type of ['confidential', 'public'] as const)
      assert.equal(isRegisteredRedirectUri([registered], requested, type), matches === true || matches === type, type);
  });
}

const repeats: [requested: string, repeated: string, boolean][] = [
  ['http://127.0.0.1:33418', 'http://127.0.0.1:33418/', true],
  ['http://127.0.0.1:33418/', 'http://127.0.0.1:33418', true],
  ['http://localhost:33418', 'http://localhost:33418/', true],
  ['http://127.0.0.1:33418', 'http://127.0.0.1:33419/', false],
  ['http://127.0.0.1:33418', 'http://127.0.0.1:33418//', false],
  ['http://127.0.0.1:33418', 'http://127.0.0.1:33418/x', false],
  ['http://127.0.0.1:33418/cb', 'http://127.0.0.1:33418/cb/', false],
  ['https://app.example', 'https://app.example/', false],
  ['http://app.example', 'http://app.example/', false],
  ['cursor://cb', 'cursor://cb/', false],
];
for (const [requested, repeated, expected] of repeats) {
  test(`RFC 6749 §4.1.3: ${repeated} ${expected ? 'repeats' : 'does not repeat'} ${requested}`, () => {
    assert.equal(isRepeatedRedirectUri(requested, repeated), expected);
  });
}

test('RFC 8252 §7.1, §8.4, OAuth 2.1 §8.4.3: a scheme without a dot names no domain', () => {
  const uris = ['cursor://cb', 'com.example.app:/cb', 'https://app.example/cb', 'http://localhost/cb'];
  assert.deepEqual(uris.map(dotlessScheme), ['cursor', null, null, null]);
});

const hosts: [string, string, 'web' | 'device'][] = [
  ['https://app.example/cb', 'app.example', 'web'],
  ['https://app.example:8443/cb', 'app.example:8443', 'web'],
  ['https://127.0.0.1/cb', '127.0.0.1', 'web'],
  ['http://127.0.0.1:51234/cb', '127.0.0.1:51234', 'device'],
  ['http://[::1]:51234/cb', '[::1]:51234', 'device'],
  ['http://localhost/cb', 'localhost', 'device'],
  ['com.example.app:/cb', 'com.example.app:', 'device'],
  ['com.example.app://bank.example/cb', 'com.example.app:', 'device'],
];
for (const [uri, host, where] of hosts) {
  test(`RFC 8252 §8.6: ${uri} leads ${where === 'web' ? 'to whoever owns the host' : 'to whatever took it on the device'}`, () => {
    assert.equal(isAppBound(uri), where === 'device');
  });
  test(`a person is told that ${uri} leads to ${host}`, () => {
    assert.equal(redirectHost(uri), host);
    // A port of loopback is gone by tomorrow, so Connected apps does not list it.
    const lasting = uri.startsWith('http:') ? host.replace(/:\d+$/, '') : host;
    assert.equal(lastingRedirectHost(uri), lasting);
  });
}

const origins: [ClientType, redirectUri: string, origin: string, boolean][] = [
  ['public', 'https://spa.test/cb', 'https://spa.test', true],
  ['public', 'https://spa.test:8443/cb', 'https://spa.test:8443', true],
  ['public', 'http://127.0.0.1:8080/cb', 'http://127.0.0.1:8080', true],
  ['public', 'http://127.0.0.1:8080/cb', 'http://127.0.0.1:51234', true],
  ['public', 'http://localhost/cb', 'http://localhost:51234', true],
  ['public', 'http://[::1]/cb', 'http://[::1]:51234', true],
  ['public', 'http://localhost/cb', 'http://localhost:51234/', false],
  ['public', 'http://localhost/cb', 'http://localhost:80', false],
  ['public', 'http://localhost/cb', 'http://localhost:051234', false],
  ['public', 'http://localhost/cb', 'http://127.0.0.1:51234', false],
  ['public', 'http://localhost/cb', 'https://localhost:51234', false],
  ['public', 'http://localhost/cb', 'http://localhost.evil.test:51234', false],
  ['public', 'cursor://cb', 'cursor://cb', false],
  ['public', 'https://spa.test/cb', 'https://spa.test/', false],
  ['public', 'https://spa.test/cb', 'http://spa.test', false],
  ['public', 'https://spa.test/cb', 'https://spa.test.evil.test', false],
  ['public', 'https://spa.test/cb', 'https://evil.test', false],
  ['public', 'https://spa.test/cb', 'null', false],
  ['public', 'com.example.app:/cb', 'null', false],
  ['public', 'com.example.app:/cb', 'com.example.app:', false],
  ['confidential', 'https://spa.test/cb', 'https://spa.test', false],
];
for (const [type, redirectUri, origin, expected] of origins) {
  test(`OAuth 2.1 §3.2: scripts of ${origin} may ${expected ? '' : 'not '}call for a ${type} client at ${redirectUri}`, () => {
    assert.equal(isOriginOf({ type, redirectUris: [redirectUri] }, origin), expected);
  });
}
