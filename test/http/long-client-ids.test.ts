/**
 * Ids of 255 characters, the longest that there are: the address of a metadata document can be so long. They work wherever an id
 * of ours does.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import type { Visit } from '../support/browser.ts';
import { runCommand } from '../support/command.ts';
import { me, pairOf, signedInBrowser } from '../support/flow.ts';
import { PATIENT } from '../support/postgres.ts';
import { addUser, Clock, REDIRECT_URI, startTestService, type TestService } from '../support/service.ts';
import { type SharedPostgres, sharedPostgres } from '../support/shared-postgres.ts';
import {
  addResourceServer,
  allowOn,
  assertionFields,
  authorizationRequest,
  basic,
  DEVICE_GRANT,
  exchangeCode,
  introspect,
  type Key,
  makeKey,
  post,
  postAs,
  refreshWith,
  scopes,
  standardUrl,
  VERIFIER,
} from '../support/standard.ts';
import { storesOfRun } from '../support/stores.ts';

/** Characters that a form, an address or a page writes otherwise, and no query: the log names an id without one. */
const ODD = "/~(a)*'b'!;c=d&e,$f@g:h/%C3%A9+";

/** An address of 255 characters on a host. */
function longId(host: string): string {
  const start = `https://${host}${ODD}`;
  return start.padEnd(255, 'x');
}

let server: SharedPostgres | undefined;
after(() => server?.remove());

const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** The variables of a service on each store. */
const STORES: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
  SQLite: async () => {
    const own = mkdtempSync(join(folder, 'store-'));
    return { VALETKEY_DATABASE_URL: `sqlite:${join(own, 'valetkey.db')}`, VALETKEY_KEYS_FILE: join(own, 'keys') };
  },
  PostgreSQL: async () => {
    server ??= await sharedPostgres();
    return { VALETKEY_DATABASE_URL: await server.createDatabase(), VALETKEY_KEYS: makeRootKey() };
  },
};

/** A client of a service, by the address of a document that was admitted; with a key it is confidential. */
async function admit({ installation }: TestService, id: string, name: string, key: Key | null) {
  const settings = { name, redirectUris: [REDIRECT_URI], scopes: scopes('mail'), deviceFlow: true };
  const document = { address: id, sha256: 'ab'.repeat(32), jwksUri: null, fetchedAt: 0 };
  const keys = key ? [key.jwk] : [];
  await installation.clients.register(
    key ? 'confidential' : 'public',
    { ...settings, keys },
    installation.operator,
    document,
  );
  return { clientId: id, clientSecret: '' };
}

const codeIn = (location: URL) => String(location.searchParams.get('code'));
const isConsent = ({ status, body }: Visit) => status === 200 && body.includes('value="allow"');

