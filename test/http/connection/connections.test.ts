import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Browser, formOf } from '../../support/browser.ts';
import { exchange, obtainCode, signedInBrowser } from '../../support/flow.ts';
import { hold, requestHead, sendRaw } from '../../support/raw-http.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';

const TOKEN = 'POST /api/auth/oauth/token';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' };

/** The service measures connections by this clock, which goes on as on any machine, and further where a test says so (ms). */
let ahead = 0;
const { now } = performance;
mock.method(performance, 'now', () => now.call(performance) + ahead);

/** Moves that clock on, and waits until the service has looked at its connections, which it does each second. */
async function goOn(seconds: number): Promise<void> {
  ahead += seconds * 1000;
  await sleep(2100);
}

test('RFC 9110 §15.5.9: a request that does not come whole ends after 15 seconds, and people are served meanwhile', async (t) => {
  const { appUrl } = await startTestService(t);
  const chunked = requestHead(appUrl, TOKEN, { ...FORM, 'Content-Length': '', 'Transfer-Encoding': 'chunked' });
  const slow: [name: string, start: string, trickle?: string][] = [
    ['headers that trickle', 'GET /sign-in HTTP/1.1\r\nHost: x\r\nX: ', 'x'],
    ['headers that never come', ''],
    ['headers that break off', 'GET /sign-in HTTP/1.1\r\nHost: x\r\n'],
    ['a body that trickles', requestHead(appUrl, TOKEN, FORM), 'x'],
    ['a body that is shorter than announced', `${requestHead(appUrl, TOKEN, FORM)}code=x`],
    ['chunks without end', chunked.replace('Content-Length: \r\n', ''), '1\r\nx\r\n'],
  ];
  const answers = slow.map(([, start, trickle]) => sendRaw(appUrl, start, trickle));
  const inTime = await hold(appUrl, requestHead(appUrl, TOKEN, { ...FORM, 'Content-Length': '6' }));
  await goOn(6);
  assert.equal((await fetch(`${appUrl}/sign-in`)).status, 200);
  const whole = text(inTime);
  inTime.write('code=x');
  assert.match(await whole, /^HTTP\/1\.1 400 /, 'until then it may come');
  await goOn(9.1);
  for (const [n, answer] of (await Promise.all(answers)).entries())
    if (answer.text !== '') assert.equal(answer.status, 408, slow[n]?.[0]);
});

test('RFC 9110 §15.5.9: a request that begins after 9 seconds ends after 15 as well, whoever reads it', async (t) => {
  const { appUrl } = await startTestService(t);
  const lines = [TOKEN, 'POST /sign-in'];
  const sockets = await Promise.all(lines.map(() => hold(appUrl)));
  await goOn(6);
  const answers = sockets.map((socket) => text(socket).catch(String));
  for (const [n, socket] of sockets.entries()) socket.write(requestHead(appUrl, lines[n] as string, FORM));
  const trickling = setInterval(() => sockets.forEach((socket) => void socket.write('x')), 500);
  t.after(() => clearInterval(trickling));
  await goOn(4);
  assert.deepEqual(
    sockets.map(({ readableEnded, destroyed }) => readableEnded || destroyed),
    [false, false],
  );
  ahead += 3000;
  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 408 /);
});

test('RFC 9112 §9.3: an idle connection is kept for 75 seconds, longer than by a load balancer that closes after 60', async (t) => {
  const { apiUrl } = await startTestService(t);
  const asked = (more: Record<string, string>) =>
    requestHead(apiUrl, 'GET /v2/me', { Connection: 'keep-alive', ...more });
  // The second is read by Node.js, whose timer does not go by this clock.
  const [own, byNode] = [await hold(apiUrl), await hold(apiUrl)];
  for (const [socket, more] of [
    [own, {}],
    [byNode, { TE: 'trailers' }],
  ] as const) {
    socket.write(asked(more));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^Keep-Alive: timeout=75\r$/m);
  }
  await goOn(70);
  own.write(asked({}));
  await once(own, 'data');
  await goOn(78);
  assert.ok(own.readableEnded || own.destroyed);
});

// All of these mostly wait, so they wait at the same time.
describe('connections that give nothing', { concurrency: true }, () => {
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
    const posted = () => own.log.map((line) => JSON.parse(line)).filter(({ method }) => method === 'POST');
    while (posted().length < 2) await sleep(20);
    const lines = posted();
    assert.deepEqual(
      lines.map(({ route, source }) => [route, source]),
      Array(2).fill(['/sign-in', '127.0.0.1']),
    );
    assert.ok(lines.some(({ error }) => error === 'aborted'));
  });
});
