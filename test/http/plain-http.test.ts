/** A proxy says that it took a request by plain http: whoever sent a secret like this must notice. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { requestHead, sendRaw } from '../support/raw-http.ts';
import { freePort, startTestService } from '../support/service.ts';

/** Beside the plain form one that only Node.js reads. */
const WAYS = [{}, { TE: 'trailers' }];

const [appPort, apiPort] = [await freePort(), await freePort()];
const https = {
  VALETKEY_APP_URL: 'https://auth.test',
  VALETKEY_API_URL: 'https://api.test',
  VALETKEY_APP_LISTEN: `127.0.0.1:${appPort}`,
  VALETKEY_API_LISTEN: `127.0.0.1:${apiPort}`,
};
const own = await startTestService({ after }, { ...https, VALETKEY_TRUSTED_PROXIES: '127.0.0.1' });
const empty = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '0' };

describe('RFC 6749 §10.9: what a proxy took by plain http', () => {
  const ask = (line: string, proto: string, at = own.appUrl, way = {}) => {
    const body = line.startsWith('POST') ? empty : {};
    return sendRaw(at, requestHead(at, line, { 'X-Forwarded-Proto': proto, ...body, ...way }));
  };
  const posted = [
    '/api/auth/oauth/token',
    '/api/auth/oauth/refreshToken',
    '/oauth2/token',
    '/oauth2/introspect',
    '/oauth2/revoke',
  ];
  const programs = [
    ...[...posted, '/oauth2/par', '/oauth2/device_authorization'].map((path) => `POST ${path}`),
    'GET /oauth2/revocations',
  ];
  const shown = [
    '/',
    '/sign-in',
    '/sign-out',
    '/account/apps',
    '/device',
    '/auth/oauth2/authorize',
    '/oauth2/authorize',
  ];
  const pages = [
    ...shown.map((path) => `GET ${path}`),
    ...['/sign-in', '/sign-out', '/account/apps/revoke', '/device', '/auth/oauth2/authorize'].map(
      (path) => `POST ${path}`,
    ),
  ];

  test('RFC 6749 §10.9: is refused where it carries a secret, and redirected nowhere', async () => {
    for (const proto of ['http', 'HTTP ', 'https, http', 'https\r\nX-Forwarded-Proto: http'])
      for (const line of [...programs, ...pages])
        for (const way of WAYS) {
          const { status, headers, body } = await ask(line, proto, own.appUrl, way);
          assert.deepEqual([status, headers.get('location'), headers.get('set-cookie')], [400, null, null], line);
          assert.match(
            body,
            programs.includes(line) ? /invalid_request.*over plain http.*use https/ : /https:\/\//,
            line,
          );
        }
    const { status, body } = await ask('GET /v2/me', 'http', own.apiUrl);
    assert.deepEqual([status, JSON.parse(body).error.code], [400, 'plain_http']);
  });

  test('RFC 6749 §10.9: is answered where it carries nothing', async () => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/developers',
      '/developers.md',
      '/llms.txt',
      '/openapi.json',
      '/.well-known/oauth-authorization-server',
    ])
      assert.equal((await ask(`GET ${path}`, 'http')).status, 200, path);
    assert.equal((await ask('GET /.well-known/oauth-protected-resource', 'http', own.apiUrl)).status, 200);
  });

  test('RFC 6749 §10.9: and what came by https, or does not say, is answered', async () => {
    for (const proto of ['https', 'HTTPS', 'http, https', ''])
      for (const way of WAYS) {
        assert.equal((await ask('GET /sign-in', proto, own.appUrl, way)).status, 200, proto);
        assert.equal((await ask('GET /v2/me', proto, own.apiUrl, way)).status, 401, proto);
      }
  });

  test('RFC 6749 §10.9: whoever is no trusted proxy says nothing by it, and a URL of http asks for nothing', async (t) => {
    const [one, two] = [await freePort(), await freePort()];
    const listen = { VALETKEY_APP_LISTEN: `127.0.0.1:${one}`, VALETKEY_API_LISTEN: `127.0.0.1:${two}` };
    const untrusting = await startTestService(t, { ...https, ...listen });
    const onLoopback = await startTestService(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' });
    for (const { appUrl: app, apiUrl: api } of [untrusting, onLoopback]) {
      assert.equal((await ask('GET /sign-in', 'http', app)).status, 200);
      assert.equal((await ask('GET /v2/me', 'http', api)).status, 401);
    }
  });
});
