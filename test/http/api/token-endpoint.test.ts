import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import {
  asJson,
  assertRefused,
  auditActions,
  exchange,
  type JsonAnswer,
  me,
  obtainCode,
  obtainPair,
  pairOf,
  postBody,
  postForm,
  refresh,
  signedInBrowser,
} from '../../support/flow.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../../support/service.ts';

const service = await startTestService({ after });
await addUser(service);
const client = await addClient(service);
const other = await addClient(service);
const ada = await signedInBrowser(service);
const url = `${service.appUrl}/api/auth/oauth/token`;
const newCode = (parameters?: Record<string, string>) => obtainCode(service, ada, client, parameters);

function fieldsOf(code: string): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    code,
    client_id: client.clientId,
    client_secret: client.clientSecret,
    redirect_uri: REDIRECT_URI,
  };
}

function basic(id: string, secret: string): Record<string, string> {
  const encoded = [id, secret].map((part) => encodeURIComponent(part)).join(':');
  return { Authorization: `Basic ${Buffer.from(encoded).toString('base64')}` };
}

async function assertPair(answer: JsonAnswer, message?: string): Promise<void> {
  const { accessToken } = pairOf(answer);
  assert.deepEqual(Object.keys(answer.body), ['access_token', 'refresh_token'], message);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('pragma'), 'no-cache');
  assert.equal(answer.headers.get('set-cookie'), null);
  assert.equal((await me(service, accessToken)).status, 200, message);
}

describe('RFC 6749 §4.1.3, OAuth 2.1 §4.1.3: an exchange that works', { concurrency: true }, () => {
  const requests: Record<string, (code: string) => Promise<JsonAnswer>> = {
    'as a form': (code) => exchange(service, client, code),
    'as JSON': (code) => postBody(url, fieldsOf(code)),
    'as JSON with a charset': (code) =>
      postBody(url, fieldsOf(code), { 'Content-Type': 'Application/JSON; charset="UTF-8"' }),
    'as JSON with a byte order mark': (code) => postBody(url, `\ufeff${JSON.stringify(fieldsOf(code))}`),
    'as JSON with escaped names': (code) =>
      postBody(url, JSON.stringify(fieldsOf(code)).replace('code"', 'co\\u0064e"')),
    'with unknown parameters': (code) => exchange(service, client, code, { extra: 'x', scope: 'ignored' }),
    'with unknown JSON of every kind': (code) =>
      postBody(
        url,
        `{"a":[{"code":1},{"code":"}"}],"b":{"code":"\\"code\\":"},"c":null,${JSON.stringify(fieldsOf(code)).slice(1)}`,
      ),
    'with Basic': (code) =>
      postForm(
        url,
        { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI },
        basic(client.clientId, client.clientSecret),
      ),
    'with Basic and the same client_id': (code) =>
      postForm(
        url,
        { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, client_id: client.clientId },
        basic(client.clientId, client.clientSecret),
      ),
  };
  for (const [name, request] of Object.entries(requests))
    test(`RFC 6749 §5, §5.1: ${name} it answers exactly the pair`, async () =>
      assertPair(await request(await newCode())));
});

