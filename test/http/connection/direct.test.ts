/**
 * Endpoints that are answered on the connection itself: nobody can tell by what they get, nor an operator by the log. Which
 * of the two ways answered shows here by the date alone: on the connection it is of the service's clock, which stands.
 */
import assert from 'node:assert/strict';
import { Server, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { obtainCode, obtainPair, signedInBrowser } from '../../support/flow.ts';
import { hold, type RawAnswer, requestHead, sendRaw, untilRead } from '../../support/raw-http.ts';
import { READER } from '../../support/reader.ts';
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
  authorizationRequest,
  basic,
  DEVICE_GRANT,
  type Fields,
  makeKey,
  postAs,
  scopes,
  standardCode,
  standardPair,
  VERIFIER,
} from '../../support/standard.ts';
import { temporaryPath } from '../../support/storage.ts';

/** A request: its line, its headers, and its body. */
type Asked = { readonly line: string; readonly headers: Record<string, string>; readonly body: Buffer };
type Answer = Pick<RawAnswer, 'status' | 'headers' | 'body'>;

/** Whether any is answered on the connection at all. */
const OWN = READER.VALETKEY_HTTP_READER === 'own';
const KEPT = { Connection: 'keep-alive' };
/** Makes no difference, but to whether a request is plain. */
const NOT_PLAIN = { TE: 'trailers' };

const service = await startOneAddress({ after });
const { appUrl: url } = service;
await addUser(service, undefined, 'Ada Éxample 🗝️');
const key = makeKey();
const client = await addClient(service, { deviceFlow: true });
const keyed = await addClient(service, { keys: [key.jwk] });
const open = await addClient(service, {}, 'public');
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

function isDirect({ headers }: Answer, { clock } = service): boolean {
  return headers.get('date') === new Date(clock.now()).toUTCString();
}

/** An answer without what no two answers have in common. */
function comparable({ status, headers, body }: Answer) {
  const { date, 'x-request-id': id, ...same } = Object.fromEntries(headers);
  assert.ok(
    Math.abs(Date.parse(String(date)) - (isDirect({ status, headers, body }) ? service.clock.now() : Date.now())) <
      5000,
  );
  assert.match(String(id), /^[\w-]{12}$/);
  const known = body.replaceAll(/(vk_[a-z]+_|uri:)[\w-]{20,}|[A-Z]{4}-[A-Z]{4}/g, '$1…');
  return { status, headers: same, body: known };
}

/** Asks in both ways, and asserts that the answers are the same. */
async function askTwice(make: () => Asked | Promise<Asked>, status?: number, direct = true): Promise<Answer> {
  const plain = await sendRaw(url, bytesOf(await make(), { Connection: 'close' }));
  const other = await sendRaw(url, bytesOf(await make(), { Connection: 'close', ...NOT_PLAIN }));
  assert.deepEqual([isDirect(plain), isDirect(other)], [direct && OWN, false], plain.text);
  assert.deepEqual(comparable(plain), comparable(other));
  if (status !== undefined) assert.equal(plain.status, status, plain.text);
  return plain;
}

const redeem = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI };
const device = async () => String((await postAs(service, client, 'device_authorization')).body['device_code']);
const SUCCESSES: Readonly<Record<string, readonly [status: number, make: () => Asked | Promise<Asked>]>> = {
  'RFC 6749 §4.1.3: an exchange': [
    200,
    async () => form('/api/auth/oauth/token', { ...redeem, ...mine, code: await obtainCode(service, ada, client) }),
  ],
  'RFC 6749 §4.1.3: an exchange with Basic, in JSON': [
    200,
    async () =>
      post('/api/auth/oauth/token', JSON.stringify({ ...redeem, code: await obtainCode(service, ada, client) }), {
        ...basic(client.clientId, client.clientSecret),
        'Content-Type': 'application/json; charset=utf-8',
      }),
  ],
  'RFC 6749 §6: a refresh': [
    200,
    async () => {
      const { refreshToken } = await obtainPair(service, ada, client);
      const headers = { Authorization: `Bearer ${refreshToken}` };
      return form('/api/auth/oauth/refreshToken', { ...mine, grant_type: 'refresh_token' }, headers);
    },
  ],
  'RFC 6749 §4.1.3: an exchange on the standard face': [
    200,
    async () => {
      const code = await standardCode(service, ada, client);
      return form('/oauth2/token', { ...redeem, ...mine, code, code_verifier: VERIFIER });
    },
  ],
  "RFC 6749 §4.1.3: an exchange of a public client's own page": [
    200,
    async () => {
      const code = await standardCode(service, ada, open);
      const fields = { ...redeem, client_id: open.clientId, code, code_verifier: VERIFIER };
      return form('/oauth2/token', fields, { Origin: new URL(REDIRECT_URI).origin });
    },
  ],
  'RFC 6749 §6: a refresh on the standard face': [
    200,
    async () => {
      const { refreshToken } = await standardPair(service, ada, client);
      return form('/oauth2/token', { ...mine, grant_type: 'refresh_token', refresh_token: refreshToken });
    },
  ],
  'RFC 8628 §3.5: a device that waits': [
    400,
    async () => form('/oauth2/token', { ...mine, grant_type: DEVICE_GRANT, device_code: await device() }),
  ],
  'RFC 7009 §2: a revocation': [200, () => form('/oauth2/revoke', { ...mine, token: 'x' })],
  'RFC 7523 §2.2: a client that proves itself by its key': [
    200,
    async () => form('/oauth2/revoke', { ...(await assertionFields(service, keyed, key)), token: 'x' }),
  ],
  'RFC 7662 §2.2: an active token': [200, () => form('/oauth2/introspect', { token: accessToken }, theirs)],
  'RFC 7662 §2.2: a token that is none': [200, () => form('/oauth2/introspect', { token: 'x' }, theirs)],
  'RFC 9126 §2.2: a pushed request': [201, () => form('/oauth2/par', { ...authorizationRequest(client), ...mine })],
  'RFC 8628 §3.2: a device that begins': [200, () => form('/oauth2/device_authorization', mine)],
  'RFC 6750 §2.1: a check': [200, () => ME],
  "RFC 6750 §2.1: a check by another origin's page": [
    200,
    () => check({ ...ME.headers, Origin: 'https://app.test', 'User-Agent': 'x' }),
  ],
  'RFC 6750 §3.1: a check of a token that is none': [401, () => check({ Authorization: 'Bearer x' })],
  'RFC 6750 §3.1: a check of two tokens': [401, () => check({ Authorization: 'Bearer x y' })],
  'RFC 6750 §3.1: a check of another scheme': [401, () => check({ Authorization: 'Basic eDp5' })],
  'RFC 6750 §3: a check of an empty header': [401, () => check({ Authorization: '' })],
  'RFC 6750 §3: a check without a token': [401, () => check({})],
};

