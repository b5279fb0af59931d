// The console's pages for a found credential, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PublicKey } from '../../../../src/oauth/clients/client.ts';
import { invitationUrl } from '../../../../src/operator/json/user.ts';
import { Browser, type Visit } from '../../../support/browser.ts';
import { confirmInPlace, enrolledOperator, postOwn, startConsole, type TestConsole } from '../../../support/console.ts';
import { exchange, me, obtainCode, obtainPair, signedInBrowser } from '../../../support/flow.ts';
import { textOf } from '../../../support/html.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { addResourceServer, makeKey, post, standardCode, standardPair } from '../../../support/standard.ts';

/** The text of a page, without its markup. */
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
  assert.match(
    textOf(found.body),
    /Access token of Calendar .*Works Yes Whoever has it can at once do what is below, until it expires\. .*Grant Live\. .*May do See name.*Last used Never .*Usual step Ends 1 grant: .*Ends 2 grants of 1 user/,
  );
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
  assert.match(
    textOf(after.body),
    /The grant has ended: all of its tokens.*App Calendar Person ada@example\.com Grant Ended\. .*Nothing: the grant has ended, and none of its tokens works\. .*If more of the app leaked /,
  );
  assert.ok(after.body.includes(`href="/grants/${grant}"`));
  assert.doesNotMatch(after.body, /\/revoke-grant"|Usual step|<details class="further" open/);
  assert.match(textOf(after.body), /If the app’s secret may have leaked too: replace the secret/);
  const again = textOf((await postOwn(browser, at, { credential: token })).body);
  assert.match(again, /Works No: its grant ended .*Nothing: the grant has ended/);
  assert.doesNotMatch(again, /Expires|revoked/);
  assert.match(textOf((await step('revoke-grant')).body), /Nothing happened\. The grant has ended already/);

  const paused = await browser.get(service.operatorUrl + String((await step('pause')).headers.get('location')));
  assert.match(textOf(paused.body), /Paused: .*Next: .*resume it on its page .*The app is paused/);
  service.clock.advance(360);
  const absent = await step('revoke-grants');
  assert.equal(absent.status, 403);
  const confirmed = await confirmInPlace(browser, passkey, absent);
  assert.equal(confirmed.headers.get('location'), `/leaked/apps/${app.clientId}?done=all&grant=${grant}`);
  assert.match(textOf((await postOwn(browser, at, { credential: token })).body), /Works No: /);
});

test('operators §7: a finder can use a credential as it says: alone, or only with what the app keeps', async (t) => {
  const service = await startConsole(t);
  await addUser(service);
  const { browser } = await enrolledOperator(service, 'read');
  const ada = await signedInBrowser(service);
  const works = async (credential: string) => {
    const { body } = await postOwn(browser, `${service.operatorUrl}/leaked`, { credential });
    return /Works Yes (.*?)\. App /.exec(textOf(body))?.[1];
  };
  const confidential = await addClient(service, { name: 'Web' });
  const onDevice = await addClient(service, { name: 'Phone', deviceFlow: true }, 'public');
  const withKey = await addClient(service, { name: 'Bank', keys: [makeKey().jwk as PublicKey] });
  const refreshed = (token: string, clientId: string) =>
    post(service, 'token', { grant_type: 'refresh_token', refresh_token: token, client_id: clientId });

  const ofWeb = (await standardPair(service, ada, confidential)).refreshToken;
  const withSecret =
    'Alone, it gives nothing. Whoever also has the app’s secret can get new tokens, and do what is below';
  assert.equal(await works(ofWeb), withSecret);
  assert.equal((await refreshed(ofWeb, confidential.clientId)).status, 401);
  const ofPhone = (await standardPair(service, ada, { ...onDevice, clientSecret: '' })).refreshToken;
  assert.equal(await works(ofPhone), 'Whoever has it can at once get new tokens, and do what is below');
  assert.equal((await refreshed(ofPhone, onDevice.clientId)).status, 200);

  const code = (app: typeof withKey) => standardCode(service, ada, app);
  const verifier = 'the code verifier (PKCE) that the app keeps';
  const gets = (others: string) =>
    `Alone, it gives nothing. Whoever also has ${others} can get tokens, and do what is below`;
  assert.equal(await works(await code(confidential)), gets(`the app’s secret and ${verifier}`));
  assert.equal(await works(await code(onDevice)), gets(verifier));
  assert.equal(await works(await code(withKey)), gets(`the app’s private key and ${verifier}`));
  assert.equal(await works(await obtainCode(service, ada, confidential)), gets('the app’s secret'));
  const { body } = await post(service, 'device_authorization', { client_id: onDevice.clientId });
  assert.equal(
    await works(String(body['device_code'])),
    'Alone, it gives nothing. Whoever also has a person’s Allow can get tokens',
  );
});

