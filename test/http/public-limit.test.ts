/** Whatever anybody may ask for is limited by source. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestHead, sendRaw } from '../support/raw-http.ts';
import { startTestService } from '../support/service.ts';

const MOST = 3000;
const PUBLIC = [
  ...['/', '/developers', '/sign-in', '/sign-out', '/account/apps', '/device', '/nowhere', '/oauth2/nowhere'],
  ...['/openapi.json', '/.well-known/oauth-authorization-server', '/developers/pick-up?token=x'],
  ...['/developers.md', '/llms.txt'],
];

test('RFC 6585 §4, RFC 6749 §4.1.2.1: one address cannot flood pages and documents; it is told until when, and its connection ends', async (t) => {
  const service = await startTestService(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' });
  const { appUrl, apiUrl, clock } = service;
  const head = (path: string, source: string, connection = 'close') =>
    requestHead(appUrl, `GET ${path}`, { Connection: connection, 'X-Forwarded-For': source });
  const stylesheet = /\/assets\/[\w-]+\.css/.exec(await (await fetch(`${appUrl}/`)).text())?.[0] ?? '';
  const flood = await sendRaw(appUrl, head('/openapi.json', '192.0.2.1', 'keep-alive').repeat(MOST + 2));
  const [, last = ''] = flood.text.split('HTTP/1.1 429');
  assert.equal(flood.text.split('HTTP/1.1 200').length - 1, MOST);
  assert.match(last, /^ Too Many Requests\r\n.*connection: close\r\nretry-after: 1\r\n.*temporarily_unavailable/is);
  assert.equal(flood.text.split('HTTP/1.1').length - 1, MOST + 1, 'nothing is behind it');

  for (const path of [...PUBLIC, stylesheet]) {
    const { status, headers } = await sendRaw(appUrl, head(path, '192.0.2.1'));
    assert.deepEqual([status, headers.get('retry-after')], [429, '1'], path);
    assert.notEqual((await sendRaw(appUrl, head(path, '192.0.2.2'))).status, 429, path);
  }
  const ofApi = await sendRaw(apiUrl, head('/.well-known/oauth-protected-resource', '192.0.2.1'));
  assert.deepEqual([ofApi.status, JSON.parse(ofApi.body).error.code], [429, 'too_many_requests']);
  for (const path of ['/healthz', '/readyz', '/oauth2/authorize'])
    assert.notEqual((await sendRaw(appUrl, head(path, '192.0.2.1'))).status, 429, path);
  clock.advance(1);
  assert.equal((await sendRaw(appUrl, head('/', '192.0.2.1'))).status, 200);
});

test('RFC 6585 §4: one address cannot flood the authorization page; it is told until when', async (t) => {
  const own = await startTestService(t);
  const head = (connection: string) =>
    requestHead(own.appUrl, 'GET /auth/oauth2/authorize', { Connection: connection });
  const { text } = await sendRaw(own.appUrl, head('keep-alive').repeat(6000) + head('close'));
  const [, last = ''] = text.split('HTTP/1.1 429');
  assert.equal(text.match(/HTTP\/1\.1 400/g)?.length, 6000);
  assert.match(last, /^ Too Many Requests\r\n.*retry-after: 1\r\n/s);
});
