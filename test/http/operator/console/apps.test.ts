// The list of apps in the console, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAILURES_KEPT } from '../../../../src/oauth/activity/app-failure.ts';
import { emptyTally } from '../../../../src/oauth/activity/app-tally.ts';
import { isolated } from '../../../../src/pages/html/isolated-text.ts';
import { makeRootKey } from '../../../../src/settings/root-keys.ts';
import { enrolledOperator, startConsole } from '../../../support/console.ts';
import { obtainPair, signedInBrowser } from '../../../support/flow.ts';
import { textOf } from '../../../support/html.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { event, sampleClient, secondConnection, temporaryPath } from '../../../support/storage.ts';

/** The text of a page, without its markup. */

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
  const names = Array.from({ length: 21 }, (_, n) => `App ${String(n).padStart(2, '0')}`);
  const ids: string[] = [];
  for (const name of names) ids.push((await addClient(service, { name })).clientId);
  const [first = '', second = ''] = ids;
  await service.installation.clients.pause(second, service.installation.operator);
  const at = `${service.operatorUrl}/apps`;
  const get = async (path: string) => (await browser.get(at + path)).body;
  const shown = (body: string) => (body.match(/<th scope="row"/g) ?? []).length;

  const one = await get('');
  assert.equal(shown(one), 20);
  assert.doesNotMatch(one, /href="\/apps\/new"/, 'the role "read" registers none');
  const next = /rel="next" href="([^"]*)"/.exec(one)?.[1]?.replaceAll('&amp;', '&');
  const two = (await browser.get(service.operatorUrl + String(next))).body;
  assert.equal(shown(two), 1);
  assert.match(two, /First page/);
  assert.doesNotMatch(two, /rel="next"/);

  assert.equal(shown(await get('?q=app%2001')), 1);
  assert.equal(shown(await get('?q=P%201')), 10, 'any part, in any case');
  assert.match(textOf(await get('?q=%00')), /No app found/);
  const found = await browser.get(`${at}?q=${first}`);
  assert.deepEqual([found.status, found.headers.get('location')], [303, `/apps/${first}`]);
  assert.match(textOf(one), /21 apps\. Order: newest oldest name last used most people most refused/);
  assert.match(one, new RegExp(`</a><small><code>[^/]*${first}[^/]*</.*</code></small></th>`));
  assert.match(textOf(one), /Refused People Registered Last used App \d\d app_\w+ Active 0 0 15 Jan 2026 Never/);
  assert.match(one, /<button class="secondary">Show<\/button>/);
  const unused = textOf(await get('?show=unused'));
  assert.match(unused, /Only apps that were registered more than 90 days ago, .* in the last 90 days\. No app found/);
  const paused = await get('?show=paused');
  assert.equal(shown(paused), 1);
  assert.match(textOf(paused), /App 01 .* Paused/);
  assert.match(textOf(await get('?q=nobody')), /No app found/);
  assert.equal(shown(await get('?show=nonsense')), 20, 'a filter that no form sends filters nothing');

  const foreign = await browser.get(`${at}?after=abc`);
  assert.deepEqual(
    [foreign.status, foreign.headers.get('location')],
    [303, '/apps'],
    'another list’s cursor begins anew',
  );
});

