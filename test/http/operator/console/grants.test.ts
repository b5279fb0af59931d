// The page of a grant in the console, on the wire.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { FAILURES_KEPT } from '../../../../src/oauth/activity/app-failure.ts';
import { emptyTally } from '../../../../src/oauth/activity/app-tally.ts';
import { grantIdText } from '../../../../src/oauth/grants/grant.ts';
import { makeRootKey } from '../../../../src/settings/root-keys.ts';
import { enrolledOperator, postOwn, startConsole, type TestConsole } from '../../../support/console.ts';
import { exchange, me, obtainCode, obtainPair, refresh, signedInBrowser } from '../../../support/flow.ts';
import { textOf } from '../../../support/html.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { temporaryPath } from '../../../support/storage.ts';

/** The text of a page, without its markup. */

async function start(t: { after(end: () => Promise<void> | void): void }, role: 'read' | 'support', variables = {}) {
  const service = await startConsole(t, variables);
  const { id } = await addUser(service);
  const client = await addClient(service, { name: 'Calendar' });
  const [person, { browser }] = [await signedInBrowser(service), await enrolledOperator(service, role)];
  const page = async (grant: string) => browser.get(`${service.operatorUrl}/grants/${grant}`);
  return { service, id, client, person, browser, page };
}

async function newestGrant({ installation }: TestConsole): Promise<string> {
  const [newest] = await installation.grants.list({ limit: 1 });
  return newest ? grantIdText(newest.grant.id) : '';
}

