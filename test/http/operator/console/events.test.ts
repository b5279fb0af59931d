// The audit trail in the console, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUDIT_ACTIONS, auditEvent } from '../../../../src/oauth/trail/audit.ts';
import { enrolledOperator, startConsole } from '../../../support/console.ts';
import { addClient } from '../../../support/service.ts';

/** The text of a page, without its markup. */
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
const rowsOf = (body: string) => (body.match(/<th scope="row"/g) ?? []).length;

test('operators §7: events are filtered by app, person, grant, action, operator and day', async (t) => {
  const service = await startConsole(t);
  const { installation, clock, operatorUrl } = service;
  const { clientId } = await addClient(service, { name: 'Calendar' });
  const by = installation.operator;
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  await installation.clients.pause(clientId, by);
  clock.advance(3 * 86_400);
  await installation.clients.resume(clientId, by);
  const { id: user } = await installation.accounts.add(
    { email: 'ada@example.com', name: 'Ada', username: null, password: 'a long password' },
    by,
  );
  // After the clock’s days, since they would end the session.
  const { browser, operator } = await enrolledOperator(service, 'read', 'Ann Reader');
  const get = async (query: string) => (await browser.get(`${operatorUrl}/events${query}`)).body;

  const ofApp = await get(`?client=${clientId}`);
  assert.match(textOf(ofApp), /Resumed an app .* Paused an app .* Registered an app/, 'newest first');
  assert.match(ofApp, new RegExp(`href="/apps/${clientId}"`));
  assert.equal(rowsOf(await get(`?client=${clientId}&action=client_paused`)), 1);
  assert.equal(rowsOf(await get(`?client=${clientId}&until=${day}`)), 2, 'the day itself counts');
  assert.equal(rowsOf(await get(`?client=${clientId}&since=${day}`)), 3);
  const later = new Date(clock.now()).toISOString().slice(0, 10);
  assert.equal(rowsOf(await get(`?client=${clientId}&since=${later}`)), 1);
  assert.match(await get(`?user=${user}`), new RegExp(`href="/people/${user}"`));
  const byMail = await browser.get(`${operatorUrl}/events?user=Ada%40example.com`);
  assert.deepEqual([byMail.status, byMail.headers.get('location')], [303, `/events?user=${user}`]);
  assert.match(textOf(await get('?user=nobody%40example.com')), /No event found/);
  assert.match(textOf(await get('?grant=ABC')), /No event found/);
  const acts = await get('?operator=Ann%20Reader');
  assert.match(textOf(acts), /Added a passkey/);
  assert.equal(rowsOf(acts), rowsOf(await get(`?operator=${operator.id}`)), 'a name or an id');
  assert.doesNotMatch(textOf(acts.slice(acts.indexOf('<tbody'))), /Registered an app/);
  assert.ok(rowsOf(await get('?action=nonsense&since=nonsense')) > 3, 'values that no form sends filter nothing');
});

test('operators §7: one event is shown whole, and leads to what it names', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { installation, operatorUrl } = service;
  const { clientId } = await addClient(service, { name: 'Calendar' });
  const [event] = await installation.audit.listNamedAuditEvents({ clientId, limit: 1 });
  const { status, body } = await browser.get(`${operatorUrl}/events/${event?.sequence}`);
  assert.equal(status, 200);
  assert.match(textOf(body), /Registered an app .*\(a command\)/);
  for (const href of [`/apps/${clientId}`, `/events?client=${clientId}`])
    assert.ok(body.includes(`href="${href}"`), href);
  for (const gone of ['0', '1e3', '999999', 'x', '99999999999999999999'])
    assert.equal((await browser.get(`${operatorUrl}/events/${gone}`)).status, 404, gone);
});

test('operators §7: pages of events of every kind, with hostile texts, stay below 50 KB', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { installation, operatorUrl, clock } = service;
  const hostile = `<script>alert(1)</script>${'ä'.repeat(300)}`;
  const { clientId } = await addClient(service, { name: '<script>alert(1)</script>' });
  for (const action of AUDIT_ACTIONS)
    await installation.audit.recordDenial(
      auditEvent(action, installation.operator, clock.now(), {
        clientId,
        detail: hostile,
        resourceOwnerId: 'acc_gone',
      }),
    );
  const one = (await browser.get(`${operatorUrl}/events`)).body;
  assert.equal(rowsOf(one), 40);
  assert.doesNotMatch(one, /<script>alert/);
  assert.ok(Buffer.byteLength(one) < 50_000, `${Buffer.byteLength(one)} bytes`);
  const next = /rel="next" href="([^"]*)"/.exec(one)?.[1]?.replaceAll('&amp;', '&');
  const two = (await browser.get(operatorUrl + String(next))).body;
  assert.ok(rowsOf(two) > 20);
  assert.match(two, /First page/);
  const foreign = await browser.get(`${operatorUrl}/events?grant=abc&after=abc`);
  assert.deepEqual([foreign.status, foreign.headers.get('location')], [303, '/events?grant=abc']);
});
