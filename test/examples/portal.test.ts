// The portal of examples/: a developer registers an app there, and picks up its secret at the service.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Browser } from '../support/browser.ts';
import { addKey, startApi } from '../support/operator-api.ts';
import { freePort } from '../support/service.ts';

const FILE = 'examples/portal-express/server.mjs';
const RIGHTS = ['clients.read', 'clients.write', 'clients.secrets'] as const;

const api = await startApi({ after });
const portalUrl = `http://localhost:${await freePort()}`;
const { key, operator } = await addKey(api, 'admin', RIGHTS);
const env = {
  ...{ PATH: process.env['PATH'], PORT: new URL(portalUrl).port },
  ...{ OPERATOR_URL: api.operatorUrl, OPERATOR_KEY: key },
};
const child = spawn(process.execPath, [FILE], { env, stdio: ['ignore', 'pipe', 'inherit'] });
after(() => void child.kill('SIGKILL'));
await Promise.race([
  once(child.stdout, 'data'),
  once(child, 'exit').then(() => Promise.reject(new Error(`${FILE} ended at once`))),
]);

const clientIdIn = (page: string) => /<code>(app_\w+)<\/code>/.exec(page)?.[1] ?? '';
const addressIn = (page: string) => /href="([^"]+pick-up[^"]+)"/.exec(page)?.[1]?.replaceAll('&#38;', '&') ?? '';

test('a portal of your own has less than 150 lines', () => {
  assert.ok(readFileSync(FILE, 'utf8').split('\n').length < 150);
});

test('a portal registers an app, and its secret is seen only at the one-time address', async () => {
  const browser = new Browser();
  const form = await browser.get(`${portalUrl}/`);
  const fields = { name: 'Acme <Mail>', redirect_uri: 'https://acme.test/callback' };
  const registered = await browser.submit(form, '/apps', fields);
  assert.equal(registered.status, 200, registered.body);
  const [id, address] = [clientIdIn(registered.body), addressIn(registered.body)];
  const client = await api.installation.clients.show(id);
  assert.deepEqual([client.name, client.secrets], ['Acme <Mail>', []], 'no secret lies about');
  assert.doesNotMatch(registered.body, /vk_cs_|<Mail>/);

  const again = await browser.submit(form, '/apps', fields);
  assert.match(again.body, /registered before/, 'a second press registers nothing');
  assert.match((await browser.get(`${portalUrl}/`)).body, new RegExp(`${id}\\), active`));

  const pickUp = await browser.get(address);
  const shown = await browser.submit(pickUp, new URL(address).pathname);
  assert.match(shown.body, /vk_cs_/);
  assert.equal((await api.installation.clients.show(id)).secrets.length, 1);

  const [event] = await api.installation.audit.listNamedAuditEvents({ action: 'client_registered', limit: 1 });
  assert.deepEqual([event?.actor.kind, event?.actor.id], ['operator', operator.id], 'the audit trail names the portal');
});

test('a portal registers an app of its own for a form that another developer sent word by word', async () => {
  const fields = { name: 'Copied', redirect_uri: 'https://copied.test/callback', order: 'a'.repeat(32) };
  const ids: string[] = [];
  for (const developer of [new Browser(), new Browser()]) {
    await developer.get(`${portalUrl}/`);
    ids.push(clientIdIn((await developer.post(`${portalUrl}/apps`, fields)).body));
  }
  assert.match(ids[0] ?? '', /^app_/);
  assert.notEqual(ids[0], ids[1]);
  const developer = new Browser();
  await developer.get(`${portalUrl}/`);
  assert.equal((await developer.post(`${portalUrl}/apps`, { ...fields, order: '' })).status, 400);
});

test('a portal says what is wrong with an app, in the words of the API', async () => {
  const browser = new Browser();
  const form = await browser.get(`${portalUrl}/`);
  const refused = await browser.submit(form, '/apps', { name: 'Acme', redirect_uri: 'ftp://acme.test' });
  assert.equal(refused.status, 303);
  assert.match((await browser.get(`${portalUrl}/`)).body, /redirect URI/);
  const foreign = await new Browser().post(`${portalUrl}/apps`, { name: 'Acme' });
  assert.equal(foreign.status, 403, 'a form of another site');
});
