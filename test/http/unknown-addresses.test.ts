// Addresses that do not exist: programs get JSON with the address that was probably meant, browsers a page that says it too.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { acceptsHtml } from '../../src/http/checks/unknown-addresses.ts';
import { Browser } from '../support/browser.ts';
import { startApi } from '../support/operator-api.ts';
import { requestHead, sendRaw } from '../support/raw-http.ts';

const service = await startApi({ after });
const { appUrl, apiUrl, operatorUrl } = service;

/** Paths that other services have, and our address for each. */
const MEANT: readonly (readonly [meant: string, paths: readonly string[]])[] = [
  [
    `${appUrl}/oauth2/token`,
    ['/oauth/token', '/auth/oauth2/token', '/api/oauth/token', '/token', '/connect/token', '/oauth/access_token'],
  ],
  [`${appUrl}/oauth2/token`, ['/realms/x/protocol/openid-connect/token', '/OAuth/Token/', '/oauth2/v1/token']],
  [`${appUrl}/oauth2/authorize`, ['/oauth/authorize', '/authorize', '/realms/x/protocol/openid-connect/auth']],
  [`${appUrl}/oauth2/revoke`, ['/oauth/revoke', '/connect/revocation']],
  [`${appUrl}/oauth2/introspect`, ['/oauth/introspect', '/oauth2/tokeninfo']],
  [`${appUrl}/oauth2/par`, ['/oauth/par']],
  [`${appUrl}/oauth2/device_authorization`, ['/oauth/device/code', '/login/device-code']],
  [
    `${appUrl}/.well-known/oauth-authorization-server`,
    ['/oauth2/.well-known/openid-configuration', '/auth/.well-known/oauth-authorization-server'],
  ],
  [`${apiUrl}/v2/me`, ['/oauth/userinfo', '/api/me', '/connect/userinfo']],
];

type Answer = { readonly error: { readonly message?: string }; readonly error_description?: string };

/** The sentence in a program's answer, in the form of the address that was asked. */
const FORMS: readonly (readonly [base: string, sentence: (body: Answer) => string | undefined])[] = [
  [appUrl, (body) => body.error_description],
  [apiUrl, (body) => body.error.message],
  [operatorUrl, (body) => body.error.message],
];

test('RFC 9110 §15.5.5: whoever does not accept HTML by name gets JSON with the address that was probably meant', async () => {
  for (const [base, sentence] of FORMS)
    for (const [meant, paths] of MEANT)
      for (const path of paths)
        for (const [method, accept] of [
          ['POST', {}],
          ['GET', { Accept: '*/*' }],
          ['PUT', { Accept: 'application/json' }],
          ['GET', { Accept: 'text/*' }],
        ] as const) {
          const line = `${method} ${path}?client_id=canary`;
          const answer = await sendRaw(base, requestHead(base, line, { 'Content-Length': '0', ...accept }));
          assert.deepEqual([answer.status, answer.headers.get('content-type')], [404, 'application/json'], base + path);
          assert.equal(
            sentence(JSON.parse(answer.body)),
            `there is nothing at this address: use ${meant}`,
            base + path,
          );
        }
  const nothing = await sendRaw(appUrl, requestHead(appUrl, 'POST /oauth/nothing', { 'Content-Length': '0' }));
  assert.deepEqual(JSON.parse(nothing.body), {
    error: 'invalid_request',
    error_description: 'there is nothing at this address',
  });
  assert.ok(service.log.some((line) => JSON.parse(line).detail?.endsWith(`use ${appUrl}/oauth2/token`)));
  assert.ok(!service.log.some((line) => line.includes('canary')));
});

test('a browser gets the page, which names that address for developers', async () => {
  const browser = new Browser();
  for (const [path, meant] of [
    ['/oauth/authorize', `${appUrl}/oauth2/authorize`],
    ['/oauth/token', `${appUrl}/oauth2/token`],
    ['/Account/', `${appUrl}/account`],
  ] as const) {
    const { status, headers, body } = await browser.get(appUrl + path);
    assert.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8'], path);
    assert.ok(body.includes(`You may want <bdi class="address" dir="ltr">${meant}</bdi>.`), body);
  }
  const arabic = await new Browser({ 'Accept-Language': 'ar' }).get(`${appUrl}/oauth/authorize`);
  assert.ok(arabic.body.includes(`لعلّك تريد <bdi class="address" dir="ltr">${appUrl}/oauth2/authorize</bdi>`));
  assert.ok(!(await browser.get(`${appUrl}/nothing`)).body.includes('You may want'));
  const people = await browser.get(`${operatorUrl}/nothing`);
  assert.deepEqual([people.status, people.headers.get('content-type')], [404, 'text/html; charset=utf-8']);
});

test('a page in another case is told as JSON to a program, and as a page to a browser', async () => {
  for (const path of ['/Account', '/sign_in', '/device/']) {
    const program = await sendRaw(appUrl, requestHead(appUrl, `GET ${path}`));
    assert.match(JSON.parse(program.body).error_description, /use http/, path);
    const { headers } = await new Browser().get(appUrl + path);
    assert.match(String(headers.get('content-type')), /^text\/html/, path);
  }
});

test('RFC 9110 §15.5.5: the address of a list with a slash behind it names no object: the answer has the address of the list', async () => {
  for (const line of ['POST /v1/clients/', 'GET /v1/users/?limit=5', 'PATCH /v1/resource-servers/']) {
    const answer = await sendRaw(operatorUrl, requestHead(operatorUrl, line, { 'Content-Length': '0' }));
    const meant = operatorUrl + line.replace(/^\w+ (.*)\/.*$/, '$1');
    assert.equal(answer.status, 404, line);
    assert.equal(JSON.parse(answer.body).error.message, `there is nothing at this address: use ${meant}`, line);
  }
});

test('RFC 9110 §12.5.1: HTML is accepted where it is named, and not with the weight 0', () => {
  for (const [accept, expected] of [
    ['text/html', true],
    ['application/json, Text/HTML ; q=0.1', true],
    ['text/html;level=1', true],
    ['text/html;q=0', false],
    ['text/html; q=0.000, */*', false],
    ['*/*', false],
    ['text/*', false],
    ['text/html5', false],
    ['application/xhtml+xml', false],
    ['', false],
    [undefined, false],
  ] as const)
    assert.equal(acceptsHtml({ headers: accept === undefined ? {} : { accept } }), expected, accept);
});
