import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Verifier } from '../../packages/verify/src/verifier.ts';
import { until } from '../support/until.ts';
import {
  active,
  asks,
  type BrokenAuthorizationServer,
  startBroken,
  statusOf,
  untilKept,
  verifierOf,
} from './broken-authorization-server.ts';

const EVENTS = { 'Content-Type': 'text/event-stream' };

/** A server whose tokens are `<grant>-<client>-<user>`, so that a mix-up would show. */
async function startWithTokens(t: TestContext): Promise<BrokenAuthorizationServer> {
  const server = await startBroken(t);
  server.reply = ({ form }) => {
    const [grant_id, client_id, sub] = (form.get('token') ?? '').split('-');
    return active({ grant_id, client_id, sub });
  };
  return server;
}

/** Holds back the next answer; it is what is true when the question comes. */
function hold(server: BrokenAuthorizationServer): { asked: Promise<void>; release: () => void } {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { reply } = server;
  server.reply = async (question, response) => {
    server.reply = reply;
    const answer = reply(question, response);
    asked.resolve();
    await released.promise;
    return answer;
  };
  return { asked: asked.promise, release: released.resolve };
}

/** Waits until every event that was sent has arrived: a last one does something that can be seen. */
async function untilHeard(server: BrokenAuthorizationServer, verifier: Verifier) {
  await untilKept(server, verifier, 'mark-m-m');
  server.revoke({ grant_id: 'mark' });
  await until(async () => (await asks(server, () => statusOf(verifier, 'mark-m-m'))) === 1);
}

describe('while the stream is live', { concurrency: true }, () => {
  test('an answer is kept, for its own token alone', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    await untilKept(server, verifier, 'g1-a1-u1', 'g2-a2-u2');
    const count = await asks(server, async () => {
      for (const [token, sub] of [
        ['g1-a1-u1', 'u1'],
        ['g2-a2-u2', 'u2'],
        ['g1-a1-u1', 'u1'],
      ] as const) {
        const result = await verifier.check(`Bearer ${token}`);
        assert.equal(result.ok && result.principal.sub, sub);
      }
      assert.equal(await statusOf(verifier, 'g1-a1-u1', ['mail.read']), 200);
      assert.equal(await statusOf(verifier, 'g1-a1-u1', ['other']), 403);
    });
    assert.equal(count, 0);
    assert.equal(await asks(server, () => statusOf(verifier, 'g1-a1-u')), 1);
    assert.deepEqual(verifier.problems, []);
  });

  test('a token that does not work is asked for each time', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    await untilKept(server, verifier, 'g1-a1-u1');
    server.reply = () => ({ active: false });
    assert.equal(await asks(server, () => statusOf(verifier, 'x')), 1);
    server.reply = () => 'garbage';
    assert.equal(await asks(server, () => statusOf(verifier, 'x')), 1);
    server.reply = () => active();
    assert.equal(await statusOf(verifier, 'x'), 200);
  });

  test('RFC 7662 §4: an answer is kept until its token expires, and no longer', async (t) => {
    const server = await startBroken(t);
    const exp = Math.floor(Date.now() / 1000) + 600;
    server.reply = () => active({ exp });
    let now = Date.now();
    const verifier = verifierOf(t, server, { now: () => now });
    await untilKept(server, verifier, 'token');
    now = exp * 1000 - 1;
    assert.equal(await asks(server, () => statusOf(verifier)), 0);
    now = exp * 1000;
    server.reply = () => ({ active: false });
    assert.equal(await statusOf(verifier), 401);
    now = exp * 1000 - 1;
    assert.equal(await statusOf(verifier), 401, 'a clock that is set back brings nothing back');
  });

  test('an answer is not kept longer than its token lasts where the clock of the machine is set back', async (t) => {
    const server = await startBroken(t);
    const start = Math.floor(Date.now() / 1000) * 1000;
    server.reply = () => active({ exp: start / 1000 + 2 });
    const verifier = verifierOf(t, server, { now: () => start });
    await untilKept(server, verifier, 'token');
    server.reply = () => ({ active: false });
    // By this clock no time goes by.
    while ((await statusOf(verifier)) === 200) await sleep(50);
  });

  const tokens = ['g1-a1-u1', 'g2-a1-u2', 'g3-a2-u1', 'g4-a2-u2'];
  const revocations: [object | string, string[]][] = [
    [{ grant_id: 'g1' }, ['g1-a1-u1']],
    [{ client_id: 'a1' }, ['g1-a1-u1', 'g2-a1-u2']],
    [{ sub: 'u1' }, ['g1-a1-u1', 'g3-a2-u1']],
    [{ sub: 'u1', client_id: 'a2' }, ['g3-a2-u1']],
    [{ grant_id: 'g1', sub: 'u2' }, []],
    [{ sub: 'nobody' }, []],
    [{}, tokens],
    [{ sub: '' }, tokens],
    [{ sub: ['u1'] }, tokens],
    [{ sub: 'u1', reason: 'x' }, tokens],
    [{ username: 'ada' }, tokens],
    ...['{"sub":"u1"', 'null', '[]', '1', '"u1"', ''].map((data): [string, string[]] => [
      `event: revoked\ndata: ${data}\n\n`,
      tokens,
    ]),
    ['event: revoked\n\n', tokens],
    ['event: ended\ndata: {"sub":"u1"}\n\n', tokens],
    ['data: {"sub":"u1"}\n\n', tokens],
    ['event: ready\ndata: {}\n\n', tokens],
    ['event: revoked\r\ndata: {"client_id":\r\ndata: "a2"}\r\n\r\n', ['g3-a2-u1', 'g4-a2-u2']],
  ];
  test('RFC 7662 §4: a revocation removes what it matches at once, and everything if it is not understood', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    for (const [revocation, removed] of revocations) {
      await untilKept(server, verifier, ...tokens);
      const asked = server.questions.length;
      server.send(
        typeof revocation === 'string' ? revocation : `event: revoked\ndata: ${JSON.stringify(revocation)}\n\n`,
      );
      await untilHeard(server, verifier);
      for (const token of tokens) await statusOf(verifier, token);
      const again = server.questions.slice(asked).map(({ form }) => form.get('token'));
      assert.deepEqual(again.filter((token) => token !== 'mark-m-m').sort(), removed, JSON.stringify(revocation));
    }
  });
});

