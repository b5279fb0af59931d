// Now and Health in the console, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enrolledOperator, startConsole } from '../../../support/console.ts';
import { exchange, obtainCode, signedInBrowser } from '../../../support/flow.ts';
import { textOf } from '../../../support/html.ts';
import { addClient, addUser } from '../../../support/service.ts';

const DAY_S = 86_400;

/** The text of a page, without its markup. */

test('operators §7: a new installation is told the next three steps, and which are done', async (t) => {
  const service = await startConsole(t);
  const admin = await enrolledOperator(service, 'admin');
  const { status, body } = await admin.browser.get(`${service.operatorUrl}/`);
  assert.equal(status, 200);
  assert.match(body, /href="\/apps\/new"/);
  assert.match(textOf(body), /1\. Register an app .* 2\. Let people sign in .* 3\. Back up every day/);
  assert.doesNotMatch(body, /Done|Last 24 hours/);

  await addUser(service);
  const reader = await enrolledOperator(service, 'read');
  const after = (await reader.browser.get(`${service.operatorUrl}/`)).body;
  assert.match(textOf(after), /2\. Let people sign in .* Done 3\. Back up/);
  assert.doesNotMatch(after, /href="\/apps\/new"/, 'the role "read" registers none');

  await addClient(service, { name: 'Calendar' });
  const text = textOf((await reader.browser.get(`${service.operatorUrl}/`)).body);
  assert.match(text, /1\. An admin registers an app .* Done 2\. .* Done 3\. Back up every day/);
  assert.match(
    text,
    /In 24 hours, no request of an app was counted, and no incidents were recorded\. .* Nothing was counted .* No refused request of an app was counted\. Incidents The audit trail records no code/,
  );
});

test('operators §7: the next steps stay until all three are done', async (t) => {
  const service = await startConsole(t);
  const { installation, clock, operatorUrl } = service;
  await addClient(service);
  await addUser(service);
  const { browser } = await enrolledOperator(service, 'read');
  assert.match((await browser.get(`${operatorUrl}/`)).body, /Next steps/);
  await installation.backups.note('another disk', installation.operator);
  clock.advance(11); // The state is kept for 10 seconds.
  assert.doesNotMatch((await browser.get(`${operatorUrl}/`)).body, /Next steps/);
});

test('operators §7: Now shows the last 24 hours of all apps, and those with the most failures', async (t) => {
  const service = await startConsole(t);
  const { installation, clock } = service;
  await installation.backups.note('another disk', installation.operator);
  const names = ['<b>Bold</b>', 'Calendar', 'Notes', 'Photos', 'Tasks', 'Travel'];
  for (const [n, name] of names.entries()) {
    const { clientId } = await addClient(service, { name });
    installation.activity.count(clientId, 'checks');
    for (let failed = 0; failed <= n; failed += 1) installation.activity.count(clientId, 'invalidGrant');
  }
  await installation.activity.flush();
  const { browser } = await enrolledOperator(service, 'read');
  const body = (await browser.get(`${service.operatorUrl}/`)).body;
  assert.match(
    textOf(body),
    /The service is healthy\. In 24 hours, 21 of 27 requests were refused , and no incidents were recorded\. .* Succeeded 6 .* Refused 21 Invalid grant 21 /,
  );
  assert.match(body, /<a href="\/apps\/[^"/]+\/failures">See the failures<span class="unseen"> of <bdi>Travel/);
  assert.deepEqual(
    [...body.matchAll(/<td role="cell" data-column="Refused">(\d+)</g)].map(([, failures]) => failures),
    ['6', '5', '4', '3', '2'],
  );
  assert.doesNotMatch(body, /<b>|Bold/);
  const all = /<a href="([^"]*)">All apps with refused requests/.exec(body)?.[1] ?? '';
  assert.match(
    textOf((await browser.get(service.operatorUrl + all)).body),
    /6 apps found\. .* Travel .* Calendar .* &lt;b&gt;Bold/,
    'the least of them, too',
  );

  // An hour later than the last one of them: the plot and the apps are of the same 24 hours.
  for (const hours of [23, 1]) {
    clock.advance(hours * 3600);
    const { browser: later } = await enrolledOperator(service, 'read', `Later ${hours}`);
    const text = textOf((await later.get(`${service.operatorUrl}/`)).body);
    if (hours === 23) assert.match(text, /Refused 21 .* Travel 6 See/);
    else assert.match(text, /Nothing was counted .* No refused request of an app was counted/);
  }
});

