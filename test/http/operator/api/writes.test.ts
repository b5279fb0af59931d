/** Writes of the operators' API: as described, as the commands do, and at most once. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { signedInBrowser } from '../../../support/flow.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  addKey,
  call,
  commandJson,
  describedApi,
  startApi,
} from '../../../support/operator-api.ts';
import { addUser } from '../../../support/service.ts';
import { makeKey } from '../../../support/standard.ts';

const api = await startApi({ after });
let key = '';
beforeEach(async () => {
  key = (await addKey(api)).key;
});
const described = await describedApi(api);

/** Calls an operation, whose answer must be as described; `path` is below `/v1`. */
async function ask(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
  const answer = await call(api, key, `/v1${path}`, request);
  const [asked, method] = [path.replace(/\?.*/, ''), request.method ?? 'GET'];
  const isAsked = (url: string) =>
    new RegExp(`^${url.slice(api.operatorUrl.length).replace(/\{\w+\}/, '[^/]+')}$`).test(`/v1${asked}`);
  const asks = [...described.operations].filter(
    ([, operation]) => operation.method.toUpperCase() === method && operation.urls.some(isAsked),
  );
  assert.equal(asks.length, 1, `${method} ${asked} is described once`);
  for (const [id] of asks) described.check(id, answer as never);
  return answer;
}

const post = (path: string, json: object = {}, headers: Record<string, string> = {}) =>
  ask(path, { method: 'POST', json, headers });
const patch = (path: string, json: object, headers: Record<string, string> = {}) =>
  ask(path, { method: 'PATCH', json, headers });
const remove = (path: string, headers: Record<string, string> = {}) => ask(path, { method: 'DELETE', headers });
const errorOf = ({ status, body }: ApiAnswer) => {
  const error = (body['error'] ?? {}) as Record<string, unknown>;
  return [status, error['code'], error['field']];
};
const APP = { name: 'Acme Mail', redirect_uris: ['https://acme.test/callback'] };
const register = async (json: object = APP) => {
  const answer = await post('/clients', json);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body as Record<string, string> & { client_id: string };
};

test('an app is registered, changed, paused, resumed and deleted, each as the commands show it', async () => {
  const registered = await register({ ...APP, scopes: ['read', { name: 'send', sentence: 'Send', optional: true }] });
  const path = `/clients/${registered.client_id}`;
  assert.match(registered['client_secret'] ?? '', /^vk_cs_/);
  const asCommand = async () => {
    const {
      last_24_hours: _,
      last_failure: __,
      hand_over: ___,
      ...json
    } = (await commandJson(api, ...['client', 'show', registered.client_id])) as Record<string, unknown>;
    return json;
  };
  const changed = await patch(path, { name: 'Acme Post', publisher: 'Acme', scopes: ['read'], consent: 'remember' });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body, await asCommand());
  assert.equal(changed.body['name'], 'Acme Post');
  assert.equal((await patch(path, { publisher: null })).body['publisher'], null);
  assert.equal((await post(`${path}/pause`)).body['status'], 'paused');
  assert.deepEqual(errorOf(await post(`${path}/pause`)), [409, 'conflict', null]);
  assert.deepEqual((await post(`${path}/resume`)).body, await asCommand());
  assert.equal((await remove(path)).body['status'], 'deleted');
  assert.deepEqual(errorOf(await remove(path)), [404, 'not_found', null]);
});

test('sign-in makes trust: a key needs clients.trust to set it, not to end it, and consent becomes remember', async () => {
  const { client_id: id } = await register();
  const { key: weak } = await addKey(api, 'admin', ['clients.write']);
  const change = (json: object) => call(api, weak, `/v1/clients/${id}`, { method: 'PATCH', json });
  assert.deepEqual(errorOf(await change({ sign_in: true })), [403, 'forbidden', null]);
  const { body } = await patch(`/clients/${id}`, { sign_in: true });
  assert.deepEqual([body['sign_in'], body['consent']], [true, 'remember']);
  assert.equal((await change({ sign_in: false })).body['sign_in'], false);
  for (const [json, consent] of [
    [{ sign_in: true }, 'remember'],
    [{ sign_in: true, consent: 'ask' }, 'ask'],
  ] as const)
    assert.equal((await ask(`/clients/${(await register({ ...APP, ...json })).client_id}`)).body['consent'], consent);
  const refused = await post('/clients', { ...APP, sign_in: true, scopes: ['email'] });
  assert.deepEqual(errorOf(refused), [400, 'invalid_request', 'sign_in']);
  const denied = await call(api, weak, '/v1/clients', {
    method: 'POST',
    json: { ...APP, type: 'public', sign_in: true },
  });
  assert.deepEqual(errorOf(denied), [403, 'forbidden', null]);
});