/** The settings of a product that proves itself by a secret. */
const PHOTOS = {
  ...{ id: 'photos', name: 'Photos', signInUrl: 'https://photos.example/sign-in', keys: [] },
  ...{ rights: ['sign-in'] as const, homePage: null, sessionLifetime: null, ownIds: false },
};

test('operators §7: what works again once its owner is resumed is to be ended all the same', async (t) => {
  const service = await startConsole(t);
  const { installation } = service;
  const { app, token } = await withLeak(service);
  const { browser } = await enrolledOperator(service, 'admin');
  const look = async (credential: string) =>
    textOf((await postOwn(browser, `${service.operatorUrl}/leaked`, { credential })).body);
  await installation.clients.pause(app.clientId, installation.operator);
  assert.match(await look(token), /Works No, for now: Calendar is paused .*Expires .*Usual step Ends 1 grant/);
  const { secret } = await installation.identityProviders.register(PHOTOS, installation.operator);
  await installation.identityProviders.pause('photos', installation.operator);
  assert.match(await look(secret ?? ''), /Works No, for now: Photos is paused .*Act at once: whoever has it/);
  await installation.clients.resume(app.clientId, installation.operator);
  service.clock.advance(1801);
  const { browser: later } = await enrolledOperator(service, 'admin', 'Later');
  const expired = textOf((await postOwn(later, `${service.operatorUrl}/leaked`, { credential: token })).body);
  assert.match(expired, /Works No: the access token has expired .*It gives no access now\. If a newer token/);
  assert.doesNotMatch(expired, /Usual step|Expires/);
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

test('operators §7: of two live secrets the page says which leaked, if the app uses it, and what is possible', async (t) => {
  const service = await startConsole(t);
  const { installation, clock } = service;
  const app = await addClient(service, { name: 'Calendar' });
  const { browser } = await enrolledOperator(service, 'read');
  clock.advance(60);
  const { secret: newer } = await installation.clients.rotateSecret(app.clientId, installation.operator);
  const look = async (credential: string) =>
    textOf((await postOwn(browser, `${service.operatorUrl}/leaked`, { credential })).body);
  const use = (clientSecret: string) => exchange(service, { ...app, clientSecret }, 'x');

  await use(app.clientSecret);
  assert.match(
    await look(app.clientSecret),
    /Which one The older of two live secrets Last used 15 Jan 2026, 12:01 UTC Made .* two are live, so none can be made now\. Usual step Replace the secret : have the developer change to the newer one\. If nobody has that one, retire it, then make another one\. When the app uses it, retire the leaked one\./,
  );
  assert.match(
    await look(newer),
    /Which one The newer of two live secrets Last used Never Made .*Usual step Retire the newer secret , which leaked\. It was never used\./,
  );

  clock.advance(2 * 86_400);
  await use(newer);
  const { browser: later } = await enrolledOperator(service, 'read', 'Later');
  const lookLater = async (credential: string) =>
    textOf((await postOwn(later, `${service.operatorUrl}/leaked`, { credential })).body);
  assert.match(
    await lookLater(app.clientSecret),
    /Usual step Retire the older secret , which leaked\. The app uses the newer one\./,
  );
  assert.match(
    await lookLater(newer),
    /Usual step Replace the secret : retire the older one, if the app no longer uses it\. Then make a new one, or .* When the app uses it, retire the leaked one\./,
  );
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
  assert.match(
    textOf(ofApp),
    /Client secret of Calendar .*Works Yes .*Which one The only live secret Last used Never .*Usual step Replace the secret : make a new one, or a pick-up link/,
  );
  assert.ok(ofApp.includes(`href="/events?client=${app.clientId}&amp;since=2026-01-15"`), 'events since it was made');
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
  const seen = await seenSince(service, before, answers);
  for (const credential of texts) assert.ok(!seen.includes(canaryOf(credential)), credential.slice(0, 6));
});

/** Returns all that log, audit trail and answers say since a line of the log. */
async function seenSince(service: TestConsole, before: number, answers: readonly Visit[]): Promise<string> {
  assert.ok(service.log.length > before);
  const events = await service.installation.audit.listAuditEvents({ limit: 200 });
  const said = answers.map(({ body, headers }) => [body, [...headers]]);
  return JSON.stringify([service.log.slice(before), events, said]);
}

/** One live link of each kind, as a whole URL, with what is its own, and the step that ends it. */
async function withLinks(service: TestConsole) {
  const { installation } = service;
  const { handOvers, accounts, operators, operator: actor } = installation;
  const app = await addClient(service, { name: 'Calendar' });
  const api = await addResourceServer(service, { name: 'Mail' });
  const invited = await accounts.addInvited({ email: 'bob@example.com', name: 'Bob', username: null }, actor);
  const added = await operators.registry.add('Oscar', 'support', actor);
  return {
    app,
    bob: invited.account,
    links: [
      ['pick-up link', 'Calendar', (await handOvers.make({ kind: 'client', id: app.clientId }, actor)).address],
      ['pick-up link', 'Mail', (await handOvers.make({ kind: 'resource_server', id: api.id }, actor)).address],
      ['invitation link', 'bob@example.com', invitationUrl(installation.newPasswordUrl, invited.token)],
      ['enrollment link', 'Oscar', added.url],
      ['sign-in link', 'Oscar', (await operators.registry.signInAddress('Oscar', actor)).url],
    ] as const,
  };
}

const tokenIn = (link: string) => new URL(link).searchParams.get('token') ?? '';

test('operators §4: a one-time link is identified, whole or by its token, and a look uses none up', async (t) => {
  const service = await startConsole(t);
  const { links } = await withLinks(service);
  const { browser, operator } = await enrolledOperator(service, 'admin');
  const at = `${service.operatorUrl}/leaked`;
  const { text: key } = await service.installation.operators.registry.addKey(
    operator.id,
    { name: 'ci', rights: ['identify'] },
    service.installation.operator,
  );
  for (const [kind, owner, link] of links)
    for (const credential of [link, tokenIn(link)]) {
      const { status, body } = await postOwn(browser, at, { credential });
      assert.equal(status, 200, kind);
      const name = kind.charAt(0).toUpperCase() + kind.slice(1);
      assert.match(textOf(body), new RegExp(`${name} of ${owner} .*Works Yes .*What to do now`));
      const answer = await fetch(`${service.operatorUrl}/v1/identify`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ credential }),
      });
      const json = (await answer.json()) as Record<string, unknown>;
      assert.deepEqual([json['kind'], json['owner_name'], json['alive']], [kind, owner, true]);
      assert.ok(json['made_at'] && json['expires_at']);
    }
  const unknown = await postOwn(browser, at, { credential: `https://elsewhere.example/?token=${'A'.repeat(43)}` });
  assert.deepEqual([unknown.status, /no link of this installation has this token/i.test(unknown.body)], [400, true]);
});

