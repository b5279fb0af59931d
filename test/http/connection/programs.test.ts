/** Connections of programs, on which requests are cut, pipelined, half-closed, and end with a stop. */
import assert from 'node:assert/strict';
import { Server, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { obtainPair, signedInBrowser } from '../../support/flow.ts';
import { hold, type RawAnswer, requestHead, sendRaw, untilRead } from '../../support/raw-http.ts';
import {
  addClient,
  addUser,
  freePort,
  type Lifetime,
  REDIRECT_URI,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import {
  addResourceServer,
  assertionFields,
  basic,
  type Fields,
  makeKey,
  scopes,
  standardPair,
} from '../../support/standard.ts';
import { temporaryPath } from '../../support/storage.ts';

/** A request: its line, its headers, and its body. */
type Asked = { readonly line: string; readonly headers: Record<string, string>; readonly body: Buffer };
type Answer = Pick<RawAnswer, 'status' | 'headers' | 'body'>;

const KEPT = { Connection: 'keep-alive' };

const service = await startOneAddress({ after });
const { appUrl: url } = service;
await addUser(service, undefined, 'Ada Éxample 🗝️');
const key = makeKey();
const client = await addClient(service, { deviceFlow: true });
const keyed = await addClient(service, { keys: [key.jwk] });
const resourceServer = await addResourceServer(service);
const ada = await signedInBrowser(service);
const { accessToken } = await obtainPair(service, ada, client);
const theirs = basic(resourceServer.id, resourceServer.secret);
const mine = { client_id: client.clientId, client_secret: client.clientSecret };

/** Starts a service that has all direct endpoints at one address. */
async function startOneAddress(t: Lifetime, variables: Record<string, string> = {}): Promise<TestService> {
  const address = `http://127.0.0.1:${await freePort()}`;
  return startTestService(t, { VALETKEY_APP_URL: address, VALETKEY_API_URL: address, ...variables });
}

function post(path: string, body: string | Buffer, headers: Record<string, string> = {}): Asked {
  const bytes = Buffer.from(body);
  const type = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(bytes.length) };
  return { line: `POST ${path}`, headers: { ...type, ...headers }, body: bytes };
}

function form(path: string, fields: Fields, headers: Record<string, string> = {}): Asked {
  const sent = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return post(path, new URLSearchParams(sent).toString(), headers);
}

function check(headers: Record<string, string>): Asked {
  return { line: 'GET /v2/me', headers, body: Buffer.of() };
}

const ME = check({ Authorization: `Bearer ${accessToken}` });
const PAGE = { line: 'GET /sign-in', headers: {}, body: Buffer.of() };

function bytesOf({ line, headers, body }: Asked, more: Record<string, string> = KEPT): Buffer {
  return Buffer.concat([Buffer.from(requestHead(url, line, { ...headers, ...more })), body]);
}

/** An answer without what no two answers have in common. */
function comparable({ status, headers, body }: Answer) {
  const { date: _, 'x-request-id': id, ...same } = Object.fromEntries(headers);
  assert.match(String(id), /^[\w-]{12}$/);
  const known = body.replaceAll(/(vk_[a-z]+_|uri:)[\w-]{20,}|[A-Z]{4}-[A-Z]{4}/g, '$1…');
  return { status, headers: same, body: known };
}

async function ask(one: Asked): Promise<RawAnswer> {
  return sendRaw(url, bytesOf(one, { Connection: 'close' }));
}

const redeem = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const REFUSALS: readonly [name: string, status: number | undefined, (path: string) => Asked][] = [
  ['a wrong secret', 401, (path) => form(path, { ...fieldsFor(path), ...mine, client_secret: 'wrong' })],
  ['an unknown client', 401, (path) => form(path, { ...fieldsFor(path), client_id: 'x', client_secret: 'x' })],
  ['nothing but the client', undefined, (path) => form(path, mine)],
  ['nothing', undefined, (path) => post(path, '')],
  ['a repeated parameter', 400, (path) => post(path, 'client_id=x&client_id=y')],
  ['a parameter that cannot be decoded', undefined, (path) => post(path, 'client_id=%zz&client_secret=%ff&%=')],
  ['a body that is not UTF-8', 400, (path) => post(path, Buffer.from('token=\xff', 'latin1'))],
  ['JSON that is not UTF-8', 400, (path) => post(path, Buffer.from('{"token":"\xff"}', 'latin1'), JSON_TYPE)],
  ['malformed JSON', 400, (path) => post(path, '{"token":"canary"', JSON_TYPE)],
  ['a JSON array', 400, (path) => post(path, '["canary"]', JSON_TYPE)],
  ['no JSON at all', 400, (path) => post(path, '', JSON_TYPE)],
  ['a name that is twice in JSON', 400, (path) => post(path, '{"client_id":"x","client_id":"y"}', JSON_TYPE)],
  ['a body of 64 KiB', undefined, (path) => post(path, `x=${'x'.repeat(64 * 1024 - 2)}`)],
  ['a body of 64 KiB and a byte', 413, (path) => post(path, `x=${'x'.repeat(64 * 1024 - 1)}`)],
  ['plain text', 415, (path) => post(path, 'token=x', { 'Content-Type': 'text/plain' })],
  ['a body of no type', 415, (path) => post(path, 'token=x', { 'Content-Type': '' })],
  ['UTF-16', 415, (path) => post(path, 'token=x', { 'Content-Type': 'application/json; charset=utf-16' })],
  ['a compressed body', 415, (path) => post(path, 'token=x', { 'Content-Encoding': 'gzip' })],
  ['a method that is not known there', 405, (path) => ({ ...post(path, 'token=x'), line: `PUT ${path}` })],
];

/** What an endpoint reads before it asks who is there. */
function fieldsFor(path: string): Fields {
  if (path.endsWith('/refreshToken')) return { grant_type: 'refresh_token', refresh_token: 'x' };
  return path.endsWith('oken') ? { ...redeem, code: 'x' } : { token: path === '/oauth2/par' ? undefined : 'x' };
}

const POSTED = [
  ...['/api/auth/oauth/token', '/api/auth/oauth/refreshToken', '/oauth2/token', '/oauth2/revoke', '/oauth2/introspect'],
  ...['/oauth2/par', '/oauth2/device_authorization'],
];
for (const path of POSTED)
  test(`RFC 6749 §5.2: ${path} refuses what it cannot read, and quotes nothing of it`, async () => {
    for (const [name, status, make] of REFUSALS) {
      const answer = await ask(make(path));
      assert.ok(status === undefined || answer.status === status, `${name}: ${answer.status}`);
      assert.ok(answer.status >= 400 || name === 'nothing but the client', name);
      assert.ok(!answer.body.includes('canary'));
    }
  });

/** The answers that came on a connection as far as they are whole, and what is behind them. */
function split(received: string): { answers: Answer[]; more: string } {
  const answers: Answer[] = [];
  let more = received;
  for (let end = more.indexOf('\r\n\r\n'); end > 0; end = more.indexOf('\r\n\r\n')) {
    const [status = '', ...lines] = more.slice(0, end).split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    const bodyEnd = end + 4 + Number(headers.get('content-length'));
    if (more.length < bodyEnd) break;
    answers.push({ status: Number(status.split(' ')[1]), headers, body: more.slice(end + 4, bodyEnd) });
    more = more.slice(bodyEnd);
  }
  return { answers, more };
}

/** The next answers on a connection, which goes on. */
async function read(socket: Socket, count = 1): Promise<Answer[]> {
  const all: Answer[] = [];
  let before = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    const { answers, more } = split(before + chunk.toString('latin1'));
    all.push(...answers);
    before = more;
    if (all.length >= count) break;
  }
  assert.deepEqual([all.length, before], [count, '']);
  return all;
}

