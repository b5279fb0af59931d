// The console's page of one app, and its acts, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAILURES_KEPT } from '../../../../src/oauth/activity/app-failure.ts';
import { emptyTally } from '../../../../src/oauth/activity/app-tally.ts';
import { PAGE_FAILURES_KEPT } from '../../../../src/oauth/activity/page-failures.ts';
import { makeRootKey } from '../../../../src/settings/root-keys.ts';
import type { Browser } from '../../../support/browser.ts';
import { enrolledOperator, postOwn, startConsole, type TestConsole, usePasskey } from '../../../support/console.ts';
import { obtainCode, obtainPair, signedInBrowser } from '../../../support/flow.ts';
import { textOf } from '../../../support/html.ts';
import { addClient, addUser, REDIRECT_URI } from '../../../support/service.ts';
import { secondConnection, temporaryPath } from '../../../support/storage.ts';

const DAY_S = 86_400;

/** The text of a page, without its markup. */

/** A request of an app that is refused for its code, after its secret was accepted. */
async function presentWrongCode(
  { appUrl, installation }: TestConsole,
  clientId: string,
  clientSecret: string,
  changes: Record<string, string> = {},
) {
  const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code: 'x', ...changes };
  const body = new URLSearchParams({ ...form, client_id: clientId, client_secret: clientSecret });
  const { status } = await fetch(`${appUrl}/api/auth/oauth/token`, { method: 'POST', body });
  await installation.activity.flush();
  return status;
}

/** The actions of the forms on a page. */
const formsOf = (body: string) =>
  [...body.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, action]) => action);

/** Presses the button of an act, with the hidden fields of its form. */
async function pressAct(browser: Browser, page: string, action: string) {
  const { body } = await browser.get(page);
  const form = body.slice(body.indexOf(`action="${action}"`)).split('</form>')[0] ?? '';
  const fields = [...form.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]);
  return postOwn(browser, new URL(action, page).href, Object.fromEntries(fields));
}

test('operators §7: the page of an app shows its settings, and hostile texts are text', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { clientId } = await addClient(service, {
    name: '<b>Notes</b>',
    publisher: 'Example Ltd',
    homepage: 'https://notes.example/',
    scopes: [
      { name: 'notes.read', sentence: '<i>Reads</i> notes', optional: false },
      { name: 'notes.write', sentence: null, optional: true },
    ],
    personFields: ['email'],
    consent: 'remember',
  });
  const { status, body } = await browser.get(`${service.operatorUrl}/apps/${clientId}`);
  assert.equal(status, 200);
  assert.doesNotMatch(body, /<b>Notes|<i>Reads/);
  for (const said of [
    ...['Example Ltd', 'https://notes.example/', REDIRECT_URI, 'Active', 'Live grants No grant', 'The only secret'],
    ...[
      'notes.read',
      'notes (text of this app)',
      'notes.write',
      '(optional)',
      'Profile fields Email address',
      'Consent Remember what a user allowed',
    ],
    ...['No refused request of 48 hours was counted', '(by command) registered'],
  ])
    assert.ok(textOf(body).includes(said), said);
  assert.deepEqual(formsOf(body), ['/search', '/sign-out'], 'the role "read" acts on nothing');
  assert.doesNotMatch(body, /\/edit"/);
  assert.match(body, />https:\/\/<wbr>notes\.<wbr>example\/</, 'an address breaks behind its signs');
  const gone = await browser.get(`${service.operatorUrl}/apps/app_nothing`);
  assert.equal(gone.status, 404);
  assert.equal((await browser.get(`${service.operatorUrl}/apps/app_nothing/failures`)).status, 404);
});

