// The pages of people in the console, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantIdText } from '../../../../src/oauth/grants/grant.ts';
import { makeRootKey } from '../../../../src/settings/root-keys.ts';
import type { Browser } from '../../../support/browser.ts';
import {
  confirmInPlace,
  enrolledOperator,
  keptFields,
  postOwn,
  startConsole,
  type TestConsole,
} from '../../../support/console.ts';
import { exchange, me, obtainCode, obtainPair, refresh, signedInBrowser } from '../../../support/flow.ts';
import { textOf } from '../../../support/html.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { secondConnection, temporaryPath } from '../../../support/storage.ts';

/** The text of a page, without its markup. */
const rows = (body: string) => (body.match(/<th scope="row"/g) ?? []).length;

async function addPerson(service: TestConsole, email: string, name: string): Promise<string> {
  return (await addUser(service, email, name)).id;
}

const LINK = /The link to set a password Send this link to the person alone \( Grace Hopper , gh@example\.com \)/;

/** The hidden fields of the form that posts to an address, on the page. */
function fieldsOf(body: string, action: RegExp): Record<string, string> {
  const form = body.split('<form ').find((part) => action.test(part.slice(0, 200))) ?? '';
  const hidden = form.split('</form>')[0]?.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g) ?? [];
  return Object.fromEntries([...hidden].map(([, name, value]) => [name, value?.replaceAll('&quot;', '"')]));
}

/** The fields with which a page of a person says how it showed them. */
const asShown = (body: string) => fieldsOf(body, /\/delete"/);

test('operators §7: one search leads straight to the one person of an email address, a user name or an ID', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const at = `${service.operatorUrl}/people`;
  const get = (path: string) => browser.get(at + path);
  assert.match(textOf((await get('')).body), /Nobody yet/);
  const id = await addPerson(service, 'ada@example.com', '<script>Ada</script>');
  await service.installation.accounts.update(id, { username: 'ada' }, service.installation.operator);

  for (const q of ['ada@example.com', 'ADA@example.com', 'ada', id])
    assert.equal((await get(`?${new URLSearchParams({ q })}`)).headers.get('location'), `/people/${id}`, q);
  const none = textOf((await get('?q=adam')).body);
  assert.match(
    none,
    /Nobody has the ID adam , and no email address or user name begins so\. An ID is found only whole\./,
  );
  assert.doesNotMatch(none, /Search for/, 'no email address was looked for');
  const moved = (await get('?q=ada%2Bx%40elsewhere.example')).body;
  assert.match(moved, /<a href="\/people\?q=ada%2Bx">Search for <code>/);
  assert.match(moved, /Deleted people are not found: see the <a href="\/events\?action=user_deleted">/);
  const beginning = (await get('?q=Ada%40ex')).body;
  assert.equal(rows(beginning), 1, 'the beginning of an email address is enough');
  assert.match(textOf(beginning), /Found people/);
  assert.match(textOf((await get(`?q=${id.slice(0, -1)}`)).body), /Nobody found/, 'of an ID it is not');
  const list = await get('');
  assert.equal(rows(list.body), 1);
  assert.doesNotMatch(list.body, /<script>/, 'a hostile name is text');
  assert.doesNotMatch(list.body, /Invite a person/, 'the role "read" invites nobody');
  assert.equal((await get('?after=abc')).headers.get('location'), '/people', 'another cursor begins anew');
  assert.equal((await get('/nobody')).status, 404);
  assert.equal((await get('/ada@example.com')).status, 404, 'a page is named by the exact ID alone');
});

test('operators §7: a search that found nobody leads on, and no form below it looks like the answer', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const get = async (path: string) => (await browser.get(service.operatorUrl + path)).body;
  const id = await addPerson(service, 'ada@example.com', 'Ada');
  const none = await get('/people?q=ada%40elsewhere.example');
  assert.match(none, /<a class="button primary" href="\/people#invite">Invite a person/);
  assert.doesNotMatch(none, /<form method="post" action="\/people"/);
  assert.match(await get('/people'), /href="#invite">.* id="invite">.*<form method="post" action="\/people"/s);
  const [, onward = ''] = /<a href="(\/people\?q=[^"]*)"/.exec(none) ?? [];
  assert.match(await get(onward), new RegExp(`<th scope="row".*<a href="/people/${id}">`));

  await service.installation.accounts.delete(id, service.installation.operator);
  const [, events = ''] = /<a href="(\/events[^"]*)">events of deleted people/.exec(await get('/people?q=ada')) ?? [];
  assert.match(await get(events), new RegExp(id), 'the event names the person by ID');
});