test('consent: a key without trust leads no codes of an app that never asks to another host', async () => {
  const { client_id: id } = await register({ ...APP, type: 'public', consent: 'skip' });
  const writer = (await addKey(api, 'admin', ['clients.write'])).key;
  const redirectUris = [...APP.redirect_uris, 'https://evil.test/callback'];
  const change = (json: object) => call(api, writer, `/v1/clients/${id}`, { method: 'PATCH', json });
  assert.deepEqual(errorOf(await change({ redirect_uris: redirectUris, consent: 'skip' })), [403, 'forbidden', null]);
  assert.equal((await change({ name: 'Acme Post' })).body['consent'], 'skip');
  assert.equal((await change({ redirect_uris: redirectUris })).body['consent'], 'ask');
  assert.equal((await ask(`/clients/${id}`)).body['consent'], 'ask');
  const trusting = { redirect_uris: APP.redirect_uris, consent: 'skip' };
  assert.equal((await patch(`/clients/${id}`, trusting)).body['consent'], 'skip');
});

test('operators §3: an own sentence of an app changes only with scopes.trust, and a scope that keeps its sentence stays free', async () => {
  const had = [{ name: 'mail', sentence: 'Read your mail', optional: false }, { name: 'send' }];
  const { client_id: id } = await register({ ...APP, type: 'public', scopes: had });
  const writer = (await addKey(api, 'admin', ['clients.write'])).key;
  const change = (scopes: unknown) =>
    call(api, writer, `/v1/clients/${id}`, { method: 'PATCH', json: { scopes, contact: 'help@acme.test' } });
  const [mail, send] = had;
  const told = [
    [{ ...mail, sentence: 'Read one letter' }, send],
    [{ ...mail, sentence: null }, send],
    ['mail', send],
    [mail, { ...send, sentence: 'Look at your mail' }],
    [mail, send, { name: 'delete', sentence: 'Look at your mail' }],
    // Without this refusal, the scope could come back afterwards without its sentence.
    [send],
    [],
  ];
  for (const scopes of told) {
    const refused = await change(scopes);
    assert.deepEqual(errorOf(refused), [403, 'forbidden', null], JSON.stringify(scopes));
    assert.match(JSON.stringify(refused.body), /this needs a key with scopes\.trust/);
  }
  assert.equal((await ask(`/clients/${id}`)).body['contact'], null, 'nothing of a refused change is written');
  for (const scopes of [[send, mail, 'delete'], [{ ...mail, optional: true }], [mail, send]])
    assert.equal((await change(scopes)).status, 200, JSON.stringify(scopes));
});

test('an id is exact: the name of an app, or the address of a user, is none', async () => {
  await register({ ...APP, name: 'By name' });
  assert.equal((await post('/clients/By%20name/pause')).status, 404);
  assert.equal((await remove('/users/ada%40example.com')).status, 404);
});

test('a repeated request whose app is gone gets 404, and never an app whose name is that id', async () => {
  const headers = { 'Idempotency-Key': 'gone-since' };
  const first = await post('/clients', APP, headers);
  const id = first.body['client_id'] as string;
  assert.equal((await remove(`/clients/${id}`)).status, 200);
  await register({ ...APP, name: id });
  const again = await call(api, key, '/v1/clients', { json: APP, headers });
  assert.deepEqual(errorOf(again), [404, 'not_found', null]);
});

