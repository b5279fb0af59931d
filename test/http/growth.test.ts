import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Browser } from '../support/browser.ts';
import { signedInBrowser } from '../support/flow.ts';
import { startOnFile } from '../support/on-file.ts';
import { addClient, addUser } from '../support/service.ts';
import {
  addResourceServer,
  allowOn,
  assertionFields,
  authorizationRequest,
  DEVICE_GRANT,
  exchangeCode,
  introspect,
  makeKey,
  PKCE,
  post,
  postAs,
  refreshWith,
  standardUrl,
} from '../support/standard.ts';

/** How many rows each table of a database has. */
function countRows(path: string): Record<string, number> {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  const count = (name: string) => Number(database.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.['count']);
  const counted = Object.fromEntries(tables.map(({ name }) => [name, count(name)]));
  database.close();
  return counted;
}

test('Promise 5: whatever nobody in particular asks for, the database does not grow by a row', async (t) => {
  const { service, path } = await startOnFile(t);
  await addUser(service);
  const [key, otherKey] = [makeKey(), makeKey()];
  const settings = { deviceFlow: true, redirectUris: ['https://client.example/callback'] };
  const app = await addClient(service, settings, 'public');
  const confidential = await addClient(service, settings);
  const keyed = await addClient(service, { ...settings, keys: [key.jwk] });
  const resourceServer = await addResourceServer(service);
  const browser = await signedInBrowser(service);
  const before = countRows(path);

  const { appUrl } = service;
  const stranger = new Browser();
  for (let time = 0; time < 5; time++) {
    const { body: codes } = await postAs(service, app, 'device_authorization');
    await postAs(service, app, 'token', { grant_type: DEVICE_GRANT, device_code: String(codes['device_code']) });
    const { body: pushed } = await postAs(service, app, 'par', authorizationRequest(app, { state: `${time}` }));
    const reference = new URLSearchParams({ client_id: app.clientId, request_uri: String(pushed['request_uri']) });
    for (const url of [
      `${appUrl}/oauth2/authorize?${reference}`,
      standardUrl(service, confidential),
      standardUrl(service, confidential, { prompt: 'none' }),
      standardUrl(service, confidential, { prompt: 'login' }),
      standardUrl(service, confidential, { scope: 'nope' }),
      String(codes['verification_uri_complete']),
      `${appUrl}/.well-known/oauth-authorization-server`,
    ]) {
      await stranger.get(url);
      await browser.get(url); // Looking is not deciding, for who is signed in either.
    }
    await postAs(service, app, 'revoke', { token: 'x' });
    await exchangeCode(service, app, 'x');
    await refreshWith(service, app, 'x');
    await post(service, 'token', { grant_type: 'refresh_token', refresh_token: 'x', ...PKCE });
    await postAs(service, { ...confidential, clientSecret: 'x' }, 'par', authorizationRequest(confidential));
    await introspect(service, { ...resourceServer, secret: 'x' }, 'x');
    await post(service, 'revoke', { token: 'x', ...(await assertionFields(service, keyed, otherKey)) });
    await fetch(`${appUrl}/oauth2/revocations`);
  }
  assert.deepEqual(countRows(path), before);

  const code = String((await allowOn(browser, await browser.get(standardUrl(service, app)))).searchParams.get('code'));
  await exchangeCode(service, app, code);
  await post(service, 'revoke', { token: 'x', ...(await assertionFields(service, keyed, key)) });
  // A use is written behind, within a second: here of the public app, which was issued tokens, and of the key.
  const grown = () =>
    Object.fromEntries(
      Object.entries(countRows(path))
        .map(([name, count]) => [name, count - Number(before[name])] as const)
        .filter(([, count]) => count > 0)
        .sort(),
    );
  while ((grown()['secret_use'] ?? 0) < 2) await nextTurn();
  const expected = { audit_event: 1, client_assertion: 1, client_assertion_total: 1, oauth_grant: 1, secret_use: 2 };
  assert.deepEqual(grown(), expected, 'one Allow is one row');
});
