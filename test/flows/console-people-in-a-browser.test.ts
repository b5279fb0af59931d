// The console's pages of people and grants in the real Chromium.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { startConsole } from '../support/console.ts';
import { openConsole } from '../support/console-browser.ts';
import { exchange, me, obtainCode, obtainPair, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser } from '../support/service.ts';

async function prepare() {
  const browser = await launchBrowser();
  after(() => browser.close());
  const service = await startConsole({ after });
  await addUser(service, 'grace@example.com', 'Grace');
  const person = await addUser(service, 'ada@example.com', 'Ada');
  const product = {
    id: 'product',
    name: 'Product',
    signInUrl: 'https://product.example/sign-in',
    ownIds: false,
    keys: [],
  };
  const { identityProviders, operator } = service.installation;
  const rights = { rights: ['sign-in'] as const, forOperators: false, homePage: null, sessionLifetime: null };
  await identityProviders.register({ ...product, ...rights }, operator);
  const scopes = [{ name: 'events.write', sentence: 'Change the events of your calendar', optional: false }];
  const calendar = await addClient(service, { name: 'Calendar', scopes });
  const notes = await addClient(service, { name: 'Notes' });
  return { browser, service, person, calendar, notes, ada: await signedInBrowser(service, 'ada@example.com') };
}

const prepared = noBrowser ? null : await prepare();

describe('people in the console, in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { browser, service, person, calendar, notes, ada } = prepared;

  test('operators §7: which apps may act for Ada? One of them is ended, with the keyboard alone', async () => {
    const { page, complaints, visit, look, press, type } = await openConsole(browser, service, 'People');
    const [ended, kept] = [await obtainPair(service, ada, calendar), await obtainPair(service, ada, notes)];
    await visit('/people');
    await press(/^Find by the ID at a product$/);
    await look();
    await type('q', 'ada@example.com');
    await press(/^Search$/);
    assert.equal(await page.innerText('h1'), 'Ada');
    assert.deepEqual(await page.locator('#grants h3').allInnerTexts(), ['Calendar', 'Notes']);
    assert.match(await page.innerText('#grants'), /Change the events of your calendar/);
    await look();
    await press(/^End the grant of Calendar$/);
    assert.match(await page.innerText('#grants'), /every token of it is refused at once/);
    await press(/^Yes, end the grant of Calendar$/);
    assert.match(await page.innerText('[role=status]'), /The grant for Calendar has ended/);
    assert.deepEqual(await page.locator('#grants h3').allInnerTexts(), ['Notes']);
    assert.equal((await me(service, ended.accessToken)).status, 401);
    assert.equal((await me(service, kept.accessToken)).status, 200);
    await look();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('RFC 6749 §4.1.2: the life of a grant whose code was replayed, from the person’s page on', async () => {
    service.clock.advance(1);
    const code = await obtainCode(service, ada, calendar);
    await exchange(service, calendar, code);
    const { page, complaints, visit, look, press } = await openConsole(browser, service, 'Grants');
    service.clock.advance(60);
    assert.equal((await exchange(service, calendar, code)).status, 400);
    await visit(`/people/${person.id}`);
    assert.match(await page.innerText('#events tbody tr'), /used an authorization code again/);
    await press(/, event \d+$/);
    await press(/^Open the grant$/);
    assert.match(page.url(), /\/grants\//, 'the last event leads to its grant');
    const presented = await page.innerText('#presentations');
    assert.match(presented, /First, exchanged\s+15 Jan 2026, 12:00:01 UTC from 127\.0\.0\.1/);
    assert.match(presented, /Second, refused\s+15 Jan 2026, 12:01:01 UTC from 127\.0\.0\.1/);
    await look();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