test('operators §7: failing apps come with their refused requests, most first, and each with its people', async (t) => {
  const service = await startConsole(t);
  const { installation, clock, operatorUrl } = service;
  const apps: Awaited<ReturnType<typeof addClient>>[] = [];
  const failures = { Calendar: 3, Notes: 12, 'Photo Printer': 5, Quiet: 0 };
  for (const [name, times] of Object.entries(failures)) {
    const app = await addClient(service, { name });
    apps.push(app);
    for (let failed = 0; failed < times; failed += 1) installation.activity.count(app.clientId, 'invalidGrant');
  }
  await installation.activity.flush();
  const { browser } = await enrolledOperator(service, 'read');
  const cells = (body: string, column: string) =>
    [...body.matchAll(new RegExp(`data-column="${column}">(?:<a href="([^"]*)">)?([^<]*)`, 'g'))].map(
      ([, href, text]) => [href, text],
    );
  const failing = (await browser.get(`${operatorUrl}/apps?show=failing`)).body;
  const [calendar = '', notes = '', printer = ''] = apps.map(({ clientId }) => clientId);
  assert.deepEqual(cells(failing, 'Refused'), [
    [`/apps/${notes}/failures`, '12'],
    [`/apps/${printer}/failures`, '5'],
    [`/apps/${calendar}/failures`, '3'],
  ]);
  assert.match(textOf(failing), /3 apps found\. .* Refused: requests since yesterday, .* \(UTC\)/);
  const named = (await browser.get(`${operatorUrl}/apps?show=failing&q=printer`)).body;
  assert.deepEqual(cells(named, 'Refused'), [[`/apps/${printer}/failures`, '5']]);

  await addUser(service);
  await obtainPair(service, await signedInBrowser(service), apps[0] ?? assert.fail());
  const all = (await browser.get(`${operatorUrl}/apps`)).body;
  assert.deepEqual(
    cells(all, 'People')
      .map(([, people]) => people)
      .sort(),
    ['0', '0', '0', '1'],
  );
  const refused = (body: string) => cells(body, 'Refused').map(([, count]) => count);
  assert.deepEqual(refused(all).toSorted(), ['0', '12', '3', '5'], 'every list counts them');
  assert.match(textOf(all), /Notes .*? Failing 12 /, 'what fails says so');
  const sorted = (await browser.get(`${operatorUrl}/apps?sort=refused`)).body;
  assert.deepEqual(refused(sorted), ['12', '5', '3', '0']);
  const byPeople = (await browser.get(`${operatorUrl}/apps?sort=people`)).body;
  assert.deepEqual(
    cells(byPeople, 'People').map(([, people]) => people),
    ['1', '0', '0', '0'],
  );
  const byUse = textOf((await browser.get(`${operatorUrl}/apps?sort=used`)).body);
  assert.match(byUse, /Last used Calendar /, 'the one that was used');
  clock.advance(2 * 86_400);
  const { browser: later } = await enrolledOperator(service, 'read', 'Later');
  assert.match(textOf((await later.get(`${operatorUrl}/apps?show=failing`)).body), /No app found/);
  clock.advance(89 * 86_400);
  const { browser: muchLater } = await enrolledOperator(service, 'read', 'Much later');
  const unused = textOf((await muchLater.get(`${operatorUrl}/apps?show=unused`)).body);
  assert.match(
    unused,
    /not used in the last 90 days\. Ask the publisher of one if it is still needed\. If not, pause it/,
  );
});

test('operators §7: of 40 apps that fail in one hour all are listed, page by page, and found by name', async (t) => {
  const service = await startConsole(t);
  const names = Array.from({ length: 40 }, (_, n) => `Failing ${String(n).padStart(2, '0')}`);
  for (const name of names)
    service.installation.activity.count((await addClient(service, { name })).clientId, 'invalidGrant');
  await service.installation.activity.flush();
  const { browser } = await enrolledOperator(service, 'read');
  const shown = (body: string) => [...body.matchAll(/Failing \d\d/g)].map(String);
  const first = (await browser.get(`${service.operatorUrl}/apps?show=failing`)).body;
  const next = /rel="next" href="([^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&');
  const second = (await browser.get(service.operatorUrl + String(next))).body;
  assert.equal(shown(first).length, 20);
  assert.doesNotMatch(second, /rel="next"/);
  assert.deepEqual([...shown(first), ...shown(second)].toSorted(), names);
  const named = (await browser.get(`${service.operatorUrl}/apps?show=failing&q=failing+3`)).body;
  assert.deepEqual(shown(named).toSorted(), names.slice(30, 40));
});

test('operators §7: the newest app comes first, and apps are sorted by age, name and what is known of each, page by page', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const names = Array.from({ length: 45 }, (_, n) => `App ${String((n * 7) % 45).padStart(2, '0')}`);
  for (const [n, name] of names.entries()) {
    const { clientId } = await addClient(service, { name, publisher: n % 9 === 0 ? 'Mäker & Sons' : 'Somebody' });
    for (let failed = 0; failed < n % 4; failed += 1) service.installation.activity.count(clientId, 'invalidGrant');
    service.clock.advance(1);
  }
  await service.installation.activity.flush();
  const walk = async (query: string) => {
    const found: string[] = [];
    for (let at: string | undefined = `/apps?${query}`; at !== undefined; ) {
      const { body } = await browser.get(service.operatorUrl + at);
      found.push(...[...body.matchAll(/<th scope="row"[^>]*><a [^>]*><bdi>([^<]*)</g)].map(([, name]) => String(name)));
      at = /rel="next" href="([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
    }
    return found;
  };
  assert.deepEqual(await walk(''), names.toReversed());
  assert.deepEqual(await walk('sort=oldest'), names);
  assert.deepEqual(await walk('sort=name'), names.toSorted());
  const refused = await walk('sort=refused');
  assert.deepEqual(
    refused.map((name) => names.indexOf(name) % 4),
    names.map((_, n) => n % 4).toSorted((one, other) => other - one),
  );
  for (const sort of ['refused', 'people', 'used']) assert.equal(new Set(await walk(`sort=${sort}`)).size, 45, sort);
  assert.deepEqual(
    await walk('q=M%C3%84KER&sort=oldest'),
    names.filter((_, n) => n % 9 === 0),
    'by publisher',
  );
  assert.equal((await walk('show=failing&sort=name')).length, names.filter((_, n) => n % 4 > 0).length);
});

