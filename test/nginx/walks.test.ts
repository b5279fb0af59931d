/** People and programs behind a real nginx: what it hands on over connections that many share, and what nobody gets through it. */
import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { me, obtainPair, pairOf, refresh, signedInBrowser } from '../support/flow.ts';
import { hold, requestHead, sendRaw } from '../support/raw-http.ts';
import { addClient, addUser, freePort, startTestService } from '../support/service.ts';
import { addResourceServer, basic, standardUrl } from '../support/standard.ts';
import { BEHIND_NGINX, isThere, nginxAddresses, startNginx } from './nginx.ts';

// Not a skipped test: nothing that this project brings is missing.
test('nginx is named where it is not installed, and npm run test:nginx installs it', (t) => {
  if (!isThere()) t.diagnostic('not tried: nginx, as the package nginx is not installed');
});

const CRLF = '\r\n';
/** Nobody asks for this: an instance that reads it was sent it inside of another request. */
const HIDDEN = `DELETE /oauth2/revoke HTTP/1.1${CRLF}Host: x${CRLF}${CRLF}`;
const CHUNKED = `0${CRLF}${CRLF}${HIDDEN}`;

/** Lines of a head, and a body, that some readers of HTTP end at different bytes. */
const SMUGGLED: Readonly<Record<string, readonly [lines: readonly string[], body: string]>> = {
  'CL.TE': [[`Content-Length: ${CHUNKED.length}`, 'Transfer-Encoding: chunked'], CHUNKED],
  'TE.CL': [
    ['Transfer-Encoding: chunked', 'Content-Length: 4'],
    `${HIDDEN.length.toString(16)}${CRLF}${HIDDEN}${CRLF}0${CRLF}${CRLF}`,
  ],
  'a coding that is none': [['Transfer-Encoding: xchunked', `Content-Length: ${CHUNKED.length}`], CHUNKED],
  'a space before its colon': [['Transfer-Encoding : chunked', `Content-Length: ${CHUNKED.length}`], CHUNKED],
  'another space before it': [['Transfer-Encoding:\x0bchunked', `Content-Length: ${CHUNKED.length}`], CHUNKED],
  'an underscore in its name': [['Transfer_Encoding: chunked', `Content-Length: ${CHUNKED.length}`], CHUNKED],
  'two codings': [['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], CHUNKED],
  'a chunk that ends with LF': [['Transfer-Encoding: chunked'], `1\nx\n0\n\n${HIDDEN}`],
  'a chunk with an extension': [['Transfer-Encoding: chunked'], `1;a\nb=${CRLF}x${CRLF}0${CRLF}${CRLF}${HIDDEN}`],
  'two lengths': [['Content-Length: 0', `Content-Length: ${HIDDEN.length}`], HIDDEN],
  'the same two': [[`Content-Length: ${HIDDEN.length}`, `Content-Length: ${HIDDEN.length}`], HIDDEN],
  'a list of lengths': [[`Content-Length: ${HIDDEN.length}, 0`], HIDDEN],
  'a length with a sign': [[`Content-Length: +${HIDDEN.length}`], HIDDEN],
  'a length in a folded line': [['X: y', ' Content-Length: 0', `Content-Length: ${HIDDEN.length}`], HIDDEN],
  'a length behind a lone LF': [[`X: y\nContent-Length: ${HIDDEN.length}`], HIDDEN],
  'a length behind a lone CR': [[`X: y\rContent-Length: ${HIDDEN.length}`], HIDDEN],
  'a length behind a NUL': [[`X: y\0${CRLF}Content-Length: ${HIDDEN.length}`], HIDDEN],
  'no length at all': [[], HIDDEN],
  'a hidden request in a value': [[`X: y${CRLF}${CRLF}${HIDDEN}`], ''],
  'a connection that names the length': [
    ['Connection: keep-alive, Content-Length', `Content-Length: ${HIDDEN.length}`],
    HIDDEN,
  ],
  'an upgrade': [
    ['Connection: Upgrade', 'Upgrade: h2c', 'HTTP2-Settings: x', `Content-Length: ${HIDDEN.length}`],
    HIDDEN,
  ],
  'an expectation': [['Expect: 100-continue', `Content-Length: ${HIDDEN.length}`], HIDDEN],
};

if (isThere()) await walk();

async function walk(): Promise<void> {
  const at = await nginxAddresses();
  const [app, api] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const service = await startTestService(
    { after },
    {
      ...BEHIND_NGINX,
      VALETKEY_APP_URL: at.appUrl,
      VALETKEY_API_URL: at.apiUrl,
      VALETKEY_APP_LISTEN: app,
      VALETKEY_API_LISTEN: api,
    },
  );
  /** How many connections nginx opened to the service. */
  let opened = 0;
  const ports = [app, api].map((address) => Number(address.split(':')[1]));
  subscribe('net.server.socket', (message) => {
    if (ports.includes((message as { socket: Socket }).socket.localPort as number)) opened += 1;
  });
  const nginx = await startNginx({ after }, at, [service]);
  const behind = { ...service, ...at };
  await addUser(service);
  const client = await addClient(service);
  const resourceServer = await addResourceServer(service);
  const ada = await signedInBrowser(behind);
  const theirs = basic(resourceServer.id, resourceServer.secret);

  const introspection = (token: string, more: Record<string, string> = {}) => {
    const body = `token=${token}`;
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(body.length) };
    return (
      requestHead(at.appUrl, 'POST /oauth2/introspect', { Connection: 'keep-alive', ...theirs, ...form, ...more }) +
      body
    );
  };
  const page = (more: Record<string, string> = {}) =>
    requestHead(at.appUrl, 'GET /sign-in', { Connection: 'keep-alive', ...more });

  /** Asserts that everybody else is answered as they should be, over connections that they share with whoever was before. */
  const assertUnharmed = async (accessToken: string) => {
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => me(behind, accessToken)),
      ...Array.from({ length: 8 }, () => me(behind, 'x')),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [...Array(8).fill(200), ...Array(8).fill(401)],
    );
    const asked = Array.from({ length: 8 }, () => sendRaw(at.appUrl, introspection('x', { Connection: 'close' })));
    for (const { body } of await Promise.all(asked)) assert.equal(body, '{"active":false}');
  };

  /** What nginx says that it handed on, and what the service says that it answered, by method and status. */
  const accounts = async () => {
    const answered = () =>
      service.log
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => msg === 'request')
        .map(({ method, status }) => `${method} ${status}`)
        .sort();
    for (let times = 0; times < 100 && nginx.handedOn().length !== answered().length; times += 1) await sleep(20);
    return [nginx.handedOn().sort(), answered()] as const;
  };

  test('RFC 6749 §4.1: a grant lives behind nginx, pages and tokens over kept connections', async () => {
    const { accessToken, refreshToken } = await obtainPair(behind, ada, client);
    assert.equal((await me(behind, accessToken)).status, 200);
    const next = pairOf(await refresh(behind, client, refreshToken));
    for (let times = 0; times < 20; times += 1) assert.equal((await me(behind, next.accessToken)).status, 200);
    await assertUnharmed(next.accessToken);
    const [handedOn, answered] = await accounts();
    assert.deepEqual(answered, handedOn);
  });

  test('RFC 6749 §4.1.2: a redirect that carries all that an address may hold comes through', async () => {
    const state = 'y'.repeat(8_000);
    const { status, headers } = await ada.get(standardUrl(behind, client, { scope: 'none', state }));
    assert.equal(status, 303);
    assert.equal(new URL(String(headers.get('location'))).searchParams.get('state'), state);
  });

  test('RFC 9112 §9.3.2: pages and token requests that are sent at once are answered in turn, until one says that it is the last', async () => {
    const all = [introspection('x'), page(), introspection('y'), page(), introspection('x', { Connection: 'close' })];
    const { text } = await sendRaw(at.appUrl, all.join('') + page());
    const kinds = text.match(/"active":false|<h1/g);
    assert.deepEqual(kinds, ['"active":false', '<h1', '"active":false', '<h1', '"active":false']);
    assert.match(text, /HTTP\/1\.1 200 [^<{]*Connection: close[^<{]*\{"active":false\}$/is);
  });

  test('RFC 9112 §11.2: what is hidden in a request behind nginx is nobody’s, and harms nobody', async () => {
    const { accessToken } = await obtainPair(behind, ada, client);
    const url = at.appUrl;
    for (const path of ['/oauth2/introspect', '/api/auth/oauth/token', '/sign-in'])
      for (const [name, [lines, body]] of Object.entries(SMUGGLED)) {
        const type = 'Content-Type: application/x-www-form-urlencoded';
        const head = [`POST ${path} HTTP/1.1`, `Host: ${new URL(url).host}`, type, ...lines, '', ''].join(CRLF);
        const socket = await hold(url, head + body);
        const answer = buffer(socket);
        socket.write(requestHead(url, 'GET /healthz'));
        await Promise.race([answer, sleep(200)]);
        socket.destroy();
        await answer.catch(() => {});
        const [handedOn, answered] = await accounts();
        assert.deepEqual(answered, handedOn, `${name} at ${path}`);
      }
    await assertUnharmed(accessToken);
  });

  test('RFC 9112 §9.6: who half-closes, or hangs up in a body, harms nobody', async () => {
    const { accessToken } = await obtainPair(behind, ada, client);
    for (let times = 0; times < 20; times += 1) {
      const whole = introspection('x');
      const [half, gone] = [await hold(at.appUrl, whole.slice(0, -3)), await hold(at.appUrl, whole)];
      half.end();
      gone.end();
      (await hold(at.appUrl, whole.slice(0, -1))).resetAndDestroy();
      await Promise.all([buffer(half), buffer(gone)]);
    }
    await assertUnharmed(accessToken);
  });

  test('RFC 9112 §9.3: a hundred checks come over a few connections, and each page over its own', async () => {
    const count = async (ask: () => Promise<unknown>) => {
      const before = opened;
      for (let times = 0; times < 100; times += 1) await ask();
      return opened - before;
    };
    assert.ok((await count(() => me(behind, 'x'))) <= 8);
    assert.ok((await count(() => sendRaw(at.appUrl, introspection('x', { Connection: 'close' })))) <= 8);
    assert.equal(await count(() => fetch(`${at.appUrl}/sign-in`)), 100);
  });
}