test('operators §4: the page of a link says which step ends it, and each step does', async (t) => {
  const service = await startConsole(t);
  const { installation } = service;
  const { links, app, bob } = await withLinks(service);
  const { browser } = await enrolledOperator(service, 'admin');
  const look = async (n: number) =>
    textOf((await postOwn(browser, `${service.operatorUrl}/leaked`, { credential: links[n]?.[2] ?? '' })).body);
  const { handOvers, clients, accounts, operators, operator: actor } = installation;
  assert.match(await look(0), /Make another pick-up link.*Pause the app.*Open the app/);
  await handOvers.make({ kind: 'client', id: app.clientId }, actor);
  assert.match(await look(0), /Works No: a newer link replaced it.*Nothing: the link gives no access now/);
  await clients.pause(app.clientId, actor);
  assert.match(await look(1), /Make another pick-up link.*The page names the command.*Open the API/);
  assert.match(await look(2), /Invite the person again.*Disable the person/);
  await accounts.disable(bob, actor);
  assert.match(await look(2), /no link of this installation has this token/i);
  assert.match(await look(4), /End all sessions of the operator/);
  assert.match(await look(3), /End all sessions of the operator.*Reset the operator/);
  await operators.registry.endSessions('Oscar', actor);
  for (const n of [3, 4]) assert.match(await look(n), /no link of this installation has this token/i);
  const { url } = await operators.registry.reset('Oscar', actor);
  assert.equal((await installation.identification.identify(url))?.deadBecause, null);
  service.clock.advance(24 * 3600 + 1);
  assert.equal((await installation.identification.identify(url))?.deadBecause, 'the link has expired');
  await operators.registry.reset('Oscar', actor);
  assert.equal(await installation.identification.identify(url), null);
});

