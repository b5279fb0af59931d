/** Reads of the operators' API: every answer matches its description, and each object is as the command prints it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { authorizeUrl, obtainCode, obtainPair, signedInBrowser } from '../../../support/flow.ts';
import { type ApiRequest, addKey, call, commandJson, describedApi, startApi } from '../../../support/operator-api.ts';
import { addClient, addUser, REDIRECT_URI } from '../../../support/service.ts';
import { addResourceServer, scopes } from '../../../support/standard.ts';

const api = await startApi({ after });
const { key } = await addKey(api);
const described = await describedApi(api);
const { installation } = api;
const ada = await addUser(api);
const browser = await signedInBrowser(api);
const app = await addClient(api, { scopes: scopes('mail.read') });
await addClient(api, { name: 'Another App' }, 'public');
const server = await addResourceServer(api, { resource: 'https://api.example' });
const provider = {
  ...{ id: 'product', name: 'Product', signInUrl: 'https://product.example/sign-in', ownIds: false, keys: [] },
  ...{ rights: ['sign-in', 'users'] as const, homePage: null, sessionLifetime: null },
};
await installation.identityProviders.register(provider, installation.operator);
await installation.scopes.define('mail.read', { en: 'Read your mail' }, installation.operator);
const pair = await obtainPair(api, browser, app);

/** Calls an operation, whose answer must be as described; `path` is below `/v1`. */
async function ask(id: string, path: string, request: ApiRequest = {}) {
  const answer = await call(api, key, `/v1${path}`, request);
  described.check(id, answer as never);
  return answer;
}

type Item = Record<string, unknown>;
const items = async (id: string, path: string) => (await ask(id, path)).body['items'] as Item[];