test('secrets are made, ended and handed over; each is shown once', async () => {
  const { client_id: id } = await register();
  const path = `/clients/${id}`;
  const made = await post(`${path}/secrets`);
  assert.equal(made.status, 201);
  assert.match(made.body['client_secret'] as string, /^vk_cs_/);
  assert.deepEqual(errorOf(await post(`${path}/secrets`)), [409, 'conflict', null]);
  const dry = await remove(`${path}/secrets/newer?dry_run=true`);
  assert.equal(dry.headers.get('etag'), null);
  assert.equal((dry.body['would_end'] as { secrets: unknown[] }).secrets.length, 1);
  const live = async () => ((await ask(path)).body['live_secrets'] as unknown[]).length;
  assert.equal(await live(), 2, 'a dry run changes nothing');
  assert.equal((await remove(`${path}/secrets/newer`)).status, 200);
  assert.equal(await live(), 1);
  const { hand_over: handOver } = (await post(`${path}/hand-over`)).body as { hand_over: Record<string, string> };
  assert.match(handOver['pick_up_url'] ?? '', /\/developers\/pick-up\?token=/);
});

test('a dry run names the only secret of an app that also has keys, and the call ends it', async () => {
  const { client_id: id } = await register();
  const path = `/clients/${id}/secrets/older`;
  const wouldEnd = async () =>
    ((await remove(`${path}?dry_run=true`)).body['would_end'] as { secrets: unknown[] }).secrets.length;
  assert.equal(await wouldEnd(), 0);
  assert.deepEqual(errorOf(await remove(path)), [409, 'conflict', null]);
  assert.equal((await patch(`/clients/${id}`, { keys: [makeKey().jwk] })).status, 200);
  assert.equal(await wouldEnd(), 1);
  assert.deepEqual((await remove(path)).body['live_secrets'], []);
});

test('an app that is handed over when it is registered has no secret yet', async () => {
  const { client_id, client_secret, hand_over } = (await register({ ...APP, hand_over: true })) as never as {
    client_id: string;
    client_secret: null;
    hand_over: { pick_up_url: string };
  };
  assert.equal(client_secret, null);
  assert.match(hand_over.pick_up_url, /\/developers\/pick-up\?token=/);
  assert.deepEqual((await ask(`/clients/${client_id}`)).body['live_secrets'], []);
});

test('what is handed over has its secret as null, when it is registered and later', async () => {
  const product = { provider_id: 'handed', name: 'Handed', sign_in_url: 'https://handed.test/sign-in' };
  for (const [noun, json, id, secret] of [
    ['clients', APP, 'client_id', 'client_secret'],
    ['resource-servers', { name: 'Handed' }, 'resource_server_id', 'resource_server_secret'],
    ['identity-providers', product, 'provider_id', 'provider_secret'],
  ] as const) {
    const { body } = await post(`/${noun}`, { ...json, hand_over: true });
    const later = await post(`/${noun}/${body[id]}/hand-over`);
    for (const answer of [body, later.body]) {
      assert.equal(answer[secret], null, noun);
      assert.match((answer['hand_over'] as { pick_up_url: string }).pick_up_url, /\?token=/);
    }
  }
});