test('operators §4: a used pick-up link says that its user may have the secret', async (t) => {
  const service = await startConsole(t);
  const { links } = await withLinks(service);
  const { browser } = await enrolledOperator(service, 'admin');
  const [, , link] = links[0];
  const origin = { source: '192.0.2.7', requestId: 'req_1' };
  assert.equal((await service.installation.handOvers.pickUp(tokenIn(link), 'browser', origin)).kind, 'picked_up');
  const { body } = await postOwn(browser, `${service.operatorUrl}/leaked`, { credential: link });
  assert.match(textOf(body), /Works No: the link was used .*replace the secret of the app at once/);
});

test('operators §3: the page of a link offers each role only the steps that it may take', async (t) => {
  const service = await startConsole(t);
  const { links } = await withLinks(service);
  const steps = {
    read: /Your role cannot end it/,
    support: /Pause the app|Disable the person|Your role cannot end it/,
  };
  for (const role of ['read', 'support'] as const) {
    const { browser } = await enrolledOperator(service, role);
    for (const [kind, , credential] of links) {
      const { body } = await postOwn(browser, `${service.operatorUrl}/leaked`, { credential });
      assert.match(textOf(body), steps[role], kind);
      assert.doesNotMatch(textOf(body), /Make another pick-up link|Invite the person again|Reset the operator/);
      if (role === 'read') assert.doesNotMatch(textOf(body), /Pause the app|Disable the person/);
    }
  }
});

test('operators §4: the token of a pasted link is in no log line, event, address or page', async (t) => {
  const service = await startConsole(t);
  const { links } = await withLinks(service);
  const { browser } = await enrolledOperator(service, 'support');
  const before = service.log.length;
  const answers = [];
  for (const [, , link] of links)
    for (const credential of [link, tokenIn(link), `${link}x`]) {
      answers.push(await postOwn(browser, `${service.operatorUrl}/leaked`, { credential }));
      answers.push(await postOwn(new Browser(), `${service.operatorUrl}/leaked`, { credential }));
    }
  const seen = await seenSince(service, before, answers);
  for (const [kind, , link] of links) assert.ok(!seen.includes(canaryOf(link)), kind);
});