test('operators §7: people are listed newest first, in pages', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { accounts, operator } = service.installation;
  for (let n = 0; n <= 40; n += 1) {
    service.clock.advance(1);
    await accounts.addInvited({ email: `p${n}@example.com`, name: `P${n}`, username: null }, operator);
  }
  const one = (await browser.get(`${service.operatorUrl}/people`)).body;
  assert.match(textOf(one), /P40 /);
  const next = /rel="next" href="([^"]*)"/.exec(one)?.[1]?.replaceAll('&amp;', '&');
  const two = (await browser.get(service.operatorUrl + String(next))).body;
  assert.equal(rows(one) + rows(two), 41);
  assert.match(textOf(two), /P0 /);
});

for (const [what, id, name] of [
  ['letters', 'a'.repeat(250), '名'.repeat(100)],
  ['ampersands', '&'.repeat(250), '&'.repeat(100)],
  ['quotation marks', '"'.repeat(250), '"'.repeat(100)],
] as const)
  test(`operators §7: a list of 50 people with the longest IDs, names and addresses of ${what} stays below 50 KB`, async (t) => {
    const path = temporaryPath(t);
    const service = await startConsole(t, { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS: makeRootKey() });
    const { browser } = await enrolledOperator(service, 'read');
    await addPerson(service, 'ada@example.com', 'Ada');
    const database = secondConnection(t, path);
    const columns = database.prepare("SELECT name FROM pragma_table_info('account') WHERE name <> 'id'").all();
    const given = { name: 'g.name', email: 'g.email', email_key: 'g.id', username: "'u' || printf('%038d', i)" };
    const values = columns.map((column) => given[String(column['name']) as keyof typeof given] ?? column['name']);
    database
      .prepare(`
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50),
          g AS (SELECT i, ? || printf('%03d', i) AS id, ? AS name, ? AS email FROM n)
        INSERT INTO account (id, ${columns.map((column) => column['name']).join()})
        SELECT g.id, ${values.join()} FROM (SELECT * FROM account LIMIT 1) AS account, g`)
      .run(id, name, `${id.slice(0, 240)}@example.com`);
    const { body } = await browser.get(`${service.operatorUrl}/people`);
    assert.match(body, /rel="next"/);
    assert.ok(Buffer.byteLength(body) < 50_000, `${Buffer.byteLength(body)} bytes for ${rows(body)} people`);
    const [, href = ''] = /<a href="(\/people\/[^"]*050)"/.exec(body) ?? [];
    assert.match((await browser.get(service.operatorUrl + href)).body, /<h1>/, 'the whole ID is in the link');
  });

async function withGrants(service: TestConsole, browser: Browser) {
  const id = await addPerson(service, 'ada@example.com', 'Ada');
  const client = await addClient(service, { name: 'Calendar' });
  const other = await addClient(service, { name: 'Notes' });
  const person = await signedInBrowser(service, 'ada@example.com');
  const pair = await obtainPair(service, person, client);
  const kept = await obtainPair(service, person, other);
  const at = `${service.operatorUrl}/people/${id}`;
  return { id, client, pair, kept, at, page: async () => (await browser.get(at)).body };
}

