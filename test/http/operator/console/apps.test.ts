// The list of apps in the console, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enrolledOperator, startConsole } from '../../../support/console.ts';
import { addClient } from '../../../support/service.ts';

/** The text of a page, without its markup. */
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

test('operators §7: an installation without an app says how the first one comes', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const { status, body } = await browser.get(`${service.operatorUrl}/apps`);
  assert.equal(status, 200);
  assert.match(textOf(body), /No app yet/);
  assert.match(body, /href="\/apps\/new"/);
});

test('operators §7: apps are listed page by page, found by any part of their name or their ID, and by their state', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const names = Array.from({ length: 41 }, (_, n) => `App ${String(n).padStart(2, '0')}`);
  const ids: string[] = [];
  for (const name of names) ids.push((await addClient(service, { name })).clientId);
  const [first = '', second = ''] = ids;
  await service.installation.clients.pause(second, service.installation.operator);
  const at = `${service.operatorUrl}/apps`;
  const get = async (path: string) => (await browser.get(at + path)).body;
  const shown = (body: string) => (body.match(/<th scope="row"/g) ?? []).length;

  const one = await get('');
  assert.equal(shown(one), 40);
  assert.doesNotMatch(one, /href="\/apps\/new"/, 'the role "read" registers none');
  const next = /rel="next" href="([^"]*)"/.exec(one)?.[1]?.replaceAll('&amp;', '&');
  const two = (await browser.get(service.operatorUrl + String(next))).body;
  assert.equal(shown(two), 1);
  assert.match(two, /First page/);
  assert.doesNotMatch(two, /rel="next"/);

  assert.equal(shown(await get('?q=app%2001')), 1);
  assert.equal(shown(await get('?q=P%202')), 10, 'any part, in any case');
  assert.match(textOf(await get('?q=%00')), /No app found/);
  const found = await browser.get(`${at}?q=${first}`);
  assert.deepEqual([found.status, found.headers.get('location')], [303, `/apps/${first}`]);
  const paused = await get('?show=paused');
  assert.equal(shown(paused), 1);
  assert.match(textOf(paused), /App 01 .* Paused/);
  assert.match(textOf(await get('?q=nobody')), /No app found/);
  assert.equal(shown(await get('?show=nonsense')), 40, 'a filter that no form sends filters nothing');

  const foreign = await browser.get(`${at}?after=abc`);
  assert.deepEqual(
    [foreign.status, foreign.headers.get('location')],
    [303, '/apps'],
    'another list’s cursor begins anew',
  );
});

test('operators §7: hostile names are text', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  await addClient(service, { name: '<script>alert(1)</script>' });
  const { body } = await browser.get(`${service.operatorUrl}/apps?q=%22%3E%3Cscript%3E`);
  assert.doesNotMatch(body, /<script>/);
  assert.match((await browser.get(`${service.operatorUrl}/apps`)).body, /&lt;script&gt;/);
});