/** The next answer on a connection. */
async function next(socket: Socket): Promise<Answer> {
  return (await read(socket))[0] as Answer;
}

/** All answers that come until a connection ends. */
async function rest(socket: Socket): Promise<Answer[]> {
  return split((await buffer(socket)).toString('latin1')).answers;
}

/** More than a busy machine takes for an answer (ms). */
const LONG_MS = 60_000;

/** A new connection that sends at once what it is told to, and ends when for long nothing comes. */
async function connect(t: Lifetime, { appUrl } = service): Promise<Socket> {
  const socket = (await hold(appUrl)).setNoDelay();
  socket.setTimeout(LONG_MS, () => socket.destroy());
  t.after(() => void socket.destroy());
  return socket;
}

const statuses = (answers: Answer[]) => answers.map(({ status }) => status);

for (const [name, asked] of [
  ['a check', ME],
  ['an introspection', form('/oauth2/introspect', { token: accessToken }, theirs)],
] as const)
  test(`RFC 9112 §2.2: ${name} that is cut anywhere is answered the same, as is the next request`, async (t) => {
    const bytes = bytesOf(asked);
    const whole = comparable((await read(await send(t, bytes)))[0] as Answer);
    const cuts = Array.from({ length: bytes.length - 1 }, (_, at) => at + 1);
    const sockets = await Promise.all(cuts.map(() => connect(t)));
    for (const round of [1, 2]) {
      const answers = sockets.map(next);
      for (const [n, at] of cuts.entries()) sockets[n]?.write(bytes.subarray(0, at));
      await Promise.all(sockets.map((socket) => untilRead(socket)));
      for (const [n, at] of cuts.entries()) sockets[n]?.write(bytes.subarray(at));
      const all = await Promise.all(answers);
      for (const [n, at] of cuts.entries())
        assert.deepEqual(comparable(all[n] as Answer), whole, `round ${round}, at ${at}`);
    }
  });