test('operators §7: a person’s page shows who may act for them; ending one grant ends that alone', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'support');
  const { pair, kept, at, page, client } = await withGrants(service, browser);
  const before = await page();
  assert.match(textOf(before), /Calendar .* Notes /);
  assert.match(textOf(before), /ada@example\.com Verified/);
  assert.match(textOf(before), /Sessions .* A password/);
  assert.match(before, /\/events\?user=/);
  const done = await postOwn(browser, `${at}/end-grant`, fieldsOf(before, /end-grant/));
  assert.match(String(done.headers.get('location')), /\?done=grant-ended&app=app_/);
  const notice = /role="status">.*?The grant for <bdi>Calendar<\/bdi> has ended\./;
  assert.match((await browser.get(service.operatorUrl + String(done.headers.get('location')))).body, notice);
  assert.equal((await me(service, pair.accessToken)).status, 401);
  assert.equal((await refresh(service, client, pair.refreshToken)).status, 400);
  assert.equal((await me(service, kept.accessToken)).status, 200, 'the other app stays');
  const [grant] = await service.installation.grants.list({ clientId: client.clientId, limit: 1 });
  assert.equal(grant?.grant.revocationReason, 'operator', 'the row says who ended it');

  const again = await postOwn(browser, `${at}/end-grant`, { grant: 'nothing' });
  assert.equal(again.status, 400);
  assert.match(textOf(again.body), /Nothing happened\. This grant is not there any more\./);
});

test('operators §3: support ends, signs out, disables and enables, and sees the size of each act before', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'support');
  const { id, kept, at, page } = await withGrants(service, browser);
  const post = (act: string) => postOwn(browser, `${at}/${act}`);
  const before = textOf(await page());
  assert.match(before, /Ends 2 grants of 2 apps\./);
  assert.match(before, /Ends 1 session here/);
  assert.doesNotMatch(await page(), /\/delete"|\/invite"|\/update"/, 'what the role forbids is not offered');
  for (const act of ['delete', 'invite', 'update']) assert.equal((await post(act)).status, 403, act);

  assert.match(String((await post('end-sessions')).headers.get('location')), /done=signed-out/);
  assert.match(textOf(await page()), /Signed in nowhere/);
  assert.match(String((await post('disable')).headers.get('location')), /done=disabled/);
  assert.equal((await me(service, kept.accessToken)).status, 401);
  const off = textOf(await page());
  assert.match(
    off,
    /Disabled: every sign-in and every request of apps is refused\. By Ann support \(operator\), 15 Jan 2026/,
  );
  assert.match(
    off,
    /Enable the person They can sign in again at once, and apps may act again: 2 grants of 2 apps\. State/,
  );
  assert.match(off, /Apps that may act again once Ada is enabled Every request of these apps is refused until then\./);
  const [, event = ''] = /href="(\/events\/\d+)">See the event/.exec(await page()) ?? [];
  assert.match(textOf((await browser.get(service.operatorUrl + event)).body), /disabled ada@example\.com/);
  const [held] = await service.installation.grants.list({ resourceOwnerId: id, limit: 1 });
  const grant = `${service.operatorUrl}/grants/${grantIdText(held?.grant.id ?? Buffer.alloc(16))}`;
  assert.match(
    textOf((await browser.get(grant)).body),
    /On hold: every token of it is refused while the person is disabled\./,
  );
  const disabled = fieldsOf(await page(), /\/enable"/);
  assert.match(String((await postOwn(browser, `${at}/enable`, disabled)).headers.get('location')), /done=enabled/);
  assert.equal((await me(service, kept.accessToken)).status, 200);
  assert.equal((await postOwn(browser, `${at}/enable`, disabled)).status, 400, 'enabled already');
  assert.match(String((await post('revoke-grants')).headers.get('location')), /done=all-ended/);
  assert.equal((await me(service, kept.accessToken)).status, 401);
  assert.match(textOf(await page()), /No app may act for this person/);
  const [, events = ''] = /href="(\/events\?[^"]*)">Events of all grants/.exec(await page()) ?? [];
  const told = textOf((await browser.get(service.operatorUrl + events.replaceAll('&amp;', '&'))).body);
  assert.match(
    told,
    /ended all grants of ada@example\.com .* allowed Notes .* allowed Calendar/,
    'ended grants are found',
  );
  const gone = `${service.operatorUrl}/people/nobody/disable`;
  assert.equal((await postOwn(browser, gone)).status, 404);
  assert.equal((await postOwn(browser, `${service.operatorUrl}/people/ada@example.com/disable`)).status, 404);
  assert.equal((await service.installation.accounts.show(id)).status, 'active');
});

