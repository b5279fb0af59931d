// Where an answer sends a browser: never to an origin that somebody wrote into an address (RFC 9700 §4.11, ASVS 3.7.2).
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { continuation } from '../../src/http/browser/sign-in/page-after-sign-in.ts';
import { continueTo, ownAddress } from '../../src/http/operator/console/sign-in/continue-to.ts';
import { decodeQuery } from '../../src/http/request/decoding.ts';
import { pagePaths } from '../../src/pages/layout/page-paths.ts';
import { Browser, formsOf, unescaped, type Visit } from '../support/browser.ts';
import { enrolledOperator, postOwn, startConsole } from '../support/console.ts';
import { requestHead, sendRaw } from '../support/raw-http.ts';
import { addUser, PASSWORD } from '../support/service.ts';

/** Beginnings of addresses that one reader takes for a path, and another one for a host. */
const BEGINNINGS = [
  '/',
  '//',
  '///',
  '/.//',
  '/..//',
  '/a/..//',
  '/./',
  '/%2e//',
  '/%2E%2e//',
  '/a/%2e%2E//',
  '/\\',
  '\\\\',
];
const MORE_BEGINNINGS = [
  '\\/',
  '/\t/',
  '/\n/',
  '\t//',
  ' //',
  '/.\\',
  '/%09/',
  '/%5c',
  '/%2f',
  'http:',
  'http:///',
  'HTTPS://',
  'x:',
];
const HOSTS = [
  'evil.example',
  'user@evil.example',
  'user:pass@evil.example:8',
  '[::1]',
  '\uFF0Eevil.example',
  'people',
  'apps/x',
  '',
];
const PATHS = ['', '/', '/.//', '/..', '/%2e%2e//', '\\', '\t', '\r\n', ';x', '#', '#//evil.example', '/people'];
const QUERIES = [
  '',
  '?',
  '?done=1',
  '?done=1&x=2',
  '?x=1&done',
  '?%64one=1',
  '?d%6Fne=//evil.example',
  '?x=//evil.example',
  '?a=\\',
];

const parts = [[...BEGINNINGS, ...MORE_BEGINNINGS], HOSTS, PATHS, QUERIES].map((each) => fc.constantFrom(...each));
const anyText = fc.string({ unit: fc.constantFrom(...'/\\.%2efd?#@:;&=a\t\n done'), maxLength: 20 });
const addresses = fc.oneof({ weight: 4, arbitrary: fc.tuple(...parts).map((each) => each.join('')) }, anyText);
/** Pages of each address, whose form an attacker keeps. */
const pagesOf = (paths: readonly string[]) =>
  fc.tuple(fc.constantFrom(...paths), addresses).map((each) => each.join(''));

/** Asserts that what a browser makes of an address, on a page of ours, is of our origin. */
function assertOurs(address: string, page: string): void {
  assert.equal(new URL(address, page).origin, new URL(page).origin, `${JSON.stringify(address)} on ${page}`);
}

/** Asserts it of the Location and of every link and form of an answer. */
function assertAllOurs({ headers, body }: Pick<Visit, 'headers' | 'body'>, page: string): void {
  const location = headers.get('location');
  if (location !== null) assertOurs(location, page);
  for (const [, address = ''] of body.matchAll(/(?:href|action)="(?!data:)([^"]*)"/g))
    assertOurs(unescaped(address), page);
  for (const { fields } of formsOf(body, ''))
    if (fields['continue'] !== undefined) assertOurs(fields['continue'], page);
}

test('RFC 9700 §4.11, operators §1: an address to go on to is of this origin, also without the name of an act; everything else of it stays', () => {
  const origin = 'https://operators.example';
  fc.assert(
    fc.property(addresses, (text) => {
      for (const address of [continueTo(text), ownAddress(text)]) {
        assertOurs(address, origin);
        assert.match(address, /^\/(?!\/)[\x21-\x22\x24-\x7e]*$/);
        assert.ok(!decodeQuery(address.split(/\?(.*)/s)[1] ?? '').has('done'));
        assert.equal(ownAddress(address), address, 'judged again, it stays');
      }
    }),
    { numRuns: 20_000 },
  );
  for (const own of [
    '/',
    '/people',
    '/people/a%2Fb?x=%2F%2Fy&z',
    '/events?q=1+2&y',
    '/apps/https%3A%2F%2Fa.example%2F',
  ])
    assert.equal(continueTo(own), own);
  for (const [text, address] of [
    ['/people?done=x&a=%41', '/people?a=%41'],
    ['/people?a=+&done=1&%64one=2', '/people?a=+'],
    ['/people?done', '/people'],
  ] as const)
    assert.equal(ownAddress(text), address);
});