/** A connection on which something was sent. */
async function send(t: Lifetime, bytes: string | Buffer): Promise<Socket> {
  const socket = await connect(t);
  socket.write(bytes);
  return socket;
}

describe('RFC 9112 §9.3.2: requests that are sent at once are answered in turn', { concurrency: true }, () => {
  const none = check({});
  const several: [name: string, asked: Asked[], expected: number[]][] = [
    ['two checks', [ME, none], [200, 401]],
    ['a check and a page', [none, PAGE], [401, 200]],
    ['a page and a check', [PAGE, none], [200, 401]],
    ['a check, a page, and two more', [ME, PAGE, none, PAGE, form('/oauth2/revoke', {})], [200, 200, 401, 200, 400]],
    ['an introspection and a check', [form('/oauth2/introspect', { token: 'x' }, theirs), none], [200, 401]],
  ];
  for (const [name, asked, expected] of several)
    test(`RFC 9112 §9.3.2: ${name}`, async (t) => {
      const socket = await send(t, Buffer.concat(asked.map((one) => bytesOf(one))));
      assert.deepEqual(statuses(await read(socket, expected.length)), expected);
      socket.write(bytesOf(ME));
      assert.equal((await next(socket)).status, 200, 'the connection goes on');
    });

  test('RFC 9112 §9.3.2: what comes while an answer is made is answered after it, however long after', async (t) => {
    const asked = async (pause: number) => {
      const slow = form('/oauth2/revoke', { ...(await assertionFields(service, keyed, key)), token: 'x' });
      const socket = await send(t, bytesOf(slow));
      const all = read(socket, 3);
      for (const one of [none, ME]) {
        for (let turn = 0; turn < pause; turn++) await nextTurn();
        socket.write(bytesOf(one));
      }
      return all;
    };
    const pauses = Array.from({ length: 12 }, (_, pause) => pause);
    for (const all of await Promise.all(pauses.map(asked))) assert.deepEqual(statuses(all), [200, 401, 200]);
  });
});

