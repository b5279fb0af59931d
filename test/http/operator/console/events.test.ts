// The audit trail in the console, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuditAction, auditEvent } from '../../../../src/oauth/trail/audit.ts';
import { changesOf } from '../../../../src/operator/registration/registration-changes.ts';
import { enrolledOperator, startConsole } from '../../../support/console.ts';
import { textOf } from '../../../support/html.ts';
import { addClient } from '../../../support/service.ts';

/** The text of a page, without its markup. */
const rowsOf = (body: string) => (body.match(/<th scope="row"/g) ?? []).length;
const tableOf = (body: string) => textOf(body.slice(body.indexOf('<tbody')));

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
  assert.match(ofApp, new RegExp(`Only events of <a href="/apps/${clientId}">`));
  assert.match(textOf(ofApp), /resumed Calendar .* paused Calendar .* registered Calendar/, 'newest first');
  assert.equal(rowsOf(await get(`?client=${clientId}&action=client_paused`)), 1);
  assert.equal(rowsOf(await get(`?client=${clientId}&until=${day}`)), 2, 'the day itself counts');
  assert.equal(rowsOf(await get(`?client=${clientId}&since=${day}`)), 3);
  const later = new Date(clock.now()).toISOString().slice(0, 10);
  assert.equal(rowsOf(await get(`?client=${clientId}&since=${later}`)), 1);
  assert.match(tableOf(await get(`?user=${user}`)), /added ada@example\.com/);
  const byMail = await browser.get(`${operatorUrl}/events?person=Ada%40example.com`);
  assert.deepEqual([byMail.status, byMail.headers.get('location')], [303, `/events?user=${user}`]);
  assert.match(textOf(await get('?user=nobody%40example.com')), /Only events of nobody@example\.com .*No event found/);
  assert.match(textOf(await get('?grant=ABC')), /No event found/);
  const acts = await get('?operator=Ann%20Reader');
  assert.match(tableOf(acts), /Ann Reader added a passkey/);
  assert.equal(rowsOf(acts), rowsOf(await get(`?operator=${operator.id}`)), 'a name or an id');
  assert.doesNotMatch(tableOf(acts), /registered/);
  assert.ok(rowsOf(await get('?action=nonsense&since=nonsense')) > 3, 'values that no form sends filter nothing');
});