describe('when something is revoked while an answer is under way', { concurrency: true }, () => {
  test('the answer is not kept', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    await untilKept(server, verifier, 'g0-a0-u0');
    for (const revocation of [{ grant_id: 'g1' }, { grant_id: 'another' }]) {
      const { asked, release } = hold(server);
      const check = statusOf(verifier, 'g1-a1-u1');
      await asked;
      server.revoke(revocation);
      await untilHeard(server, verifier);
      release();
      assert.equal(await check, 200, 'it began before the revocation');
      assert.equal(await asks(server, () => statusOf(verifier, 'g1-a1-u1')), 1);
      server.revoke({ grant_id: 'g1' });
      await untilHeard(server, verifier);
    }
  });

  test('a check that begins then does not share the answer', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    await untilKept(server, verifier, 'g0-a0-u0');
    const { asked, release } = hold(server);
    const before = statusOf(verifier, 'g1-a1-u1');
    await asked;
    const { reply } = server;
    server.reply = (question, response) =>
      question.form.get('token') === 'g1-a1-u1' ? { active: false } : reply(question, response);
    server.revoke({ grant_id: 'g1' });
    await untilHeard(server, verifier);
    assert.equal(await statusOf(verifier, 'g1-a1-u1'), 401);
    release();
    assert.equal(await before, 200);
    assert.equal(await statusOf(verifier, 'g1-a1-u1'), 401);
  });

  test('and the stream breaks meanwhile, the answer is not kept either', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    await untilKept(server, verifier, 'g0-a0-u0');
    const { asked, release } = hold(server);
    const check = statusOf(verifier, 'g1-a1-u1');
    await asked;
    for (const stream of server.streams) stream.destroy();
    await until(() => server.connections === 2);
    await untilKept(server, verifier, 'g0-a0-u0');
    release();
    assert.equal(await check, 200);
    assert.equal(await asks(server, () => statusOf(verifier, 'g1-a1-u1')), 1);
  });

  test('and the stream was not ready yet, the answer is not kept either', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    const { asked, release } = hold(server);
    const check = statusOf(verifier, 'g1-a1-u1');
    await asked;
    await untilKept(server, verifier, 'g0-a0-u0');
    release();
    assert.equal(await check, 200);
    assert.equal(await asks(server, () => statusOf(verifier, 'g1-a1-u1')), 1);
  });

  test('and no stream tells, checks share the answer for less than a second', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server, { cache: false });
    const { asked, release } = hold(server);
    const before = statusOf(verifier, 'g1-a1-u1');
    await asked;
    server.reply = () => ({ active: false });
    await sleep(1000);
    assert.equal(await statusOf(verifier, 'g1-a1-u1'), 401);
    release();
    assert.equal(await before, 200);
  });
});