test('APIs, products and scopes are registered, changed and deleted', async () => {
  const server = (await post('/resource-servers', { name: 'Mail', resource: 'https://mail.test' })).body;
  assert.match(server['resource_server_secret'] as string, /^vk_rs_/);
  const path = `/resource-servers/${server['resource_server_id']}`;
  const changed = { ...(await patch(path, { scopes: ['read'] })).body, hand_over: null };
  assert.deepEqual(changed, (await ask(path)).body);
  assert.equal((await post(`${path}/secrets`)).status, 201);
  assert.equal((await remove(`${path}/secrets/older`)).status, 200);
  assert.deepEqual((await remove(`${path}?dry_run=true`)).body, { dry_run: true, would_end: { grants: 0 } });
  assert.equal((await remove(path)).body['status'], 'deleted');

  const product = { provider_id: 'photos', name: 'Photos', sign_in_url: 'https://photos.test/sign-in' };
  const provider = (await post('/identity-providers', { ...product, session: 3600 })).body;
  assert.match(provider['provider_secret'] as string, /^vk_ps_/);
  assert.equal((await patch('/identity-providers/photos', { session: null })).body['session'], null);
  for (const home_page of ['https://photos.test/#/home', 'http://127.0.0.1:8000', null])
    assert.equal((await patch('/identity-providers/photos', { home_page })).body['home_page'], home_page);
  for (const home_page of ['javascript:alert(1)', 'http://photos.test', 'https://ada@photos.test', 'photos.test', '']) {
    const { status, body } = await patch('/identity-providers/photos', { home_page });
    assert.deepEqual([status, Object(body['error']).field], [400, 'home_page'], home_page);
  }
  assert.equal((await post('/identity-providers/photos/pause')).body['status'], 'paused');
  assert.equal((await post('/identity-providers/photos/resume')).body['status'], 'active');
  const tested = await post('/identity-providers/photos/test');
  assert.equal(tested.body['ok'], false, 'nothing is at that address');
  const since = new Date(api.clock.now()).toISOString();
  const nothing = { sign_ins: 0, sessions: 0, grants: 0, more: false };
  const dry = await post('/identity-providers/photos/end-all?dry_run=true', { since });
  assert.deepEqual(dry.body, { dry_run: true, would_end: nothing });
  const ended = await post('/identity-providers/photos/end-all', { since });
  const none = { sign_ins_ended: 0, sessions_ended: 0, grants_ended: 0 };
  assert.deepEqual(ended.body, { provider_id: 'photos', since, ...none, done: true });
  for (const json of [{}, { since: [since] }, { since: null }, { since: 2026 }]) {
    const answer = await post('/identity-providers/photos/end-all', json);
    assert.deepEqual(errorOf(answer), [400, 'invalid_request', 'since'], JSON.stringify(json));
  }
  assert.equal((await remove('/identity-providers/photos')).body['status'], 'deleted');

  const put = (json: object) => ask('/scopes/mail.read', { method: 'PUT', json });
  const both = { en: 'Read your mail', ar: 'قراءة بريدك' };
  assert.deepEqual((await put({ sentences: both, effect: 'reads' })).body['sentences'], both);
  const replaced = (await put({ sentences: { en: 'Read mail' } })).body;
  assert.deepEqual([replaced['sentences'], replaced['effect']], [{ en: 'Read mail' }, null]);
  assert.deepEqual(errorOf(await put({ sentences: {} })), [400, 'invalid_request', 'sentences']);
  assert.equal((await remove('/scopes/mail.read')).body['status'], 'deleted');
});

test('users are invited, changed, disabled and deleted; a password is nowhere', async () => {
  const added = await post('/users', { email: 'bob@example.com', name: 'Bob' });
  assert.equal(added.status, 201);
  assert.match(added.body['invitation_url'] as string, /\?token=/);
  const path = `/users/${added.body['id']}`;
  assert.equal((await patch(path, { username: 'bob' })).body['username'], 'bob');
  assert.deepEqual(errorOf(await patch(path, { email: 'no address' })), [400, 'invalid_request', 'email']);
  assert.deepEqual(errorOf(await patch(path, { password: 'x' })), [400, 'invalid_request', 'password']);
  assert.notEqual((await post(`${path}/invite`)).body['invitation_url'], added.body['invitation_url']);
  const dry = (await post(`${path}/disable?dry_run=true`)).body;
  assert.deepEqual(dry['would_end'], { grants: 0, sessions: 0, invitations: 1 });
  assert.equal((await post(`${path}/disable`)).body['status'], 'disabled');
  assert.equal((await post(`${path}/enable`)).body['status'], 'active');
  assert.equal((await post(`${path}/end-sessions`)).status, 200);
  const nothing = { grants: 0, users: 0, apps: 0, more: false };
  assert.deepEqual((await post(`${path}/revoke-grants?dry_run=true`)).body, { dry_run: true, would_end: nothing });
  assert.equal((await post(`${path}/revoke-grants`)).status, 200);
  assert.equal((await remove(path)).body['status'], 'deleted');
});

test('a dry run of an act on a user counts the sessions that the act ends', async () => {
  const user = await addUser(api);
  const browsers = [await signedInBrowser(api), await signedInBrowser(api)];
  const path = `/users/${user.id}`;
  const wouldEnd = async (of: string, method: 'POST' | 'DELETE' = 'POST') =>
    (await ask(`${of}?dry_run=true`, { method })).body['would_end'];
  assert.deepEqual(await wouldEnd(`${path}/disable`), { grants: 0, sessions: 2, invitations: 0 });
  assert.deepEqual(await wouldEnd(`${path}/end-sessions`), { grants: 0, sessions: 2 });
  const nothing = { grants: 0, users: 0, apps: 0, more: false };
  assert.deepEqual(await wouldEnd(path, 'DELETE'), { ...nothing, sessions: 2, invitations: 0 });
  assert.equal((await browsers[0]?.get(`${api.appUrl}/account/apps`))?.status, 200, 'a dry run ends nothing');
  assert.equal((await post(`${path}/end-sessions`)).status, 200);
  assert.deepEqual(await wouldEnd(`${path}/disable`), { grants: 0, sessions: 0, invitations: 0 });
});