test('RFC 9112 §2.2: an empty line behind a body counts for nothing, whenever it comes', async (t) => {
  const asked = bytesOf(form('/oauth2/introspect', { token: 'x' }, theirs));
  for (const pieces of [
    [asked, '\r\n', asked],
    [asked, '\r', '\n', asked],
    [asked, '\r\n\r\n\r\n', '\r\n', asked],
    [asked, Buffer.concat([Buffer.from('\r\n'), asked])],
    [Buffer.concat([asked, Buffer.from('\r\n'), asked])],
  ]) {
    const socket = await connect(t);
    const answers = read(socket, 2);
    for (const piece of pieces) {
      socket.write(piece);
      await untilRead(socket);
    }
    assert.deepEqual(statuses(await answers), [200, 200]);
  }
});

describe('RFC 9112 §9.6: the last request on a connection', { concurrency: true }, () => {
  test('RFC 9112 §9.6: whoever says so is told so, and the connection ends', async (t) => {
    for (const asked of [ME, check({}), form('/oauth2/revoke', {})]) {
      const socket = await send(
        t,
        Buffer.concat([bytesOf(asked), bytesOf(asked, { Connection: 'close' })]).subarray(bytesOf(asked).length),
      );
      const [answer, ...more] = await rest(socket);
      assert.deepEqual([answer?.headers.get('connection'), more.length], ['close', 0]);
    }
  });

  test('RFC 9112 §9.6: what is sent behind it is not answered', async (t) => {
    const socket = await send(t, bytesOf(ME, { Connection: 'close' }));
    socket.write(bytesOf(ME));
    assert.equal((await rest(socket)).length, 1);
  });

  for (const [name, asked] of [
    ['a check', ME],
    ['a slow answer', null],
  ] as const)
    test(`RFC 9112 §9.6: ${name} for whoever sends no more, and says so by half-closing`, async (t) => {
      const slow = async () => form('/oauth2/revoke', { ...(await assertionFields(service, keyed, key)), token: 'x' });
      for (const pause of [0, 1, 2, 5]) {
        const socket = await send(t, bytesOf(asked ?? (await slow())));
        for (let turn = 0; turn < pause; turn++) await nextTurn();
        socket.end();
        assert.deepEqual(statuses(await rest(socket)), [200]);
      }
    });

  const behind: [name: string, bytes: () => Buffer[], answers: number[]][] = [
    ['a request', () => [bytesOf(ME)], [200]],
    ['two', () => [bytesOf(ME), bytesOf(ME)], [200, 200]],
    ['an empty line', () => [Buffer.from('\r\n')], []],
    ['half a body', () => [bytesOf(form('/oauth2/revoke', { token: 'x' })).subarray(0, -2)], []],
  ];
  for (const [name, bytes, answers] of behind)
    test(`RFC 9112 §9.6: who half-closes behind ${name}, while one is answered, gets every answer and then the end`, {
      timeout: LONG_MS / 2,
    }, async (t) => {
      for (const isAtOnce of [false, true]) {
        const slow = bytesOf(form('/oauth2/revoke', { ...(await assertionFields(service, keyed, key)), token: 'x' }));
        const socket = await send(t, isAtOnce ? Buffer.concat([slow, ...bytes()]) : slow);
        for (let turn = 0; turn < 2; turn++) await nextTurn();
        socket.end(isAtOnce ? '' : Buffer.concat(bytes()));
        assert.deepEqual(statuses(await rest(socket)), [200, ...answers], `at once: ${isAtOnce}`);
      }
    });
});

