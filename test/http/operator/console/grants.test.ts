// The page of a grant in the console, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantIdText } from '../../../../src/oauth/grants/grant.ts';
import { enrolledOperator, postOwn, startConsole, type TestConsole } from '../../../support/console.ts';
import { exchange, me, obtainCode, obtainPair, refresh, signedInBrowser } from '../../../support/flow.ts';
import { addClient, addUser } from '../../../support/service.ts';

/** The text of a page, without its markup. */
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

async function start(t: { after(end: () => Promise<void> | void): void }, role: 'read' | 'support') {
  const service = await startConsole(t);
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
  assert.match(textOf(body), /The person pressed Allow on the consent page\./);
  assert.match(textOf(body), /Refreshed Once, last 15 Jan 2026, 12:01:01 from 127\.0\.0\.1/);
  assert.match(body, new RegExp(`href="/people/${id}"`));
  const ended = await postOwn(browser, `${service.operatorUrl}/grants/${second}/end`);
  assert.equal(ended.headers.get('location'), `/grants/${second}?done=ended`);
  assert.equal((await me(service, accessToken)).status, 401);
  const after = await page(second);
  assert.match(textOf(after.body), /How it ended .* By operator opr_/);
  assert.doesNotMatch(after.body, /\/end"/);
  assert.equal((await postOwn(browser, `${service.operatorUrl}/grants/${second}/end`)).status, 400, 'ended already');
  assert.match(textOf((await page(grant)).body), /Active\./, 'the other grant stays');
  assert.equal((await page('00000000-0000-7000-8000-000000000000')).status, 404);
  assert.equal((await page('nonsense')).status, 404);
});

test('RFC 6749 §4.1.2: a code that was replayed shows both presentations; so does a reused refresh token', async (t) => {
  const { service, client, person, browser, page } = await start(t, 'read');
  const code = await obtainCode(service, person, client);
  const replayed = await newestGrant(service);
  await exchange(service, client, code);
  service.clock.advance(900);
  assert.equal((await exchange(service, client, code)).status, 400);
  const one = textOf((await page(replayed)).body);
  assert.match(one, /Presented twice The app’s authorization code came a second time\./);
  assert.match(one, /First Exchanged before at 2026-01-15T12:00:00\.000Z from 127\.0\.0\.1/);
  assert.match(one, /Second 15 Jan 2026, 12:15:00 from 127\.0\.0\.1/);

  service.clock.advance(1);
  const { refreshToken } = await obtainPair(service, person, client);
  const reused = await newestGrant(service);
  await refresh(service, client, refreshToken);
  service.clock.advance(900);
  assert.equal((await refresh(service, client, refreshToken)).status, 400);
  assert.match(
    textOf((await page(reused)).body),
    /A refresh token came that had been replaced long before\. .* First Last refreshed before at 2026-01-15T12:15:01\.000Z/,
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
  assert.match(textOf(body), /Ended: its details were deleted/);
  assert.match(textOf(body), /The app was deleted\./);
});
