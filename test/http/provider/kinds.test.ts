// What is said and stored at sign-ins elsewhere: credentials of each kind stay where they belong, and nothing tells them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { PublicKey } from '../../../src/oauth/clients/client.ts';
import { makeRootKey } from '../../../src/settings/root-keys.ts';
import { Browser } from '../../support/browser.ts';
import { assertRefused, authorizeUrl, postBody } from '../../support/flow.ts';
import {
  redirectOf,
  registerAhead,
  registerProvider,
  requestOf,
  signInThrough,
  state,
} from '../../support/provider.ts';
import { addClient, Clock, type Lifetime, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  ASSERTION_TYPE,
  addResourceServer,
  assertionClaims,
  basic,
  type Key,
  makeKey,
} from '../../support/standard.ts';

/** A service on a file, where people sign in at a provider; and all that its database holds, as text. */
async function startOnFile(t: Lifetime, keys: readonly PublicKey[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  const file = join(folder, 'valetkey.db');
  const database = { VALETKEY_DATABASE_URL: `sqlite:${file}`, VALETKEY_KEYS: makeRootKey() };
  const clock = new Clock();
  const provider = await registerAhead(database, { keys }, clock);
  const service = await startTestService(t, { ...database, VALETKEY_SIGN_IN_METHODS: 'product' }, clock);
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const stored = () => {
    const reader = new DatabaseSync(file, { readOnly: true });
    const tables = reader.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
    const rows = tables.flatMap(({ name }) => reader.prepare(`SELECT * FROM "${name}"`).all());
    reader.close();
    return { rows: rows.length, text: rows.map((row) => Object.values(row).map(asText).join(' ')).join('\n') };
  };
  return { service, provider, stored };
}

function asText(value: unknown): string {
  return value instanceof Uint8Array
    ? `${Buffer.from(value).toString('base64url')} ${Buffer.from(value).toString('latin1')}`
    : String(value);
}

test('Promise 4: neither log, audit trail nor database holds a sign-in request, a ticket or a secret of browser or provider', async (t) => {
  const { service, provider, stored } = await startOnFile(t);
  const secrets: string[] = [provider.secret];
  const client = await addClient(service);
  const walk = async (finish: (address: string, browser: Browser) => Promise<unknown>) => {
    const browser = new Browser();
    const request = requestOf(await browser.get(authorizeUrl(service, client)));
    const address = redirectOf(await state(service, provider, request), service);
    secrets.push(request, new URL(address).searchParams.get('ticket') ?? '', ...browser.cookies.values());
    await finish(address, browser);
    secrets.push(...browser.cookies.values());
    await state(service, provider, request, { subject: 'grace' });
    await state(service, { ...provider, secret: 'canary-wrong' }, request);
  };
  await walk((address, browser) => browser.get(address));
  await walk((address) => new Browser().get(address));
  await walk((address) => new Browser({ 'Sec-Purpose': 'prefetch' }).get(address));
  await new Browser().get(`${service.appUrl}/sign-in/continue?ticket=canary-wrong`);
  secrets.push('canary-wrong');
  assert.ok(secrets.length >= 12);
  const { text } = stored();
  assert.match(text, /sign_in_request_conflict/);
  for (const secret of secrets) {
    assert.ok(!service.log.join('').includes(secret), 'the log');
    assert.ok(!text.includes(secret), 'the database');
    const halves = Buffer.from(secret, 'base64url');
    for (const part of [halves, halves.subarray(16)])
      assert.ok(part.length < 32 || !text.includes(part.toString('latin1')), 'the database, as bytes');
  }
});

test('Promise 5: who only asks for pages, or guesses, leaves no row at sign-ins elsewhere', async (t) => {
  const { service, provider, stored } = await startOnFile(t);
  const client = await addClient(service);
  const { rows } = stored();
  const request = requestOf(await new Browser().get(authorizeUrl(service, client)));
  for (let n = 0; n < 5; n += 1) {
    for (const path of ['/account/apps', '/device?user_code=x', '/sign-in', '/sign-in/with?provider=product'])
      requestOf(await new Browser().get(service.appUrl + path));
    for (const ticket of ['', 'x'.repeat(64), 'A'.repeat(64)])
      assert.equal((await new Browser().get(`${service.appUrl}/sign-in/continue?ticket=${ticket}`)).status, 400);
    assertRefused(await state(service, { ...provider, secret: 'x' }, request), 401, 'invalid_client');
  }
  assert.equal(stored().rows, rows);
  await signInThrough(service, provider, new Browser(), authorizeUrl(service, client));
  assert.ok(stored().rows > rows, 'a sign-in does');
});

/** Whose credentials they are, and where each kind of them is for. */
const ENDPOINTS: Readonly<Record<string, readonly [path: string, fields: Record<string, string>][]>> = {
  client: [
    ['/api/auth/oauth/token', { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT_URI }],
    ['/api/auth/oauth/refreshToken', { grant_type: 'refresh_token', refresh_token: 'x' }],
    ['/oauth2/token', { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT_URI }],
    ['/oauth2/revoke', { token: 'x' }],
    ['/oauth2/par', { redirect_uri: REDIRECT_URI, response_type: 'code', state: 'x' }],
    ['/oauth2/device_authorization', {}],
  ],
  'resource server': [['/oauth2/introspect', { token: 'x' }]],
  provider: [
    ['/api/auth/oauth/sign-in', { sign_in_request: 'x', subject: 'ada' }],
    ['/api/auth/oauth/users/end-sessions', { subject: 'ada' }],
  ],
};

test('RFC 7523 §3: no secret and no assertion of one kind is taken at an endpoint of another', async (t) => {
  const keys: Record<string, Key> = { client: makeKey(), provider: makeKey() };
  const { service } = await startOnFile(t, [keys['provider']?.jwk as PublicKey]);
  const withKey = await addClient(service, { keys: [keys['client']?.jwk as PublicKey] });
  const withSecret = await addClient(service);
  const resourceServer = await addResourceServer(service);
  const second = await registerProvider(service, { id: 'second' });
  const ids: Record<string, string> = {
    client: withKey.clientId,
    'resource server': resourceServer.id,
    provider: 'product',
  };
  const secrets = {
    client: { id: withSecret.clientId, secret: withSecret.clientSecret },
    'resource server': resourceServer,
    provider: second,
  };
  const post = async (path: string, fields: Record<string, unknown>, headers = {}) =>
    (await postBody(service.appUrl + path, fields, { 'Content-Type': 'application/json', ...headers })).status;
  let tried = 0;
  for (const [kind, endpoints] of Object.entries(ENDPOINTS))
    for (const [path, fields] of endpoints) {
      service.clock.advance(3600); // Nobody is slowed down.
      for (const [owner, { id, secret }] of Object.entries(secrets)) {
        if (owner === kind) continue;
        for (const claimed of [id, ids[kind]])
          assert.notEqual(
            Math.floor((await post(path, { ...fields, client_id: claimed, client_secret: secret })) / 100),
            2,
          );
        assert.equal(
          await post(path, fields, basic(id, secret)),
          path.includes('refreshToken') ? 400 : 401,
          `${owner} at ${path}`,
        );
        tried += 1;
      }
      for (const [owner, key] of Object.entries(keys))
        for (const name of Object.values(ids)) {
          const client_assertion = await key.sign(assertionClaims(service, { clientId: name, clientSecret: '' }));
          const proof = { client_assertion, client_assertion_type: ASSERTION_TYPE };
          const status = await post(path, { ...fields, client_id: name, ...proof });
          const isOwn = owner === kind && name === ids[kind];
          // A code that is none is 400, as what is refused at the published face, which takes no assertion.
          if (isOwn && !path.endsWith('oken')) assert.notEqual(status, 401, path);
          else assert.ok([400, 401].includes(status), `an assertion of a ${owner} as ${name} at ${path}: ${status}`);
          tried += 1;
        }
    }
  assert.equal(tried, 9 * (2 + 6));
});