test('operators §7: Now says first which apps fail, in the sentence of their own pages', async (t) => {
  const service = await startConsole(t);
  const { installation, operatorUrl, clock } = service;
  const { browser } = await enrolledOperator(service, 'read');
  const fail = async (name: string, failures: number, checks = 0) => {
    const { clientId } = await addClient(service, { name });
    for (let n = 0; n < failures; n += 1) installation.activity.count(clientId, 'invalidGrant');
    for (let n = 0; n < checks; n += 1) installation.activity.count(clientId, 'checks');
    await installation.activity.flush();
    return clientId;
  };
  const notice = async () => {
    const { body } = await browser.get(`${operatorUrl}/`);
    return /<div class="notice problem">(?:(?!<\/div><\/div>).)* fails: .*?<\/div><\/div>/s.exec(body)?.[0] ?? '';
  };
  await fail('Few', 9);
  await fail('Large', 12, 1200);
  const paused = await fail('Stopped', 500);
  await installation.clients.pause(paused, installation.operator);
  assert.equal(await notice(), '');

  const worst = await fail('<b>CRM</b>', 677, 414);
  const sentence =
    '&lt;b&gt;CRM&lt;/b&gt; fails: 677 of 1,091 requests in 24 hours were refused, since the hour from 15 Jan 2026, 12:00 UTC. See its failures';
  assert.equal(textOf(await notice()).trim(), sentence);
  assert.ok((await notice()).includes(`href="/apps/${worst}/failures"`));
  assert.ok(textOf((await browser.get(`${operatorUrl}/apps/${worst}`)).body).includes(sentence));

  for (const failures of [20, 30, 40]) await fail(`App ${failures}`, failures);
  const many = await notice();
  assert.deepEqual(
    [...textOf(many).matchAll(/(\S+) fails:/g)].map(([, name]) => name),
    ['&lt;b&gt;CRM&lt;/b&gt;', '40', '30'],
  );
  assert.match(textOf(many), /More apps fail\. See all with refused requests $/);
  assert.ok(many.includes('href="/apps?show=failing"'));
  clock.advance(2 * 3600);
  const { browser: later } = await enrolledOperator(service, 'read', 'Later');
  assert.doesNotMatch((await later.get(`${operatorUrl}/`)).body, / fails: /, 'it stopped');
});

test('operators §7: incidents of 24 hours are counted, name app and person, and lead to their events', async (t) => {
  const service = await startConsole(t);
  const { clock, operatorUrl } = service;
  await addUser(service);
  const app = await addClient(service);
  const code = await obtainCode(service, await signedInBrowser(service), app);
  assert.equal((await exchange(service, app, code)).status, 200);
  assert.equal((await exchange(service, app, code)).status, 400);
  const incidents = async () => {
    const { browser } = await enrolledOperator(service, 'read', `Ann ${clock.now()}`);
    return (await browser.get(`${operatorUrl}/`)).body;
  };
  const body = await incidents();
  assert.match(textOf(body), /and 1 incident was recorded/);
  assert.match(
    textOf(body),
    /Authorization code used twice Somebody may have stolen it\. Its grant was ended\. 1 Test App for ada@example\.com 15 Jan 2026, 12:00 UTC See the events/,
  );
  assert.doesNotMatch(textOf(body), /Refresh token used twice|Wrong passwords/);
  assert.match(body, /href="\/events\?action=code_replay&amp;since=2026-01-14"/);
  assert.match(body, new RegExp(`href="/apps/${app.clientId}".*href="/people/usr_.*href="/events/\\d+"`, 's'));
  clock.advance(DAY_S + 1);
  assert.match(textOf(await incidents()), /Incidents The audit trail records no code or token that was used twice/);
});