test('operators §7: the page of a grant says who, when and how, and follows it to its end', async (t) => {
  const { service, id, client, person, browser, page } = await start(t, 'support');
  const code = await obtainCode(service, person, client);
  const grant = await newestGrant(service);
  assert.match(textOf((await page(grant)).body), /Allowed; the app has not fetched its tokens yet\./);
  assert.equal((await exchange(service, client, code)).status, 200);
  service.clock.advance(1);
  const { accessToken, refreshToken } = await obtainPair(service, person, client);
  const second = await newestGrant(service);
  service.clock.advance(60);
  assert.equal((await refresh(service, client, refreshToken)).status, 200);

  const { body } = await page(second);
  assert.match(textOf(body), /Calendar for ada@example\.com/);
  assert.match(
    textOf(body),
    new RegExp(
      [
        'What happened 15 Jan 2026, 12:00:00 UTC ada@example\\.com signed in with a password\\.',
        '15 Jan 2026, 12:00:01 UTC ada@example\\.com pressed Allow on the consent page for Calendar , from 127\\.0\\.0\\.1 \\.',
        'Time not kept The app exchanged the code for its first tokens\\.',
        '15 Jan 2026, 12:01:01 UTC The app refreshed its tokens, from 127\\.0\\.0\\.1 \\. What it allows',
      ].join(' '),
    ),
  );
  const crumbs = /aria-label="Breadcrumb">(.*?)<\/nav>/.exec(body)?.[1] ?? '';
  assert.match(textOf(crumbs), /People ada@example\.com Grant for Calendar/);
  assert.match(body, new RegExp(`href="/people/${id}"`));
  const ended = await postOwn(browser, `${service.operatorUrl}/grants/${second}/end`);
  assert.equal(ended.headers.get('location'), `/grants/${second}?done=ended`);
  assert.equal((await me(service, accessToken)).status, 401);
  const after = await page(second);
  const arrived = await browser.get(service.operatorUrl + String(ended.headers.get('location')));
  assert.match(
    textOf(arrived.body),
    /The grant for Calendar has ended\. Every token of it is refused\. ada@example\.com can/,
  );
  assert.match(after.body, new RegExp(`href="/apps/${client.clientId}/failures">Failures of <bdi>Calendar`));
  assert.match(textOf(after.body), /It was ended , by Ann support \(operator\), from 127\.0\.0\.1/);
  assert.doesNotMatch(after.body, /\/end"/);
  assert.equal((await postOwn(browser, `${service.operatorUrl}/grants/${second}/end`)).status, 400, 'ended already');
  assert.match(textOf((await page(grant)).body), /Active\./, 'the other grant stays');
  assert.equal((await page('00000000-0000-7000-8000-000000000000')).status, 404);
  assert.equal((await page('nonsense')).status, 404);
});

test('operators §7: the page of a grant whose code no app exchanged says when the code expired', async (t) => {
  const { service, client, person, page } = await start(t, 'read');
  await obtainCode(service, person, client);
  const grant = await newestGrant(service);
  service.clock.advance(900);
  const text = textOf((await page(grant)).body);
  assert.match(text, /Never exchanged: the code expired at 15 Jan 2026, 12:0\d:\d\d UTC\. /);
  assert.match(text, /12:0\d:\d\d UTC It expired: the app did not exchange the code in time\./);
});

/** The rows of the table of refused requests on a page, as text. */
const refusedIn = (body: string) =>
  (/<caption class="unseen">Refused requests<.*?<tbody[^>]*>(.*?)<\/tbody>/s.exec(body)?.[1] ?? '')
    .split('</tr>')
    .slice(0, -1)
    .map((row) => textOf(row).trim());

test('operators §7: a grant whose exchanges were refused says how many, why and when, and that the app tried', async (t) => {
  const { service, client, person, browser, page } = await start(t, 'read');
  const refused = async (code: string, fields: Record<string, string> = {}) => {
    assert.equal((await exchange(service, client, code, fields)).status, 400);
    service.clock.advance(1);
  };
  const code = await obtainCode(service, person, client);
  const grant = await newestGrant(service);
  for (let tried = 0; tried < 5; tried += 1) await refused(code, { redirect_uri: 'https://other.example/' });
  await refused(code, { code_verifier: 'x'.repeat(43) });
  service.clock.advance(1);
  const other = await obtainCode(service, person, client);
  const late = await newestGrant(service);
  await service.installation.activity.flush();

  const { body } = await page(grant);
  assert.match(textOf(body), /has not fetched its tokens yet\. 6 refused requests about this grant are recorded\./);
  const [verifier, uri, ...more] = refusedIn(body);
  assert.deepEqual(more, []);
  assert.match(
    uri ?? '',
    /^redirect_uri differs from .*, character by character\. invalid_grant \. To the developer: Send the one that was .* 5 15 Jan 2026, 12:00:04 UTC$/,
  );
  assert.match(verifier ?? '', /^[^.]*code_verifier[^.]*\. .* 1 15 Jan 2026, 12:00:05 UTC$/);
  const [, href = ''] = /<a href="([^"]*)"><bdi>redirect_uri differs/.exec(body) ?? [];
  const list = await browser.get(service.operatorUrl + href.replaceAll('&amp;', '&'));
  assert.match(textOf(list.body), /Only this cause: redirect_uri differs/);
  const without = (await page(late)).body;
  assert.doesNotMatch(textOf(without), /refused/i, 'nothing about this one');
  assert.doesNotMatch(without, /"#?refused"/);

  service.clock.advance(900);
  await refused(other);
  await service.installation.activity.flush();
  assert.match(
    textOf((await page(grant)).body),
    /It expired: the app tried to exchange the code in time, and each request was refused \./,
  );
  const tooLate = (await page(late)).body;
  assert.match(textOf(tooLate), /code expired at [^.]*\. 1 refused request about this grant is recorded\./);
  assert.match(textOf(tooLate), /did not exchange the code in time\. It tried later, and was refused \./);
  assert.match(refusedIn(tooLate).join(), /^The authorization code expired: it is good for/);
});

test('operators §7: the page of a grant stays below 50 KB with 200 refused requests of as many causes', async (t) => {
  const { service, client, person, page } = await start(t, 'read');
  await obtainCode(service, person, client);
  const grantId = await newestGrant(service);
  const failures = Array.from({ length: FAILURES_KEPT }, (_, number) => ({
    ...{ clientId: client.clientId, at: service.clock.now() + number, requestId: `r${number}`, grantId },
    ...{ endpoint: 'token' as const, error: 'invalid_scope', reason: `<b>${number} ${'&'.repeat(1000)}` },
    network: '192.0.2.0/24',
  }));
  const counted = { clientId: client.clientId, at: service.clock.now(), tally: emptyTally(), failures };
  await service.installation.operators.store.addActivity(counted, service.clock.now());
  const { body } = await page(grantId);
  assert.ok(Buffer.byteLength(body) < 50_000, `${Buffer.byteLength(body)} bytes`);
  assert.match(refusedIn(body)[0] ?? '', /^&lt;b&gt;199 /, 'the last one first');
  assert.equal(refusedIn(body).length, 10);
  assert.match(
    textOf(body),
    /200 refused requests about this grant are recorded\. .* Only the last 10 causes are listed\./,
  );
});