test('operators §7: who disabled a person is looked for in a bounded part of the trail, and a page says so if it is further back', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { id } = await addUser(service);
  const { accounts, operator } = service.installation;
  await accounts.disable(id, operator);
  const page = async () => textOf((await browser.get(`${service.operatorUrl}/people/${id}`)).body);
  for (let n = 1; n < 1000; n += 1) await accounts.update({ id }, { name: `Name ${n}` }, operator);
  assert.match(await page(), /By .* who ran a command, 15 Jan 2026, 12:00 UTC\. See the event/);
  await accounts.update({ id }, { name: 'Ada' }, operator);
  assert.match(await page(), /The last 1,000 events of the person do not tell by whom\. State Disabled/);
  assert.doesNotMatch(await page(), /Enable the person/, 'the role "read" enables nobody');
});

test('operators §7: a grant of a paused app says so on the page of its person', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { client, page } = await withGrants(service, browser);
  assert.doesNotMatch(textOf(await page()), /Paused/);
  await service.installation.clients.pause(client.clientId, service.installation.operator);
  assert.match(textOf(await page()), /Calendar Paused See /);
});

test('operators §7: a person with many grants has a page below 50 KB, and more behind it', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const { id } = await addUser(service);
  const person = await signedInBrowser(service);
  for (let n = 10; n <= 20; n += 1)
    await obtainPair(service, person, await addClient(service, { name: `An app of the people, number ${n}` }));
  const at = `${service.operatorUrl}/people/${id}`;
  const grantsIn = (body: string) => (body.match(/"\/people\/[^"]*\/end-grant"/g) ?? []).length;
  const { body } = await browser.get(at);
  assert.ok(Buffer.byteLength(body) < 50_000, `${Buffer.byteLength(body)} bytes`);
  assert.equal(grantsIn(body), 10);
  const next = /rel="next" href="([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
  const last = (await browser.get(service.operatorUrl + String(next))).body;
  assert.equal(grantsIn(last), 1);
  assert.match(last, /First grants/);
  assert.equal((await browser.get(`${at}?after=abc`)).headers.get('location'), `/people/${id}`);
});

for (const [what, id, name] of [
  ['an ID of 250 quotation marks', '"'.repeat(250), 'App'],
  ['apps with names of quotation marks', 'usr_long', '"'.repeat(98)],
] as const)
  test(`operators §7: a person with ${what} has a page below 50 KB, and acts on it`, async (t) => {
    const path = temporaryPath(t);
    const service = await startConsole(t, { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS: makeRootKey() });
    const { browser } = await enrolledOperator(service, 'admin');
    await addUser(service);
    const person = await signedInBrowser(service);
    for (let n = 10; n <= 20; n += 1) await obtainPair(service, person, await addClient(service, { name: name + n }));
    const database = secondConnection(t, path);
    database.exec('PRAGMA foreign_keys = OFF');
    for (const [table, column] of [
      ['account', 'id'],
      ['session', 'account_id'],
      ['oauth_grant', 'resource_owner_id'],
    ])
      database.prepare(`UPDATE ${table} SET ${column} = ?`).run(id);
    const at = `${service.operatorUrl}/people/${encodeURIComponent(id)}`;
    const { body } = await browser.get(at);
    assert.match(body, /rel="next"/);
    assert.ok(Buffer.byteLength(body) < 50_000, `${Buffer.byteLength(body)} bytes`);
    const [, grant = ''] = /name="grant" value="([^"]*)"/.exec(body) ?? [];
    const ended = await postOwn(browser, `${at}/end-grant`, { grant });
    assert.match(String(ended.headers.get('location')), /done=grant-ended/);
  });

test('operators §7: a person with many sessions has a page with the last ones, and their number', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { id } = await addUser(service);
  for (let n = 0; n < 22; n += 1) {
    service.clock.advance(60);
    await signedInBrowser(service);
  }
  const body = textOf((await browser.get(`${service.operatorUrl}/people/${id}`)).body);
  assert.match(body, /Sessions Signed in Last seen With 15 Jan 2026, 12:22 UTC /, 'the newest one first');
  assert.match(
    body,
    /15 Jan 2026, 12:03 UTC 15 Jan 2026, 12:03 UTC A password The last 20 are listed, of 22 sessions\./,
  );
});

