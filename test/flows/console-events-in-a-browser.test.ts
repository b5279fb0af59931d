// A leak and the audit trail in the console, in the real Chromium.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { noBrowser } from '../support/chromium.ts';
import { openConsole, startConsoleInBrowser } from '../support/console-browser.ts';
import { me, obtainPair, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser } from '../support/service.ts';
import { addResourceServer } from '../support/standard.ts';

/** The settings of a product, but for its sign-in address. */
const PHOTOS = {
  id: 'photos',
  name: 'Photos',
  keys: [],
  rights: ['sign-in'],
  homePage: null,
  sessionLifetime: null,
  ownIds: false,
} as const;

const prepared = noBrowser ? null : await startConsoleInBrowser({ after });

describe('a leak and the audit trail in the console, in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { browser, service } = prepared;

  test('operators §7: a leaked token is handled from paste to pause, with the keyboard alone', async () => {
    await addUser(service);
    const app = await addClient(service, { name: 'Calendar' });
    const { accessToken } = await obtainPair(service, await signedInBrowser(service), app);
    const { page, complaints, visit, look, press, type } = await openConsole(browser, service, 'Lea', {
      role: 'support',
    });
    await visit('/leaked');
    await type('credential', 'nothing of ours');
    await press(/^Identify$/);
    assert.match(await page.innerText('[role=alert]'), /Not identified/);
    assert.equal(await page.inputValue('#credential'), '', 'a credential never comes back');
    await look();
    await type('credential', accessToken);
    await press(/^Identify$/);
    assert.match(await page.innerText('h1'), /Access token of Calendar/);
    await look();
    await press(/^End this grant$/);
    await press(/^Yes, end this grant$/);
    assert.match(await page.innerText('[role=status]'), /The grant has ended/);
    assert.equal((await me(service, accessToken)).status, 401);
    await press(/^If more of the app leaked$/);
    await press(/^Pause the app$/);
    await look();
    await press(/^Yes, pause the app$/);
    assert.match(await page.innerText('[role=status]'), /Paused: every request/);
    await look();
    assert.ok(!(await page.content()).includes(accessToken.slice(-24)));
    assert.deepEqual(
      complaints.filter((text) => !/status of 400/.test(text)),
      [],
    );
    await page.context().close();
  });

  test('operators §7: an operator finds out who changed the redirect URIs of an app, with the keyboard alone', async () => {
    const { clientId } = await addClient(service, { name: 'Notes' });
    const { page: hers, press: presses, visit: goes } = await openConsole(browser, service, 'Mallory');
    await goes(`/apps/${clientId}/edit`);
    await hers.fill('[name=redirect_uris]', 'https://elsewhere.example/callback');
    await presses(/^Save/);
    await hers.context().close();

    const { page, complaints, visit, look, press, type } = await openConsole(browser, service, 'Eve', { role: 'read' });
    await visit('/events');
    await press(/App, person or grant/);
    await type('app', 'notes');
    await press(/^Show$/);
    await look();
    assert.ok(page.url().endsWith(`client=${clientId}`));
    const added = /Added redirect URI https:\/\/elsewhere\.example\/callback/;
    assert.match(await page.innerText('tbody'), added);
    await press(/UTC\s*, event \d+$/);
    await look();
    assert.match(await page.innerText('main'), /By\s+Mallory \(operator\)/);
    assert.match(await page.innerText('main'), added);
    await press(/^Events$/);
    await press(/^Changes by operators$/);
    await look();
    assert.match(await page.innerText('tbody'), /Mallory changed the settings of Notes/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('operators §7: APIs, products and scopes, without a fault', async () => {
    const { installation } = service;
    const { id } = await addResourceServer(service, { name: 'Mail', resource: 'https://mail.example' });
    await installation.identityProviders.register(
      { ...PHOTOS, signInUrl: 'http://127.0.0.1:9/sign-in' },
      installation.operator,
    );
    const meaning = { sentences: { en: 'Read your mail' }, effect: 'reads' } as const;
    await installation.scopes.put('mail.read', meaning, installation.operator);
    const { page, complaints, visit, look, press } = await openConsole(browser, service, 'Ria');
    for (const path of ['/apis', `/apis/${id}`, '/products', '/scopes', '/products/photos']) await visit(path);
    await press(/^Test the setup$/);
    await press(/^Test the setup$/);
    assert.match(await page.innerText('[role=status]'), /checks failed/);
    await look();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