test('RFC 9110 §13.1.1: If-Match changes only what is as its ETag says, whoever changed it meanwhile', async () => {
  const { client_id: id } = await register();
  const path = `/clients/${id}`;
  const tag = (await ask(path)).headers.get('etag') ?? '';
  const changed = await patch(path, { name: 'One' }, { 'If-Match': tag });
  assert.equal(changed.status, 200);
  const next = changed.headers.get('etag') ?? '';
  assert.equal(next, (await ask(path)).headers.get('etag'));
  for (const answer of [
    await patch(path, { name: 'Two' }, { 'If-Match': tag }),
    await post(`${path}/pause`, {}, { 'If-Match': tag }),
    await remove(path, { 'If-Match': tag }),
  ])
    assert.deepEqual(errorOf(answer), [412, 'changed_since', null]);
  const names = Array.from({ length: 40 }, (_, n) => `At once ${n}`);
  const many = await Promise.all(names.map((name) => patch(path, { name }, { 'If-Match': next })));
  const statuses = many.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array.from({ length: 39 }, () => 412)], 'of many at once, one');
  assert.equal((await patch(path, { name: 'Five' }, { 'If-Match': '*' })).status, 200);
  const condition = { 'If-Match': next };
  assert.deepEqual(errorOf(await post(`${path}/secrets`, {}, condition)), [400, 'invalid_request', 'If-Match']);
});

test('RFC 9110 §13.1.1: a key that another caller replaced is not overwritten', async () => {
  const named = (kid: string) => ({ ...makeKey().jwk, kid });
  const app = await register();
  const { body } = await post('/identity-providers', {
    ...{ provider_id: 'tagged', name: 'Tagged', sign_in_url: 'https://tagged.test/sign-in' },
    keys: [named('one')],
  });
  assert.equal((await patch(`/clients/${app.client_id}`, { keys: [named('one')] })).status, 200);
  const other = (await addKey(api)).key;
  for (const path of [`/clients/${app.client_id}`, `/identity-providers/${body['provider_id']}`]) {
    const tag = (await ask(path)).headers.get('etag') ?? '';
    const keys = [named('one')];
    const replaced = await call(api, other, `/v1${path}`, { method: 'PATCH', json: { keys } });
    assert.equal(replaced.status, 200, JSON.stringify(replaced.body));
    assert.equal(replaced.headers.get('etag'), (await ask(path)).headers.get('etag'));
    const late = await patch(path, { keys: [named('one')] }, { 'If-Match': tag });
    assert.deepEqual(errorOf(late), [412, 'changed_since', null], path);
  }
});

test('RFC 7517 §5, RFC 7523 §3: the answer names the keys of a set that cannot be used, and a private key refuses the set', async () => {
  const keys = [makeKey().jwk, { kty: 'AKP', pub: 'AAAA' }, { ...makeKey().jwk, use: 'enc' }, { kid: 'a' }];
  const kty = 'its kty must be EC, RSA or OKP';
  const omitted = [`key 2: ${kty}`, 'key 3: its use must be sig', `key 4: ${kty}`];
  const headers = { 'Idempotency-Key': 'with-keys' };
  const app = await post('/clients', { ...APP, keys }, headers);
  assert.deepEqual([app.status, app.body['omitted_keys'], app.body['client_secret']], [201, omitted, null]);
  assert.deepEqual((await post('/clients', { ...APP, keys }, headers)).body['omitted_keys'], omitted);
  const product = { provider_id: 'omits', name: 'Omits', sign_in_url: 'https://omits.test/sign-in', keys };
  assert.deepEqual((await post('/identity-providers', product)).body['omitted_keys'], omitted);
  for (const path of [`/clients/${app.body['client_id']}`, '/identity-providers/omits']) {
    const changed = await patch(path, { keys });
    assert.deepEqual([changed.status, changed.body['omitted_keys']], [200, omitted]);
    const shown = await ask(path);
    assert.equal(changed.headers.get('etag'), shown.headers.get('etag'), 'the tag is of the object alone');
    assert.ok(!('omitted_keys' in shown.body || 'omitted_keys' in (await patch(path, { name: 'New' })).body));
    const secret = await patch(path, { keys: [...keys.slice(0, 2), { kty: 'oct', k: 'AAAA' }] });
    assert.deepEqual(errorOf(secret), [400, 'invalid_request', 'keys']);
    assert.match(JSON.stringify(secret.body), /key 3: it is a symmetric key/);
    assert.deepEqual(errorOf(await patch(path, { keys: keys.slice(1) })), [400, 'invalid_request', 'keys']);
  }
});