test('operators §7: the page of an app shows the changes of its registration, whatever its users did since', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service);
  const app = await addClient(service, { name: 'Notes' });
  const { clientId } = app;
  await addUser(service);
  const person = await signedInBrowser(service);
  for (let n = 0; n < 12; n += 1) await obtainPair(service, person, app);
  await pressAct(browser, `${service.operatorUrl}/apps/${clientId}`, `/apps/${clientId}/pause`);
  const { body } = await browser.get(`${service.operatorUrl}/apps/${clientId}`);
  const changes = body.slice(body.indexOf('id="changes"')).split('</section>')[0] ?? '';
  assert.deepEqual(changes.match(/paused|registered|allowed/g), ['paused', 'registered']);
  assert.ok(changes.includes(`href="/events?client=${clientId}"`), 'the way to the rest');
});

test('operators §7: support pauses and resumes an app, and does nothing else', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'support');
  const { clientId } = await addClient(service, { name: 'Notes' });
  const page = `${service.operatorUrl}/apps/${clientId}`;
  assert.deepEqual(formsOf((await browser.get(page)).body), ['/search', '/sign-out', `/apps/${clientId}/pause`]);
  const paused = await pressAct(browser, page, `/apps/${clientId}/pause`);
  assert.deepEqual([paused.status, paused.headers.get('location')], [303, `/apps/${clientId}?done=paused`]);
  assert.match(textOf((await browser.get(`${page}?done=paused`)).body), /Paused: every request/);
  const again = await postOwn(browser, `${page}/pause`);
  assert.equal(again.status, 400);
  assert.match(textOf(again.body), /Nothing happened.*paused already/);
  await pressAct(browser, page, `/apps/${clientId}/resume`);
  assert.equal((await service.installation.clients.show(clientId)).status, 'active');
  for (const act of ['secrets', 'secrets/older/retire', 'hand-over', 'revoke-grants', 'delete'])
    assert.equal((await postOwn(browser, `${page}/${act}`)).status, 403, act);
  assert.equal((await postOwn(browser, `${service.operatorUrl}/apps/Notes/pause`)).status, 404, 'no act by a name');
});