for (const [name, [status, make]] of Object.entries(SUCCESSES))
  test(`${name} is answered the same in both ways`, async () => void (await askTwice(make, status)));

const JSON_TYPE = { 'Content-Type': 'application/json' };
const REFUSALS: readonly [name: string, status: number | undefined, (path: string) => Asked, isDirect?: boolean][] = [
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
  ['a body of 64 KiB and a byte', 413, (path) => post(path, `x=${'x'.repeat(64 * 1024 - 1)}`), false],
  ['plain text', 415, (path) => post(path, 'token=x', { 'Content-Type': 'text/plain' }), false],
  ['a body of no type', 415, (path) => post(path, 'token=x', { 'Content-Type': '' }), false],
  ['UTF-16', 415, (path) => post(path, 'token=x', { 'Content-Type': 'application/json; charset=utf-16' }), false],
  ['a compressed body', 415, (path) => post(path, 'token=x', { 'Content-Encoding': 'gzip' }), false],
  ['a method that is not known there', 405, (path) => ({ ...post(path, 'token=x'), line: `PUT ${path}` }), false],
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
  test(`RFC 6749 §5.2: ${path} refuses the same in both ways`, async () => {
    for (const [name, status, make, direct] of REFUSALS) {
      const answer = await askTwice(() => make(path), status, direct).catch((error) =>
        assert.fail(`${name}: ${error}`),
      );
      assert.ok(answer.status >= 400 || name === 'nothing but the client', name);
      assert.ok(!answer.body.includes('canary'));
    }
  });

test('RFC 9112 §3: no endpoint but these is answered on the connection, and these only as they are written', async () => {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const asked = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => (method === 'post' ? post(path, '') : { ...check({}), line: `GET ${path}` })),
  );
  const answers = await Promise.all(asked.map(async (one) => ({ one, answer: await sendRaw(url, bytesOf(one, {})) })));
  const direct = answers.filter(({ answer }) => isDirect(answer)).map(({ one }) => one.line);
  const expected = ['GET /v2/me', ...POSTED.map((path) => `POST ${path}`)];
  assert.deepEqual(direct.sort(), OWN ? expected.sort() : []);
  const odd = [
    'GET  /v2/me',
    'GET /v2/me ',
    'GET /v2/me?',
    'get /v2/me',
    'GET /v2/%6de',
    'HEAD /v2/me',
    `GET ${url}/v2/me`,
  ];
  for (const line of odd) {
    const answer = await sendRaw(url, bytesOf({ ...ME, line }, {}));
    assert.ok(answer.status === 400 || !isDirect(answer), line);
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
      const direct = all.filter((answer) => isDirect(answer)).length;
      assert.equal(direct, OWN ? asked.body.length : 0, 'who has sent a whole head');
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

test('RFC 9112 §9.3: a connection that is not plain any more goes on', async (t) => {
  const socket = await connect(t);
  const ways: boolean[] = [];
  for (const more of [{}, {}, NOT_PLAIN, {}]) {
    socket.write(bytesOf(ME, { ...KEPT, ...more }));
    const answer = await next(socket);
    assert.equal(answer.status, 200);
    assert.match(String(answer.headers.get('connection')), /keep-alive/i);
    ways.push(isDirect(answer));
  }
  assert.deepEqual(ways, [OWN, OWN, false, false], 'and stays with Node.js');
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
      assert.equal(answer && isDirect(answer), OWN);
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
    ['a plain request', () => [bytesOf(ME)], [200]],
    ['two', () => [bytesOf(ME), bytesOf(ME)], [200, 200]],
    ['one that is not plain', () => [bytesOf(ME, NOT_PLAIN)], [200]],
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
    // Node.js makes the answer to the second one at once, and then it stays as it is.
    const isTold = OWN || sent === 'empty line';
    assert.equal((await answers).at(-1)?.headers.get('connection'), isTold ? 'close' : 'keep-alive');
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

describe('Promise 4: each request is one line in the log, whoever answered it', { concurrency: true }, () => {
  test('Promise 4: with its id, method, route, status and source', async (t) => {
    const own = await startOneAddress(t);
    const asked = [
      check({ Authorization: 'Bearer x' }),
      post('/oauth2/token', 'x=1'),
      post('/oauth2/revoke', '{', JSON_TYPE),
    ];
    const answers: Answer[] = [];
    for (const one of asked)
      for (const more of [{}, NOT_PLAIN])
        answers.push(await sendRaw(own.appUrl, bytesOf(one, { Connection: 'close', ...more })));
    const lines = await linesOf(own, 6);
    for (const [n, { status, headers }] of answers.entries()) {
      const { time, ms, ...line } = lines.find((line) => line['request_id'] === headers.get('x-request-id')) ?? {};
      const {
        time: _,
        ms: __,
        ...other
      } = lines.find((line) => line['request_id'] === answers[n ^ 1]?.headers.get('x-request-id')) ?? {};
      assert.deepEqual({ ...line, request_id: null }, { ...other, request_id: null });
      assert.deepEqual(
        [typeof time, typeof ms, line['status'], line['source']],
        ['string', 'number', status, '127.0.0.1'],
      );
      const { line: asksFor = '' } = asked[n >> 1] ?? {};
      assert.equal(`${line['method']} ${line['route']}`, asksFor);
    }
  });

  test('ASVS 16.3.1: with what came to whoever hangs up in a body, or does not wait for the answer', async (t) => {
    const own = await startOneAddress(t);
    const whole = bytesOf(form('/oauth2/revoke', { token: 'x', ...mine }));
    for (const more of [{}, NOT_PLAIN]) {
      const bytes = bytesOf(form('/oauth2/revoke', { token: 'x', ...mine }), { ...KEPT, ...more });
      (await hold(own.appUrl, bytes.toString().slice(0, -5))).resetAndDestroy();
    }
    const ended = await hold(own.appUrl, whole.toString().slice(0, -5));
    ended.end();
    const lines = await linesOf(own, 3);
    for (const { method, route, source, error } of lines)
      assert.deepEqual([method, route, source, error], ['POST', '/oauth2/revoke', '127.0.0.1', 'aborted']);
    await sleep(100);
    await linesOf(own, 3);
    for (const line of own.log) assert.notEqual(JSON.parse(line).level, 'error', line);
  });

  test('Promise 4: nothing is in it of whoever sends nothing, or half of a head', async (t) => {
    const own = await startOneAddress(t);
    for (const start of ['', 'GET /v2/me HTTP/1.1\r\nHo']) (await hold(own.appUrl, start)).destroy();
    await sleep(100);
    await linesOf(own, 0);
  });

  test('Promise 6: behind a trusted proxy the source is the same in both ways', async (t) => {
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
      for (const more of [{}, NOT_PLAIN]) {
        const asked = check({ 'X-Forwarded-For': forwarded });
        const answer = await sendRaw(own.appUrl, bytesOf(asked, { Connection: 'close', ...more }));
        assert.equal(isDirect(answer, own), OWN && more !== NOT_PLAIN);
        await linesOf(own, own.log.filter((line) => line.includes('"request"')).length);
      }
    const lines = await linesOf(own, 2 * sources.length);
    assert.deepEqual(
      lines.map(({ source }) => source),
      sources.flatMap(([, source]) => [source, source]),
    );
  });
});

test('Promise 6: wrong secrets slow their address down in both ways, whichever way they came', async (t) => {
  const own = await startOneAddress(t);
  const wrong = form('/oauth2/revoke', {
    client_id: (await addClient(own)).clientId,
    client_secret: 'wrong',
    token: 'x',
  });
  const ask = (more: Record<string, string>) => sendRaw(own.appUrl, bytesOf(wrong, { Connection: 'close', ...more }));
  for (let times = 0; times < 200; times++) await ask(times % 2 === 0 ? {} : NOT_PLAIN);
  const [plain, other] = [await ask({}), await ask(NOT_PLAIN)];
  assert.deepEqual([plain.status, isDirect(plain, own), isDirect(other, own)], [429, OWN, false]);
  for (const name of ['retry-after', 'ratelimit', 'cache-control', 'content-type', 'vary'])
    assert.equal(plain.headers.get(name), other.headers.get(name), name);
  assert.equal(plain.body, other.body);
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
    assert.ok(answers.slice(0, answered).every((answer) => isDirect(answer, own) === OWN));
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
