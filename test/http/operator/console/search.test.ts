// The search of the console, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enrolledOperator, postOwn, startConsole } from '../../../support/console.ts';
import { obtainPair, signedInBrowser } from '../../../support/flow.ts';
import { textOf } from '../../../support/html.ts';
import { addClient, addUser } from '../../../support/service.ts';

async function lived(t: Parameters<typeof startConsole>[0]) {
  const service = await startConsole(t);
  const app = await addClient(service, { name: 'Notes', publisher: 'Maker 7' });
  const person = await addUser(service);
  const pair = await obtainPair(service, await signedInBrowser(service), app);
  const { browser, operator } = await enrolledOperator(service, 'read');
  const search = (q: string) => postOwn(browser, `${service.operatorUrl}/search`, { q });
  return { service, app, person, pair, browser, operator, search };
}

test('operators §7: every page has one search, which leads to the one thing that is named', async (t) => {
  const { service, app, person, browser, operator, search } = await lived(t);
  for (const path of ['/', '/apps', `/apps/${app.clientId}`, '/health', '/passkeys'])
    assert.match((await browser.get(service.operatorUrl + path)).body, /<form method="post" action="\/search"/, path);
  const { store } = service.installation.operators;
  const [given] = await store.listNamedAuditEvents({ action: 'consent_allowed', limit: 1 });
  const grantId = String(given?.grantId);
  for (const [text, href] of [
    [app.clientId, `/apps/${app.clientId}`],
    [` ${app.clientId} `, `/apps/${app.clientId}`],
    [person.id, `/people/${person.id}`],
    ['ada@example.com', `/people/${person.id}`],
    [grantId, `/grants/${grantId}`],
    [grantId.toUpperCase(), `/grants/${grantId}`],
    [String(given?.sequence), `/events/${given?.sequence}`],
    [`#${given?.sequence}`, `/events/${given?.sequence}`],
    [String(given?.actor.requestId), `/requests/${given?.actor.requestId}`],
    [operator.id, `/operators/${operator.id}`],
    [operator.name, `/operators/${operator.id}`],
    ['', '/'],
  ] as const) {
    const { status, headers } = await search(text);
    assert.deepEqual([status, headers.get('location')], [303, href], text);
  }
  for (const n of [70, 72, 73, 76, 79]) await addClient(service, { name: `A ${n}`, publisher: `Maker ${n}` });
  const whole = textOf((await search('maker 7')).body);
  assert.match(
    whole,
    /Apps of this name or publisher Notes Maker 7 , app_\w+ Other apps A 70 /,
    'the very name comes first',
  );
  assert.match(whole, /All 6 apps with this in their name or publisher/);
  const named = textOf((await search('aker 7 ')).body);
  assert.match(named, /Search for aker 7 Apps A 70 /);
  assert.match(textOf((await search('ada@')).body), /People .*ada@example\.com/);
  assert.match(textOf((await search('nobody of this name')).body), /Nothing found/);
});

test('operators §4: a credential is identified by the search, and comes into no address and no log', async (t) => {
  const { service, app, pair, search } = await lived(t);
  const [header = ''] = pair.accessToken.split('.');
  for (const [credential, says] of [
    [pair.accessToken, /Access token of Notes/],
    [pair.refreshToken, /Refresh token of Notes/],
    [app.clientSecret, /Client secret of Notes/],
    [pair.accessToken.slice(0, -4), /Not identified/],
    [header.slice(0, 12), /Not identified/],
    [`here: ${pair.accessToken}`, /Not identified/],
    [`${service.operatorUrl}/enroll?token=${'a'.repeat(43)}`, /Not identified/],
    ['x'.repeat(50), /Not identified/],
  ] as const) {
    const { status, headers, body } = await search(credential);
    assert.equal(headers.get('location'), null, credential);
    assert.match(textOf(body), says, String(status));
    assert.ok(!body.includes(credential), 'no page holds it');
  }
});

test('operators §7: a request is found among events and failures, and the search says how far it got', async (t) => {
  const { service, app, browser } = await lived(t);
  const { store } = service.installation.operators;
  const body = new URLSearchParams({ grant_type: 'authorization_code', redirect_uri: 'https://x.example/', code: 'x' });
  body.set('client_id', app.clientId);
  body.set('client_secret', app.clientSecret);
  await fetch(`${service.appUrl}/api/auth/oauth/token`, { method: 'POST', body });
  await service.installation.activity.flush();
  const [failure] = await store.listFailures(app.clientId, 0, 1);
  const page = async (id: string) => textOf((await browser.get(`${service.operatorUrl}/requests/${id}`)).body);
  assert.match(
    await page(String(failure?.requestId)),
    /This search looked at all events, and at all recorded failures of apps\. .* Refused .*See the grant|Refused Refused requests Why App/,
  );
  const [given] = await store.listNamedAuditEvents({ action: 'consent_allowed', limit: 1 });
  assert.match(await page(String(given?.actor.requestId)), /Events .*allowed Notes/);
  assert.match(await page('0123456789ab'), /Nothing was found\. This search looked at all events/);
  assert.equal((await browser.get(`${service.operatorUrl}/requests/0123456789AB`)).status, 404);
});