test('operators §7: a rotation says which secret the app uses, and a retirement meets the secret that was shown', async (t) => {
  const service = await startConsole(t);
  const { browser, passkey } = await enrolledOperator(service, 'admin');
  const { clientId, clientSecret } = await addClient(service, { name: 'Notes' });
  const page = `${service.operatorUrl}/apps/${clientId}`;
  const text = async () => textOf((await browser.get(page)).body);
  const confirm = () => usePasskey(browser, passkey, `${service.operatorUrl}/confirm?continue=/apps/${clientId}`);

  service.clock.advance(60);
  const made = await pressAct(browser, page, `/apps/${clientId}/secrets`);
  const newer = /<code>(vk_cs_[^<]*)</.exec(made.body)?.[1] ?? '';
  assert.notEqual(newer, '');
  assert.equal(made.headers.get('cache-control'), 'no-store');
  assert.match(textOf(made.body), /Apps Notes The new secret The new secret of Notes/);
  assert.match(made.body, /<title>The new secret of Notes – Operators/);
  assert.match(made.body, /href="\/apps" aria-current="page"/);
  assert.doesNotMatch((await browser.get(page)).body, new RegExp(newer), 'it is shown once');
  assert.ok(!formsOf((await browser.get(page)).body).includes(`/apps/${clientId}/secrets`), 'no third secret');

  assert.equal(await presentWrongCode(service, clientId, clientSecret), 400);
  assert.match(
    await text(),
    /Two secrets are live\. .* Newer secret .* Not used yet.* Older secret .* Used in the last 24 hours: retiring it would break/,
  );
  service.clock.advance(9 * DAY_S);
  await usePasskey(browser, passkey, `${service.operatorUrl}/sign-in?continue=/`);
  assert.match(await text(), /Last used 9 days ago, and nothing newer since: retiring it would break/);
  await presentWrongCode(service, clientId, newer);
  assert.match(
    await text(),
    /Newer secret .* Used in the last 24 hours.* Older secret .* Not used for 9 days: safe to retire/,
  );

  const { body: safe } = await browser.get(page);
  assert.match(safe, /secrets\/older\/retire.*?name="advice" value="safe"/);
  await presentWrongCode(service, clientId, clientSecret);
  const shownAt = /secrets\/older\/retire.*?name="made" value="(\d+)"/.exec(safe)?.[1] ?? '';
  const inUse = await postOwn(browser, `${page}/secrets/older/retire`, { made: shownAt, advice: 'safe' });
  assert.equal(inUse.status, 400);
  assert.match(
    textOf(inUse.body),
    /Nothing happened.*used this secret meanwhile/,
    'a program that runs rarely came back',
  );

  service.clock.advance(600);
  const late = await pressAct(browser, page, `/apps/${clientId}/secrets/older/retire`);
  assert.match(textOf(late.body), /Confirm that it’s you/, 'a retirement needs presence');
  await confirm();
  // Somebody else finishes the rotation and begins the next one: the older secret is now the one in use.
  const old = (await browser.get(page)).body;
  const { operator } = service.installation;
  await service.installation.clients.retireSecret(clientId, operator);
  await service.installation.clients.rotateSecret(clientId, operator);
  const fields = { made: /secrets\/older\/retire.*?name="made" value="(\d+)"/.exec(old)?.[1] ?? '' };
  const stale = await postOwn(browser, `${page}/secrets/older/retire`, fields);
  assert.equal(stale.status, 400);
  assert.match(textOf(stale.body), /Nothing happened.*secrets changed meanwhile/);
  assert.equal(await presentWrongCode(service, clientId, newer), 400, 'the secret in use still works');

  const retired = await pressAct(browser, page, `/apps/${clientId}/secrets/newer/retire`);
  assert.equal(retired.headers.get('location'), `/apps/${clientId}?done=retired`);
  assert.equal((await service.installation.clients.show(clientId)).secrets.length, 1);
  const result = async () =>
    textOf(
      /<div class="notice[^>]*role="status">.*?<\/div><\/div>/s.exec(
        (await browser.get(`${page}?done=retired`)).body,
      )?.[0] ?? '',
    );
  assert.match(await result(), /The secret was retired\. It no longer works\. $/);
  await service.installation.clients.rotateSecret(clientId, operator);
  await pressAct(browser, page, `/apps/${clientId}/secrets/older/retire`);
  assert.match(
    await result(),
    /The secret was retired\. It no longer works\. The app never used the secret or key that is left, so it cannot connect until its developer has that one\. $/,
  );
});

test('operators §4: a button for a secret that is pressed twice makes one, and both answers say so', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const { clientId } = await addClient(service, { name: 'Notes' });
  const page = `${service.operatorUrl}/apps/${clientId}`;
  const once = /name="once" value="([^"]*)"/.exec((await browser.get(page)).body)?.[1] ?? '';
  const press = () => postOwn(browser, `${page}/secrets`, { once });
  const answers = [...(await Promise.all([press(), press()])), await press()];
  for (const { status } of answers) assert.equal(status, 200);
  assert.equal(answers.filter(({ body }) => /<code>vk_cs_/.test(body)).length, 1);
  assert.match(textOf(answers[2]?.body ?? ''), /sent twice, and one secret was made.*retire the newer one first/);
  assert.equal((await service.installation.clients.show(clientId)).secrets.length, 2);
});

