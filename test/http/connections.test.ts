import assert from 'node:assert/strict';
import net from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Browser, formOf } from '../support/browser.ts';
import { exchange, obtainCode, signedInBrowser } from '../support/flow.ts';
import { requestHead, sendRaw } from '../support/raw-http.ts';
import { addClient, addUser, startTestService, type TestService } from '../support/service.ts';

const TOKEN = 'POST /api/auth/oauth/token';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' };

/** Opens a connection and sends a request's beginning. */
async function hold({ appUrl }: TestService, text: string): Promise<net.Socket> {
  const { hostname, port } = new URL(appUrl);
  const socket = net.connect(Number(port), hostname).on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(text);
  await sleep(50);
  return socket;
}

// All of these mostly wait, so they wait at the same time.
describe('connections that give nothing', { concurrency: true }, async () => {
  const service = await startTestService({ after });
  const { appUrl } = service;
  const slow: [name: string, start: string, trickle: string | undefined, status: number][] = [
    ['headers that trickle', 'GET /sign-in HTTP/1.1\r\nHost: x\r\nX: ', 'x', 408],
    ['headers that never come', '', undefined, 408],
    ['headers that break off', 'GET /sign-in HTTP/1.1\r\nHost: x\r\n', undefined, 408],
    ['a body that trickles', requestHead(appUrl, TOKEN, FORM), 'x', 408],
    ['a body that is shorter than announced', `${requestHead(appUrl, TOKEN, FORM)}code=x`, undefined, 408],
    [
      'chunks without end',
      requestHead(appUrl, TOKEN, { ...FORM, 'Content-Length': '', 'Transfer-Encoding': 'chunked' }).replace(
        'Content-Length: \r\n',
        '',
      ),
      '1\r\nx\r\n',
      408,
    ],
  ];
  for (const [name, start, trickle, status] of slow)
    test(`RFC 9110 §15.5.9: ${name} end after 15 seconds, and people are served meanwhile`, async () => {
      const closing = sendRaw(appUrl, start, trickle);
      assert.equal((await fetch(`${appUrl}/sign-in`)).status, 200);
      const answer = await closing;
      assert.ok(answer.ms < 17_500, `${answer.ms} ms`);
      if (answer.text !== '') assert.equal(answer.status, status);
    });

  test('RFC 9110 §9.3: a request that is cut off ends nothing, and the service goes on', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const client = await addClient(own);
    const code = await obtainCode(own, await signedInBrowser(own), client);
    for (const start of [requestHead(own.appUrl, TOKEN, FORM), 'GET /sign', requestHead(own.appUrl, 'GET /sign-in')])
      (await hold(own, start)).resetAndDestroy();
    await sleep(100);
    assert.equal((await exchange(own, client, code)).status, 200);
    for (const line of own.log) assert.notEqual(JSON.parse(line).level, 'error', line);
  });

  test('ASVS 16.3.1: who guesses and hangs up is in the log all the same', async (t) => {
    const own = await startTestService(t);
    const browser = new Browser();
    const page = await browser.get(`${own.appUrl}/sign-in`);
    const guess = { ...formOf(page.body, '/sign-in').fields, email: 'ada@example.com', password: 'a wrong password' };
    const body = new URLSearchParams(guess).toString();
    const headers = { ...FORM, 'Content-Length': String(body.length), 'Sec-Fetch-Site': 'same-origin' };
    const cookie = `valetkey_visitor=${browser.cookies.get('valetkey_visitor')}`;
    const head = requestHead(own.appUrl, 'POST /sign-in', { ...headers, Cookie: cookie });
    for (const sent of [head + body, head + body.slice(0, 9)]) (await hold(own, sent)).resetAndDestroy();
    await sleep(500);
    const lines = own.log.map((line) => JSON.parse(line)).filter(({ method }) => method === 'POST');
    assert.deepEqual(
      lines.map(({ route, source }) => [route, source]),
      Array(2).fill(['/sign-in', '127.0.0.1']),
    );
    assert.ok(lines.some(({ error }) => error === 'aborted'));
  });

  test('stop: a request in flight is answered, new ones are not taken, and it takes no longer', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const client = await addClient(own);
    const code = await obtainCode(own, await signedInBrowser(own), client);
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      client_id: client.clientId,
      client_secret: client.clientSecret,
      redirect_uri: 'https://client.example/callback',
    }).toString();
    const head = requestHead(own.appUrl, TOKEN, {
      ...FORM,
      'Content-Length': String(body.length),
      Connection: 'keep-alive',
    });
    const socket = await hold(own, head + body.slice(0, 10));
    const received = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
    const start = performance.now();
    const stopped = own.stop();
    await sleep(100);
    await assert.rejects(fetch(own.appUrl), 'no new connection');
    socket.write(body.slice(10));
    assert.match(await received, /^HTTP\/1\.1 200 .*access_token/s);
    await stopped;
    assert.ok(performance.now() - start < 3000, 'a client that keeps its connection does not hold it up');
  });

  test('stop: a connection that gives nothing is cut after 10 seconds', async (t) => {
    const own = await startTestService(t);
    const socket = await hold(own, requestHead(own.appUrl, TOKEN, FORM));
    const closed = new Promise((resolve) => socket.once('close', () => resolve(performance.now())));
    const start = performance.now();
    await own.stop();
    assert.ok(performance.now() - start < 11_000);
    assert.ok(Number(await Promise.race([closed, sleep(1000, Number.NaN)])) > 0, 'the connection is closed');
  });
});
