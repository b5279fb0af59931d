/** The frame of the operators' API: who may call, how often, and how it refuses. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addKey, call, startApi } from '../../../support/operator-api.ts';

const api = await startApi({ after });
const admin = await addKey(api);

const errorOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => {
  const error = body['error'] as Record<string, unknown>;
  return [status, error['code'], error['field']];
};

test('RFC 6750 §3: without a key, or with one that is wrong, expired or of a disabled operator, nothing is read', async () => {
  const gone = await addKey(api);
  const { store } = api.installation.operators;
  for (const [key, code, challenge] of [
    [null, 'missing_key', 'Bearer realm="valetkey"'],
    ['vk_ok_made-up', 'invalid_key', 'Bearer realm="valetkey", error="invalid_token"'],
    [`${gone.key.slice(0, -1)}~`, 'invalid_key', 'Bearer realm="valetkey", error="invalid_token"'],
  ] as const) {
    const answer = await call(api, key, '/v1/clients');
    assert.deepEqual(errorOf(answer), [401, code, null]);
    assert.equal(answer.headers.get('www-authenticate'), challenge);
  }
  assert.equal((await call(api, gone.key, '/v1/clients')).status, 200);
  const disabled = { at: 0, action: 'operator_disabled' as const, actor: api.installation.operator };
  const event = { ...disabled, clientId: gone.operator.id, resourceOwnerId: null, grantId: null, detail: null };
  assert.equal(await store.disableOperator(gone.operator.id, 'no bound', event), null);
  assert.deepEqual(errorOf(await call(api, gone.key, '/v1/clients')), [401, 'invalid_key', null]);
});

test('RFC 6750 §2.1: a key in the query or as Basic, and every cookie, are not read', async () => {
  const { key } = admin;
  for (const headers of [
    { Cookie: `__Host-operator=${key}; operator=${key}` },
    { Authorization: `Basic ${Buffer.from(`x:${key}`).toString('base64')}` },
  ])
    assert.deepEqual(errorOf(await call(api, null, '/v1/clients', { headers })), [401, 'missing_key', null]);
  assert.equal((await call(api, null, `/v1/clients?access_token=${key}`)).status, 401);
});

test('each error names its field and the request, and is in no cache', async () => {
  const { headers, body } = await call(api, admin.key, '/v1/clients?limit=0');
  assert.deepEqual(body, {
    status: 'error',
    error: {
      code: 'invalid_request',
      message: 'limit must be a whole number from 1 to 200',
      field: 'limit',
      request_id: headers.get('x-request-id'),
    },
  });
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal((await call(api, admin.key, '/v1/clients')).headers.get('cache-control'), 'no-store');
});

test('wrong and unknown parameters are refused, not ignored', async () => {
  for (const [query, field] of [
    ['limit=201', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['state=gone', 'state'],
    ['after=made-up', 'after'],
    ['unused_since=yesterday', 'unused_since'],
    ['unused_since=2026-13-01T00:00:00Z', 'unused_since'],
    ['failing_since=1h', 'failing_since'],
    ['state=active&state=paused', 'state'],
    ['offset=10', null],
  ] as const)
    assert.deepEqual(
      errorOf(await call(api, admin.key, `/v1/clients?${query}`)),
      [400, 'invalid_request', field],
      query,
    );
  assert.deepEqual(errorOf(await call(api, admin.key, '/v1/users?provider=x')), [400, 'invalid_request', 'subject']);
  assert.deepEqual(errorOf(await call(api, admin.key, '/v1/users?subject=x')), [400, 'invalid_request', 'provider']);
  assert.equal((await call(api, admin.key, '/v1/clients?name=')).status, 200, 'an empty filter is none');
});

test('RFC 9110 §15.5: unknown addresses and ids are 404, other methods 405 with Allow', async () => {
  for (const path of [
    '/v1/nothing',
    '/v1',
    '/v1/clients/none',
    '/v1/audit-events/0',
    '/v1/audit-events/x',
    '/v1/grants/x',
  ]) {
    const answer = await call(api, admin.key, path);
    assert.equal(answer.status, 404, path);
    const { error } = answer.body as { error: { field: null; request_id: string } };
    assert.deepEqual([error.field, typeof error.request_id], [null, 'string'], path);
  }
  for (const [path, method] of [
    ['/v1/clients/none/tallies', 'POST'],
    ['/v1/status', 'DELETE'],
    ['/v1/audit-events/1', 'OPTIONS'],
    ['/v1/identify', 'GET'],
  ] as const) {
    const answer = await call(api, null, path, { method });
    assert.deepEqual(errorOf(answer), [405, 'method_not_allowed', null], path);
    assert.equal(answer.headers.get('allow'), path === '/v1/identify' ? 'POST' : 'GET, HEAD');
  }
});

test('RFC 9110 §9.3.2: HEAD answers as GET, with the same check', async () => {
  assert.equal((await call(api, admin.key, '/v1/clients', { method: 'HEAD' })).status, 200);
  assert.equal((await call(api, null, '/v1/clients', { method: 'HEAD' })).status, 401);
});

test('no page of another origin is allowed anything', async () => {
  const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'GET' };
  for (const method of ['OPTIONS', 'GET']) {
    const answer = await call(api, admin.key, '/v1/clients', { method, headers });
    for (const name of answer.headers.keys()) assert.doesNotMatch(name, /^access-control-/);
  }
});

test('the log names operator and key, and never a key or what was asked with it', async () => {
  const holder = await addKey(api);
  await call(api, holder.key, '/v1/users?email=canary%40example.com');
  await call(api, 'vk_ok_canary', '/v1/users');
  const line = api.log.map((each) => JSON.parse(each)).find((each) => each.key_id === holder.keyId);
  assert.equal(line.operator_id, holder.operator.id);
  assert.equal(line.route, '/v1/users');
  assert.doesNotMatch(api.log.join('\n'), /canary|vk_ok_/);
});

test('a key may make 100 calls in 10 s; others are not slowed down', async () => {
  const [busy, other] = [await addKey(api), await addKey(api)];
  const calls = await Promise.all(Array.from({ length: 101 }, () => call(api, busy.key, '/v1/scopes')));
  const refused = calls.filter(({ status }) => status !== 200);
  assert.deepEqual(refused.map(errorOf), [[429, 'too_many_requests', null]]);
  assert.equal(refused[0]?.headers.get('retry-after'), '1');
  assert.match(refused[0]?.headers.get('ratelimit') ?? '', /r=0/);
  assert.equal((await call(api, other.key, '/v1/scopes')).status, 200);
  api.clock.advance(10);
  assert.equal((await call(api, busy.key, '/v1/scopes')).status, 200);
});

test('wrong keys of a network are limited, and then keys that were not used here wait too', async (t) => {
  const guessed = await startApi(t);
  const { key } = await addKey(guessed);
  const answers = [];
  for (let n = 0; n < 40; n += 1) answers.push((await call(guessed, `vk_ok_${n}`, '/v1/clients')).status);
  assert.equal(answers[0], 401);
  assert.equal(answers.at(-1), 429);
  assert.deepEqual(errorOf(await call(guessed, key, '/v1/clients')), [429, 'too_many_requests', null]);
  guessed.clock.advance(600);
  assert.equal((await call(guessed, key, '/v1/clients')).status, 200);
});