test('operators §7: several grants of one app stand together, and end one by one or all at once', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'support');
  const { pair, kept, client, at, page } = await withGrants(service, browser);
  service.clock.advance(60);
  const person = await signedInBrowser(service, 'ada@example.com');
  const newer = await obtainPair(service, person, client);
  service.clock.advance(1);
  await obtainCode(service, person, client);
  assert.match(
    textOf(await page()),
    /Calendar End all grants of Calendar Cancel Ends 3 grants: .* Notes .*End the grant of Notes/,
  );
  const [newest] = await service.installation.grants.list({ clientId: client.clientId, limit: 1 });
  await postOwn(browser, `${at}/end-grant`, { grant: grantIdText(newest?.grant.id ?? Buffer.alloc(16)) });
  assert.match(textOf(await page()), /Ends 2 grants: /);
  for (const { accessToken } of [pair, newer]) assert.equal((await me(service, accessToken)).status, 200);
  const end = () => postOwn(browser, `${at}/end-app`, { client: client.clientId });
  assert.match(String((await end()).headers.get('location')), /done=app-ended&app=app_/);
  for (const { accessToken } of [pair, newer]) assert.equal((await me(service, accessToken)).status, 401);
  assert.equal((await me(service, kept.accessToken)).status, 200, 'the other app stays');
  assert.match(textOf((await end()).body), /Nothing happened\. This app has no grant any more\./);

  const bob = await addPerson(service, 'bob@example.com', 'Bob');
  const [ofAda] = await service.installation.grants.list({ limit: 1 });
  const foreign = { grant: grantIdText(ofAda?.grant.id ?? Buffer.alloc(16)) };
  assert.equal((await postOwn(browser, `${service.operatorUrl}/people/${bob}/end-grant`, foreign)).status, 400);
  assert.equal((await me(service, kept.accessToken)).status, 200, 'a grant ends on the page of its person alone');
});

test('operators §7: a person with apps of 20 long permissions each has a page below 50 KB, with every scope', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const { id } = await addUser(service);
  const person = await signedInBrowser(service);
  const sentence = 'Read your files and folders, and those that others share'.padEnd(80, '.');
  const scopes = Array.from({ length: 20 }, (_, n) => ({ name: `files.read.${n}`, sentence, optional: false }));
  const scope = scopes.map(({ name }) => name).join(' ');
  for (let n = 10; n < 30; n += 1) {
    const client = await addClient(service, { name: `An app, number ${n}`, scopes });
    await exchange(service, client, await obtainCode(service, person, client, { scope }));
  }
  const { body } = await browser.get(`${service.operatorUrl}/people/${id}`);
  assert.ok(Buffer.byteLength(body) < 50_000, `${Buffer.byteLength(body)} bytes`);
  assert.match(textOf(body), /and 15 more: files\.read\.5, files\.read\.6, .*files\.read\.19/);
});

