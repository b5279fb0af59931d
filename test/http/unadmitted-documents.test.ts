/** Ids that are addresses, and that the operator did not admit: whatever is asked with them, nobody is asked about them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { startOnFile } from '../support/on-file.ts';
import { addClient, startTestService, type TestService } from '../support/service.ts';
import { ASSERTION_TYPE, assertionClaims, basic, DEVICE_GRANT, PKCE, VERIFIER } from '../support/standard.ts';

const IDS = 1000;
/** Requests that are under way at a time. */
const AT_ONCE = 40;

/** Something on loopback that counts who connects: an installation on loopback may fetch documents there. */
async function listening(t: { after(end: () => void): void }) {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

type Asked = { readonly path: string; readonly init: RequestInit };
type Ask = (id: string) => Asked | Promise<Asked>;

function form(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Asked {
  return { path, init: { method: 'POST', body: new URLSearchParams(fields), headers } };
}

/** Every endpoint that takes a client's id, in each way in which it takes one. */
function endpoints(service: TestService): Readonly<Record<string, Ask>> {
  const request = (id: string) => ({
    client_id: id,
    redirect_uri: 'http://localhost/callback',
    response_type: 'code',
    state: 's',
    ...PKCE,
  });
  const get = (path: string) => (id: string) => ({ path: `${path}?${new URLSearchParams(request(id))}`, init: {} });
  const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'http://localhost/callback' };
  const refresh = { grant_type: 'refresh_token', refresh_token: 'x' };
  const token = (fields: Record<string, string>) => (id: string) =>
    form('/oauth2/token', { client_id: id, ...fields }, { Origin: 'https://agent.example' });
  return {
    'authorize, published': get('/auth/oauth2/authorize'),
    'authorize, standard': get('/oauth2/authorize'),
    'the form of consent': (id) => form(`/oauth2/authorize?${new URLSearchParams(request(id))}`, { decision: 'allow' }),
    'a pushed request': (id) => form('/oauth2/par', request(id)),
    'a reference to a pushed request': (id) => {
      const query = new URLSearchParams({ client_id: id, request_uri: 'urn:ietf:params:oauth:request_uri:x' });
      return { path: `/oauth2/authorize?${query}`, init: {} };
    },
    'device authorization': (id) => form('/oauth2/device_authorization', { client_id: id }),
    'a code': token({ ...code, code_verifier: VERIFIER }),
    'a refresh': token(refresh),
    'a device code': token({ grant_type: DEVICE_GRANT, device_code: 'x' }),
    'another grant type': token({ grant_type: 'client_credentials' }),
    'a secret in the body': token({ ...refresh, client_secret: 'x' }),
    'a secret by Basic': (id) => form('/oauth2/token', refresh, basic(id, 'x')),
    'an assertion': async (id) => {
      const client = { clientId: id, clientSecret: '' };
      const assertion = await new SignJWT(assertionClaims(service, client as never))
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode('a secret of 32 bytes or more, made up'));
      return form('/oauth2/token', {
        ...refresh,
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: assertion,
      });
    },
    'a revocation': (id) => form('/oauth2/revoke', { client_id: id, token: 'x' }),
    'an introspection': (id) => form('/oauth2/introspect', { token: 'x' }, basic(id, 'x')),
    'the stream of revocations': (id) => ({ path: '/oauth2/revocations', init: { headers: basic(id, 'x') } }),
    'the published token request': (id) =>
      form('/api/auth/oauth/token', { ...code, client_id: id, client_secret: 'x' }),
    'the published refresh': (id) =>
      form(
        '/api/auth/oauth/refreshToken',
        { grant_type: 'refresh_token', client_id: id, client_secret: 'x' },
        {
          Authorization: 'Bearer x',
        },
      ),
    'a sign-in of a product': (id) => ({
      path: '/api/auth/oauth/sign-in',
      init: { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json', ...basic(id, 'x') } },
    }),
    'the check': (id) => ({ path: '/v2/me', init: { headers: { Authorization: `Bearer ${id}` } } }),
  };
}

/** Number of rows of each table, but for the checkpoint that the service adds to its trail when it stops. */
function rowsOf(path: string): Record<string, number> {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  const count = (name: string) => {
    const which = name === 'audit_event' ? "WHERE action <> 'audit_checkpoint'" : '';
    return Number(database.prepare(`SELECT count(*) AS count FROM "${name}" ${which}`).get()?.['count']);
  };
  const rows = Object.fromEntries(tables.map(({ name }) => [name, count(name)]));
  database.close();
  return rows;
}

async function send({ appUrl, apiUrl }: TestService, { path, init }: Asked, source: string): Promise<Response> {
  const origin = path.startsWith('/v2/') ? apiUrl : appUrl;
  const headers = { ...(init.headers as Record<string, string>), 'X-Forwarded-For': source };
  return fetch(origin + path, { ...init, headers, redirect: 'manual' });
}

test('draft-ietf-oauth-client-id-metadata-document §5, §9.1, SSRF: 1,000 ids that nobody admitted, at every endpoint, cause no connection and no row', async (t) => {
  const { port, connections } = await listening(t);
  const { service, path } = await startOnFile(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' });
  await addClient(service);
  const before = rowsOf(path);
  const statuses = new Map<string, Set<number>>();
  for (const [name, ask] of Object.entries(endpoints(service))) {
    const seen = new Set<number>();
    for (let first = 0; first < IDS; first += AT_ONCE)
      await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, IDS - first) }, async (_, at) => {
          const n = first + at;
          // Each from a source of its own, so that every one is looked at, and none is refused for the others.
          const host = ['127.0.0.1', 'localhost', '[::1]'][n % 3];
          const id = `${n % 4 === 0 ? 'http' : 'https'}://${host}:${port}/agents/${n}.json`;
          const answer = await send(service, await ask(id), `10.${n % 250}.${n >> 8}.${n % 199}`);
          await answer.arrayBuffer();
          seen.add(answer.status);
        }),
      );
    statuses.set(name, seen);
  }
  for (const [name, seen] of statuses)
    for (const status of seen) assert.ok([400, 401, 403].includes(status), `${name}: ${status}`);
  assert.equal(connections(), 0);
  await service.stop(); // What is written behind is written by then.
  assert.deepEqual(rowsOf(path), before);
});

