// The operators' pages in the real Chromium, with its virtual authenticator.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { inaccessible } from '../support/accessibility.ts';
import { noBrowser } from '../support/chromium.ts';
import { addOperator, addSignInAddress, startConsole } from '../support/console.ts';
import { startConsoleInBrowser } from '../support/console-browser.ts';
import { addAuthenticator } from '../support/virtual-authenticator.ts';

/** Another site, whose one page has this body. */
async function startSite(body: string): Promise<string> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<link rel="icon" href="data:,">${body}`),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const prepared = noBrowser ? null : await startConsoleInBrowser({ after });

describe('operators in Chromium', { skip: noBrowser, concurrency: 3 }, () => {
  if (!prepared) return;
  const { browser, service } = prepared;
  const home = `${service.operatorUrl}/`;

  async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
    const page = await (await browser.newContext(options)).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    return { page, complaints };
  }

  /** Enrolls an operator in a new browser. */
  async function enrolled(name: string, options: BrowserContextOptions = {}, at = service) {
    const { enrollUrl, operator } = await addOperator(at, 'admin', name);
    const { page, complaints } = await open(options);
    const authenticator = await addAuthenticator(page);
    await page.goto(enrollUrl);
    await page.click('main button');
    await page.waitForURL(`${at.operatorUrl}/`);
    return { page, complaints, authenticator, operator, enrollUrl };
  }

  test('operators §2: enroll, sign out, sign in, confirm, and end a session elsewhere', async () => {
    const { page, complaints, authenticator } = await enrolled('Walk');
    assert.equal(await authenticator.count(), 1);
    await page.click('text=Sign out');
    await page.waitForURL('**/sign-in');
    await page.click('main button');
    await page.waitForURL(home);
    assert.match(await page.innerText('main'), /Hello, Walk/);

    await page.goto(`${home}confirm?continue=/passkeys`);
    await page.click('main button');
    await page.waitForURL(`${home}passkeys`);

    // Its counter goes on there, so it answers no more here.
    const other = await open();
    const synced = await addAuthenticator(other.page);
    await synced.add(await authenticator.passkeys());
    await other.page.goto(`${home}passkeys`);
    await other.page.click('main button');
    await other.page.waitForURL(`${home}passkeys`);

    await page.reload();
    await page.click('button:has-text("End the session of Chrome on Linux")');
    await page.waitForURL('**/passkeys?done=ended');
    assert.match(await page.innerText('[role=status]'), /The session has ended/);
    await other.page.goto(home);
    assert.match(other.page.url(), /\/sign-in\?continue=%2F$/);
    assert.deepEqual([...complaints, ...other.complaints], []);
    await Promise.all([page.context().close(), other.page.context().close()]);
  });

  test('WebAuthn L3 §5.4, operators §2: a second passkey is added on another device, and refused on the same one', async () => {
    const { page, complaints, authenticator } = await enrolled('Two');
    assert.match(await page.innerText('main'), /You have one passkey/);
    await page.click('text=Add a passkey');
    await page.click('main button');
    await page.locator('#problem-here:not([hidden])').waitFor();
    assert.match(await page.innerText('#problem-here'), /already has a passkey of yours/);
    const stick = await addAuthenticator(page, 'usb');
    await page.fill('[name=name]', 'Stick');
    await page.click('main button');
    await page.waitForURL('**/passkeys?done=added');
    assert.deepEqual([await authenticator.count(), await stick.count()], [1, 1]);
    assert.match(await page.innerText('main'), /Stick/);
    await page.goto(home);
    assert.doesNotMatch(await page.innerText('main'), /You have one passkey/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('WebAuthn L3 §6.1.1: the copy of a passkey is noticed, its sessions end, and its owner reads what to do', async () => {
    const { page, authenticator } = await enrolled('Copied');
    const copy = await authenticator.passkeys();
    await page.goto(`${home}confirm?continue=/passkeys`);
    await page.click('main button');
    await page.waitForURL(`${home}passkeys`);
    const { page: thief } = await open();
    await (await addAuthenticator(thief)).add(copy);
    await thief.goto(`${home}sign-in`);
    await thief.click('main button');
    await thief.waitForSelector('text=The passkey was not accepted');
    await page.goto(`${home}passkeys`);
    await page.waitForURL('**/sign-in?continue=%2Fpasskeys');
    await page.click('main button');
    await page.waitForURL(`${home}passkeys`);
    assert.match(await page.innerText('main'), /May have been copied.*Add another passkey, then remove this one\./s);
    assert.deepEqual(await inaccessible(page), []);
    await Promise.all([page, thief].map((each) => each.context().close()));
  });

  test('operators §2: without a passkey, a form says so before it is filled, and the first one is made between it and its act', async () => {
    const { operator } = await addOperator(service, 'admin', 'Link');
    const { page, complaints } = await open();
    await page.goto(await addSignInAddress(service, operator));
    await page.click('main button');
    await page.waitForURL(home);
    assert.match(await page.innerText('main'), /You have no passkey\./);
    await page.goto(`${home}apps/new`);
    assert.match(
      await page.innerText('main'),
      /You have no passkey yet\.\sYou create one right after you press the button/,
    );
    assert.deepEqual(await inaccessible(page), []);
    await page.fill('[name=name]', 'Calendar');
    await page.fill('[name=redirect_uris]', 'https://client.example/callback');
    await page.click('text=Register the app');
    assert.match(
      await page.innerText('main'),
      /You need a passkey\s+.*To register the app, you need a passkey\. Create your first one here/,
    );
    assert.deepEqual(await inaccessible(page), []);
    const device = await addAuthenticator(page);
    await device.verify(false);
    await page.click('text=Create a passkey and go on');
    await page.locator('#problem-here:not([hidden])').waitFor();
    assert.equal(await device.count(), 0, 'whom the device does not verify makes none');
    await device.verify(true);
    await page.fill('[name=passkey_name]', 'my laptop');
    await page.click('text=Create a passkey and go on');
    await page.locator('h1', { hasText: 'Calendar is registered' }).waitFor();
    assert.equal(await device.count(), 1);
    await page.goto(`${home}passkeys`);
    assert.match(await page.innerText('main'), /my laptop/);
    assert.deepEqual(
      complaints.filter((text) => !/the server responded with a status of 403/.test(text)),
      [],
    );
    await page.context().close();
  });

  test('WebAuthn L3 §5.5, §7.2: whom the device does not verify is told so, and not signed in', async () => {
    const { page, authenticator } = await enrolled('Cancel');
    await page.click('text=Sign out');
    await authenticator.verify(false);
    await page.click('main button');
    await page.locator('#problem-here:not([hidden])').waitFor();
    assert.match(await page.innerText('#problem-here'), /No passkey was used/);
    await authenticator.verify(true);
    await page.click('main button');
    await page.waitForURL(home);
    await page.context().close();
  });

  test('operators §2: with the keyboard alone, at 320 px, in the dark, without a fault that axe finds', async () => {
    const narrow = { viewport: { width: 320, height: 640 }, colorScheme: 'dark' as const };
    const { enrollUrl } = await addOperator(service, 'admin', 'Keys');
    const { page, complaints } = await open(narrow);
    await addAuthenticator(page);
    const look = async () => {
      assert.deepEqual(await inaccessible(page), [], page.url());
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${page.url()} is wide`);
    };
    const pressOn = async (words: RegExp) => {
      for (let tries = 0; tries < 40; tries += 1) {
        await page.keyboard.press('Tab');
        const text = await page.evaluate<string>('document.activeElement.innerText || ""');
        if (words.test(text)) return page.keyboard.press('Enter');
      }
      assert.fail(`nothing with the focus says ${words} on ${page.url()}`);
    };
    await page.goto(enrollUrl);
    await look();
    await pressOn(/Create a passkey/);
    await page.waitForURL(home);
    await look();
    await pressOn(/Your passkeys/);
    await page.waitForURL(`${home}passkeys`);
    await look();
    await pressOn(/Add a passkey/);
    await page.waitForURL('**/passkeys/new');
    await look();
    await page.goto(`${home}confirm?continue=/passkeys`);
    await look();
    await pressOn(/Confirm with a passkey/);
    await page.waitForURL(`${home}passkeys`);
    await page.goto(home);
    await pressOn(/Sign out/);
    await page.waitForURL('**/sign-in');
    await look();
    await pressOn(/Sign in with a passkey/);
    await page.waitForURL(home);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('operators §2: an admin adds an operator and confirms in place; they enroll at the link that is shown', async () => {
    const own = await startConsole({ after }); // Whose clock goes on.
    const home = `${own.operatorUrl}/`;
    const narrow = { viewport: { width: 320, height: 640 } };
    const { page, complaints, operator } = await enrolled('Boss', narrow, own);
    own.clock.advance(300);
    await page.goto(`${home}operators`);
    assert.deepEqual(await inaccessible(page), []);
    await page.fill('[name=name]', 'Helper');
    await page.selectOption('[name=role]', 'support');
    await page.click('main form button');
    assert.match(await page.innerText('main'), /Confirm that it’s you\s+You’re signed in as Boss\./);
    assert.deepEqual(await inaccessible(page), []);
    await page.click('text=Confirm and go on');
    const link = await page.innerText('.secret code');
    assert.deepEqual(await inaccessible(page), []);
    await page.goto(`${home}operators/${operator.id}`);
    assert.deepEqual(await inaccessible(page), []);
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'it is wide');
    const helper = await open();
    await addAuthenticator(helper.page);
    await helper.page.goto(link);
    await helper.page.click('main button');
    await helper.page.waitForURL(home);
    assert.match(await helper.page.innerText('h1'), /Hello, Helper/);
    // The refused form.
    assert.deepEqual(
      [...complaints, ...helper.complaints],
      ['Failed to load resource: the server responded with a status of 403 (Forbidden)'],
    );
    await Promise.all([page.context().close(), helper.page.context().close()]);
  });

  test('operators §2: without scripts, the page says what is missing, and a press is answered', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(`${home}sign-in`);
    assert.match(await page.innerText('main'), /Scripts are off\.\s+A passkey can only be used by a script/);
    await page.click('main button');
    assert.match(await page.innerText('main'), /was not accepted/);
    await page.context().close();
  });

  test('operators §1: a link from another site leads to "Continue", and then to the page, still signed in', async () => {
    const { page } = await enrolled('Linked');
    const site = await startSite(`<a href="${home}passkeys">Look</a>`);
    await page.goto(site);
    await page.click('text=Look');
    assert.match(await page.innerText('h1'), /Continue to the console/);
    await page.click('main a');
    await page.waitForURL(`${home}passkeys`);
    assert.match(await page.innerText('h1'), /Your passkeys and sessions/);
    await page.context().close();
  });

  test('operators §1: another site cannot frame a page, or post a form with the session', async () => {
    const { page } = await enrolled('Framed');
    const frame = `<iframe src="${home}passkeys"></iframe>`;
    const form = `<form method="post" action="${home}sign-out"><button>Win</button></form>`;
    const site = await startSite(frame + form);
    await page.goto(site);
    const framed = page.frames()[1];
    assert.ok(framed);
    assert.doesNotMatch(await framed.content(), /Your passkeys|Continue to the console/);
    await page.click('text=Win');
    assert.match(await page.innerText('h1'), /not sent from here/);
    await page.goto(home);
    assert.match(await page.innerText('h1'), /Hello, Framed/, 'still signed in');
    await page.context().close();
  });

  test('operators §2: no one-time address is in a page, a Referer, a script’s reach or the log', async () => {
    const { enrollUrl } = await addOperator(service, 'admin', 'Canary');
    const token = String(new URL(enrollUrl).searchParams.get('token'));
    const { page } = await open();
    await addAuthenticator(page);
    const told: string[] = [];
    page.on('request', (request) => {
      if (request.url() !== enrollUrl) told.push(request.url());
      told.push(request.headers()['referer'] ?? '', request.postData() ?? '');
    });
    await page.goto(enrollUrl);
    told.push(await page.content());
    await page.click('main button');
    await page.waitForURL(home);
    told.push(await page.content(), page.url());
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'operator_session');
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict']);
    const events = await service.installation.audit.listAuditEvents({ limit: 200 });
    told.push(JSON.stringify(events), ...service.log);
    for (const secret of [token, String(cookie?.value)])
      assert.deepEqual(
        told.filter((text) => text.includes(secret)),
        [],
      );
    await page.goBack();
    assert.match(await page.innerText('h1'), /no longer works/, 'what the history has is dead');
    await page.context().close();
  });
});