test('operators §4: an invitation that is sent twice invites one person, and both answers say so', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const people = `${service.operatorUrl}/people`;
  const { once = '' } = fieldsOf((await browser.get(people)).body, /post" action="\/people"/);
  const typed = { email: 'grace@example.com', name: 'Grace', username: 'grace', once };
  const send = () => postOwn(browser, people, typed);
  const answers = [...(await Promise.all([send(), send()])), await send()];
  for (const { status } of answers) assert.equal(status, 200);
  assert.equal(answers.filter(({ body }) => /token=/.test(body)).length, 1);
  assert.match(textOf(answers[2]?.body ?? ''), /sent twice, and one person was invited.*Invite again/);
  const { id } = await service.installation.accounts.show('grace@example.com');
  assert.match(answers[2]?.body ?? '', new RegExp(`href="/people/${id}"`));

  const other = await postOwn(browser, people, { ...typed, email: 'ada@example.com', username: 'ada' });
  assert.equal(other.status, 400);
  assert.match(textOf(other.body), /sent before, with other values/);
  assert.match(other.body, /value="ada@example\.com"/);
  assert.notEqual(fieldsOf(other.body, /post" action="\/people"/)['once'], once);
});

test('operators §3: the role "read" sees a person, and ends nothing', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { kept, at, page } = await withGrants(service, browser);
  const body = await page();
  assert.match(textOf(body), /Calendar/);
  assert.doesNotMatch(body, /action="\/people/);
  for (const act of ['end-grant', 'end-app', 'revoke-grants', 'end-sessions', 'disable'])
    assert.equal((await postOwn(browser, `${at}/${act}`)).status, 403, act);
  assert.equal((await me(service, kept.accessToken)).status, 200);
});

test('operators §3: an admin invites, changes and deletes; each that makes trust needs presence, and nothing typed is lost', async (t) => {
  const service = await startConsole(t);
  const { browser, passkey } = await enrolledOperator(service, 'admin');
  const people = `${service.operatorUrl}/people`;
  const typed = { email: 'grace@example.com', name: 'Grace', username: 'grace' };
  const refused = await postOwn(browser, people, { ...typed, email: 'nonsense' });
  assert.equal(refused.status, 400);
  assert.match(refused.body, /value="nonsense"/);
  const invited = await postOwn(browser, people, typed);
  assert.match(textOf(invited.body), /shown only once/);
  assert.match(invited.body, /\/invitation\?token=|token=/);
  const { id } = await service.installation.accounts.show('grace@example.com');
  const at = `${people}/${id}`;
  const page = async () => (await browser.get(at)).body;
  assert.match(textOf(await page()), /The link of .* works until/);
  assert.match(textOf(await page()), /Ann admin invited grace@example\.com With an invitation link/);

  service.clock.advance(301);
  const late = await postOwn(browser, people, { email: 'ada@example.com', name: 'Ada', username: '' });
  assert.equal(late.status, 403);
  assert.deepEqual(keptFields(late)['email'], ['ada@example.com']);
  const { tag = '' } = fieldsOf(await page(), /\/update"/);
  const named = await postOwn(browser, `${at}/update`, { ...typed, name: 'Grace Hopper', tag });
  assert.match(String(named.headers.get('location')), /done=updated/, 'a name alone needs no presence');
  const fresh = fieldsOf(await page(), /\/update"/);
  const moved = { ...typed, email: 'gh@example.com', name: 'Grace Hopper', ...fresh };
  const away = await postOwn(browser, `${at}/update`, moved);
  assert.equal(away.status, 403);
  assert.match(textOf((await postOwn(browser, `${at}/delete`)).body), /Confirm that it’s you/);
  assert.equal((await service.installation.accounts.show(id)).email, 'grace@example.com');

  assert.match(String((await confirmInPlace(browser, passkey, away)).headers.get('location')), /done=updated/);
  assert.equal((await service.installation.accounts.show(id)).email, 'gh@example.com');
  assert.match(textOf((await postOwn(browser, `${at}/invite`, asShown(await page()))).body), LINK);
  assert.equal(
    (await postOwn(browser, `${at}/delete`, asShown(await page()))).headers.get('location'),
    '/people?done=deleted',
  );
  assert.match(textOf((await browser.get(`${people}?done=deleted`)).body), /The person was deleted/);
  assert.equal((await browser.get(at)).status, 404);
});

test('operators §7: a person is found by a product and the ID there, and by both alone', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { installation } = service;
  const product = {
    ...{ name: 'Product', signInUrl: 'https://product.example/sign-in', ownIds: false, keys: [] },
    ...{ rights: ['sign-in'] as const, forOperators: false, homePage: null, sessionLifetime: null },
  };
  await installation.identityProviders.register({ ...product, id: 'product' }, installation.operator);
  const at = `${service.operatorUrl}/people`;
  const { body } = await browser.get(`${at}?provider=product&subject=42`);
  assert.match(body, /<option value="product" selected>/);
  assert.match(textOf(body), /Nobody found/);
  assert.match(textOf(body), /Nobody has the ID 42 at product \. It is found only whole/);
  assert.match(textOf((await browser.get(`${at}?provider=product`)).body), /Choose a product and an ID/);
});

const OPEN_FORM = /<details class="act" open><summary>Change the email address, name or user name/;

async function withGrace(service: TestConsole) {
  const signedIn = await enrolledOperator(service, 'admin');
  const id = await addPerson(service, 'grace@example.com', 'Grace');
  const { accounts, operator } = service.installation;
  const at = `${service.operatorUrl}/people/${id}`;
  return {
    ...signedIn,
    at,
    page: () => signedIn.browser.get(at),
    post: (act: string, fields: Record<string, string>) => postOwn(signedIn.browser, `${at}/${act}`, fields),
    now: () => accounts.show({ id }),
    meanwhile: (changes: Parameters<typeof accounts.update>[1]) => accounts.update({ id }, changes, operator),
  };
}

test('operators §7: a form of a person whom somebody else changed saves nothing, and a second press reverts nothing', async (t) => {
  const { page, post, now, meanwhile } = await withGrace(await startConsole(t));
  const typed = { email: 'grace@example.com', name: 'Grace', username: 'gh' };
  const shown = fieldsOf((await page()).body, /\/update"/);
  assert.doesNotMatch((await page()).body, OPEN_FORM);
  await meanwhile({ email: 'hopper@example.com' });
  const stale = await post('update', { ...typed, ...shown });
  assert.equal(stale.status, 400);
  assert.match(textOf(stale.body), /Nothing happened\. The person was changed meanwhile/);
  assert.match(stale.body, OPEN_FORM);
  assert.match(stale.body, /name="username" value="gh"/, 'what was typed stays');
  assert.match(stale.body, /name="email" value="hopper@example\.com"/, 'what was not is as it is now');
  const again = { ...typed, email: 'hopper@example.com', ...fieldsOf(stale.body, /\/update"/) };
  assert.match(String((await post('update', again)).headers.get('location')), /done=updated/);
  const { email, name, username } = await now();
  assert.deepEqual({ email, name, username }, { email: 'hopper@example.com', name: 'Grace', username: 'gh' });

  const fresh = fieldsOf((await page()).body, /\/update"/);
  const wrong = await post('update', { ...again, ...fresh, email: 'nonsense' });
  assert.deepEqual([wrong.status, fieldsOf(wrong.body, /\/update"/)], [400, fresh], 'the same form, with its mistake');
  assert.match(wrong.body, /value="nonsense"/);
  assert.match(wrong.body, OPEN_FORM);
});

test('operators §7: a link is made, and a person deleted, only as the page showed the person', async (t) => {
  const { page, post, now, meanwhile } = await withGrace(await startConsole(t));
  const shown = fieldsOf((await page()).body, /\/delete"/);
  assert.deepEqual(fieldsOf((await page()).body, /\/invite"/), { tag: shown['tag'] });
  await meanwhile({ email: 'mallory@example.com' });
  for (const act of ['invite', 'delete'])
    for (const fields of [shown, {}]) {
      const refused = await post(act, fields);
      assert.equal(refused.status, 400, act);
      assert.match(textOf(refused.body), /Nothing happened\. The person was changed meanwhile/);
    }
  const { invitation, email } = await now();
  assert.deepEqual([invitation, email], [null, 'mallory@example.com']);
});

test('operators §7: an act that gives access back asks for the person as shown; one that ends access never waits', async (t) => {
  const { page, post, now, meanwhile } = await withGrace(await startConsole(t));
  await meanwhile({ name: 'Grace H.' });
  for (const act of ['end-sessions', 'revoke-grants', 'disable']) assert.equal((await post(act, {})).status, 303, act);
  const shown = fieldsOf((await page()).body, /\/enable"/);
  await meanwhile({ email: 'mallory@example.com' });
  for (const fields of [shown, {}]) {
    const refused = await post('enable', fields);
    assert.equal(refused.status, 400);
    assert.match(textOf(refused.body), /Nothing happened\. The person was changed meanwhile/);
  }
  assert.equal((await now()).status, 'disabled');
  assert.equal((await post('enable', fieldsOf((await page()).body, /\/enable"/))).status, 303);
});

test('operators §7: a person who came back meanwhile is not deleted by a page that says nobody is signed in', async (t) => {
  const service = await startConsole(t);
  const { page, post, at, browser } = await withGrace(service);
  const later = async <Done>(act: () => Promise<Done>): Promise<Done> => {
    service.clock.advance(1);
    return act();
  };
  const deleting = () => later(async () => fieldsOf((await page()).body, /\/delete"/));
  const signIn = () => later(() => signedInBrowser(service, 'grace@example.com'));
  const cameBack = /Nothing happened\. Meanwhile the person signed in, allowed an app or was changed\./;
  const alone = await deleting();
  assert.match(textOf((await page()).body), /for good, with no session and no grant\./);
  await signIn();
  assert.match(textOf((await post('delete', alone)).body), cameBack);
  const signedIn = await deleting();
  await postOwn(browser, `${at}/end-sessions`);
  const grace = await signIn();
  assert.match(textOf((await post('delete', signedIn)).body), cameBack, 'one session for another');
  const withSession = await deleting();
  const { accessToken } = await later(async () => obtainPair(service, grace, await addClient(service)));
  const refused = await later(() => post('delete', withSession));
  assert.equal(refused.status, 400);
  assert.match(textOf(refused.body), cameBack);
  assert.match(
    textOf(refused.body),
    /for good, with 1 session and 1 grant of 1 app\./,
    'the answer has the present numbers',
  );
  assert.equal((await me(service, accessToken)).status, 200);
  const fresh = fieldsOf(refused.body, /\/delete"/);
  for (const time of ['', 'NaN', '-1', '1e99', 'many'])
    assert.equal((await post('delete', { ...fresh, at: time })).status, 400, time);
  await postOwn(browser, `${at}/end-sessions`);
  assert.equal((await post('delete', fresh)).status, 303, 'less than was shown is no surprise');
});

test('operators §7: a person with more grants than a page counts is deleted', async (t) => {
  const path = temporaryPath(t);
  const service = await startConsole(t, { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS: makeRootKey() });
  const { page, post } = await withGrace(service);
  const grace = await signedInBrowser(service, 'grace@example.com');
  await obtainPair(service, grace, await addClient(service));
  const database = secondConnection(t, path);
  const columns = database.prepare("SELECT name FROM pragma_table_info('oauth_grant') WHERE name <> 'id'").all();
  const others = columns.map(({ name }) => name).join();
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO oauth_grant (id, ${others}) SELECT randomblob(16), ${others} FROM (SELECT * FROM oauth_grant LIMIT 1), n`);
  service.clock.advance(1);
  const { body } = await page();
  assert.match(textOf(body), /for good, with 1 session and more than [\d,]+ grants\./);
  assert.equal((await post('delete', fieldsOf(body, /\/delete"/))).status, 303);
});

test('operators §7: a link that ends an earlier one says so before and after, and a second press ends none', async (t) => {
  const service = await startConsole(t);
  const { page, post } = await withGrace(service);
  const shown = fieldsOf((await page()).body, /\/invite"/);
  const first = await post('invite', shown);
  assert.doesNotMatch(textOf(first.body), /earlier link/);
  service.clock.advance(60);
  const again = await post('invite', shown);
  assert.equal(again.status, 400);
  const when = '15 Jan 2026, 12:00 UTC';
  assert.match(
    textOf(again.body),
    new RegExp(`Meanwhile a link to set a password was made, at ${when}\\. Only one answer`),
  );
  assert.match(textOf(again.body), new RegExp(`The link of ${when} works until 16 Jan 2026, 12:00`));
  assert.match(textOf(again.body), new RegExp(`The earlier link of ${when} no longer works then\\.`));
  const opened = (body: string) => /http[^<]*token=[^<]*/.exec(body)?.[0].replaceAll('&amp;', '&') ?? '';
  assert.equal((await fetch(opened(first.body))).status, 200, 'the first link lives');
  const second = await post('invite', fieldsOf(again.body, /\/invite"/));
  assert.match(textOf(second.body), new RegExp(`The earlier link of ${when} no longer works\\.`));
  assert.notEqual((await fetch(opened(first.body))).status, 200);
  assert.equal((await fetch(opened(second.body))).status, 200);
});
