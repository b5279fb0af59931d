import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Browser, formOf } from '../../support/browser.ts';
import { exchange, obtainCode, signedInBrowser } from '../../support/flow.ts';
import { hold, requestHead, sendRaw } from '../../support/raw-http.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';

const TOKEN = 'POST /api/auth/oauth/token';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' };

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

  for (const [name, url, line] of [
    ['on the connection', appUrl, TOKEN],
    ['that Node.js reads', appUrl, 'POST /sign-in'],
  ] as const)
    test(`RFC 9110 §15.5.9: a request ${name} that begins after 9 seconds ends after 15 as well`, async () => {
      const start = performance.now();
      const socket = await hold(url);
      await sleep(9000 - (performance.now() - start));
      socket.write(requestHead(url, line, FORM));
      const trickling = setInterval(() => socket.write('x'), 500);
      const answer = await text(socket).catch(() => '');
      clearInterval(trickling);
      const ms = performance.now() - start;
      assert.ok(ms > 14_000 && ms < 18_000, `${ms} ms`);
      assert.match(answer, /^HTTP\/1\.1 408 /);
    });

  test('RFC 9110 §9.3: a request that is cut off ends nothing, and the service goes on', async (t) => {
    const own = await startTestService(t);
    await addUser(own);
    const client = await addClient(own);
    const code = await obtainCode(own, await signedInBrowser(own), client);
    for (const start of [requestHead(own.appUrl, TOKEN, FORM), 'GET /sign', requestHead(own.appUrl, 'GET /sign-in')])
      (await hold(own.appUrl, start)).resetAndDestroy();
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
    for (const sent of [head + body, head + body.slice(0, 9)]) (await hold(own.appUrl, sent)).resetAndDestroy();
    await sleep(500);
    const lines = own.log.map((line) => JSON.parse(line)).filter(({ method }) => method === 'POST');
    assert.deepEqual(
      lines.map(({ route, source }) => [route, source]),
      Array(2).fill(['/sign-in', '127.0.0.1']),
    );
    assert.ok(lines.some(({ error }) => error === 'aborted'));
  });
});