for (const [name, sent] of [
  ['what was sent behind a request that is being answered is answered too, and told that it was the last', 'in turn'],
  ['the same is true of what was sent with it', 'at once'],
  ['an empty line behind a request is none, and its answer says that it is the last', 'empty line'],
] as const)
  test(`stop: ${name}`, async (t) => {
    const path = temporaryPath(t);
    const own = await startOneAddress(t, {
      VALETKEY_DATABASE_URL: `sqlite:${path}`,
      VALETKEY_KEYS_FILE: `${path}-keys`,
    });
    await addUser(own);
    const app = await addClient(own);
    const { refreshToken } = await obtainPair(own, await signedInBrowser(own), app);
    const fields = { client_id: app.clientId, client_secret: app.clientSecret, token: refreshToken };
    const behind = sent === 'empty line' ? Buffer.from('\r\n') : bytesOf(check({}));
    const both = [bytesOf(form('/oauth2/revoke', fields)), behind];
    const socket = await hold(own.appUrl);
    const answers = rest(socket);
    // While another process writes, whoever writes waits.
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    for (const bytes of sent === 'in turn' ? both : [Buffer.concat(both)]) {
      socket.write(bytes);
      await untilRead(socket);
    }
    const isClosing = new Promise<void>((resolve) => {
      const { close } = Server.prototype;
      t.mock.method(Server.prototype, 'close', function closeAndTell(this: Server, ...done: []) {
        resolve();
        return close.apply(this, done);
      });
    });
    const stopped = own.stop();
    await isClosing; // And all connections are told in the same turn.
    other.exec('ROLLBACK');
    assert.deepEqual(statuses(await answers), sent === 'empty line' ? [200] : [200, 401]);
    assert.equal((await answers).at(-1)?.headers.get('connection'), 'close');
    await stopped;
    other.close();
  });

/** The lines of requests in a log, once there are so many. */
async function linesOf({ log }: TestService, count: number): Promise<Record<string, unknown>[]> {
  const lines = () => log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  for (let times = 0; times < 1000 && lines().length < count; times++) await sleep(20);
  assert.equal(lines().length, count);
  return lines();
}

