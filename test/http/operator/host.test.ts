// DNS rebinding: a page of another host gets nothing from the operators' address, whatever its name resolves to.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { addKey, startApi } from '../../support/operator-api.ts';
import { type RawAnswer, requestHead, sendRaw } from '../../support/raw-http.ts';
import { freePort } from '../../support/service.ts';

const PAGES = ['/', '/sign-in', '/enroll?token=x', '/people', '/nothing', '/v1/clients', '/openapi.json'];
const OTHERS = [
  'evil.example',
  'evil.example:PORT',
  'OWN.evil.example',
  'evil.OWN',
  'evil.example:80@OWN',
  'OWN@evil.example',
  'OWN/',
  'OWN..',
  '127.0.0.1:PORT',
  '[::1]:PORT',
  '[::1',
  'OWN:x',
  '.',
];

/** The two kinds of address: one on one's own machine, and one with a name behind a proxy. */
const inside = await freePort();
const SERVICES = {
  localhost: {},
  'operators.example': {
    VALETKEY_OPERATOR_URL: 'https://operators.example',
    VALETKEY_OPERATOR_LISTEN: `127.0.0.1:${inside}`,
  },
};

for (const [own, variables] of Object.entries(SERVICES)) {
  const api = await startApi({ after }, variables);
  const at = own === 'localhost' ? api.operatorUrl : `http://127.0.0.1:${inside}`;
  const { port } = new URL(at);
  const ask = (line: string, headers: Record<string, string>): Promise<RawAnswer> =>
    sendRaw(at, requestHead(at, line, headers));

  describe(`RFC 9110 §15.5.20: at ${own}`, () => {
    test('a request that names another host is 421, with nothing in it', async () => {
      const { key } = await addKey(api);
      for (const other of OTHERS) {
        const Host = other.replace('OWN', own).replace('PORT', port);
        for (const path of PAGES) {
          const { status, text, headers } = await ask(`GET ${path}`, { Host, Authorization: `Bearer ${key}` });
          assert.equal(status, 421, `${Host}: GET ${path}`);
          assert.equal(headers.get('set-cookie'), null);
          assert.ok(!text.includes('operators.example') && !text.includes('data-ceremony'), text);
        }
        assert.equal((await ask('POST /sign-in', { Host, 'Content-Length': '0' })).status, 421, Host);
        assert.equal((await ask('OPTIONS /v1/clients', { Host })).status, 421, Host);
      }
    });

    test('programs get JSON, and people a page that says what a proxy must do', async () => {
      const Host = 'evil.example';
      const program = await ask('GET /v1/clients', { Host });
      assert.match(String(program.headers.get('content-type')), /json/);
      assert.equal(JSON.parse(program.body).error.code, 'misdirected_request');
      const person = await ask('GET /', { Host, Accept: 'text/html' });
      assert.match(String(person.headers.get('content-type')), /text\/html/);
      assert.match(person.body, /proxy/);
      const line = api.log.map((each) => JSON.parse(each)).find(({ error }) => error === 'misdirected_request');
      assert.match(line.detail, /evil\.example/);
    });

    test('its own name is known in any case, with any port, and with the dot of a full name', async () => {
      for (const Host of [
        own,
        `${own}:${port}`,
        `${own}:1`,
        `${own}:443`,
        `${own}:`,
        own.toUpperCase(),
        `${own}.`,
        `${own}.:80`,
      ])
        assert.equal((await ask('GET /sign-in', { Host })).status, 200, Host);
    });

    test('RFC 9112 §3.2.2: the host of an absolute target counts, and not Host', async () => {
      const evil = 'evil.example';
      assert.equal((await ask(`GET http://${evil}/sign-in`, { Host: own })).status, 421);
      assert.equal((await ask(`GET http://${own}:${port}/sign-in`, { Host: evil })).status, 200);
      assert.equal((await ask(`GET HTTPS://${own.toUpperCase()}/sign-in`, { Host: evil })).status, 200);
    });

    test('RFC 9112 §3.2: without a host, HTTP/1.1 is 400, and HTTP/1.0 is 421', async () => {
      assert.equal((await sendRaw(at, 'GET /sign-in HTTP/1.1\r\nConnection: close\r\n\r\n')).status, 400);
      assert.equal((await sendRaw(at, 'GET /sign-in HTTP/1.0\r\n\r\n')).status, 421);
      assert.equal((await sendRaw(at, 'GET /sign-in HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).status, 421);
    });

    test('/healthz answers every host, and the app’s and the API’s addresses do as well', async () => {
      for (const method of ['GET', 'HEAD'])
        assert.equal((await ask(`${method} /healthz`, { Host: 'watchdog.internal' })).status, 200);
      for (const url of [api.appUrl, api.apiUrl])
        assert.equal((await sendRaw(url, requestHead(url, 'GET /readyz', { Host: 'evil.example' }))).status, 200);
    });
  });
}
