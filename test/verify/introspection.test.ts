import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, beforeEach, test } from 'node:test';
import { ACTIVE, active, asks, startBroken, statusOf, verifierOf } from './broken-authorization-server.ts';

const server = await startBroken({ after });
const noCache = { cache: false };
beforeEach(() => {
  server.reply = () => active();
});

test('RFC 7662 §2.1: a token is asked for by a form in the body, with Basic credentials that are form-encoded', async (t) => {
  const [id, secret] = ['rs 1:ü', 'a+b%&=:ö~*'];
  const verifier = verifierOf(t, server, { ...noCache, id, secret });
  assert.equal(await statusOf(verifier, 'a+b/c~=='), 200);
  const { headers, form } = server.questions.at(-1) as (typeof server.questions)[0];
  assert.deepEqual(
    [...form],
    [
      ['token', 'a+b/c~=='],
      ['token_type_hint', 'access_token'],
    ],
  );
  assert.match(headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/);
  const [scheme, encoded = ''] = (headers.authorization ?? '').split(' ');
  const decoded = Buffer.from(encoded, 'base64').toString().split(':');
  assert.equal(scheme, 'Basic');
  assert.deepEqual(
    decoded.map((part) => decodeURIComponent(part.replaceAll('+', ' '))),
    [id, secret],
  );
});

test('RFC 7662 §2.2: an answer that is whole becomes the principal', async (t) => {
  const exp = Math.floor(Date.now() / 1000) + 60;
  server.reply = () => active({ exp, iss: server.issuer, aud: 'https://other.example' });
  const result = await verifierOf(t, server, noCache).check('Bearer token');
  assert.deepEqual(result, {
    ok: true,
    principal: {
      sub: 'usr_1',
      username: 'ada',
      externalId: null,
      clientId: 'app_1',
      scopes: ['mail.read', 'mail.send'],
      expiresAt: new Date(exp * 1000),
      grantId: 'grant-1',
    },
  });
  server.reply = () => active({ exp, external_id: 'u-17' });
  const external = await verifierOf(t, server, noCache).check('Bearer token');
  assert.equal(external.ok && external.principal.externalId, 'u-17');
  const { username: _username, scope: _scope, ...least } = ACTIVE;
  server.reply = () => ({ ...least, exp });
  const bare = await verifierOf(t, server, noCache).check('Bearer token');
  assert.deepEqual(bare.ok && [bare.principal.username, bare.principal.scopes], [null, []]);
});

test('RFC 7662 §2.2: whatever else an answer is, the request is not let pass', async (t) => {
  const odd: unknown[] = [
    '',
    'garbage',
    'null',
    '[]',
    '"active"',
    'true',
    '{}',
    '{"active":true}',
    '[{"active":true}]',
    `${JSON.stringify(active())}}`,
    ...[undefined, null, 0, 1, 'true', 'false', [], [true], {}].map((value) => active({ active: value })),
    ...[undefined, null, '', 1, [], {}].flatMap((value) => [
      active({ sub: value }),
      active({ client_id: value }),
      active({ grant_id: value }),
    ]),
    ...[null, 1, ['mail.read'], {}].map((scope) => active({ scope })),
    ...[1, [], {}].map((username) => active({ username })),
    ...['', 1, [], {}].map((external_id) => active({ external_id })),
    ...[undefined, null, '9999999999', [9999999999], 1e300, -1, 0, Date.now() / 1000 - 1].map((exp) => active({ exp })),
    '{"active":true,"exp":1e999}',
    ...['', null, 'https://evil.example', `${server.issuer}/`, [server.issuer]].map((iss) => active({ iss })),
    ...['DPoP', 'bearer ', 'N_A', null].map((token_type) => active({ token_type })),
    active({ cnf: { jkt: 'x' } }),
    ...[null, 1, '', ['https://api.example', 1]].map((aud) => active({ aud })),
  ];
  const verifier = verifierOf(t, server, { ...noCache, resource: 'https://api.example' });
  for (const answer of odd) {
    server.reply = () => answer;
    const result = await verifier.check('Bearer token');
    assert.ok(!result.ok && result.status === 503, JSON.stringify(answer));
    assert.equal(result.headers['WWW-Authenticate'], undefined);
    assert.equal(result.headers['Retry-After'], '1');
    assert.deepEqual(Object.keys(result.body), ['error', 'error_description']);
  }
});

test('RFC 8707 §3: a token for another API, or for no certain API, is invalid here', async (t) => {
  const resource = 'https://api.example/mail';
  const verifier = verifierOf(t, server, { ...noCache, resource });
  const audiences: [unknown, number][] = [
    [undefined, 401],
    [resource, 200],
    [['https://other.example', resource], 200],
    ['https://other.example', 401],
    [`${resource}/`, 401],
    [[], 401],
  ];
  for (const [aud, status] of audiences) {
    server.reply = () => active({ aud });
    assert.equal(await statusOf(verifier), status, JSON.stringify(aud));
  }
});