test('operators §7: of more than 1,000 apps the list says that it sorts them by name and age alone', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { store } = service.installation.operators;
  for (let n = 0; n <= 1000; n += 1)
    await store.registerClient(
      sampleClient({ id: `app_${n}`, name: `App ${n}`, secrets: [] }),
      event('client_registered'),
    );
  const of = async (query: string) => textOf((await browser.get(`${service.operatorUrl}/apps?${query}`)).body);
  const many = /More than 1,000 apps to look through: .* Order: newest oldest name .*App/;
  assert.match(await of(''), many);
  assert.doesNotMatch(await of('sort=people'), /most people/);
  assert.match(await of('q=app+99'), /11 apps found\. Order: .*most people/);
});

test('operators §7: hostile names are text', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  await addClient(service, { name: '<script>alert(1)</script>' });
  const { body } = await browser.get(`${service.operatorUrl}/apps?q=%22%3E%3Cscript%3E`);
  assert.doesNotMatch(body, /<script>/);
  assert.match((await browser.get(`${service.operatorUrl}/apps`)).body, /&lt;script&gt;/);
});

for (const [what, name] of [
  ['ampersands', '&'.repeat(100)],
  ['quotation marks', '"'.repeat(100)],
  ['towers of marks', 'E\u20de\u20de\u20de'.repeat(25)],
  ['wide letters', '\u4e2d'.repeat(100)],
] as const) {
  test(`operators §7: pages of 50 apps with names of 100 ${what} stay below 50 KB, and the app's page has the whole name`, async (t) => {
    const service = await startConsole(t);
    const { browser } = await enrolledOperator(service, 'admin');
    const settings = { name, publisher: name };
    let id = '';
    for (let n = 0; n < 50; n += 1) {
      id = (await addClient(service, settings)).clientId;
      service.installation.activity.count(id, 'invalidGrant');
    }
    await service.installation.activity.flush();
    for (const query of ['', '?show=failing']) {
      const list = (await browser.get(`${service.operatorUrl}/apps${query}`)).body;
      assert.equal(list.match(/<th scope="row"/g)?.length, 20);
      assert.ok(Buffer.byteLength(list) < 50_000, `${query}: ${Buffer.byteLength(list)} bytes`);
    }
    const { body } = await browser.get(`${service.operatorUrl}/apps/${id}`);
    assert.ok(body.includes(`<h1>${isolated(name)}</h1>`));
    assert.doesNotMatch(body, /…<\/bdi><\/h1>/);
  });
}

test('operators §7: pages of apps with the longest client IDs stay below 50 KB', async (t) => {
  const path = temporaryPath(t);
  const service = await startConsole(t, { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS: makeRootKey() });
  const { browser } = await enrolledOperator(service, 'read');
  const beginning = 'https://apps.example/'.padEnd(220, '/');
  const ids: string[] = [];
  for (let n = 0; n < 21; n += 1) ids.push(beginning + (await addClient(service, { name: '"'.repeat(100) })).clientId);
  secondConnection(t, path).prepare('UPDATE client SET id = ? || id').run(beginning);
  for (const id of ids) service.installation.activity.count(id, 'invalidGrant');
  await service.installation.activity.flush();
  for (const query of ['', '?show=failing']) {
    const list = (await browser.get(`${service.operatorUrl}/apps${query}`)).body;
    assert.equal(list.match(/<th scope="row"/g)?.length, 20);
    assert.ok(Buffer.byteLength(list) < 50_000, `${query}: ${Buffer.byteLength(list)} bytes`);
  }
  const [clientId = ''] = ids;
  const now = service.clock.now();
  const failures = Array.from({ length: FAILURES_KEPT }, (_, n) => ({
    ...({ clientId, at: now - n, requestId: `${n}`, endpoint: 'token', error: 'invalid_scope' } as const),
    ...{ reason: `the scope ${'!'.repeat(5000)}${n} is unknown`, network: '2001:db8:1234::/48', grantId: null },
  }));
  const counted = { clientId, at: now, tally: { ...emptyTally(), other: FAILURES_KEPT }, failures };
  await service.installation.operators.store.addActivity(counted, now);
  for (const path of ['', '/failures']) {
    const { body } = await browser.get(`${service.operatorUrl}/apps/${encodeURIComponent(clientId)}${path}`);
    assert.ok((body.match(/href="[^"]*\?cause=/g) ?? []).length > 3);
    assert.ok(Buffer.byteLength(body) < 50_000, `${path}: ${Buffer.byteLength(body)} bytes`);
  }
});