test('operators §7: a quick choice keeps the rest of the filter, and leads back', async (t) => {
  const service = await startConsole(t);
  const { operatorUrl } = service;
  const { clientId } = await addClient(service, { name: 'Calendar' });
  service.clock.advance(20 * 86_400);
  const { browser } = await enrolledOperator(service, 'read');
  const get = async (query: string) => (await browser.get(`${operatorUrl}/events?${query}`)).body;
  const linkOf = (body: string, words: string) =>
    new RegExp(`<a href="/events\\?([^"]*)">${words}<`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const filter = `operator=root&client=${clientId}`;
  const ofApp = await get(filter);
  const changes = linkOf(ofApp, 'Changes by operators');
  assert.equal(changes, `action=operator-changes&${filter}`);
  assert.match(textOf(await get(changes)), /Only events of Calendar/);
  assert.equal(linkOf(await get(changes), 'Remove'), filter, 'a choice that is made leads back');

  const days = await get(linkOf(ofApp, 'Last 14 days'));
  assert.equal(linkOf(ofApp, 'Last 14 days'), `operator=root&since=2026-01-21&client=${clientId}`);
  assert.match(textOf(days), /Last 14 days Remove .*No event found/);
  assert.equal(linkOf(days, 'Last 30 days'), `operator=root&since=2026-01-05&client=${clientId}`);
  assert.equal(rowsOf(await get(linkOf(days, 'Last 30 days'))), 1);
  assert.equal(linkOf(days, 'Remove'), filter);
  const until = await get(`since=2026-01-21&until=2026-01-22`);
  assert.equal(linkOf(until, 'Last 14 days'), 'since=2026-01-21', 'the days end today');
});

test('operators §7: the events that are shown are counted, and never those of the whole trail', async (t) => {
  const service = await startConsole(t);
  const { installation, operatorUrl, clock } = service;
  const { clientId } = await addClient(service, { name: 'Calendar' });
  const { browser } = await enrolledOperator(service, 'read');
  const get = async (path: string) => (await browser.get(operatorUrl + path)).body;
  assert.match(textOf(await get(`/events?client=${clientId}`)), / 1 event\. /);
  for (let n = 0; n < 49; n += 1)
    await installation.audit.recordDenial(
      auditEvent('client_updated', installation.operator, clock.now(), { clientId }, { changes: [] }),
    );
  const first = await get(`/events?client=${clientId}`);
  assert.match(textOf(first), / 40 events on this page\. /);
  const next = /rel="next" href="([^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
  assert.match(textOf(await get(next)), / 10 events on this page\. /);
});

test('operators §7: an app is asked for by its name, and several of a name are a choice', async (t) => {
  const service = await startConsole(t);
  const { operatorUrl, installation } = service;
  const { browser } = await enrolledOperator(service, 'read');
  const ids: string[] = [];
  for (const name of ['Photo Printer', 'Photo Lab', 'Photo', 'Twin', 'Twin'])
    ids.push((await addClient(service, { name })).clientId);
  const [printer, lab, photo, ...twins] = ids;
  const goesTo = async (query: string) => {
    const { status, headers } = await browser.get(`${operatorUrl}/events?${query}`);
    return status === 303 ? headers.get('location') : status;
  };
  assert.equal(await goesTo('app=photo+p&action=client_paused'), `/events?action=client_paused&client=${printer}`);
  assert.equal(await goesTo('app=PHOTO'), `/events?client=${photo}`, 'an exact name, although others begin so');
  assert.equal(await goesTo(`app=${lab}&client=${photo}`), `/events?client=${lab}`, 'an id, in the place of another');
  assert.equal(await goesTo('app=Nothing'), '/events?client=Nothing');
  assert.match(textOf((await browser.get(`${operatorUrl}/events?client=Nothing`)).body), /No event found/);
  const { body } = await browser.get(`${operatorUrl}/events?app=twin&since=2026-01-01`);
  assert.match(textOf(body), /Which app\? Several match “ twin ”/);
  for (const id of twins) assert.ok(body.includes(`href="/events?since=2026-01-01&amp;client=${id}"`), body);
  assert.equal(rowsOf(body), 0);
  const kept = (await browser.get(`${operatorUrl}/events?client=${lab}&since=2026-01-01`)).body;
  assert.ok(kept.includes(`<input type="hidden" name="client" value="${lab}">`), 'another search keeps the app');
  assert.ok(kept.includes('href="/events?since=2026-01-01">Remove this filter'));

  await installation.clients.delete(photo as string, installation.operator);
  assert.match(tableOf((await browser.get(`${operatorUrl}/events?client=${photo}`)).body), /deleted Photo\b/);
  for (let n = 0; n < 11; n += 1) await addClient(service, { name: 'Many' });
  const many = (await browser.get(`${operatorUrl}/events?app=many`)).body;
  assert.match(textOf(many), /There are more: type more of the name/);
  assert.equal((many.match(/href="\/events\?client=app_/g) ?? []).length, 10);
});

test('operators §7: no name and no email address takes the place of an id', async (t) => {
  const service = await startConsole(t);
  const { operatorUrl, installation } = service;
  const { clients, accounts, identityProviders, audit, operator: by } = installation;
  const { browser } = await enrolledOperator(service, 'read');
  const goesTo = async (query: string) => {
    const { status, headers } = await browser.get(`${operatorUrl}/events?${query}`);
    return status === 303 ? headers.get('location') : status;
  };
  const product = {
    id: 'shop',
    name: 'A product',
    signInUrl: 'https://shop.example/in',
    keys: [],
    rights: ['sign-in'],
  } as const;
  await identityProviders.register({ ...product, homePage: null, sessionLifetime: null, ownIds: true }, by);
  await identityProviders.delete('shop', by);
  const { clientId } = await addClient(service, { name: 'Shop' });
  assert.equal(await goesTo('client=shop'), 200);
  assert.match(tableOf((await browser.get(`${operatorUrl}/events?client=shop`)).body), /deleted A product/);
  assert.equal(await goesTo('app=shop'), '/events?client=shop', 'an id comes before a name, although it is deleted');
  assert.equal(await goesTo('app=Shop'), `/events?client=${clientId}`);
  for (const id of [clientId, 'rs_mail']) {
    await addClient(service, { name: `Called like ${id}` });
    assert.equal(await goesTo(`client=${id}`), 200, id);
  }
  assert.equal(await goesTo(`app=${clientId}`), `/events?client=${clientId}`);
  await clients.delete(clientId, by);
  assert.equal(await goesTo(`app=${clientId}`), `/events?client=${clientId}`, 'also once the app is deleted');

  const mail = 'alice@example.com';
  const other = { email: mail, name: 'Alice', username: null, password: 'a long password' };
  const { id } = await accounts.add(other, by);
  assert.equal(await goesTo('person=Alice%40example.com'), `/events?user=${id}`);
  const event = auditEvent('user_added', by, service.clock.now(), { resourceOwnerId: mail });
  await audit.recordDenial(event);
  assert.equal(await goesTo('user=alice%40example.com'), 200);
  assert.equal(await goesTo('person=alice%40example.com'), '/events?user=alice%40example.com');
  const { body } = await browser.get(`${operatorUrl}/events?user=alice%40example.com`);
  assert.deepEqual([rowsOf(body), tableOf(body).includes('Alice')], [1, false]);
});

test('operators §7: a common question is one choice, and “Changes by operators” is one click', async (t) => {
  const service = await startConsole(t);
  const { installation, operatorUrl } = service;
  const { browser, operator } = await enrolledOperator(service, 'read', 'Ann Reader');
  const byAnn = { kind: 'operator', id: operator.id, source: '192.0.2.7', requestId: null } as const;
  const { clientId } = await addClient(service, { name: 'Calendar' });
  const record = (action: AuditAction, actor: Parameters<typeof auditEvent>[1], about = {}) =>
    installation.audit.recordDenial(auditEvent(action, actor, service.clock.now(), about));
  const ada = { kind: 'user', id: 'acc_ada', source: '192.0.2.8', requestId: null } as const;
  await record('consent_allowed', ada, { clientId, resourceOwnerId: 'acc_ada' });
  await record('sign_in', ada, { resourceOwnerId: 'acc_ada' });
  await record('client_paused', byAnn, { clientId });
  await record('refresh_reuse', { ...ada, kind: 'client', id: clientId }, { clientId, resourceOwnerId: 'acc_ada' });
  await record('hand_over_made', byAnn, { clientId });
  const get = async (action: string) => (await browser.get(`${operatorUrl}/events?action=${action}`)).body;

  const all = (await browser.get(`${operatorUrl}/events`)).body;
  assert.match(all, /<a href="\/events\?action=operator-changes">Changes by operators<\/a>/);
  assert.match((await browser.get(`${operatorUrl}/`)).body, /href="\/events\?action=operator-changes"/);
  assert.ok(all.indexOf('>Security incidents<') < all.indexOf('<optgroup'), 'questions come before single actions');
  const changes = tableOf(await get('operator-changes'));
  assert.match(
    changes,
    /Ann Reader made a pick-up link for Calendar .*Ann Reader paused Calendar .*registered Calendar/,
  );
  assert.doesNotMatch(changes, /signed in|allowed|refresh token/);
  const answers: [string, RegExp, RegExp][] = [
    ['sign-ins', /acc_ada \(deleted\) signed in/, /paused|allowed/],
    ['grants', /allowed Calendar/, /paused|signed in/],
    ['app-changes', /paused Calendar/, /allowed|passkey/],
    ['secrets-and-links', /pick-up link/, /paused|allowed/],
    ['operators', /added a passkey/, /paused|allowed/],
    ['incidents', /old refresh token/, /paused|allowed/],
  ];
  for (const [question, has, lacks] of answers) {
    const body = await get(question);
    assert.ok(body.includes(`<option value="${question}" selected>`), question);
    assert.match(tableOf(body), has, question);
    assert.doesNotMatch(tableOf(body), lacks, question);
  }
});

test('operators §7: one event is a sentence with what changed, and leads to what it names and to what came before', async (t) => {
  const service = await startConsole(t);
  const { browser, operator } = await enrolledOperator(service, 'read', 'Ann Reader');
  const { installation, operatorUrl } = service;
  const { clientId } = await addClient(service, { name: 'Calendar' });
  const byAnn = { kind: 'operator', id: operator.id, source: '192.0.2.7', requestId: 'req-1' } as const;
  const changes = { redirectUris: ['https://new.example/cb'], requirePkce: true, refreshOverlap: 20 };
  await installation.clients.update(clientId, changes, byAnn);
  await installation.clients.pause(clientId, installation.operator);
  const events = await installation.audit.listNamedAuditEvents({ clientId, limit: 3 });
  const updated = events[1]?.sequence;
  const { status, body } = await browser.get(`${operatorUrl}/events/${updated}`);
  assert.equal(status, 200);
  const text = textOf(body);
  assert.match(text, /Ann Reader changed the settings of Calendar When 15 Jan 2026, 12:00:00 UTC /);
  for (const sentence of [
    'Added redirect URI https://new.example/cb',
    'Removed redirect URI https://client.example/callback',
    'PKCE: required (was optional)',
    'Refresh overlap: 20 seconds (was the default)',
    `event ${updated}`,
    'client_updated',
    'From the address 192.0.2.7',
    'req-1',
  ])
    assert.ok(text.replaceAll(' )', ')').includes(sentence), `${sentence}: ${text}`);
  for (const href of [
    `/apps/${clientId}`,
    `/operators/${operator.id}`,
    `/events?client=${clientId}`,
    `/events?operator=${operator.id}`,
  ])
    assert.ok(body.includes(`href="${href}"`), href);
  const on = /href="(\/events\?after=[^"]*)">All events before this one/.exec(body)?.[1];
  const earlier = await browser.get(operatorUrl + String(on));
  assert.match(tableOf(earlier.body), /^\s*[^ ]+ \(by command\) registered Calendar /);
  assert.match(earlier.body, /First page/);

  for (const gone of ['0', '-1', '1e3', '999999', 'x', '1.5', '%00', '9007199254740993', '9'.repeat(400)]) {
    const { status, body } = await browser.get(`${operatorUrl}/events/${gone}`);
    assert.equal(status, 404, gone);
    assert.match(body, /There is nothing here[\s\S]*href="\/"/, gone);
  }
});

test('operators §7: whoever was deleted is named by id, and as deleted', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { installation, operatorUrl, clock } = service;
  const gone = { source: '192.0.2.7', requestId: null };
  const acts = [
    ['client_paused', { kind: 'operator', id: 'opr_gone', ...gone }, { clientId: 'app_gone' }],
    ['user_disabled', { kind: 'provider', id: 'gone', ...gone }, { resourceOwnerId: 'acc_gone' }],
  ] as const;
  for (const [action, actor, about] of acts)
    await installation.audit.recordDenial(auditEvent(action, actor, clock.now(), about));
  const { body } = await browser.get(`${operatorUrl}/events`);
  assert.match(tableOf(body), /gone \(deleted\) disabled acc_gone \(deleted\)/);
  assert.match(tableOf(body), /opr_gone \(deleted\) paused app_gone \(deleted\)/);
  const [event] = await installation.audit.listNamedAuditEvents({ clientId: 'app_gone', limit: 1 });
  const page = await browser.get(`${operatorUrl}/events/${event?.sequence}`);
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.body, /href="\/(apps|operators)\/[a-z]+_gone"/);
});

for (const [what, letter] of [
  ['ampersands', '&'],
  ['quotation marks', '"'],
] as const)
  test(`operators §7: pages of events of things with the longest IDs and names, of ${what}, stay below 50 KB`, async (t) => {
    const service = await startConsole(t);
    const { browser } = await enrolledOperator(service, 'read');
    const { audit } = service.installation;
    const [id, name] = [letter.repeat(250), letter.repeat(100)];
    const { clientId } = await addClient(service, { name });
    const person = { kind: 'user', id, source: '192.0.2.1', requestId: null } as const;
    const renamed = changesOf({ name }, { name: name.replace(letter, 'x') });
    const about = { clientId, resourceOwnerId: id };
    for (const said of [
      auditEvent('consent_denied', person, service.clock.now(), about),
      auditEvent('client_updated', person, service.clock.now(), about, { changes: renamed }),
    ]) {
      for (let n = 0; n < 50; n += 1) await audit.recordDenial(said);
      const { body } = await browser.get(`${service.operatorUrl}/events`);
      assert.ok(Buffer.byteLength(body) < 50_000, `${Buffer.byteLength(body)} bytes of ${said.action}`);
    }
  });