test('ids that nobody admitted share one counter, so that made-up ids neither fill memory nor give more guesses', async (t) => {
  const service = await startTestService(t);
  const statuses: number[] = [];
  for (let n = 0; n < IDS; n++) {
    const asked = form('/oauth2/par', { client_id: `https://agent.example/${n}.json` });
    const answer = await fetch(service.appUrl + asked.path, asked.init);
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  const looked = statuses.filter((status) => status === 401).length;
  assert.equal(looked, 30, 'as many as may be wrong of one client from one source');
  assert.ok(statuses.slice(30).every((status) => status === 429));
});

test('draft-ietf-oauth-client-id-metadata-document §5.1: an id that nobody admitted is shown as text, with who can admit it', async (t) => {
  const service = await startTestService(t);
  const visit = async (id: string, language = 'en') => {
    const query = new URLSearchParams({ client_id: id, redirect_uri: 'https://agent.example/cb', state: 's' });
    const headers = { 'Accept-Language': language };
    const answer = await fetch(`${service.appUrl}/oauth2/authorize?${query}`, { headers, redirect: 'manual' });
    assert.equal(answer.status, 400);
    return answer.text();
  };
  const id = "https://agent.example/a'b&c/client.json?x=%3Cb%3E";
  const page = await visit(id);
  assert.ok(page.includes('https://agent.example/a&#39;b&amp;c/client.json?x=%3Cb%3E'));
  assert.match(page, /ask the people who run this service: they can admit it/);
  assert.doesNotMatch(page, /href="https:\/\/agent\.example/);
  assert.match(await visit('https://agent.example/client.json', 'ar'), /فاسأل القائمين على هذه الخدمة: يمكنهم قبوله/);
  const line = service.log.map((each) => JSON.parse(each)).findLast(({ error }) => error === 'unadmitted_client');
  assert.equal(line.client_id, 'https://agent.example/client.json');
  assert.ok(!service.log.some((each) => each.includes('%3Cb')), 'nothing of a query is logged');
  for (const none of [
    'https://agent.example/',
    `https://agent.example/${'a'.repeat(300)}`,
    'https://agent.example/<b>',
  ])
    assert.doesNotMatch(await visit(none), /agent\.example/, 'what can be no document is not shown');
});

test('draft-ietf-oauth-client-id-metadata-document §3: ids are compared as strings, so that another spelling is another id', async (t) => {
  const service = await startTestService(t);
  const address = 'https://agent.example/client.json';
  const settings = { name: 'Agent', redirectUris: ['https://agent.example/cb'] };
  const document = { address, sha256: 'ab'.repeat(32), jwksUri: null, fetchedAt: service.clock.now() };
  await service.installation.clients.register('public', settings, service.installation.operator, document);
  const visit = async (id: string) => {
    const query = {
      client_id: id,
      redirect_uri: 'https://agent.example/cb',
      response_type: 'code',
      state: 's',
      ...PKCE,
    };
    return (await fetch(`${service.appUrl}/oauth2/authorize?${new URLSearchParams(query)}`)).status;
  };
  assert.equal(await visit(address), 200);
  for (const other of [
    'https://agent.example:443/client.json',
    'https://AGENT.example/client.json',
    'https://agent.example/Client.json',
    'https://agent.example/client.json?',
    'https://agent.example/a/../client.json',
    'https://agent.example/%63lient.json',
    'http://agent.example/client.json',
    'https://agent.example./client.json',
  ])
    assert.equal(await visit(other), 400, other);
});