test('operators §7: a backup that is two days late is seen on Now and on Health, with its remedy', async (t) => {
  const service = await startConsole(t);
  const { installation, clock, operatorUrl } = service;
  await addClient(service);
  const pages = async () => {
    const { browser } = await enrolledOperator(service, 'read', `Ann ${clock.now()}`);
    const [now, health] = [await browser.get(`${operatorUrl}/`), await browser.get(`${operatorUrl}/health`)];
    assert.deepEqual([now.status, health.status], [200, 200]);
    return [now.body, health.body].map(textOf) as [string, string];
  };
  for (const text of await pages()) assert.match(text, /Last backup None was ever recorded Warning/);

  await installation.backups.note('another disk', installation.operator);
  clock.advance(60);
  for (const text of await pages()) {
    assert.match(text, /Last backup 15 Jan 2026, 12:00 UTC \(1 minute ago\)/);
    assert.doesNotMatch(text, /Last backup :/);
  }
  clock.advance(3 * DAY_S);
  const [now, health] = await pages();
  assert.match(
    now,
    /Last backup : 3 days old \(limit: 48 h\) \. Remedy: valetkey database backup FILE , or valetkey database note-backup after/,
  );
  assert.match(now, /Last backup 15 Jan 2026, 12:00 UTC \(3 days ago\) Problem/);
  assert.match(
    health,
    /Health 1 problem 1\d checks are fine\. .* What to do Last backup Problem 3 days old \(limit: 48 h\)\./,
  );
  assert.match(health, /Remedy: valetkey database backup FILE , or valetkey database note-backup after a copy/);
  assert.match(
    health,
    /Last restore Never Root key In use since .*; due for rotation on .* Key ID [0-9a-f]+ Version \d/,
  );
  assert.match(health, /1\d checks are fine Settings of the database Columns of the database .*Free space /);
  assert.match(health, /Root key in use Root key [0-9a-f]+ is in use and 3 days old \(limit: 400 days\)/);
});

test('operators §7: Health speaks of the service, and a command in a remedy is code that a click selects', async (t) => {
  const service = await startConsole(t);
  const { installation, clock, operatorUrl } = service;
  const health = async () => {
    const { browser } = await enrolledOperator(service, 'read', `Ann ${clock.now()}`);
    return (await browser.get(`${operatorUrl}/health`)).body;
  };
  const body = await health();
  assert.match(body, /<code class="command" dir="ltr">valetkey database backup FILE<\/code>, or <code/);
  assert.match(textOf(body), /Health 1 warning 1\d checks are fine\. .*Running instances 1 instance runs/);
  assert.doesNotMatch(body, /this command|as it must be|&quot;valetkey|Attention/i);

  await installation.backups.note('another disk', installation.operator);
  clock.advance(11);
  const healthy = await health();
  assert.match(healthy, /<a href="\/#incidents">Incidents<\/a> and <a href="\/#refused">failing apps<\/a> are on/);
  const fine = textOf(healthy);
  assert.match(fine, /Health The service is healthy\. All 1\d checks are fine\. .* Installation/);
  assert.doesNotMatch(fine, /What to do|Remedy/);
});

test('operators §7: a root key within 30 days of its limit is a warning on Now and on Health, with day and command', async (t) => {
  const service = await startConsole(t);
  const { installation, clock, operatorUrl } = service;
  await addClient(service);
  const pages = async () => {
    await installation.backups.note('another disk', installation.operator);
    clock.advance(60);
    const { browser } = await enrolledOperator(service, 'read', `Ann ${clock.now()}`);
    const bodies = [await browser.get(`${operatorUrl}/`), await browser.get(`${operatorUrl}/health`)];
    return bodies.map(({ body }) => textOf(body)) as [string, string];
  };
  clock.advance(369 * DAY_S);
  for (const text of await pages()) {
    assert.match(
      text,
      /In use since 15 Jan 2026, 12:00 UTC \(369 days ago\); due for rotation on 19 Feb 2027 (Key|You)/,
    );
    assert.match(text, /The service is healthy/);
  }
  clock.advance(DAY_S);
  for (const text of await pages()) {
    assert.match(text, /370 days old: due soon, on 2027-02-19 \(limit: 400 days\).* Remedy: .*valetkey keys rotate/);
    assert.match(text, /\(370 days ago\); due for rotation on 19 Feb 2027 Warning/);
  }
  clock.advance(31 * DAY_S);
  for (const text of await pages()) assert.match(text, /\(401 days ago\); was due for rotation on 19 Feb 2027 Warning/);
});
