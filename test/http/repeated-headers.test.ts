/** What may come once came twice: nobody acts on it, whichever of the two ways reads it. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { exchange, me, obtainCode, obtainPair, signedInBrowser } from '../support/flow.ts';
import { type RawAnswer, requestHead, sendRaw } from '../support/raw-http.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../support/service.ts';
import { basic } from '../support/standard.ts';

const service = await startTestService({ after });
const { appUrl, apiUrl } = service;
await addUser(service);
const client = await addClient(service);
const ada = await signedInBrowser(service);
const { accessToken } = await obtainPair(service, ada, client);
const session = `valetkey_session=${ada.cookies.get('valetkey_session')}`;

/** Beside the plain form one that only Node.js reads. */
const WAYS = [{}, { TE: 'trailers' }];

/** Sends a request in which a header comes twice. */
function twice(
  base: string,
  line: string,
  headers: Record<string, string>,
  name: string,
  body = '',
): Promise<RawAnswer> {
  const [value, other] = [headers[name] ?? '', name === 'Origin' ? 'https://evil.test' : headers[name]];
  const head = requestHead(base, line, { ...headers, [name]: `${value}\r\n${name.toLowerCase()}: ${other}` });
  return sendRaw(base, head + body);
}

describe('RFC 9110 §5.3: a header that may come once and comes twice is 400', { concurrency: true }, () => {
  for (const name of ['Authorization', 'Content-Type', 'Content-Length', 'Origin'])
    for (const path of ['/api/auth/oauth/token', '/oauth2/token'])
      test(`RFC 9110 §5.3: two of ${name} at ${path}, and the code can still be exchanged`, async () => {
        const code = await obtainCode(service, ada, client);
        const body = new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          redirect_uri: REDIRECT_URI,
        }).toString();
        const headers = {
          ...basic(client.clientId, client.clientSecret),
          'Content-Type': 'application/x-www-form-urlencoded',
          'Content-Length': String(body.length),
          Origin: 'https://client.example',
        };
        for (const way of WAYS) {
          const answer = await twice(appUrl, `POST ${path}`, { ...headers, ...way }, name, body);
          assert.equal(answer.status, 400, answer.text);
          assert.equal(JSON.parse(answer.body).error, 'invalid_request');
          assert.equal(answer.headers.get('connection'), 'close');
        }
        assert.equal((await exchange(service, client, code)).status, 200);
      });

  for (const name of ['Authorization', 'Origin'])
    test(`RFC 9110 §5.3: two of ${name} at the check, in the form of the API`, async () => {
      for (const way of WAYS) {
        const headers = { Authorization: `Bearer ${accessToken}`, Origin: 'https://client.example', ...way };
        const answer = await twice(apiUrl, 'GET /v2/me', headers, name);
        assert.deepEqual([answer.status, JSON.parse(answer.body).error.code], [400, 'bad_request']);
      }
      assert.equal((await me(service, accessToken)).status, 200);
    });

  test('RFC 9110 §5.3: two of Origin at a page, as a page', async () => {
    const headers = { Origin: appUrl, Cookie: session, 'Content-Length': '0' };
    const answer = await twice(appUrl, 'POST /sign-out', headers, 'Origin');
    assert.equal(answer.status, 400);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
    assert.equal((await ada.get(`${appUrl}/account/apps`)).status, 200);
  });
});

test('RFC 6265 §5.4: a cookie of ours that comes twice is a page with 400, and any other may', async () => {
  const ask = (cookie: string, path = '/account/apps') =>
    sendRaw(appUrl, requestHead(appUrl, `GET ${path}`, { Cookie: cookie }));
  for (const cookie of [
    `${session}; ${session}`,
    `${session};valetkey_session=x`,
    `valetkey_session=; a=b; ${session}`,
    `${session}\r\ncookie: valetkey_session=x`,
    'valetkey_visitor=a; valetkey_visitor=b',
    'valetkey_visitor; valetkey_visitor',
  ])
    for (const path of ['/', '/sign-in', '/account/apps', '/auth/oauth2/authorize', '/developers']) {
      const { status, headers } = await ask(cookie, path);
      assert.deepEqual(
        [status, headers.get('content-type'), headers.get('set-cookie')],
        [400, 'text/html; charset=utf-8', null],
        cookie,
      );
    }
  const { status, body } = await ask(`a=1; a=2; xvaletkey_session=1; ${session}; xvaletkey_session=2`);
  assert.equal(status, 200);
  assert.match(body, /Test App/);
});

test('RFC 7239 §4: of X-Forwarded-For in several lines the right-most address that is no proxy counts', async (t) => {
  const lines = ['203.0.113.7', '203.0.113.8, 192.0.2.1', '10.1.2.3'].join('\r\nX-Forwarded-For: ');
  for (const [proxies, source] of [
    ['127.0.0.1, 10.0.0.0/8', '192.0.2.1'],
    ['10.0.0.0/8', '127.0.0.1'],
  ] as const) {
    const own = await startTestService(t, { VALETKEY_TRUSTED_PROXIES: proxies });
    for (const way of WAYS)
      await sendRaw(own.apiUrl, requestHead(own.apiUrl, 'GET /v2/me', { 'X-Forwarded-For': lines, ...way }));
    const sources = own.log.map((line) => JSON.parse(line)).filter(({ route }) => route === '/v2/me');
    assert.deepEqual(
      sources.map((line) => line.source),
      [source, source],
    );
  }
});