describe('RFC 6749 §5.2: a refused exchange burns nothing', { concurrency: true }, () => {
  type Sent = Record<string, string | undefined>;
  const refused: [name: string, status: number, error: string, fields: Sent, headers?: Record<string, string>][] = [
    ...['code', 'redirect_uri', 'grant_type'].flatMap((field): [string, number, string, Sent][] => [
      [`without ${field}`, 400, 'invalid_request', { [field]: undefined }],
      [`with an empty ${field}`, 400, 'invalid_request', { [field]: '' }],
    ]),
    ...['client_id', 'client_secret'].flatMap((field): [string, number, string, Sent][] => [
      [`without ${field}`, 401, 'invalid_client', { [field]: undefined }],
      [`with an empty ${field}`, 401, 'invalid_client', { [field]: '' }],
    ]),
    ['with an unknown client', 401, 'invalid_client', { client_id: 'app_nobody' }],
    ['with a wrong secret', 401, 'invalid_client', { client_secret: 'wrong' }],
    ['with a space after the secret', 401, 'invalid_client', { client_secret: `${client.clientSecret} ` }],
    ['with the secret in capitals', 401, 'invalid_client', { client_secret: client.clientSecret.toUpperCase() }],
    ['with the secret of another client', 401, 'invalid_client', { client_secret: other.clientSecret }],
    ['by another client', 400, 'invalid_grant', { client_id: other.clientId, client_secret: other.clientSecret }],
    ['with another redirect URI', 400, 'invalid_grant', { redirect_uri: 'https://client.example/other' }],
    ['with a slash after the redirect URI', 400, 'invalid_grant', { redirect_uri: `${REDIRECT_URI}/` }],
    ['with a percent-encoded redirect URI', 400, 'invalid_grant', { redirect_uri: encodeURIComponent(REDIRECT_URI) }],
    ...['password', 'client_credentials', 'implicit', 'refresh_token', 'Authorization_Code', ' authorization_code'].map(
      (type): [string, number, string, Sent] => [
        `with grant_type "${type}"`,
        400,
        'unsupported_grant_type',
        { grant_type: type },
      ],
    ),
    ['with a verifier but no challenge', 400, 'invalid_request', { code_verifier: 'v'.repeat(43) }],
    [
      'with Basic and a secret in the body',
      400,
      'invalid_request',
      { client_id: undefined },
      basic(client.clientId, client.clientSecret),
    ],
    ['with Bearer', 400, 'invalid_request', {}, { Authorization: 'Bearer x' }],
    [
      'with Basic of another client',
      400,
      'invalid_request',
      { client_secret: undefined },
      basic(other.clientId, other.clientSecret),
    ],
    [
      'with a wrong Basic secret',
      401,
      'invalid_client',
      { client_id: undefined, client_secret: undefined },
      basic(client.clientId, 'x'),
    ],
    ...['Basic', 'Basic !!!', `Basic ${btoa('nocolon')}`, `Basic ${btoa('%zz:x')}`, `Basic ${btoa(':')}`].map(
      (header): [string, number, string, Sent, Record<string, string>] => [
        `with ${header}`,
        401,
        'invalid_client',
        { client_id: undefined, client_secret: undefined },
        { Authorization: header },
      ],
    ),
  ];
  for (const [name, status, error, fields, headers] of refused)
    test(`RFC 6749 §5.2: ${name} it is ${error}, and the code still works`, async () => {
      const app = await addClient(service);
      const code = await obtainCode(service, ada, app);
      const own = { ...fieldsOf(code), client_id: app.clientId, client_secret: app.clientSecret, ...fields };
      assertRefused(await postForm(url, own, headers), status, error);
      pairOf(await exchange(service, app, code));
    });

  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  const bodies: [name: string, body: (code: string) => string | Uint8Array, type?: string][] = [
    ['a code twice in a form', (code) => `${new URLSearchParams(fieldsOf(code))}&code=${code}`, 'form'],
    ['another code as well', (code) => `${new URLSearchParams(fieldsOf(code))}&code=x`, 'form'],
    ['an unknown field twice', (code) => `${new URLSearchParams(fieldsOf(code))}&x=1&x=2`, 'form'],
    [
      'garbage behind a percent sign',
      (code) => `${new URLSearchParams(fieldsOf(code))}`.replace('code=', 'code=%zz'),
      'form',
    ],
    ['bytes that are not UTF-8 in a form', (code) => latin1(`${new URLSearchParams(fieldsOf(code))}&x=\xff`), 'form'],
    ['bytes that are not UTF-8 in JSON', (code) => latin1(`{"x":"\xff",${JSON.stringify(fieldsOf(code)).slice(1)}`)],
    ['a name twice in JSON', (code) => `{"code":"x",${JSON.stringify(fieldsOf(code)).slice(1)}`],
    ['a name twice, once escaped', (code) => `{"co\\u0064e":"${code}",${JSON.stringify(fieldsOf(code)).slice(1)}`],
    [
      'a name twice, across nested objects',
      (code) => `{"code":{"code":"x"},${JSON.stringify(fieldsOf(code)).slice(1)}`,
    ],
    ...[1, true, null, [], {}, ['x'], { code: 'x' }].map((value): [string, (code: string) => string] => [
      `${JSON.stringify(value)} as code`,
      (code) => JSON.stringify({ ...fieldsOf(code), code: value }),
    ]),
    ['an array as grant_type', (code) => JSON.stringify({ ...fieldsOf(code), grant_type: ['authorization_code'] })],
    ['JSON that breaks off', (code) => JSON.stringify(fieldsOf(code)).slice(0, -1)],
    ...['', '[]', 'null', '"code"', '1', '{}', '{', 'code=x', '{"__proto__":{"code":"x"}}', '[['.repeat(9999)].map(
      (body): [string, () => string] => [`JSON that is ${body.slice(0, 30) || 'empty'}`, () => body],
    ),
    ['an empty form', () => '', 'form'],
  ];
  for (const [name, body, type] of bodies)
    test(`RFC 6749 §3.2: ${name} is invalid_request, nothing is quoted, and the code still works`, async () => {
      const code = await newCode();
      const contentType = type === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
      const answer = await postBody(url, body(code), { 'Content-Type': contentType });
      assertRefused(answer, 400, 'invalid_request');
      assert.ok(!JSON.stringify(answer.body).includes(code.slice(0, 12)));
      pairOf(await exchange(service, client, code));
    });

  test('RFC 6749 §2.3.1: credentials and code in the query are not read', async () => {
    const code = await newCode();
    const query = new URLSearchParams(fieldsOf(code));
    assertRefused(await postForm(`${url}?${query}`, {}), 400, 'invalid_request');
    const { client_id: _, client_secret: __, ...rest } = fieldsOf(code);
    assertRefused(await postForm(`${url}?${query}`, rest), 401, 'invalid_client');
    pairOf(await exchange(service, client, code));
  });
});