test('operators §7: a hand-over shows its address once, and the page says when it was fetched', async (t) => {
  const service = await startConsole(t);
  const { browser, operator } = await enrolledOperator(service, 'admin', 'Ann');
  const { clientId } = await addClient(service, { name: 'Notes' });
  const page = `${service.operatorUrl}/apps/${clientId}`;
  const made = await pressAct(browser, page, `/apps/${clientId}/hand-over`);
  assert.match(textOf(made.body), /Apps Notes The link for the developer The link for the developer of Notes/);
  assert.match(made.body, /href="\/apps" aria-current="page"/);
  const token = /pick-up\?token=([\w-]*)</.exec(made.body)?.[1] ?? '';
  assert.equal(token.length, 43);
  const waiting = await browser.get(page);
  assert.doesNotMatch(waiting.body, new RegExp(token));
  assert.match(textOf(waiting.body), /Newest pick-up link Made .* by Ann State Waits for the developer until/);
  const [, madeAt = ''] = /Newest pick-up link Made (.*?) by Ann/.exec(textOf(waiting.body)) ?? [];
  assert.match(
    textOf(waiting.body),
    new RegExp(`Newest pick-up link Made .* If you make another, the link of ${madeAt} stops working\\.`),
    'the open link stands before the button that would end it',
  );
  assert.doesNotMatch(textOf(made.body), /earlier link/);
  service.clock.advance(60);
  const again = await pressAct(browser, page, `/apps/${clientId}/hand-over`);
  assert.ok(textOf(again.body).includes(`The earlier link of ${madeAt} no longer works.`));
  assert.equal((await service.installation.handOvers.look(token)).kind, 'dead');
  const newer = /pick-up\?token=([\w-]*)</.exec(again.body)?.[1] ?? '';
  const origin = { source: '192.0.2.7', requestId: 'one' };
  assert.equal((await service.installation.handOvers.pickUp(newer, 'browser', origin)).kind, 'picked_up');
  const fetched = textOf((await browser.get(page)).body);
  assert.doesNotMatch(fetched, /the link of .* stops working/, 'no link is open');
  assert.match(fetched, /Fetched .* from 192\.0\.2\.0\/24/);
  assert.equal(operator.name, 'Ann');
});

test('operators §7: ending all and deleting tell the blast radius first', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const app = await addClient(service, { name: 'Notes' });
  const { clientId } = app;
  const page = `${service.operatorUrl}/apps/${clientId}`;
  const { body: empty } = await browser.get(page);
  assert.match(textOf(empty), /Deletes Notes with its secrets and settings for good, and ends no grant\./);
  assert.doesNotMatch(empty, /\/revoke-grants"/, 'an act that would end nothing is not offered');
  await addUser(service);
  await obtainPair(service, await signedInBrowser(service), app);
  const told = textOf((await browser.get(page)).body);
  assert.match(
    told,
    /Live grants 1 grant of 1 user .* Ends 1 grant of 1 user\. All .* for good, and ends 1 grant of 1 user\./,
  );
  const ended = await pressAct(browser, page, `/apps/${clientId}/revoke-grants`);
  assert.equal(ended.headers.get('location'), `/apps/${clientId}?done=ended`);
  assert.match(textOf((await browser.get(`${page}?done=ended`)).body), /All grants have ended.* Live grants No grant/);
  const deleted = await pressAct(browser, page, `/apps/${clientId}/delete`);
  assert.equal(deleted.headers.get('location'), '/apps?done=deleted');
  assert.match(textOf((await browser.get(`${service.operatorUrl}/apps?done=deleted`)).body), /The app was deleted/);
  assert.equal((await postOwn(browser, `${page}/delete`)).status, 404);
});

/** The rows of the table of causes on a page, as text. */
const causesIn = (body: string) =>
  (/<caption class="unseen">Causes<.*?<tbody[^>]*>(.*?)<\/tbody>/s.exec(body)?.[1] ?? '')
    .split('</tr>')
    .slice(0, -1)
    .map((row) => textOf(row).trim());