test('RFC 6749 §4.1.2: a code that was replayed shows both presentations; so does a reused refresh token', async (t) => {
  const { service, client, person, browser, page } = await start(t, 'read');
  const code = await obtainCode(service, person, client);
  const replayed = await newestGrant(service);
  await exchange(service, client, code);
  service.clock.advance(900);
  assert.equal((await exchange(service, client, code)).status, 400);
  const one = textOf((await page(replayed)).body);
  assert.match(one, /The authorization code came twice A code works once, and this one came again/);
  assert.match(one, /First, exchanged 15 Jan 2026, 12:00:00 UTC from 127\.0\.0\.1/);
  assert.match(one, /Second, refused 15 Jan 2026, 12:15:00 UTC from 127\.0\.0\.1/);

  service.clock.advance(1);
  const { refreshToken } = await obtainPair(service, person, client);
  const reused = await newestGrant(service);
  await refresh(service, client, refreshToken);
  service.clock.advance(900);
  assert.equal((await refresh(service, client, refreshToken)).status, 400);
  assert.match(
    textOf((await page(reused)).body),
    /An old refresh token came again .* Last good refresh 15 Jan 2026, 12:15:01 UTC from .* Old token, refused 15 Jan 2026, 12:30:01 UTC from/,
  );
  assert.doesNotMatch((await page(reused)).body, /action="\/grants/, 'the role "read" ends nothing');
  assert.equal((await postOwn(browser, `${service.operatorUrl}/grants/${reused}/end`)).status, 403);
});

test('operators §7: a grant whose app was deleted still tells its life from the audit trail', async (t) => {
  const { service, client, person, page } = await start(t, 'read');
  await obtainPair(service, person, client);
  const grant = await newestGrant(service);
  await service.installation.clients.delete(client.clientId, service.installation.operator);
  const { status, body } = await page(grant);
  assert.equal(status, 200);
  assert.match(textOf(body), /Calendar for ada@example\.com/, 'the deletion keeps the name');
  assert.match(textOf(body), /Ended\. Its details are deleted a day after the end, and its events are kept\./);
  assert.match(
    textOf(body),
    /The app was deleted , by root , the system user who ran a command\. It ended then at the latest/,
  );
});

test('operators §7: a grant whose row is gone says when and why it ended, as far as the trail knows', async (t) => {
  const path = temporaryPath(t);
  const variables = { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS: makeRootKey() };
  const { service, client, person, page } = await start(t, 'read', variables);
  await obtainPair(service, person, client);
  const expired = await newestGrant(service);
  const prune = () => {
    const database = new DatabaseSync(path);
    database.exec('DELETE FROM oauth_grant');
    database.close();
  };
  prune();
  assert.match(textOf((await page(expired)).body), /Time not kept It expired: no event ended it\./);
  await obtainCode(service, person, client).then((code) => exchange(service, client, code, { redirect_uri: 'x:y' }));
  const refused = await newestGrant(service);
  await service.installation.activity.flush();
  prune();
  assert.match(
    textOf((await page(refused)).body),
    /refresh, in time\. Requests of the app were refused\. Refused requests .* redirect_uri differs/,
  );
  service.clock.advance(60);
  await obtainPair(service, person, client);
  const ended = await newestGrant(service);
  service.clock.advance(60);
  await service.installation.clients.revokeGrants(client.clientId, service.installation.operator);
  prune();
  assert.match(
    textOf((await page(ended)).body),
    /15 Jan 2026, 12:02:00 UTC All grants of the app were ended , by root , the system user who ran a command\. It ended then at the latest/,
  );
});