describe('when the stream is lost', { concurrency: true }, () => {
  test('nothing that was kept is used, and once it is back answers are kept anew', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    await untilKept(server, verifier, 'g1-a1-u1', 'g2-a2-u2');
    const { reply, greet } = server;
    server.greet = (stream) => void stream.writeHead(503).end();
    for (const stream of server.streams) stream.destroy();
    await until(async () => (await asks(server, () => statusOf(verifier, 'g1-a1-u1'))) === 1);
    assert.equal(await asks(server, () => statusOf(verifier, 'g1-a1-u1')), 1);
    server.reply = (question, response) =>
      question.form.get('token') === 'g2-a2-u2' ? { active: false } : reply(question, response);
    server.greet = greet;
    await untilKept(server, verifier, 'g1-a1-u1');
    assert.equal(await statusOf(verifier, 'g2-a2-u2'), 401, 'it was revoked while nobody listened');
  });

  test('silence is a loss: within a second of the last sign nothing that was kept is used', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    await untilKept(server, verifier, 'g1-a1-u1');
    server.beats = false;
    const silentSince = performance.now();
    let usedAt = silentSince;
    for (let asked = 0; asked === 0; await sleep(10)) {
      const begun = performance.now();
      asked = await asks(server, () => statusOf(verifier, 'g1-a1-u1'));
      if (asked === 0) usedAt = begun;
    }
    assert.ok(usedAt - silentSince < 1000, `used ${usedAt - silentSince} ms after the last sign`);
    await until(() => server.connections > 1);
    server.beats = true;
    await untilKept(server, verifier, 'g1-a1-u1');
  });

  const streams: [string, (stream: ServerResponse) => void][] = [
    ['never says that it is ready', (stream) => void stream.writeHead(200, EVENTS).write(': hello\n\n')],
    ['answers 404', (stream) => void stream.writeHead(404, EVENTS).write('event: ready\ndata: {}\n\n')],
    ['is another type', (stream) => void stream.writeHead(200).write('event: ready\ndata: {}\n\n')],
    ['sends elsewhere', (stream) => void stream.writeHead(307, { Location: '/oauth2/revocations?' }).end()],
    ['ends at once', (stream) => void stream.writeHead(200, EVENTS).end('event: ready\ndata: {}\n\n')],
    ['resets', (stream) => void stream.destroy()],
    ['says nothing', () => undefined],
    [
      'has a line without an end',
      (stream) => void stream.writeHead(200, EVENTS).write(`event: ready\ndata: {}\n\n:${'x'.repeat(20_000)}`),
    ],
    ['is no text', (stream) => void stream.writeHead(200, EVENTS).write(randomBytes(100_000))],
  ];
  for (const [what, greet] of streams)
    test(`a stream that ${what} is none`, async (t) => {
      const server = await startWithTokens(t);
      server.greet = greet;
      const verifier = verifierOf(t, server, { timeout: 3000 });
      const since = performance.now();
      let checks = 0;
      const count = await asks(server, async () => {
        for (; checks < 10 || server.connections < 2; checks += 1, await sleep(100))
          assert.equal(await statusOf(verifier, 'g1-a1-u1'), 200);
      });
      assert.equal(count, checks);
      const seconds = Math.max(1, (performance.now() - since) / 1000);
      assert.ok(server.connections < 6 * seconds, `${server.connections} connections in ${seconds} s`);
      assert.equal(verifier.problems.length, 1, verifier.problems.join());
      assert.match(verifier.problems[0] ?? '', /no revocation stream \([\w ]+\): each check asks until it is back/);
    });

  test('it is asked for again and again, and less and less often', async (t) => {
    const server = await startWithTokens(t);
    server.greet = (stream) => void stream.destroy();
    const verifier = verifierOf(t, server);
    await statusOf(verifier, 'g1-a1-u1');
    await sleep(4000);
    await until(() => server.connections > 2);
    assert.ok(server.connections < 12, `${server.connections} connections in four seconds`);
  });

  test('a server that was away is found again', async (t) => {
    const server = await startWithTokens(t);
    const verifier = verifierOf(t, server);
    await untilKept(server, verifier, 'g1-a1-u1');
    const { port } = server;
    await server.stop();
    await until(async () => (await statusOf(verifier, 'g1-a1-u1')) === 503);
    await server.start(port);
    await untilKept(server, verifier, 'g1-a1-u1');
  });
});