test('RFC 9700 §2.3, RFC 8707 §3: acceptUnbound lets a token for no certain API pass, and none for another API', async (t) => {
  const resource = 'https://api.example/mail';
  const unbound: [options: object, isAccepted: boolean][] = [
    [{ resource, acceptUnbound: true }, true],
    [{ resource, acceptUnbound: false }, false],
    [{ resource }, false],
    [{}, true],
  ];
  for (const [options, isAccepted] of unbound) {
    const verifier = verifierOf(t, server, { ...noCache, ...options });
    server.reply = () => active();
    assert.equal(await statusOf(verifier), isAccepted ? 200 : 401, JSON.stringify(options));
    server.reply = () => active({ aud: resource });
    assert.equal(await statusOf(verifier), 200, JSON.stringify(options));
  }
  const open = verifierOf(t, server, { ...noCache, resource, acceptUnbound: true });
  server.reply = () => active({ aud: 'https://other.example' });
  assert.equal(await statusOf(open), 401);
});

test('a server that fails, is slow, sends elsewhere or is not there lets nobody pass', async (t) => {
  const elsewhere = await startBroken(t);
  const verifier = verifierOf(t, server, { ...noCache, timeout: 300 });
  const failures: (typeof server.reply)[] = [
    (_question, response) => void response.writeHead(500).end(JSON.stringify(active())),
    (_question, response) => void response.writeHead(201).end(JSON.stringify(active())),
    (_question, response) => void response.writeHead(307, { Location: `${elsewhere.issuer}/oauth2/introspect` }).end(),
    (_question, response) => void response.destroy(),
    (_question, response) => void response.writeHead(200, { 'Content-Length': 1000 }).write('{"active":true'),
    () => undefined,
  ];
  for (const reply of failures) {
    server.reply = reply;
    assert.equal(await statusOf(verifier), 503, reply.toString());
  }
  assert.equal(elsewhere.questions.length, 0, 'the credentials and the token stay with the issuer');
  const gone = http.createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const { port } = gone.address() as { port: number };
  gone.close();
  assert.equal(await statusOf(verifierOf(t, { issuer: `http://127.0.0.1:${port}` }, noCache)), 503);
});

test('RFC 9110 §10.2.3: the server says when to try again, and only a number of seconds is passed on', async (t) => {
  const verifier = verifierOf(t, server, noCache);
  const values: [string, string][] = [
    ['7', '7'],
    ['0', '0'],
    ['99999', '1'],
    ['1 2', '1'],
    ['Fri, 31 Dec 2027 23:59:59 GMT', '1'],
    ['7", x="', '1'],
  ];
  for (const status of [429, 503])
    for (const [sent, passedOn] of values) {
      server.reply = (_question, response) => void response.writeHead(status, { 'Retry-After': sent }).end('{}');
      const result = await verifier.check('Bearer token');
      assert.ok(!result.ok && result.status === 503);
      assert.equal(result.headers['Retry-After'], passedOn, sent);
    }
});

test('credentials that the server does not know are told to the operator once, and hold no secret', async (t) => {
  server.reply = (_question, response) =>
    void response.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end('{"error":"invalid_client"}');
  const greet = server.greet;
  t.after(() => {
    server.greet = greet;
  });
  server.greet = (stream) => void stream.writeHead(401).end();
  const verifier = verifierOf(t, server);
  for (const token of ['canary-1', 'canary-2', 'canary-3']) assert.equal(await statusOf(verifier, token), 503);
  assert.equal(verifier.problems.length, 1);
  assert.match(verifier.problems[0] ?? '', /id or the secret of this resource server is wrong/);
  assert.doesNotMatch(verifier.problems.join(), /canary/);
});

test('RFC 9700 §4.9.3: no problem that is told holds a token or the secret; without a callback it is a warning of the process', async (t) => {
  const verifier = verifierOf(t, server, { ...noCache, onProblem: undefined, timeout: 300 });
  const warnings: Error[] = [];
  const keep = (warning: Error) => void warnings.push(warning);
  process.on('warning', keep);
  t.after(() => process.off('warning', keep));
  const replies: (typeof server.reply)[] = [
    ({ form }) => form.get('token'),
    ({ form }) => active({ iss: form.get('token') }),
    (_question, response) => void response.writeHead(500).end('canary-token'),
    (_question, response) => void response.destroy(),
  ];
  for (const reply of replies) {
    server.reply = reply;
    for (const _twice of [1, 2]) assert.equal(await statusOf(verifier, 'canary-token'), 503);
  }
  await new Promise(setImmediate);
  assert.equal(warnings.length, replies.length);
  for (const { name, message } of warnings) {
    assert.equal(name, 'ValetkeyWarning');
    assert.doesNotMatch(message, /canary/);
  }
});

test('checks of one token at one time share one request, and those of two tokens do not', async (t) => {
  const verifier = verifierOf(t, server, noCache);
  server.reply = ({ form }) =>
    new Promise((resolve) => setTimeout(() => resolve(active({ sub: form.get('token') })), 100));
  const tokens = ['a', 'b', 'a', 'b', 'a'];
  const count = await asks(server, async () => {
    const results = await Promise.all(tokens.map((token) => verifier.check(`Bearer ${token}`)));
    assert.deepEqual(
      results.map((result) => result.ok && result.principal.sub),
      tokens,
    );
  });
  assert.equal(count, 2);
});

test('a shared answer is judged by each check for itself', async (t) => {
  const verifier = verifierOf(t, server, noCache);
  const statuses = [
    statusOf(verifier, 'token', ['mail.read']),
    statusOf(verifier, 'token', ['other']),
    statusOf(verifier),
  ];
  assert.deepEqual(await Promise.all(statuses), [200, 403, 200]);
});