test('RFC 7396 §2: the description of each PATCH allows null exactly where the call takes it', async () => {
  const { paths } = (await (await fetch(`${api.operatorUrl}/openapi.json`)).json()) as {
    paths: Record<string, { patch?: { requestBody: { content: Record<string, { schema: { properties: object } }> } } }>;
  };
  const { client_id: app } = await register();
  const product = { provider_id: 'nulls', name: 'Nulls', sign_in_url: 'https://nulls.test/sign-in' };
  assert.equal((await post('/identity-providers', product)).status, 201);
  const server = (await post('/resource-servers', { name: 'Nulls' })).body['resource_server_id'];
  const user = (await post('/users', { email: 'nulls@example.test', name: 'Nulls' })).body['id'];
  const objects = { clients: app, 'identity-providers': 'nulls', 'resource-servers': server, users: user };
  const described: string[] = [];
  const taken: string[] = [];
  for (const [noun, id] of Object.entries(objects)) {
    const { patch: its } =
      Object.entries(paths).find(([path]) => path.includes(`/${noun}/{`) && path.endsWith('}'))?.[1] ?? {};
    const members = its?.requestBody.content['application/json']?.schema.properties ?? {};
    for (const [name, { type, enum: words }] of Object.entries(members)) {
      if ((type === undefined || type.includes('null')) && (words === undefined || words.includes(null)))
        described.push(`${noun} ${name}`);
      const { status, body } = await call(api, key, `/v1/${noun}/${id}`, { method: 'PATCH', json: { [name]: null } });
      const { message = '' } = (body['error'] ?? {}) as { message?: string };
      if (status === 200 || !message.startsWith(`${name} must be `)) taken.push(`${noun} ${name}`);
    }
  }
  assert.deepEqual(described, taken);
  assert.ok(taken.includes('clients keys') && !taken.includes('clients name'));
});

test('Idempotency-Key: a repeated request makes nothing more, and gets the object without its secret', async () => {
  const headers = { 'Idempotency-Key': 'order-1' };
  const first = await post('/clients', APP, headers);
  const second = await post('/clients', APP, headers);
  assert.equal(second.status, 201);
  assert.deepEqual(second.body, { ...first.body, client_secret: null });
  assert.deepEqual(errorOf(await post('/clients', { ...APP, name: 'Other' }, headers)), [
    409,
    'conflict',
    'Idempotency-Key',
  ]);
  assert.deepEqual(errorOf(await post('/users', { email: 'a@example.com', name: 'A' }, headers)), [
    409,
    'conflict',
    'Idempotency-Key',
  ]);
  const many = await Promise.all(
    Array.from({ length: 10 }, () => post('/clients', APP, { 'Idempotency-Key': 'order-2' })),
  );
  assert.equal(new Set(many.map(({ body }) => body['client_id'])).size, 1);
  assert.equal(many.filter(({ body }) => body['client_secret'] !== null).length, 1, 'the secret is shown once');
});

