// The console's pages for a found credential, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser } from '../../../support/browser.ts';
import { enrolledOperator, postOwn, startConsole, type TestConsole, usePasskey } from '../../../support/console.ts';
import { me, obtainPair, signedInBrowser } from '../../../support/flow.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { addResourceServer } from '../../../support/standard.ts';

/** The text of a page, without its markup. */
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
const grantIn = (body: string) => /name="grant" value="([^"]*)"/.exec(body)?.[1] ?? '';
/** The part of a credential that nobody can guess. */
const canaryOf = (credential: string) => credential.slice(-24);

async function withLeak(service: TestConsole) {
  await addUser(service);
  const app = await addClient(service, { name: 'Calendar' });
  const ada = await signedInBrowser(service);
  await obtainPair(service, ada, app);
  const pair = await obtainPair(service, ada, app);
  return { app, token: pair.accessToken, refreshToken: pair.refreshToken };
}

test('operators §7: a leaked token is identified, its grant ended, its app paused, and all of it ended', async (t) => {
  const service = await startConsole(t);
  const { app, token } = await withLeak(service);
  const { browser, passkey } = await enrolledOperator(service, 'admin');
  const at = `${service.operatorUrl}/leaked`;
  const found = await postOwn(browser, at, { credential: ` ${token}\n` });
  assert.equal(found.status, 200);
  assert.match(textOf(found.body), /Access token of Calendar .*Works Yes .*Ends 2 grants of 1 user/);
  for (const part of ['href="/people/', `href="/apps/${app.clientId}#secrets"`, 'href="/grants/'])
    assert.ok(found.body.includes(part), part);
  const grant = grantIn(found.body);

  const step = (name: string) => postOwn(browser, `${at}/apps/${app.clientId}/${name}`, { grant });
  const ended = await step('revoke-grant');
  assert.deepEqual(
    [ended.status, ended.headers.get('location')],
    [303, `/leaked/apps/${app.clientId}?done=grant&grant=${grant}`],
  );
  assert.equal((await me(service, token)).status, 401);
  const after = await browser.get(service.operatorUrl + String(ended.headers.get('location')));
  assert.match(textOf(after.body), /The grant has ended: all of its tokens.*none of its tokens works/);
  assert.match(textOf((await step('revoke-grant')).body), /Nothing happened\. The grant was revoked already/);

  const paused = await browser.get(service.operatorUrl + String((await step('pause')).headers.get('location')));
  assert.match(textOf(paused.body), /Paused: .*Next: .*The app is paused/);
  service.clock.advance(360);
  const absent = await step('revoke-grants');
  assert.equal(absent.status, 403);
  assert.match(textOf(absent.body), /Nothing happened.*passkey/, 'the page stays, with what was found');
  assert.match(absent.body, /action="[^"]*\/revoke-grants"/);
  await usePasskey(browser, passkey, `${service.operatorUrl}/confirm?continue=/leaked`);
  assert.match(String((await step('revoke-grants')).headers.get('location')), /done=all/);
  assert.match(textOf((await postOwn(browser, at, { credential: token })).body), /Works No: /);
});

test('operators §7: a step ends only a grant of the app that the page is about, and quotes nothing that was sent', async (t) => {
  const service = await startConsole(t);
  const { token } = await withLeak(service);
  const other = await addClient(service, { name: 'Other' });
  const { browser } = await enrolledOperator(service, 'admin');
  const at = `${service.operatorUrl}/leaked`;
  const its = grantIn((await postOwn(browser, at, { credential: token })).body);
  for (const grant of [its, token, '']) {
    const refused = await postOwn(browser, `${at}/apps/${other.clientId}/revoke-grant`, { grant });
    assert.equal(refused.status, 400);
    assert.match(textOf(refused.body), /Nothing happened\. This app has no such grant\./);
    assert.ok(!refused.body.includes(canaryOf(token)));
  }
  assert.equal((await me(service, token)).status, 200);
});

test('operators §7: secrets and keys lead to where they end, and another text is not ours or mistyped', async (t) => {
  const service = await startConsole(t);
  const app = await addClient(service, { name: 'Calendar' });
  const api = await addResourceServer(service);
  const { browser, operator } = await enrolledOperator(service, 'read');
  const post = async (credential: string) =>
    (await postOwn(browser, `${service.operatorUrl}/leaked`, { credential })).body;
  const { text: key } = await service.installation.operators.registry.addKey(
    operator.id,
    { name: 'ci', rights: ['identify'] },
    service.installation.operator,
  );

  const ofApp = await post(app.clientSecret ?? '');
  assert.match(textOf(ofApp), /Client secret of Calendar .*Works Yes .*Replace the secret/);
  assert.doesNotMatch(ofApp, /<form[^>]*\/leaked\/apps/, 'the role "read" ends nothing');
  for (const step of ['pause', 'revoke-grant', 'revoke-grants'])
    assert.equal(
      (await postOwn(browser, `${service.operatorUrl}/leaked/apps/${app.clientId}/${step}`)).status,
      403,
      step,
    );
  assert.match(await post(api.secret ?? ''), new RegExp(`href="/apis/${api.id}"`));
  assert.match(await post(key), new RegExp(`href="/operators/${operator.id}"`));
  const unknown = await postOwn(browser, `${service.operatorUrl}/leaked`, { credential: 'vk_at_mistyped' });
  assert.deepEqual([unknown.status, /mistyped or incomplete/.test(unknown.body)], [400, true]);
  assert.match(textOf(await post('')), /Paste one credential/);
  assert.match(textOf(await post('x'.repeat(5000))), /Paste one credential/);
  assert.equal((await browser.get(`${service.operatorUrl}/leaked/apps/app_nothing`)).status, 404);
});

test('operators §7: a pasted credential is in no log line, event, address or page, whatever came of it', async (t) => {
  const service = await startConsole(t);
  const { app, token, refreshToken } = await withLeak(service);
  const { browser } = await enrolledOperator(service, 'admin');
  const at = `${service.operatorUrl}/leaked`;
  const texts = [token, refreshToken, app.clientSecret ?? '', `${token.slice(0, -1)}!`, `vk_cs_${'Q'.repeat(4200)}`];
  const before = service.log.length;
  const answers = [];
  for (const credential of texts) {
    answers.push(await postOwn(browser, at, { credential }));
    answers.push(await postOwn(new Browser(), at, { credential }));
    answers.push(
      await browser.post(at, { credential }, { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }),
    );
    answers.push(await postOwn(browser, `${at}/apps/${app.clientId}/pause`, { credential, grant: credential }));
  }
  const events = await service.installation.audit.listAuditEvents({ limit: 200 });
  const seen = JSON.stringify([
    service.log.slice(before),
    events,
    answers.map(({ body, headers }) => [body, [...headers]]),
  ]);
  assert.ok(service.log.length > before);
  for (const credential of texts) assert.ok(!seen.includes(canaryOf(credential)), credential.slice(0, 6));
});