describe('Promise 4: each request is one line in the log', { concurrency: true }, () => {
  test('Promise 4: with its id, method, route, status and source', async (t) => {
    const own = await startOneAddress(t);
    const asked = [
      check({ Authorization: 'Bearer x' }),
      post('/oauth2/token', 'x=1'),
      post('/oauth2/revoke', '{', JSON_TYPE),
    ];
    const answers: Answer[] = [];
    for (const one of asked) answers.push(await sendRaw(own.appUrl, bytesOf(one, { Connection: 'close' })));
    const lines = await linesOf(own, asked.length);
    for (const [n, { status, headers }] of answers.entries()) {
      const line = lines.find((line) => line['request_id'] === headers.get('x-request-id')) ?? {};
      assert.deepEqual(
        [typeof line['time'], typeof line['ms'], line['status'], line['source']],
        ['string', 'number', status, '127.0.0.1'],
      );
      assert.equal(`${line['method']} ${line['route']}`, asked[n]?.line);
    }
  });

  test('ASVS 16.3.1: with what came to whoever hangs up in a body, or does not wait for the answer', async (t) => {
    const own = await startOneAddress(t);
    const whole = bytesOf(form('/oauth2/revoke', { token: 'x', ...mine }));
    (await hold(own.appUrl, whole.toString().slice(0, -5))).resetAndDestroy();
    const ended = await hold(own.appUrl, whole.toString().slice(0, -5));
    ended.end();
    const lines = await linesOf(own, 2);
    for (const { method, route, source, error } of lines)
      assert.deepEqual([method, route, source, error], ['POST', '/oauth2/revoke', '127.0.0.1', 'aborted']);
    await sleep(100);
    await linesOf(own, 2);
    for (const line of own.log) assert.notEqual(JSON.parse(line).level, 'error', line);
  });

  test('Promise 4: nothing is in it of whoever sends nothing, or half of a head', async (t) => {
    const own = await startOneAddress(t);
    for (const start of ['', 'GET /v2/me HTTP/1.1\r\nHo']) (await hold(own.appUrl, start)).destroy();
    await sleep(100);
    await linesOf(own, 0);
  });

  test('Promise 6: behind a trusted proxy the source is the address that it forwards for', async (t) => {
    const own = await startOneAddress(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' });
    const sources: [forwarded: string, source: string][] = [
      ['192.0.2.1', '192.0.2.1'],
      ['198.51.100.1, 192.0.2.1', '192.0.2.1'],
      ['198.51.100.1,192.0.2.1 , 10.1.2.3', '192.0.2.1'],
      ['2001:db8:1:2::3', '2001:db8:1:2::/64'],
      ['[2001:db8:1:2::3]:443', '2001:db8:1:2::/64'],
      ['192.0.2.1, unknown', '127.0.0.1'],
      ['', '127.0.0.1'],
      [`${'203.0.113.9,'.repeat(300)}192.0.2.1`, '192.0.2.1'],
    ];
    for (const [forwarded] of sources)
      await sendRaw(own.appUrl, bytesOf(check({ 'X-Forwarded-For': forwarded }), { Connection: 'close' }));
    const lines = await linesOf(own, sources.length);
    assert.deepEqual(
      lines.map(({ source }) => source),
      sources.map(([, source]) => source),
    );
  });
});

test('Promise 6: wrong secrets slow their address down', async (t) => {
  const own = await startOneAddress(t);
  const { clientId } = await addClient(own);
  const wrong = form('/oauth2/revoke', { client_id: clientId, client_secret: 'wrong', token: 'x' });
  const ask = () => sendRaw(own.appUrl, bytesOf(wrong, { Connection: 'close' }));
  for (let times = 0; times < 200; times++) await ask();
  const answer = await ask();
  assert.equal(answer.status, 429);
  for (const name of ['retry-after', 'ratelimit']) assert.ok(answer.headers.get(name), name);
});

const own = await startOneAddress({ after });
await addUser(own);
// Long answers, since the system takes many megabytes of them.
const names = Array.from({ length: 60 }, (_, n) => `${n}`.padStart(60, 'x'));
const app = await addClient(own, { scopes: scopes(...names) });
const { accessToken: token } = await standardPair(own, await signedInBrowser(own), app);
const request = bytesOf(check({ Authorization: `Bearer ${token}` }));
/** How many of those requests have a line in the log, and came to what `found` finds. */
const logged = (found: RegExp) =>
  own.log.filter((line) => line.includes('"route":"/v2/me"') && found.test(line)).length;

describe('backpressure: whoever does not read is not read from', () => {
  test('backpressure: one who sends them one by one, and in the end reads all answers', async (t) => {
    const socket = await connect(t, own);
    let sent = 0;
    for (let turns = 0; turns < 200; sent++) {
      const before = own.log.length;
      socket.write(request);
      for (turns = 0; own.log.length === before && turns < 200; turns++) await (turns < 100 ? nextTurn() : sleep(1));
    }
    const answered = logged(/"status":200/);
    for (let more = 0; more < 100; more++, sent++) socket.write(request);
    await sleep(100);
    assert.equal(logged(/"status":200/), answered, 'nothing is answered that cannot be sent');
    const answers = await read(socket, sent);
    assert.deepEqual([...new Set(statuses(answers))], [200]);
  });

  test('backpressure: of 15,000 that are sent at once most are not even read', async (t) => {
    const socket = (await connect(t, own)).pause();
    for (let time = 0; time < 10; time++) socket.write(Buffer.concat(Array<Buffer>(1500).fill(request)));
    await sleep(1000);
    socket.resetAndDestroy();
    await sleep(300);
    // Whatever was read has a line, by now.
    assert.ok(logged(/aborted/) < 5000, `${logged(/aborted/)} were read and not answered`);
  });
});