test('Idempotency-Key: each call that makes something takes one', async () => {
  const { client_id: id } = await register();
  const user = (await post('/users', { email: 'eve@example.com', name: 'Eve' })).body['id'];
  for (const [path, json, once] of [
    [`/clients/${id}/secrets`, {}, 'client_secret'],
    ['/clients', { ...APP, hand_over: true }, 'hand_over'],
    ['/resource-servers', { name: 'Once' }, 'resource_server_secret'],
    ['/identity-providers', { provider_id: 'once', name: 'O', sign_in_url: 'https://o.test/a' }, 'provider_secret'],
    ['/users', { email: 'once@example.com', name: 'Once' }, 'invitation_url'],
    [`/users/${user}/invite`, {}, 'invitation_url'],
  ] as const) {
    const headers = { 'Idempotency-Key': `each ${path}`.replaceAll(' ', '-') };
    const [first, second] = [await post(path, json, headers), await post(path, json, headers)];
    assert.equal(first.status, 201, path);
    assert.equal(second.status, 201, path);
    const nothing = once === 'hand_over' ? { pick_up_url: null, expires_at: null } : null;
    assert.deepEqual(second.body, { ...first.body, [once]: nothing }, path);
  }
});

test('Idempotency-Key: keys of two operators do not meet, and a malformed one is refused', async () => {
  const other = await addKey(api);
  const headers = { 'Idempotency-Key': 'shared' };
  const mine = await post('/clients', APP, headers);
  const theirs = await call(api, other.key, '/v1/clients', { json: APP, headers });
  assert.notEqual(mine.body['client_id'], theirs.body['client_id']);
  assert.ok(theirs.body['client_secret']);
  for (const wrong of ['a b', 'x'.repeat(256)])
    assert.deepEqual(errorOf(await post('/clients', APP, { 'Idempotency-Key': wrong })), [
      400,
      'invalid_request',
      'Idempotency-Key',
    ]);
});

test('RFC 7396 §4: a PATCH takes a merge patch under its own media type, and no other call does', async () => {
  const { client_id: id } = await register();
  const headers = { 'Content-Type': 'application/merge-patch+json; charset=utf-8' };
  assert.equal((await patch(`/clients/${id}`, { name: 'Patched' }, headers)).body['name'], 'Patched');
  const refused = [415, 'unsupported_media_type', null];
  assert.deepEqual(errorOf(await post('/clients', APP, headers)), refused);
  const scope = { method: 'PUT', json: { sentences: { en: 'Patch' } }, headers };
  assert.deepEqual(errorOf(await ask('/scopes/patched', scope)), refused);
});

test('wrong bodies are refused by their field, and change nothing', async () => {
  const send = async (body: string, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': type };
    const answer = await fetch(`${api.operatorUrl}/v1/clients`, { method: 'POST', headers, body });
    return errorOf({ status: answer.status, headers: answer.headers, body: (await answer.json()) as never });
  };
  for (const [body, expected] of [
    ['{"name": "A", "name": "B"}', [400, 'bad_request', null]],
    ['[]', [400, 'bad_request', null]],
    ['{', [400, 'bad_request', null]],
    ['{"name": "A", "__proto__": {"is_checked": true}}', [400, 'invalid_request', '__proto__']],
    ['{"name": "A", "constructor": 1}', [400, 'invalid_request', 'constructor']],
    ['{"name": "A", "redirect_uris": "https://a.test"}', [400, 'invalid_request', 'redirect_uris']],
    ['{"name": "A", "redirect_uris": ["ftp://a.test"]}', [400, 'invalid_request', 'redirect_uris']],
    ['{"name": " A", "redirect_uris": ["https://a.test"]}', [400, 'invalid_request', 'name']],
    ['{}', [400, 'invalid_request', 'name']],
    [`{"name": "${'x'.repeat(70_000)}"}`, [413, 'too_large', null]],
  ] as const)
    assert.deepEqual(await send(body), expected, body.slice(0, 60));
  assert.deepEqual(await send('name=A', 'application/x-www-form-urlencoded'), [415, 'unsupported_media_type', null]);
  const { client_id: id } = await register();
  assert.deepEqual(errorOf(await post(`/clients/${id}/pause`, { status: 'x' })), [400, 'invalid_request', 'status']);
  const misspelt = await remove(`/clients/${id}?dryrun=true`);
  assert.deepEqual(errorOf(misspelt), [400, 'invalid_request', null]);
  assert.equal((await ask(`/clients/${id}`)).status, 200, 'a misspelt dry run deletes nothing');
  assert.deepEqual(errorOf(await remove(`/clients/${id}?dry_run=yes`)), [400, 'invalid_request', 'dry_run']);
});