test('operators §7: failures have their cause, and those of the authorization page are never links', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { clientId, clientSecret } = await addClient(service, { name: 'Notes' });
  const page = `${service.operatorUrl}/apps/${clientId}`;
  assert.match(
    textOf((await browser.get(`${page}/failures`)).body),
    /No failure.*until it restarts\. It remembers none\./,
  );
  await presentWrongCode(service, clientId, clientSecret);
  const query = new URLSearchParams({ client_id: clientId, state: 'x', redirect_uri: 'https://evil.example/"><b>' });
  await fetch(`${service.appUrl}/auth/oauth2/authorize?${query}`);
  const { body } = await browser.get(`${page}/failures`);
  assert.match(
    textOf(body),
    /The authorization code is invalid[^.]*\. invalid_grant.*token endpoint.*127\.0\.0\.0\/24/,
  );
  assert.match(body, /https:\/\/evil\.example\/&quot;&gt;&lt;b&gt;/);
  assert.doesNotMatch(body, /href="https:\/\/evil/);
  const remembered = async () => textOf((await browser.get(page)).body);
  assert.match(await remembered(), /This instance remembers 1 refused request on the authorization page/);
  for (let more = 0; more < PAGE_FAILURES_KEPT; more += 1)
    await fetch(`${service.appUrl}/auth/oauth2/authorize?${query}`);
  assert.match(
    await remembered(),
    /remembers 20 refused requests on the authorization page/,
    'one visitor made them all',
  );
  service.clock.advance(2 * DAY_S);
  const { browser: later } = await enrolledOperator(service, 'read', 'Later');
  assert.match(causesIn((await later.get(page)).body).join(), /^The authorization code is invalid.* None 15 Jan 2026/);

  for (let more = 0; more < 26; more += 1) {
    await presentWrongCode(service, clientId, clientSecret);
    service.clock.advance(1);
  }
  const first = (await later.get(`${page}/failures`)).body;
  const next = /rel="next" href="([^"]*)"/.exec(first)?.[1] ?? '';
  const second = (await later.get(service.operatorUrl + next)).body;
  assert.equal((second.slice(second.indexOf('id="recorded"')).match(/<th scope="row"/g) ?? []).length, 2);
  assert.doesNotMatch(textOf(second), /On the authorization page/);
});

test('operators §7: one table of causes, with wrong secrets, numbers, beginnings and the words for the developer', async (t) => {
  const path = temporaryPath(t);
  const service = await startConsole(t, { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS: makeRootKey() });
  const { browser } = await enrolledOperator(service, 'read');
  const app = await addClient(service, { name: 'Notes' });
  const { clientId, clientSecret } = app;
  await addUser(service);
  const page = `${service.operatorUrl}/apps/${clientId}`;
  const code = await obtainCode(service, await signedInBrowser(service), app);
  for (let more = 0; more < 3; more += 1) await presentWrongCode(service, clientId, 'wrong');
  service.clock.advance(120);
  const other = { code, redirect_uri: 'https://other.example/' };
  for (let more = 0; more < 2; more += 1)
    assert.equal(await presentWrongCode(service, clientId, clientSecret, other), 400);
  await presentWrongCode(service, clientId, clientSecret, { grant_type: 'password' });

  const { body } = await browser.get(page);
  const [wrongSecret, wrongUri, wrongType, ...others] = causesIn(body);
  assert.equal(others.length, 0);
  assert.match(
    wrongSecret ?? '',
    /^Wrong or refused credentials Only counted\. The app also sent right ones, last at 15 Jan 2026, 12:02 UTC: only some of its servers may have wrong ones\. To the developer: Client ID or Client Secret is wrong or retired.* 3 hour from 15 Jan 2026, 12:00 UTC hour from 15 Jan 2026, 12:00 UTC$/,
  );
  assert.match(
    wrongUri ?? '',
    /^redirect_uri differs .* invalid_grant \. To the developer: Send the one that was .* 2 15 Jan 2026, 12:02 UTC 15 Jan 2026, 12:02 UTC$/,
  );
  assert.match(wrongType ?? '', /^grant_type must be authorization_code\. unsupported_grant_type \. 1 /);
  assert.deepEqual(causesIn((await browser.get(`${page}/failures`)).body), causesIn(body), 'the same on both pages');

  const [, href = ''] = /<a href="([^"]*)"><bdi>redirect_uri differs/.exec(body) ?? [];
  const only = (await browser.get(service.operatorUrl + href.replaceAll('&amp;', '&'))).body;
  const list = only.slice(only.indexOf('id="recorded"')).split('</section>')[0] ?? '';
  assert.match(textOf(list), /Only this cause: redirect_uri differs/);
  assert.equal((list.match(/<th scope="row"/g) ?? []).length, 2);
  const person = /<a class="words" href="\/grants\/[0-9a-f-]+"><bdi>ada@example\.com<\/bdi><\/a>/;
  assert.match(list, person);
  secondConnection(t, path).exec('DELETE FROM oauth_grant');
  assert.match((await browser.get(`${page}/failures`)).body, person, 'the trail knows the person of a deleted grant');
  const unknown = (await browser.get(`${page}/failures?cause=${encodeURIComponent('<b>x')}`)).body;
  assert.match(textOf(unknown), /No recorded failure has this cause\. Show all causes/);
  assert.doesNotMatch(unknown, /<b>x/);
});

