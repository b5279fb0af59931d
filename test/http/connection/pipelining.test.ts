/** Requests that are sent behind each other on a connection. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Browser, formOf } from '../../support/browser.ts';
import { hold, requestHead } from '../../support/raw-http.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const MAX_UNDER_WAY = 1;
const KEPT = { Connection: 'keep-alive', TE: 'trailers' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

const service = await startTestService({ after });
const { appUrl } = service;

const head = (line: string, headers: Record<string, string> = {}) => requestHead(appUrl, line, { ...KEPT, ...headers });

function post(path: string, body: string, headers: Record<string, string> = FORM): string {
  return head(`POST ${path}`, { ...headers, 'Content-Length': String(body.length) }) + body;
}

/** Requests by what their answers are known by. */
const KINDS: Readonly<Record<string, string>> = {
  '200 "alive"': head('GET /healthz'),
  '404 nothing at this address': head('GET /oauth2/nowhere'),
  '400 invalid_request': post('/api/auth/oauth/token', 'x=\r\n\r\nGET%20/healthz\r\n\r\n'),
  '400 unsupported_grant_type': post('/oauth2/token', '{"grant_type":\r\n\r\n"x"}\r\n\r\n', {
    'Content-Type': 'application/json',
  }),
  '415 not compressed': `${head('POST /oauth2/par', { 'Content-Type': 'x/y', 'Transfer-Encoding': 'chunked' })}5\r\n\r\n\r\n=\r\n2\r\nxy\r\n0\r\n\r\n`,
  '200 "ready"': head('GET /readyz', { Upgrade: 'websocket', Connection: 'keep-alive, Upgrade' }),
  '405 this address accepts only POST': `\r\n\r\n${head('DELETE /oauth2/revoke')}`,
};

/** What came back, by the same names; what is none of them is there as it came. */
function kindsOf(received: string): string[] {
  const answers = received.split('HTTP/1.1 ').slice(1);
  return answers.map((answer) => {
    const known = Object.keys(KINDS).find((kind) => {
      const [status = '', ...words] = kind.split(' ');
      return answer.startsWith(status) && answer.includes(words.join(' '));
    });
    return known ?? answer;
  });
}

/** All that comes on a connection, which the client ends by half-closing it. */
async function everything(socket: Socket): Promise<string> {
  return (await buffer(socket)).toString('latin1');
}

function linesOf({ log }: TestService, found: RegExp): number {
  return log.filter((line) => line.includes('"request"') && found.test(line)).length;
}

describe('RFC 9112 §9.3.2: pipelined requests', { concurrency: true }, () => {
  const names = Object.keys(KINDS);
  const asked = Array.from({ length: 10 * names.length }, (_, at) => names[(at * 5 + (at >> 3)) % names.length] ?? '');
  const bytes = asked.map((name) => KINDS[name]).join('');

  test('RFC 9112 §9.3.2: seventy of all kinds are answered in order, and the connection goes on', async () => {
    const socket = await hold(appUrl, bytes);
    await sleep(50);
    socket.end(head('GET /healthz'));
    assert.deepEqual(kindsOf(await everything(socket)), [...asked, '200 "alive"']);
  });

  test('RFC 9112 §9.6: seventy are answered to whoever half-closes right behind them', async () => {
    const socket = await hold(appUrl);
    socket.end(bytes);
    assert.deepEqual(kindsOf(await everything(socket)), asked);
  });

  test('RFC 9112 §2.2: wherever they are cut', async () => {
    const few = names.map((name) => KINDS[name]).join('');
    const cut = async (at: number) => {
      const socket = await hold(appUrl, few.slice(0, at));
      socket.end(few.slice(at));
      return kindsOf(await everything(socket));
    };
    for (let from = 1; from < few.length; from += 200) {
      const cuts = Array.from({ length: Math.min(200, few.length - from) }, (_, at) => cut(from + at));
      for (const kinds of await Promise.all(cuts)) assert.deepEqual(kinds, names);
    }
  });

  test('RFC 9112 §9.6: what is sent behind the last one is not answered', async () => {
    const last = requestHead(appUrl, 'GET /readyz', { TE: 'trailers' });
    const socket = await hold(appUrl, `${KINDS['200 "alive"']}${KINDS['400 invalid_request']}${last}${bytes}`);
    assert.deepEqual(kindsOf(await everything(socket)), ['200 "alive"', '400 invalid_request', '200 "ready"']);
  });

  test('RFC 9110 §10.1.1: who waits for 100 before the body gets it in turn', async () => {
    const expecting = head('POST /oauth2/par', { ...FORM, 'Content-Length': '2', Expect: '100-continue' });
    const socket = await hold(appUrl, `${KINDS['200 "alive"']}${expecting}`);
    socket.end(`x=${KINDS['200 "ready"']}`);
    const received = await everything(socket);
    assert.match(received, /^HTTP\/1\.1 200 .*HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 .*HTTP\/1\.1 200 /s);
  });

  test('RFC 9112 §9.3: whoever asks for a tunnel behind others is cut off, and the service goes on', async () => {
    const socket = await hold(appUrl, `${KINDS['200 "alive"']}${head('CONNECT example.com:443')}${bytes}`);
    assert.ok(kindsOf(await everything(socket).catch(() => '')).length <= 1);
    assert.equal((await fetch(`${appUrl}/healthz`)).status, 200);
  });
});

