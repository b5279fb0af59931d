// The console's pages of apps in the real Chromium.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { noBrowser } from '../support/chromium.ts';
import { openConsole, startConsoleInBrowser } from '../support/console-browser.ts';
import { obtainCode, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, REDIRECT_URI } from '../support/service.ts';

const DAY_S = 86_400;

const prepared = noBrowser ? null : await startConsoleInBrowser({ after });

describe('apps in the console, in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { browser, service } = prepared;

  /** A request of an app with a code that was never issued. */
  async function presentWrongCode(clientId: string, clientSecret: string, more = {}): Promise<number> {
    const form = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code: 'x', ...more };
    const body = new URLSearchParams({ ...form, client_id: clientId, client_secret: clientSecret });
    const { status } = await fetch(`${service.appUrl}/api/auth/oauth/token`, { method: 'POST', body });
    await service.installation.activity.flush();
    return status;
  }

  test('operators §7: the list of apps, empty and full, and a search, with the keyboard alone', async () => {
    const { page, complaints, visit, look, press, type } = await openConsole(browser, service, 'Apps');
    await visit('/apps');
    assert.match(await page.innerText('main'), /No app yet/);
    await addClient(service, { name: 'Calendar' });
    await addClient(service, { name: 'Notes' });
    await visit('/apps');
    await type('q', ''); // The search of every page.
    await type('q', 'cal');
    await press(/^Show$/);
    assert.deepEqual(await page.locator('tbody tr').count(), 1);
    await look();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('WCAG 1.4.10, 2.4.1: the navigation stands beside the page, or in a menu that opens without a script', async () => {
    const { page, complaints, visit, press } = await openConsole(browser, service, 'Navigating', { role: 'read' });
    const { clientId } = await addClient(service, { name: 'Deep' });
    await visit(`/apps/${clientId}/failures`);
    assert.equal(await page.innerText('.crumbs'), 'Apps\nDeep\nFailures');
    await press(/^Deep$/);
    assert.equal(page.url(), `${service.operatorUrl}/apps/${clientId}`);
    assert.equal(await page.innerText('[aria-current="page"]'), 'Apps');
    await page.click('.strip code');
    assert.equal(await page.evaluate('String(getSelection())'), clientId, 'one click selects an ID to copy');
    await press(/^People$/);
    assert.equal(page.url(), `${service.operatorUrl}/people`);
    await page.setViewportSize({ width: 390, height: 800 });
    const link = page.getByRole('link', { name: 'Health' });
    assert.equal(await link.isVisible(), false);
    await press(/^Menu\s*People$/);
    assert.equal(await link.isVisible(), true);
    await press(/^Health$/);
    assert.match(await page.innerText('summary'), /Menu\s*Health/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('operators §7: an operator finds why an app fails, with the keyboard alone', async () => {
    const { clientId, clientSecret } = await addClient(service, { name: 'Failing' });
    assert.equal(await presentWrongCode(clientId, clientSecret), 400);
    const query = new URLSearchParams({ client_id: clientId, state: 'x', redirect_uri: 'https://other.example/cb' });
    await fetch(`${service.appUrl}/auth/oauth2/authorize?${query}`);
    const { page, complaints, visit, look, press } = await openConsole(browser, service, 'Failures', { role: 'read' });
    await visit('/apps?show=failing');
    await press(/^Failing$/);
    await look();
    assert.match(await page.innerText('main'), /The authorization code is invalid, expired or already used/);
    await press(/^All failures$/);
    await look();
    const text = await page.innerText('main');
    assert.match(text, /invalid_grant/);
    assert.match(text, /https:\/\/other\.example\/cb/);
    assert.equal(await page.locator('a[href*="other.example"]').count(), 0);
    await press(/^The authorization code is invalid/);
    await look();
    assert.match(await page.innerText('#recorded'), /Only this cause: The authorization code is invalid/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('operators §7: an email address in the list of failures breaks only if it is very long, and no table is cut', async () => {
    const client = await addClient(service, { name: 'Addressed' });
    const { page, complaints, visit } = await openConsole(browser, service, 'Addresses', { role: 'read' });
    const lines = 'document.querySelector(\'#recorded a[href^="/grants/"] bdi\').getClientRects().length';
    for (const [email, count] of [
      ['anna.andersson@example.org', 1],
      [`${'a'.repeat(60)}@example.org`, 2],
    ] as const) {
      service.clock.advance(1);
      await addUser(service, email);
      const code = await obtainCode(service, await signedInBrowser(service, email), client);
      const wrong = { code, redirect_uri: 'https://wrong.example/cb' };
      assert.equal(await presentWrongCode(client.clientId, client.clientSecret, wrong), 400);
      await visit(`/apps/${client.clientId}/failures`);
      assert.equal(await page.evaluate(lines), count, email);
    }
    const isWhole =
      "[...document.querySelectorAll('.data')].every((each) => each.scrollWidth <= each.parentElement.clientWidth)";
    for (const width of [390, 710, 960, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      assert.ok(await page.evaluate(isWhole), `${width} px`);
    }
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('operators §7: an operator rotates a secret, hands one over, and retires the one that is not used, with the keyboard alone', async () => {
    const { clientId, clientSecret } = await addClient(service, { name: 'Rotating' });
    assert.equal(await presentWrongCode(clientId, clientSecret), 400);
    service.clock.advance(60);
    const { page, complaints, visit, look, press } = await openConsole(browser, service, 'Secrets');
    await visit(`/apps/${clientId}`);
    await press(/^Make a new secret$/);
    await look();
    const newer = (await page.innerText('main .secret code')).trim();
    assert.equal(await presentWrongCode(clientId, newer), 400, 'the app is known by it: the code is wrong');
    assert.equal(await presentWrongCode(clientId, clientSecret), 400, 'and by the older one');
    await press(/^I have stored it: go to the app$/);
    assert.match(await page.innerText('#secrets'), /Used in the last 24 hours: retiring it would break the app/);

    service.clock.advance(9 * DAY_S);
    await presentWrongCode(clientId, newer);
    await page.goto(`${service.operatorUrl}/apps/${clientId}`);
    await press(/^Sign in with a passkey$/);
    await page.waitForURL(`${service.operatorUrl}/apps/${clientId}`);
    assert.match(await page.innerText('#secrets'), /Not used for 9 days: safe to retire/);
    service.clock.advance(600);
    await press(/^Retire the older secret$/);
    await look();
    await press(/^Yes, retire the older secret$/);
    assert.match(await page.innerText('h1'), /Confirm that it’s you/, 'it needs presence');
    await look();
    await press(/^Confirm and go on$/);
    await page.waitForURL(`${service.operatorUrl}/apps/${clientId}?done=retired`);
    await look();
    assert.match(await page.innerText('main'), /The secret was retired/);
    assert.equal(await presentWrongCode(clientId, clientSecret), 401);
    assert.equal(await presentWrongCode(clientId, newer), 400);

    await press(/^Make a pick-up link$/);
    const address = (await page.innerText('main .secret code')).trim();
    const developer = await (await browser.newContext()).newPage();
    await developer.goto(address);
    await developer.click('main button');
    assert.match(await developer.innerText('main'), /vk_cs_/);
    await developer.context().close();
    await press(/^I have sent it: go to the app$/);
    await look();
    assert.match(await page.innerText('#secrets'), /Fetched\s.*from 127\.0\.0\.0\/24/);
    assert.deepEqual(
      complaints.filter((text) => !/the server responded with a status of 403/.test(text)), // The passkey that was asked for.
      [],
    );
    await page.context().close();
  });

  test('operators §7: an operator finds a dormant app, pauses it, and deletes it, with the keyboard alone', async () => {
    const { clientId } = await addClient(service, { name: 'Dormant' });
    service.clock.advance(91 * DAY_S);
    await addClient(service, { name: 'Fresh' });
    const { page, complaints, visit, look, press } = await openConsole(browser, service, 'Dormant apps');
    await visit('/apps?show=unused');
    assert.doesNotMatch(await page.innerText('main table'), /Fresh/);
    await press(/^Dormant$/);
    await press(/^Pause the app$/);
    await press(/^Yes, pause the app$/);
    assert.match(await page.innerText('main'), /Paused: every request of the app is refused/);
    await press(/^Delete the app$/);
    await look();
    await press(/^Yes, delete the app$/);
    await look();
    assert.equal(page.url(), `${service.operatorUrl}/apps?done=deleted`);
    assert.equal(await service.installation.clients.find(clientId), null);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