test('operators §7: a cause older than its recorded failures began after the first failure that was counted with its error', async (t) => {
  const service = await startConsole(t);
  const { clientId } = await addClient(service, { name: 'Notes' });
  const { store } = service.installation.operators;
  const earlier = service.clock.now();
  const counted = (invalidGrant: number) => ({ ...emptyTally(), invalidGrant });
  await store.addActivity({ clientId, at: earlier, tally: counted(20), failures: [] }, earlier);
  service.clock.advance(4 * 3600 + 600);
  const now = service.clock.now();
  const failures = Array.from({ length: FAILURES_KEPT }, (_, n) => ({
    ...({ clientId, at: now - n, requestId: `${n}`, endpoint: 'token', error: 'invalid_grant' } as const),
    ...{ reason: 'x', network: '192.0.2.0/24', grantId: null },
  }));
  await store.addActivity({ clientId, at: now, tally: counted(FAILURES_KEPT), failures }, now);
  const { browser } = await enrolledOperator(service, 'read');
  const [x, rest] = causesIn((await browser.get(`${service.operatorUrl}/apps/${clientId}`)).body);
  assert.match(x ?? '', /^X\. .* at least 200 Between the hour from 15 Jan 2026, 12:00 UTC and 15 Jan 2026, 1[56]:/);
  assert.match(
    rest ?? '',
    /^Further ones with invalid_grant Only counted\. Most likely of the causes above\. 20 hour from/,
  );
});

test('operators §7: an app whose used secret was retired was used all the same, and nobody is advised to delete it', async (t) => {
  const service = await startConsole(t);
  const { clients, operator } = service.installation;
  const app = await addClient(service, { name: 'Notes' });
  await addUser(service);
  service.clock.advance(100 * DAY_S);
  await obtainPair(service, await signedInBrowser(service), app);
  await clients.rotateSecret(app.clientId, operator);
  await clients.retireSecret(app.clientId, operator);
  const { browser } = await enrolledOperator(service, 'read');
  const text = async (path: string) => textOf((await browser.get(`${service.operatorUrl}${path}`)).body);
  assert.match(
    await text(`/apps/${app.clientId}`),
    /Last used 25 Apr 2026, 12:00 UTC .* The secret Made .*, never used/,
  );
  assert.match(await text('/apps?show=unused'), /No app found/);
});

test('operators §7: a table of causes that leaves some out says so', async (t) => {
  const service = await startConsole(t);
  const { clientId } = await addClient(service, { name: 'Notes' });
  const at = service.clock.now();
  const failures = Array.from({ length: 11 }, (_, n) => ({
    ...({ clientId, at, requestId: `${n}`, endpoint: 'token', error: 'invalid_grant' } as const),
    ...{ reason: `cause ${'x'.repeat(n)}`, network: '192.0.2.0/24', grantId: null },
  }));
  const tally = { ...emptyTally(), invalidGrant: 11 };
  await service.installation.operators.store.addActivity({ clientId, at, tally, failures }, at);
  const { browser } = await enrolledOperator(service, 'read');
  const page = `${service.operatorUrl}/apps/${clientId}`;
  assert.match(textOf((await browser.get(page)).body), /The first 5 of 11 causes are listed\./);
  assert.match(textOf((await browser.get(`${page}/failures`)).body), /The first 10 of 11 causes are listed\./);
});