for (const [store, variablesOf] of storesOfRun(STORES)) {
  async function setUp(t: TestContext) {
    const variables = await variablesOf();
    const service = await startTestService(t, variables, new Clock(), PATIENT);
    await addUser(service);
    return { service, ada: await signedInBrowser(service), api: await addResourceServer(service), variables };
  }

  test(`${store}: an app whose id has 255 characters is allowed, gets tokens in every way, and ends them`, async (t) => {
    const { service, ada, api } = await setUp(t);
    const id = longId('agent.example');
    assert.equal(id.length, 255);
    const client = await admit(service, id, 'Agent', null);
    const page = await ada.get(standardUrl(service, client));
    assert.ok(isConsent(page));
    assert.match(page.body, /agent\.example/, 'its host is shown');
    const first = pairOf(await exchangeCode(service, client, codeIn(await allowOn(ada, page))));

    const pushed = await postAs(service, client, 'par', authorizationRequest(client));
    assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
    const reference = new URLSearchParams({ client_id: id, request_uri: String(pushed.body['request_uri']) });
    const again = await ada.get(`${service.appUrl}/oauth2/authorize?${reference}`);
    const code = codeIn(await allowOn(ada, again));
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
    const second = pairOf(await post(service, 'token', exchange, basic(id, '')));

    const { body } = await postAs(service, client, 'device_authorization');
    const device = await ada.get(String(body['verification_uri_complete']));
    assert.ok(isConsent(device));
    assert.equal((await ada.submit(device, '/device', { decision: 'allow' })).status, 200);
    const poll = { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) };
    const third = pairOf(await postAs(service, client, 'token', poll));

    const next = pairOf(await refreshWith(service, client, first.refreshToken));
    for (const { accessToken } of [next, second, third]) {
      const told = await introspect(service, api, accessToken);
      assert.deepEqual([told.body['active'], told.body['client_id']], [true, id]);
      const checked = await me(service, accessToken);
      assert.deepEqual([checked.status, Object(checked.body['authorization']).client_id], [200, id]);
    }
    assert.equal((await postAs(service, client, 'revoke', { token: second.refreshToken })).status, 200);
    assert.equal((await me(service, second.accessToken)).status, 401);

    const apps = await ada.get(`${service.appUrl}/account/apps`);
    assert.equal(apps.status, 200);
    const removed = await ada.submit(apps, '/account/apps/revoke', { client_id: id });
    assert.equal(removed.status, 303);
    const after = await ada.get(new URL(String(removed.headers.get('location')), service.appUrl).href);
    assert.equal(after.status, 200);
    assert.match(after.body, /Agent/, 'it says what was removed');
  });

  test(`${store}: one that proves itself with its key likewise`, async (t) => {
    const { service, ada, api } = await setUp(t);
    const key = makeKey();
    const client = await admit(service, longId('keys.example'), 'Keys', key);
    const prove = () => assertionFields(service, client, key);
    const pushed = await post(service, 'par', { ...authorizationRequest(client), ...(await prove()) });
    assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
    const reference = { client_id: client.clientId, request_uri: String(pushed.body['request_uri']) };
    const page = await ada.get(`${service.appUrl}/oauth2/authorize?${new URLSearchParams(reference)}`);
    const code = codeIn(await allowOn(ada, page));
    const { accessToken, refreshToken } = pairOf(await exchangeCode(service, client, code, await prove()));
    assert.equal((await introspect(service, api, accessToken)).body['client_id'], client.clientId);
    const next = pairOf(await refreshWith(service, client, refreshToken, await prove()));
    assert.equal((await post(service, 'revoke', { token: next.refreshToken, ...(await prove()) })).status, 200);
    assert.equal((await me(service, next.accessToken)).status, 401);
  });

  test(`${store}: the commands, the trail and the log name an id of 255 characters whole`, async (t) => {
    const { service, ada, variables } = await setUp(t);
    const [id, other] = [longId('agent.example'), longId('other.example')];
    const client = await admit(service, id, 'Agent', null);
    await admit(service, other, 'Other', null);
    const page = await ada.get(standardUrl(service, client));
    pairOf(await exchangeCode(service, client, codeIn(await allowOn(ada, page))));
    assert.ok(service.log.some((line) => line.includes(JSON.stringify(id))));
    const run = async (...words: string[]) => {
      const { code, stdout, stderr } = await runCommand(words, { ...variables, VALETKEY_APP_URL: service.appUrl });
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.equal(JSON.parse(await run('client', 'show', id, '--json')).client_id, id);
    assert.ok((await run('client', 'show', id)).includes(id));
    assert.ok((await run('client', 'list')).includes(id));
    const listed = JSON.parse(await run('client', 'list', '--after', id, '--json')) as { client_id: string }[];
    assert.deepEqual(
      listed.map(({ client_id }) => client_id),
      [other],
    );
    for (const list of ['grant list', 'audit list']) {
      const rows = JSON.parse(await run(...list.split(' '), '--client', id, '--json')) as { client_id: string }[];
      assert.ok(rows.length > 0 && rows.every(({ client_id }) => client_id === id), list);
      assert.ok((await run(...list.split(' '), '--client', id)).length > 0);
    }
    assert.match(await run('audit', 'verify'), /./);
    await run('client', 'pause', id);
    await run('client', 'resume', id);
    await run('client', 'revoke-grants', id, '--yes');
    await run('client', 'delete', id, '--yes');
    assert.ok(!(await run('client', 'list')).includes(id));
  });
}