describe('RFC 7636 §4.6, RFC 9700 §2.1.1: the code verifier', { concurrency: true }, () => {
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const challenge = { code_challenge: hash('sha256', verifier, 'base64url'), code_challenge_method: 'S256' };
  const wrong: [name: string, error: string, verifier: string | undefined][] = [
    ['none', 'invalid_grant', undefined],
    ['an empty one', 'invalid_grant', ''],
    ['another one', 'invalid_grant', 'v'.repeat(43)],
    ['the challenge itself', 'invalid_grant', challenge.code_challenge],
    ['one of 42 characters', 'invalid_request', 'v'.repeat(42)],
    ['one of 129 characters', 'invalid_request', 'v'.repeat(129)],
    ['one with other characters', 'invalid_request', `${verifier.slice(1)}+`],
  ];
  for (const [name, error, sent] of wrong)
    test(`RFC 7636 §4.6: ${name} is ${error}, and the right one still works`, async () => {
      const code = await newCode(challenge);
      assertRefused(await exchange(service, client, code, { code_verifier: sent }), 400, error);
      await assertPair(await exchange(service, client, code, { code_verifier: verifier }));
    });
});

test('RFC 6749 §4.1.2, RFC 9700 §4.2.4, OAuth 2.1 §4.1.3: a code used again is refused, and everything issued from it ends', async (t) => {
  for (const wait of [0, 1, 30, 59, 61, 3600]) {
    const own = await startTestService(t);
    await addUser(own);
    const app = await addClient(own);
    const code = await obtainCode(own, await signedInBrowser(own), app);
    const first = pairOf(await exchange(own, app, code));
    const second = pairOf(await refresh(own, app, first.refreshToken));
    own.clock.advance(wait);
    assertRefused(await exchange(own, app, code), 400, 'invalid_grant', `after ${wait} s`);
    for (const { accessToken, refreshToken } of [first, second]) {
      assert.equal((await me(own, accessToken)).status, 401);
      assertRefused(await refresh(own, app, refreshToken), 400, 'invalid_grant');
    }
    assert.equal((await auditActions(own)).at(-1), 'code_replay');
  }
});

test('RFC 9700 §2.1.1: whoever has only a used code cannot end anything with it', async () => {
  const code = await newCode();
  const { accessToken } = pairOf(await exchange(service, client, code));
  const strangers: Record<string, string | undefined>[] = [
    { client_secret: 'wrong' },
    { client_id: other.clientId, client_secret: other.clientSecret },
    { redirect_uri: 'https://client.example/other' },
    { code_verifier: 'v'.repeat(43) },
    { code: `${code.slice(0, -1)}${code.endsWith('A') ? 'B' : 'A'}` },
  ];
  for (const fields of strangers) assert.notEqual((await exchange(service, client, code, fields)).status, 200);
  assert.equal((await me(service, accessToken)).status, 200);
});

test('RFC 6749 §4.1.2, §10.5: a code works for 60 seconds', async (t) => {
  const own = await startTestService(t);
  await addUser(own);
  const app = await addClient(own);
  const browser = await signedInBrowser(own);
  const [early, late] = [await obtainCode(own, browser, app), await obtainCode(own, browser, app)];
  own.clock.advance(59);
  pairOf(await exchange(own, app, early));
  own.clock.advance(1);
  assertRefused(await exchange(own, app, late), 400, 'invalid_grant');
});

test('RFC 6749 §10.5: nothing but a code is a code, and what was presented instead stays as it was', async () => {
  const app = await addClient(service);
  const { accessToken, refreshToken } = await obtainPair(service, ada, app);
  const code = await obtainCode(service, ada, app);
  const middle = Math.floor(code.length / 2);
  const flipped = code.slice(0, middle) + (code[middle] === 'A' ? 'B' : 'A') + code.slice(middle + 1);
  const presented = [
    accessToken,
    refreshToken,
    refreshToken.replace('_rt_', '_ac_'),
    app.clientSecret,
    String(ada.cookies.get('valetkey_session')),
    flipped,
    code.toLowerCase(),
    `${code}\n`,
    `${code} `,
    ` ${code}`,
    `${code}=`,
    code.slice(0, -1),
    `${code}${code}`,
    'x'.repeat(60_000),
    '\0',
    '__proto__',
  ];
  for (const text of presented)
    assertRefused(await exchange(service, app, text), 400, 'invalid_grant', text.slice(0, 99));
  pairOf(await exchange(service, app, code));
  assert.equal((await me(service, accessToken)).status, 200);
  pairOf(await refresh(service, app, refreshToken));
});