test('operators §7: an app that fails says so first: how many, since when and why', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { clientId, clientSecret } = await addClient(service, { name: 'Notes' });
  const page = `${service.operatorUrl}/apps/${clientId}`;
  for (let more = 0; more < 9; more += 1) {
    await presentWrongCode(service, clientId, clientSecret, { grant_type: 'password' });
    service.clock.advance(1);
  }
  assert.doesNotMatch((await browser.get(page)).body, /class="notice/, 'a few are usual');
  await presentWrongCode(service, clientId, clientSecret, { grant_type: 'password' });
  const { body } = await browser.get(page);
  assert.match(
    textOf(body.slice(body.indexOf('class="notice problem"'))),
    /Notes fails: 10 of 10 requests in 24 hours were refused, since the hour from 15 Jan 2026, 12:00 UTC\. See its failures Mostly: grant_type must be authorization_code \(10\) State/,
  );
  service.clock.advance(2 * 3600);
  const { browser: later } = await enrolledOperator(service, 'read', 'Later');
  assert.doesNotMatch((await later.get(page)).body, /class="notice/, 'it stopped');
});

test('operators §7: an app that fails names the kinds of errors by their number, and “mostly” more than half', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { clientId, clientSecret } = await addClient(service, { name: 'Notes' });
  const { activity } = service.installation;
  const notice = async () => {
    await activity.flush();
    const { body } = await browser.get(`${service.operatorUrl}/apps/${clientId}`);
    return textOf(/<div class="notice problem">.*?<\/div><\/div>/s.exec(body)?.[0] ?? '');
  };
  // As many as are recorded in one second: others may have been left out.
  for (let count = 0; count < 10; count += 1) await presentWrongCode(service, clientId, clientSecret);
  for (let count = 0; count < 11; count += 1) activity.count(clientId, 'invalidClient');
  assert.match(await notice(), /Mostly: Wrong or refused credentials \(11\) the authorization code is .* \(10\) $/);
  for (let count = 0; count < 5; count += 1) activity.count(clientId, 'invalidGrant');
  for (let count = 0; count < 2; count += 1) activity.count(clientId, 'allowed');
  assert.match(
    await notice(),
    /See its failures Mostly: A code or token that no longer works \(15\): the authorization code is .* \(at least 10\) Wrong or refused credentials \(11\) It was allowed 2 times in 48 hours, and exchanged no code for tokens\. $/,
  );
  for (let count = 0; count < 5; count += 1) activity.count(clientId, 'invalidClient');
  activity.count(clientId, 'exchanges');
  const text = await notice();
  assert.match(text, /Mostly: Wrong or refused credentials \(16\) A code or token that no longer works \(15\): /);
  assert.doesNotMatch(text, /It was allowed/);
  for (let count = 0; count < 2; count += 1) activity.count(clientId, 'limited');
  assert.doesNotMatch(await notice(), /Mostly/, 'the half is not most');
});

test('operators §7: a paused app says who paused it, and if it is still called', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'support', 'Ann');
  const { clientId, clientSecret } = await addClient(service, { name: 'Notes' });
  const page = `${service.operatorUrl}/apps/${clientId}`;
  for (const act of ['pause', 'resume', 'pause']) {
    await pressAct(browser, page, `/apps/${clientId}/${act}`);
    service.clock.advance(60);
  }
  const { body } = await browser.get(page);
  assert.match(
    textOf(body),
    /Paused: every request is refused\. By Ann \(operator\), 15 Jan 2026, 12:02 UTC\. See the event Since then, no refused request was counted\. .*Resume the app/,
  );
  const [, event = ''] = /href="(\/events\/\d+)">See the event/.exec(body) ?? [];
  assert.match(textOf((await browser.get(service.operatorUrl + event)).body), /Ann paused Notes/);
  await presentWrongCode(service, clientId, clientSecret);
  assert.match(textOf((await browser.get(page)).body), /Since then, 1 request was refused ?\./);
  const pushed = await fetch(`${service.appUrl}/oauth2/par`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret }),
  });
  assert.equal(pushed.status, 401);
  await service.installation.activity.flush();
  assert.match(
    textOf((await browser.get(page)).body),
    /Since then, 2 requests were refused ?\./,
    'the second asked for no token',
  );
  const causes = (await browser.get(page)).body;
  assert.match(
    textOf(causes.slice(causes.indexOf('id="failures"'))),
    /This client is paused: ask the people who run this service\. invalid_client ?\. An operator paused the app\. To the developer: Nothing has ended, .* 2 15 Jan 2026/,
  );
  assert.doesNotMatch(textOf(causes), /client authentication failed/, 'its credentials are right');
});