describe('backpressure: of one connection one request is under way at most', { concurrency: true }, () => {
  // The head's end is cut as well, and lines are empty in between: none of that begins one more.
  for (const [name, between, piece] of [
    ['in one piece', '', 64 * 1024],
    ['in pieces that end within a head', '\r\n', 997],
  ] as const)
    test(`backpressure: whoever sends thousands ${name} and does not read`, async (t) => {
      const own = await startTestService(t);
      const page = requestHead(own.appUrl, 'GET /developers', KEPT) + between;
      const socket = (await hold(own.appUrl)).pause();
      const all = Buffer.from(page.repeat(2000));
      for (let at = 0; at < all.length; at += piece) socket.write(all.subarray(at, at + piece));
      let answered = -1;
      for (let now = 0; now !== answered; now = linesOf(own, /"status":200/)) {
        answered = now;
        await sleep(500);
      }
      assert.ok(answered > 0 && answered < 1000, `${answered} were taken by the system`);
      socket.resetAndDestroy();
      while (linesOf(own, /aborted/) === 0) await sleep(20);
      await sleep(100);
      assert.ok(linesOf(own, /aborted/) <= MAX_UNDER_WAY);
      assert.equal(linesOf(own, /./), answered + linesOf(own, /aborted/), 'nothing else was begun');
    });

  test('backpressure: whoever sends many of which each takes long', async (t) => {
    const own = await startTestService(t);
    const browser = new Browser();
    const { fields } = formOf((await browser.get(`${own.appUrl}/sign-in`)).body, '/sign-in');
    const cookie = `valetkey_visitor=${browser.cookies.get('valetkey_visitor')}`;
    const guesses = Array.from({ length: 40 }, (_, n) => {
      const body = new URLSearchParams({ ...fields, email: `${n}@example.com`, password: 'a wrong password' });
      return post('/sign-in', body.toString(), { ...FORM, Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' });
    });
    const socket = await hold(own.appUrl, guesses.join(''));
    while (linesOf(own, /"status":400/) === 0) await sleep(1);
    socket.resetAndDestroy();
    while (linesOf(own, /aborted/) === 0) await sleep(20);
    await sleep(200);
    const answered = linesOf(own, /sign-in.*"status":(400|503)/);
    assert.ok(linesOf(own, /aborted/) <= MAX_UNDER_WAY);
    assert.ok(linesOf(own, /POST/) <= answered + MAX_UNDER_WAY && answered < 30, 'the others were not begun');
  });

  test('backpressure: whoever reads in the end gets all of them', async (t) => {
    const own = await startTestService(t);
    const socket = (await hold(own.appUrl)).pause();
    socket.end(requestHead(own.appUrl, 'GET /developers', KEPT).repeat(1000));
    await sleep(1000);
    assert.ok(linesOf(own, /./) < 1000);
    assert.equal((await everything(socket)).split('HTTP/1.1 200').length - 1, 1000);
  });

  test('backpressure: whoever sends thousands delays nobody else', async (t) => {
    const own = await startTestService(t);
    const socket = (await hold(own.appUrl)).resume();
    socket.write(requestHead(own.appUrl, 'GET /developers', KEPT).repeat(2000));
    while (linesOf(own, /developers/) < 50) await sleep(1);
    assert.equal((await fetch(`${own.appUrl}/oauth2/nowhere`)).status, 404);
    const done = linesOf(own, /developers/);
    assert.ok(done < 2000, `${done} of the pages came before`);
    socket.destroy();
  });
});