test('an event that comes byte by byte is heard', async (t) => {
  const server = await startWithTokens(t);
  const verifier = verifierOf(t, server);
  await untilKept(server, verifier, 'g1-a1-u1', 'g2-a2-u2');
  server.beats = false;
  for (const byte of 'event: revoked\r\ndata: {"grant_id":"g1"}\r\n\r\n') {
    server.send(byte);
    await sleep(2);
  }
  server.beats = true;
  await until(async () => (await asks(server, () => statusOf(verifier, 'g1-a1-u1'))) === 1);
  assert.equal(await asks(server, () => statusOf(verifier, 'g2-a2-u2')), 0);
});

test('a process that stood still, or slept, does not use what it kept before', async (t) => {
  const server = await startWithTokens(t);
  const { reply } = server;
  server.reply = async (question, response) => ({ ...((await reply(question, response)) as object), exp: 99999999999 });
  const verifier = verifierOf(t, server);
  await untilKept(server, verifier, 'g1-a1-u1');
  let wallClock = Date.now();
  const clock = t.mock.method(Date, 'now', () => wallClock);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  assert.equal(await asks(server, () => statusOf(verifier, 'g1-a1-u1')), 1, 'the wall clock stood still as well');
  for (const untilFirstSign of [0, 250]) {
    await untilKept(server, verifier, 'g1-a1-u1');
    wallClock += 3_600_000;
    await sleep(untilFirstSign);
    assert.equal(await asks(server, () => statusOf(verifier, 'g1-a1-u1')), 1, 'only the wall clock went on');
  }
  clock.mock.restore();
});

test('nothing is sent before the first token is checked, and without a cache there is no stream', async (t) => {
  const server = await startWithTokens(t);
  const [lazy, uncached] = [verifierOf(t, server), verifierOf(t, server, { cache: false })];
  for (const verifier of [lazy, uncached]) await verifier.check(undefined);
  const count = await asks(server, async () => {
    for (let check = 0; check < 3; check += 1, await sleep(50)) await statusOf(uncached, 'g1-a1-u1');
  });
  assert.equal(count, 3);
  assert.equal(server.connections, 0);
  await untilKept(server, lazy, 'g1-a1-u1');
  assert.equal(server.connections, 1);
});

test('a verifier that was closed has no stream, keeps nothing, and still checks', async (t) => {
  const server = await startWithTokens(t);
  const verifier = verifierOf(t, server);
  await untilKept(server, verifier, 'g1-a1-u1');
  verifier.close();
  await until(() => server.streams.size === 0);
  for (let check = 0; check < 3; check += 1, await sleep(250))
    assert.equal(await asks(server, () => statusOf(verifier, 'g1-a1-u1')), 1);
  assert.equal(server.connections, 1);
});

test('at most 10,000 answers are kept, and the oldest goes first', async (t) => {
  const server = await startBroken(t);
  let asked = 0;
  const fetch = async () => {
    asked += 1;
    return Response.json(active());
  };
  const verifier = verifierOf(t, server, { fetch });
  await until(async () => {
    const before = asked;
    await statusOf(verifier, 'first');
    return asked === before;
  });
  for (let token = 0; token < 9_999; token += 1) {
    await statusOf(verifier, `t${token}`);
    if (token % 10 === 0) await sleep(1); // Else no sign of the server would be heard, on a busy machine for a second.
  }
  const filled = asked;
  await statusOf(verifier, 'first');
  assert.equal(asked, filled, 'there is room for 10,000');
  await statusOf(verifier, 'more');
  for (const token of ['t9998', 't5000', 't0']) await statusOf(verifier, token);
  assert.equal(asked, filled + 1);
  await statusOf(verifier, 'first');
  assert.equal(asked, filled + 2, 'the oldest is gone');
});

const fates: [string, ((stream: ServerResponse) => void) | undefined][] = [
  ['live', undefined],
  ['not answered', () => undefined],
  ['refused', (stream) => void stream.writeHead(503).end()],
];
for (const [what, greet] of fates)
  test(`a stream that is ${what} does not keep a process alive`, async (t) => {
    const server = await startWithTokens(t);
    if (greet) server.greet = greet;
    const module = new URL('../../packages/verify/src/verifier.ts', import.meta.url).href;
    const program = `
      import { createVerifier } from '${module}';
      const verifier = createVerifier({ issuer: '${server.issuer}', id: 'rs_1', secret: 's' });
      await verifier.check('Bearer g1-a1-u1');
      await new Promise((resolve) => setTimeout(resolve, 300));
      console.log((await verifier.check('Bearer g1-a1-u1')).ok, (await verifier.check('Bearer g1-a1-u1')).ok);`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { timeout: 60_000 });
    assert.equal((await run).stdout, 'true true\n');
  });