test('operators §7: the notice of a paused app counts from its pause, and says no more than was counted', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'support', 'Ann');
  const { clientId, clientSecret } = await addClient(service, { name: 'Notes' });
  const page = `${service.operatorUrl}/apps/${clientId}`;
  const notice = async () =>
    textOf(/<div class="notice warning">.*?<\/div><\/div>/s.exec((await browser.get(page)).body)?.[0] ?? '');
  await presentWrongCode(service, clientId, clientSecret);
  service.clock.advance(60);
  await pressAct(browser, page, `/apps/${clientId}/pause`);
  assert.match(
    await notice(),
    /Since then, no refused request was counted\./,
    'what was refused before does not count',
  );
  await presentWrongCode(service, clientId, 'wrong');
  assert.match(await notice(), /Requests were refused in the hour of the pause, before it or after\./);
  service.clock.advance(60);
  await presentWrongCode(service, clientId, clientSecret);
  assert.match(await notice(), /Since then, at least 1 request was refused ?\./);
  for (let count = 0; count < 3; count++) {
    service.clock.advance(20 * 60); // A session of the console ends after half an hour without a request.
    await notice();
  }
  for (let count = 0; count < 2; count++) await presentWrongCode(service, clientId, 'wrong');
  assert.match(await notice(), /Since then, at least 3 requests were refused ?\./);
  service.clock.advance(3 * DAY_S);
  const { browser: later } = await enrolledOperator(service, 'read', 'Later');
  const text = async () => textOf((await later.get(page)).body);
  assert.match(await text(), /Since then, at least 1 request was refused ?\./, 'hours are not kept so long');
  for (let count = 0; count < 2; count++) await presentWrongCode(service, clientId, 'wrong');
  assert.match(await text(), /Since then, at least 3 requests were refused ?\./, 'days are');
});

test('operators §7: a pause of more than two days is counted by days, and nothing on the page contradicts it', async (t) => {
  const service = await startConsole(t);
  const { installation, clock } = service;
  const { clientId, clientSecret } = await addClient(service, { name: 'Notes' });
  await presentWrongCode(service, clientId, clientSecret);
  clock.advance(60);
  await installation.clients.pause(clientId, installation.operator);
  const text = async () => {
    clock.advance(1);
    const { browser } = await enrolledOperator(service, 'admin', `Ann ${clock.now()}`);
    return textOf((await browser.get(`${service.operatorUrl}/apps/${clientId}`)).body);
  };
  const paused = await text();
  assert.match(paused, /both work, once the app is resumed, until you retire this one/);
  assert.match(paused, /The secret before works again when you resume the app, until you retire it\./);
  clock.advance(3 * DAY_S);
  assert.match(await text(), /Since then, no refused request was counted\./);
  await presentWrongCode(service, clientId, 'wrong');
  assert.match(await text(), /Since then, 1 request was refused ?\./);
  await installation.clients.rotateSecret(clientId, installation.operator);
  assert.match(await text(), /nothing newer since: retiring it would break the app, once it is resumed\./);
  clock.advance(401 * DAY_S);
  assert.match(await text(), /In the last 400 days, /);
});