test('ASVS 3.7.2: a user’s sign-in, also one at a product, goes on to a page of ours as it was written, below any base path', () => {
  for (const base of ['', '/connect', '/a/b']) {
    const paths = pagePaths(base);
    const pages = [paths.account, paths.apps, paths.device, paths.password, '/oauth2/authorize'];
    const texts = fc.oneof(addresses, pagesOf([...pages, ...pages.map((page) => `/./${page}`), base]));
    const origin = 'https://auth.example';
    fc.assert(
      fc.property(texts, (text) => {
        const next = continuation(paths, text);
        if (next === null) return;
        assert.equal(next, text);
        assertOurs(next, origin);
        assert.ok(pages.includes(new URL(next, origin).pathname), next);
      }),
      { numRuns: 5_000 },
    );
    assert.equal(continuation(paths, `${paths.apps}?after=x`), `${paths.apps}?after=x`);
  }
});

const service = await startConsole({ after });
const operator = await enrolledOperator(service);
await addUser(service);
const user = new Browser();
const signIn = await user.get(`${service.appUrl}/sign-in`);
await user.submit(signIn, '/sign-in', { email: 'ada@example.com', password: PASSWORD });

describe('RFC 9700 §4.11: no text in a request leads to another origin', () => {
  const some = { numRuns: 120 };

  test('the `continue` of a sign-in, a confirmation and a sign-out', async () => {
    await fc.assert(
      fc.asyncProperty(addresses, async (given) => {
        const { appUrl, operatorUrl } = service;
        const query = new URLSearchParams({ continue: given });
        const stranger = new Browser();
        for (const [browser, page] of [
          [operator.browser, `${operatorUrl}/sign-in`],
          [operator.browser, `${operatorUrl}/confirm`],
          [stranger, `${operatorUrl}/sign-in`],
          [user, `${appUrl}/sign-in`],
          [user, `${appUrl}/sign-out`],
          [stranger, `${appUrl}/sign-in`],
        ] as const) {
          assertAllOurs(await browser.get(`${page}?${query}`), page);
        }
        const wrong = await postOwn(operator.browser, `${operatorUrl}/confirm`, { answer: '{}', continue: given });
        assertAllOurs(wrong, operatorUrl);
      }),
      some,
    );
  });

  test('`continue` after a passkey was used', async () => {
    const { operatorUrl } = service;
    const url = `${operatorUrl}/confirm`;
    for (const given of ['/.//evil.example/?done=1', '/a/..//evil.example/?done=1', '/%2e//evil.example/?%64one=1']) {
      const answer = operator.passkey.get(await operator.browser.get(url));
      const { headers } = await postOwn(operator.browser, url, { answer, continue: given });
      assert.equal(headers.get('location'), '/', given);
      const { headers: already } = await operator.browser.get(
        `${operatorUrl}/sign-in?${new URLSearchParams({ continue: given })}`,
      );
      assert.equal(already.get('location'), '/', given);
    }
  });

  test('the address of a request, and its Referer', async () => {
    const targets = pagesOf(['', '/people', '/apps/x', '/device', '/oauth2/authorize', '/account/apps', 'http://h']);
    await fc.assert(
      fc.asyncProperty(targets, addresses, async (target, referer) => {
        const line = target.replace(/[^\x21-\x7e]/g, '');
        if (line === '' || line === '*') return;
        for (const url of [service.appUrl, service.operatorUrl])
          for (const [method, more] of [
            ['GET', {}],
            ['GET', { 'Sec-Fetch-Site': 'cross-site' }],
            ['POST', { 'Sec-Fetch-Site': 'same-origin', Referer: referer.replace(/[^\x21-\x7e]/g, '') }],
          ] as const) {
            const head = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '0', ...more };
            const answer = await sendRaw(url, requestHead(url, `${method} ${line}`, head));
            assert.ok(answer.status > 0, answer.text);
            assertAllOurs(answer, url);
            const location = answer.headers.get('location');
            if (location === null) continue;
            // Where a sign-in would go on to.
            const next = new URL(location, url);
            assertAllOurs(await operator.browser.get(next.href), next.origin);
          }
      }),
      some,
    );
  });

  test('the page that a refused form goes back to', async () => {
    const { operatorUrl, clock } = service;
    clock.advance(360); // The act asks for the passkey again.
    await fc.assert(
      fc.asyncProperty(addresses, async (given) => {
        const Referer = `${operatorUrl}/people${given}`.replace(/[^\x21-\x7e]/g, '');
        const own = { 'Sec-Fetch-Site': 'same-origin', Origin: operatorUrl };
        for (const from of [Referer, given.replace(/[^\x21-\x7e]/g, '')]) {
          const asked = await operator.browser.post(
            `${operatorUrl}/operators`,
            { name: 'x' },
            { ...own, Referer: from },
          );
          assert.equal(asked.status, 403);
          assertAllOurs(asked, operatorUrl);
        }
      }),
      some,
    );
  });
});