test('RFC 6749 §2.3.1: two secrets are live during a rotation, then only the newer; tokens survive', async () => {
  const { clients, operator } = service.installation;
  const app = await addClient(service);
  const { accessToken } = await obtainPair(service, ada, app);
  const { secret: clientSecret } = await clients.rotateSecret(app.clientId, operator);
  const renewed = { ...app, clientSecret };
  await obtainPair(service, ada, app);
  await obtainPair(service, ada, renewed);
  await clients.retireSecret(app.clientId, operator);
  assertRefused(await exchange(service, app, await obtainCode(service, ada, app)), 401, 'invalid_client');
  await obtainPair(service, ada, renewed);
  assert.equal((await me(service, accessToken)).status, 200);
});

test('Promise 6: 200 wrong secrets slow their address down, and never lock the client out', async (t) => {
  const own = await startTestService(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' });
  await addUser(own);
  const app = await addClient(own);
  const code = await obtainCode(own, await signedInBrowser(own), app);
  const ownUrl = `${own.appUrl}/api/auth/oauth/token`;
  const from = (address: string, clientSecret: string) =>
    postForm(
      ownUrl,
      { ...fieldsOf(code), client_id: app.clientId, client_secret: clientSecret },
      { 'X-Forwarded-For': address },
    );
  const answers = await Promise.all(Array.from({ length: 200 }, () => from('192.0.2.1', 'wrong')));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [401, 429]);
  const slowed = await from('192.0.2.1', app.clientSecret);
  assertRefused(slowed, 429, 'temporarily_unavailable');
  assert.ok(Number(slowed.headers.get('retry-after')) > 0);
  assert.ok(slowed.headers.has('ratelimit'));
  pairOf(await from('192.0.2.2', app.clientSecret));
});

test('RFC 6749 §5.2: a client that is paused or public is refused like a wrong secret, unless the code is its own', async () => {
  const app = await addClient(service);
  const code = await obtainCode(service, ada, app);
  const wrong = await exchange(service, app, code, { client_secret: 'wrong' });
  await service.installation.clients.pause(app.clientId, service.installation.operator);
  const paused = await exchange(service, app, 'vk_ac_x');
  const isPublic = await exchange(service, await addClient(service, {}, 'public'), code, { client_secret: 'x' });
  for (const answer of [wrong, paused, isPublic]) assertRefused(answer, 401, 'invalid_client');
  assert.deepEqual([paused.body, isPublic.body], [wrong.body, wrong.body]);
});

describe('bodies that are not accepted', { concurrency: true }, () => {
  const form = 'application/x-www-form-urlencoded';
  const types: [name: string, headers: Record<string, string>][] = [
    ['plain text', { 'Content-Type': 'text/plain' }],
    ['multipart', { 'Content-Type': 'multipart/form-data; boundary=x' }],
    ['XML', { 'Content-Type': 'application/xml' }],
    ['a type that begins like JSON', { 'Content-Type': 'application/jsonp' }],
    ['a broken type', { 'Content-Type': 'application' }],
    ['ISO 8859-2', { 'Content-Type': `${form}; charset=ISO-8859-2` }],
    ['UTF-16', { 'Content-Type': 'application/json; charset=utf-16' }],
    ['gzip', { 'Content-Type': form, 'Content-Encoding': 'gzip' }],
    ['deflate', { 'Content-Type': 'application/json', 'Content-Encoding': 'deflate' }],
  ];
  for (const [name, headers] of types)
    test(`RFC 9110 §15.5.16: ${name} is 415`, async () => {
      assertRefused(await postBody(url, 'grant_type=authorization_code', headers), 415, 'invalid_request');
    });

  test('RFC 9110 §15.5.16: a body without a type is 415', async () => {
    const answer = await asJson(await fetch(url, { method: 'POST', body: Buffer.from('x') }));
    assertRefused(answer, 415, 'invalid_request');
  });

  test('RFC 9110 §15.5.14: a body over 64 KiB is 413, one of 64 KiB is read', async () => {
    const padded = (length: number) => `x=${'x'.repeat(length - 2)}`;
    for (const type of [form, 'application/json']) {
      const answer = await postBody(url, padded(64 * 1024 + 1), { 'Content-Type': type });
      assertRefused(answer, 413, 'invalid_request');
    }
    assertRefused(await postBody(url, padded(64 * 1024), { 'Content-Type': form }), 400, 'invalid_request');
  });
});