test('each list and each object is what the command prints with --json', async () => {
  const [grant = {}] = await items('listGrants', '/grants');
  const same: [id: string, path: string, ...words: string[]][] = [
    ['listClients', '/clients', 'client', 'list'],
    ['showClient', `/clients/${app.clientId}`, 'client', 'show', app.clientId],
    ['showFailures', `/clients/${app.clientId}/failures`, 'client', 'failures', app.clientId],
    ['listResourceServers', '/resource-servers', 'resource-server', 'list'],
    ['showResourceServer', `/resource-servers/${server.id}`, 'resource-server', 'show', server.id],
    ['listIdentityProviders', '/identity-providers', 'identity-provider', 'list'],
    ['showIdentityProvider', '/identity-providers/product', 'identity-provider', 'show', 'product'],
    ['listScopes', '/scopes', 'scope', 'list'],
    ['showScope', '/scopes/mail.read', 'scope', 'show', 'mail.read'],
    ['listUsers', '/users', 'user', 'list'],
    ['showUser', `/users/${ada.id}`, 'user', 'show', ada.id],
    ['listGrants', '/grants', 'grant', 'list'],
    ['showGrant', `/grants/${grant['id']}`, 'grant', 'show', String(grant['id'])],
    ['listAuditEvents', '/audit-events', 'audit', 'list'],
    ['showAuditEvent', '/audit-events/1', 'audit', 'show', '1'],
  ];
  for (const [id, path, ...words] of same) {
    const { status, body } = await ask(id, path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    const printed = await commandJson(api, ...words);
    // A command is another process, which has not seen what the service refused.
    const expected = id === 'showFailures' ? { ...(printed as object), authorization_page: [] } : printed;
    assert.deepEqual(body['items'] ?? body, expected, words.join(' '));
  }
});

test('an id in a path is one percent-encoded segment, also the address of a metadata document', async () => {
  const address = `https://agent.example/client.json?a=%20b${'x'.repeat(300)}`;
  const client = { ...app.client, id: address, name: 'Agent', secrets: [], documentSha256: 'a'.repeat(64) };
  const event = { at: 0, action: 'client_registered' as const, actor: installation.operator };
  await installation.operators.store.registerClient(client, {
    ...event,
    clientId: address,
    resourceOwnerId: null,
    grantId: null,
    detail: null,
  });
  const { body } = await ask('showClient', `/clients/${encodeURIComponent(address)}`);
  assert.equal(body['client_id'], address);
  assert.equal((await ask('showTallies', `/clients/${encodeURIComponent(address)}/tallies`)).status, 200);
  assert.deepEqual(
    await items('listClients', `/clients?id=${encodeURIComponent(address)}`).then((some) => some.length),
    1,
  );
});

test('lists are filtered, and paged by cursors', async () => {
  const ids = async (id: string, path: string, name: string) => (await items(id, path)).map((item) => item[name]);
  assert.deepEqual(await ids('listClients', '/clients?name=another', 'name'), ['Another App']);
  assert.deepEqual(await ids('listClients', '/clients?state=paused', 'name'), []);
  assert.deepEqual(await ids('listUsers', '/users?email=ADA%40example.com', 'id'), [ada.id]);
  assert.deepEqual(await ids('listUsers', '/users?username=nobody', 'id'), []);
  assert.deepEqual(await ids('listGrants', `/grants?client=${app.clientId}&user=${ada.id}&state=active`, 'client_id'), [
    app.clientId,
  ]);
  assert.deepEqual(await ids('listGrants', '/grants?state=revoked', 'client_id'), []);
  assert.deepEqual(await ids('listAuditEvents', '/audit-events?action=scope_defined', 'action'), ['scope_defined']);
  const since = new Date(api.clock.now() + 1).toISOString();
  assert.deepEqual(await ids('listAuditEvents', `/audit-events?since=${since}`, 'action'), []);
  const all = await ids('listAuditEvents', '/audit-events?limit=200&order=oldest', 'sequence');
  const found: unknown[] = [];
  for (let after = ''; ; ) {
    const { body } = await ask('listAuditEvents', `/audit-events?limit=3&order=oldest${after}`);
    found.push(...(body['items'] as Item[]).map(({ sequence }) => sequence));
    if (body['next'] === null) break;
    after = `&after=${body['next']}`;
  }
  assert.deepEqual(found, all);
  const { body } = await ask('listClients', '/clients?limit=1');
  assert.equal((await ask('listClients', `/clients?limit=1&after=${body['next']}`)).status, 200);
  const foreign = await ask('listClients', `/clients?limit=1&state=active&after=${body['next']}`);
  assert.deepEqual(foreign.body['error'] && (foreign.body['error'] as Item)['field'], 'after');
});

test('tallies are by hour or by day, failures as the app was told', async () => {
  await obtainCode(api, browser, app);
  const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code: 'x' };
  const fields = { ...form, client_id: app.clientId, client_secret: app.clientSecret };
  await fetch(`${api.appUrl}/api/auth/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) });
  await installation.activity.flush();
  const { body } = await ask('showTallies', `/clients/${app.clientId}/tallies?span=day`);
  const [day = {}] = body['tallies'] as Item[];
  assert.equal(day['at'], '2026-01-15T00:00:00.000Z');
  assert.deepEqual([day['exchanges'], day['failures'], day['invalid_grant']], [1, 1, 1]);
  const failures = await ask('showFailures', `/clients/${app.clientId}/failures?limit=1`);
  assert.equal((failures.body['failures'] as Item[])[0]?.['error'], 'invalid_grant');
  for (const path of ['tallies?span=week', 'tallies?since=x', 'failures?limit=0', 'failures?limit=201'])
    assert.equal((await call(api, key, `/v1/clients/${app.clientId}/${path}`)).status, 400, path);
});

test('the last hand-over is told without its address, and what the authorization page refused', async () => {
  const { handOvers, operator } = installation;
  for (const [kind, id, operation, path] of [
    ['client', app.clientId, 'showClient', `/clients/${app.clientId}`],
    ['resource_server', server.id, 'showResourceServer', `/resource-servers/${server.id}`],
    ['identity_provider', 'product', 'showIdentityProvider', '/identity-providers/product'],
  ] as const) {
    const { address } = await handOvers.make({ kind, id }, operator);
    const { body } = await ask(operation, path);
    const last = body['hand_over'] as Record<string, unknown>;
    assert.deepEqual([last['made_by'], last['fetched_at'], last['ended_because']], [operator.id, null, null]);
    assert.ok(!JSON.stringify(body).includes(address.split('=')[1] as string));
  }
  const uri = 'https://elsewhere.example/cb';
  await fetch(authorizeUrl(api, app, { redirect_uri: uri }));
  const { body } = await ask('showFailures', `/clients/${app.clientId}/failures`);
  const [refused = {}] = body['authorization_page'] as Record<string, unknown>[];
  assert.deepEqual([refused['error'], refused['received']], ['bad_redirect_uri', uri]);
  const refusedSince = async (time: number) => {
    const path = `/clients/${app.clientId}/failures?since=${new Date(time).toISOString()}`;
    return (await ask('showFailures', path)).body['authorization_page'] as unknown[];
  };
  const at = Date.parse(String(refused['at']));
  assert.deepEqual([await refusedSince(at), await refusedSince(at + 1)], [[refused], []]);
});

test('RFC 9110 §8.8.3: an object has a version, which a use does not change and a change does', async () => {
  const path = `/clients/${app.clientId}`;
  const before = await ask('showClient', path);
  api.clock.advance(120);
  await obtainPair(api, browser, app);
  const used = await ask('showClient', path);
  assert.notDeepEqual(used.body, before.body);
  assert.equal(used.headers.get('etag'), before.headers.get('etag'));
  await installation.clients.update(app.clientId, { homepage: 'https://app.example' }, installation.operator);
  assert.notEqual((await ask('showClient', path)).headers.get('etag'), before.headers.get('etag'));
});

test('grants of a deleted app are in no list, whatever state is asked for', async () => {
  const gone = await addClient(api, { name: 'Gone' });
  await obtainPair(api, browser, gone);
  const listed = (state = '') => items('listGrants', `/grants?client=${gone.clientId}${state}`);
  assert.equal((await listed('&state=active')).length, 1);
  await installation.clients.delete(gone.clientId, installation.operator);
  for (const state of ['', '&state=active', '&state=revoked']) assert.deepEqual(await listed(state), [], state);
});

test('a credential is identified as the command does it; nothing of it is stored or logged', async () => {
  const identify = (credential: unknown) => ask('identify', '/identify', { json: { credential } });
  const before = await installation.operators.store.lastAuditSequence();
  const known = await identify(` ${pair.accessToken}\n`);
  assert.deepEqual([known.status, known.body['kind'], known.body['alive']], [200, 'access token', true]);
  assert.equal(known.body['owner_id'], app.clientId);
  assert.equal((await identify(app.clientSecret)).body['kind'], 'client secret');
  const unknown = await identify('vk_at_canary');
  assert.deepEqual([unknown.status, (unknown.body['error'] as Item)['field']], [404, 'credential']);
  assert.match(String((unknown.body['error'] as Item)['message']), /not a credential of this installation/);
  for (const wrong of ['', 7, null, 'x'.repeat(4097)]) assert.equal((await identify(wrong)).status, 400);
  assert.equal(
    (await ask('identify', '/identify', { method: 'POST', headers: { 'Content-Type': 'text/plain' } })).status,
    415,
  );
  assert.equal(await installation.operators.store.lastAuditSequence(), before);
  for (const secret of ['canary', pair.accessToken, app.clientSecret]) assert.ok(!api.log.join('\n').includes(secret));
});

test('the state of the installation names what is wrong, with the remedy', async () => {
  const { body } = await ask('showStatus', '/status');
  const worst = body['worst'] as Item;
  assert.deepEqual([worst['area'], worst['name'], worst['verdict']], ['backup', 'last', 'warning']);
  const { created_at, due_at } = body['root_key'] as Record<string, string>;
  assert.equal(Date.parse(due_at as string) - Date.parse(created_at as string), 400 * 86_400_000);
  assert.equal(body['last_backup_at'], null);
  assert.equal((body['instances'] as string[]).length, 1);
  await installation.backups.note('elsewhere', installation.operator);
  assert.equal((await ask('showStatus', '/status')).body['last_backup_at'], null, 'it is kept for 10 seconds');
  api.clock.advance(11);
  assert.ok((await ask('showStatus', '/status')).body['last_backup_at']);
});

test('every route below /v1 is described, and each description is of a route', async () => {
  const paths = [...described.operations].map(([id, { method, urls }]) => [
    id,
    method,
    urls[0]?.slice(api.operatorUrl.length),
  ]);
  assert.ok(paths.length >= 17);
  for (const [id, method, path] of paths) {
    const filled = String(path).replaceAll(/\{\w+\}/g, 'none');
    const answer = await call(api, null, filled, { method: String(method) });
    assert.ok([200, 401].includes(answer.status), `${id} ${answer.status}`);
    if (answer.status === 401) described.check(String(id), answer as never);
  }
  const json = await (await fetch(`${api.operatorUrl}/openapi.json`)).json();
  assert.equal(json.openapi, '3.1.0');
  assert.equal((await fetch(`${api.appUrl}/v1/clients`)).status, 404, 'nothing of it is at other addresses');
  assert.doesNotMatch(JSON.stringify(await (await fetch(`${api.appUrl}/openapi.json`)).json()), /\/v1\//);
});
