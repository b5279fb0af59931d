import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { inaccessible } from '../support/accessibility.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { authorizeUrl, exchange, me, obtainPair, pairOf, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../support/service.ts';
import { DEVICE_GRANT, exchangeCode, scopes as optionalScopes, postAs, standardUrl } from '../support/standard.ts';
import { temporaryPath } from '../support/storage.ts';

/** A server that answers each address with a redirect or a page, and keeps what it was asked. */
async function serve(answer: (url: URL) => string): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    asked.push(`${request.method} ${request.url}`);
    const location = answer(url);
    if (location) response.writeHead(302, { Location: location }).end();
    else
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end('<title>arrived</title><link rel="icon" href="data:,">');
  });
  await once(server.listen(0), 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://localhost:${(server.address() as AddressInfo).port}`, asked };
}

/** The browser and what it walks through: the service, an app, and a site that the app leads to. */
async function prepare() {
  const browser = await launchBrowser();
  after(() => browser.close());
  const service = await startTestService({ after });
  await addUser(service);
  await addUser(service, 'grace@example.com', 'Grace Example');
  const third = await serve(() => '');
  const app = await serve((url) => (url.pathname === '/callback' ? `${third.origin}/done${url.search}` : ''));
  return { browser, service, third, app };
}

const prepared = noBrowser ? null : await prepare();

describe('in Chromium', { skip: noBrowser, concurrency: 3 }, () => {
  if (!prepared) return;
  const { browser, service, third, app } = prepared;
  const redirectUri = `${app.origin.replace('localhost', '127.0.0.1')}/callback`;
  const scopes = [{ name: 'read', sentence: 'Read your notes', optional: false }];
  const newClient = (name = 'Notes') => addClient(service, { name, redirectUris: [redirectUri], scopes });

  /** A page that is a complaint's witness: of the console, of scripts, of the CSP. */
  async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
    const page = await (await browser.newContext(options)).newPage();
    const complaints: string[] = [];
    // Whoever types before the page has its first focus is faster than any person.
    const isOfHaste = (text: string) => text.startsWith('Autofocus processing was blocked');
    page.on('console', (message) => void (isOfHaste(message.text()) || complaints.push(message.text())));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    return { page, complaints };
  }

  async function signIn(page: Page, email = 'ada@example.com', password = PASSWORD): Promise<void> {
    await page.fill('[name=email]', email);
    await page.fill('[name=password]', password);
    await page.click('main button');
    // Not the password: the page that asked for the sign-in may have a field of that name, and a hidden one for the email.
    await page.locator('[name=email]').waitFor({ state: 'hidden' });
  }

  test('RFC 6749 §4.1: without scripts, sign-in and Allow lead over the app to a third origin', async () => {
    const client = await newClient();
    const { page, complaints } = await open({ javaScriptEnabled: false });
    await page.goto(authorizeUrl(service, client, { redirect_uri: redirectUri, state: 'a b&c' }));
    await signIn(page);
    assert.match(await page.innerText('main'), /Read your notes/);
    await page.click('button[value=allow]');
    await page.waitForURL(`${third.origin}/done?*`);
    const back = new URL(page.url()).searchParams;
    assert.equal(back.get('state'), 'a b&c');
    assert.ok(
      app.asked.every((line) => line.startsWith('GET ')),
      'no form was sent on',
    );
    const { accessToken } = pairOf(
      await exchange(service, client, String(back.get('code')), { redirect_uri: redirectUri }),
    );
    assert.equal((await me(service, accessToken)).status, 200);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('RFC 6749 §4.1: who is signed in already goes the same way, with Deny as well', async () => {
    const client = await newClient();
    const { page, complaints } = await open();
    await page.goto(`${service.appUrl}/sign-in`);
    await signIn(page);
    for (const [decision, name] of [
      ['allow', 'code'],
      ['deny', 'error'],
    ] as const) {
      await page.goto(authorizeUrl(service, client, { redirect_uri: redirectUri }));
      await page.click(`button[value=${decision}]`);
      await page.waitForURL(`${third.origin}/done?${name}=*`);
    }
    assert.match(page.url(), /error=access_denied&.*state=xyz$/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('RFC 6749 §3.1: the person switches the account on the consent page and comes back to it', async () => {
    const client = await newClient();
    const { page, complaints } = await open({ javaScriptEnabled: false });
    await page.goto(authorizeUrl(service, client, { redirect_uri: redirectUri }));
    await signIn(page);
    await page.click('form[action="/sign-out"] button');
    await signIn(page, 'grace@example.com');
    assert.match(await page.innerText('main'), /grace@example\.com/);
    await page.click('button[value=allow]');
    await page.waitForURL(`${third.origin}/done?code=*`);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('RFC 6749 §3.3: what the person does not tick is left out, and Enter on a box allows nothing', async () => {
    const client = await addClient(service, {
      redirectUris: [redirectUri],
      scopes: optionalScopes('read', 'send?', 'erase?'),
    });
    const { page, complaints } = await open({ javaScriptEnabled: false });
    const url = standardUrl(service, client, { redirect_uri: redirectUri });
    await page.goto(url);
    await signIn(page);
    await page.locator('[value=erase]').focus();
    await page.keyboard.press('Enter');
    assert.equal(page.url(), url);
    await page.locator('[value=send]').press('Space');
    await page.click('button[value=allow]');
    await page.waitForURL(`${third.origin}/done?code=*`);
    const code = String(new URL(page.url()).searchParams.get('code'));
    const { body } = await exchangeCode(service, client, code, { redirect_uri: redirectUri });
    assert.equal(body['scope'], 'read send');
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('RFC 8628 §3.3: the person types the code of a device, without scripts, and the device has its tokens', async () => {
    const device = await addClient(service, { redirectUris: [], deviceFlow: true }, 'public');
    const { body: codes } = await postAs(service, device, 'device_authorization');
    const { page, complaints } = await open({ javaScriptEnabled: false });
    await page.goto(String(codes['verification_uri']));
    await signIn(page);
    await page.fill('[name=user_code]', String(codes['user_code']).toLowerCase().replace('-', ' '));
    await page.keyboard.press('Enter');
    await page.locator('button[value=allow]').waitFor();
    assert.ok((await page.innerText('main')).includes(String(codes['user_code'])));
    await page.click('button[value=allow]');
    await page.locator('h1', { hasText: 'back to your device' }).waitFor();
    const poll = { grant_type: DEVICE_GRANT, device_code: String(codes['device_code']) };
    const { accessToken } = pairOf(await postAs(service, device, 'token', poll));
    assert.equal((await me(service, accessToken)).status, 200);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  /** Presses a button twice: the second time once the first form is on its way, which the browser then drops. */
  async function pressTwice(page: Page, selector: string): Promise<void> {
    const box = await page.locator(selector).boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    for (const clickCount of [1, 2]) {
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
      if (clickCount === 1) await sent;
    }
  }

  test('a double click never says that what happened did not: a changed password, an invitation, a device', async () => {
    const next = 'a horse of another color';
    await addUser(service, 'twice@example.com', 'Twice Example');
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(`${service.appUrl}/sign-in`);
    await signIn(page, 'twice@example.com');
    await page.goto(`${service.appUrl}/account/password`);
    await page.fill('[name=current_password]', PASSWORD);
    for (const name of ['password', 'password_again']) await page.fill(`[name=${name}]`, next);
    await pressTwice(page, 'main button');
    // The second press may come before the first one is done or after it: test/http/browser holds each of the two.
    const changed = /Your password was changed|your new password may be set already/;
    await page.locator('main', { hasText: changed }).waitFor();
    // A browser that drops the first answer never gets its new session: the page it sees then says to sign in again.
    if (await page.locator('[name=email]').isVisible()) await signIn(page, 'twice@example.com', next);

    const { body: codes } = await postAs(
      service,
      await addClient(service, { redirectUris: [], deviceFlow: true }, 'public'),
      'device_authorization',
    );
    await page.goto(String(codes['verification_uri_complete']));
    await pressTwice(page, 'button[value=allow]');
    await page.locator('h1', { hasText: 'back to your device' }).waitFor();

    const { accounts, operator, newPasswordUrl } = service.installation;
    const person = { email: 'invited@example.com', name: 'Invited Example', username: null };
    const { token } = await accounts.addInvited(person, operator);
    await page.goto(`${newPasswordUrl}?${new URLSearchParams({ token })}`);
    for (const name of ['password', 'password_again']) await page.fill(`[name=${name}]`, next);
    await pressTwice(page, 'main button');
    const used = /Your password is set|Did you choose a password already\? Then sign in with it\./;
    await page.locator('main', { hasText: used }).waitFor();
    await page.context().close();
  });

  test('Promise 2: the person takes an app back on the connected-apps page, without scripts', async () => {
    const client = await addClient(service, { name: 'Taken back' });
    const { accessToken } = await obtainPair(service, await signedInBrowser(service), client);
    const { page, complaints } = await open({ javaScriptEnabled: false });
    await page.goto(`${service.appUrl}/account/apps`);
    await signIn(page);
    await page.click('li:has-text("Taken back") form button');
    assert.match(await page.innerText('[role=status]'), /Taken back/);
    assert.equal((await me(service, accessToken)).status, 401);
    await page.click('header form button');
    await page.locator('h1', { hasText: 'signed out' }).waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('RFC 9700 §4.16: no script runs, whatever is in state, the client name or the address', async () => {
    const probe = `"'><img src=x onerror=alert(1)><script>alert(2)</script>`;
    const client = await newClient(`A ${probe}`);
    const { page, complaints } = await open();
    await page.goto(authorizeUrl(service, client, { redirect_uri: redirectUri, state: probe, login_hint: probe }));
    await page.fill('[name=email]', 'x@example.com');
    await page.fill('[name=password]', probe);
    await page.click('main button');
    assert.match(await page.innerText('[role=alert]'), /./);
    await signIn(page);
    assert.ok((await page.innerText('h1')).includes(probe), 'shown as text');
    await page.goto(authorizeUrl(service, client, { client_id: probe, redirect_uri: probe }));
    await page.goto(`${service.appUrl}/account/apps?removed=${encodeURIComponent(probe)}`);
    await page.goto(authorizeUrl(service, client, { redirect_uri: redirectUri, state: probe }));
    await page.click('button[value=allow]');
    await page.waitForURL(`${third.origin}/done?code=*`);
    assert.equal(new URL(page.url()).searchParams.get('state'), probe);
    assert.deepEqual(
      complaints.filter((text) => !text.includes('400 (Bad Request)')),
      [],
    );
    await page.context().close();
  });

  test('RFC 9700 §4.16: no other site can frame a page', async () => {
    const { page } = await open();
    await page.goto(third.origin);
    await page.setContent(`<iframe src="${service.appUrl}/sign-in"></iframe>`);
    assert.deepEqual(
      page
        .frames()
        .map((frame) => frame.url())
        .slice(1),
      ['chrome-error://chromewebdata/'],
    );
    await page.context().close();
  });

  test('a logo is shown whether it says its size or only its shape, and cut to what fits', async (t) => {
    const { page } = await open({ colorScheme: 'dark' });
    const shapes: [attributes: string, width: number, height: number][] = [
      ['viewBox="0 0 300 60"', 160, 32],
      ['width="900" height="120" viewBox="0 0 900 120"', 192, 32],
      ['width="16" height="16"', 32, 32],
    ];
    for (const [attributes, width, height] of shapes) {
      const logo = join(dirname(temporaryPath(t)), 'logo.svg');
      mkdirSync(dirname(logo));
      writeFileSync(logo, `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}><path d="M0 0h16v16H0z"/></svg>`);
      const branded = await startTestService(t, { VALETKEY_PRODUCT_LOGO: logo });
      await page.goto(`${branded.appUrl}/sign-in`);
      const size = 'const { width, height } = getComputedStyle(document.querySelector(".logo")); [width, height]';
      assert.deepEqual(await page.evaluate(`{${size}}`), [`${width}px`, `${height}px`], attributes);
    }
    await page.context().close();
  });

  test('dark pages show the logo that is made for them, without the white of the other', async (t) => {
    const folder = dirname(temporaryPath(t));
    mkdirSync(folder);
    const [light, dark] = [join(folder, 'light.svg'), join(folder, 'dark.svg')];
    for (const [file, width] of [
      [light, 64],
      [dark, 96],
    ] as const)
      writeFileSync(
        file,
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="32"><path d="M0 0h9v9z"/></svg>`,
      );
    const variables = { VALETKEY_PRODUCT_LOGO: light, VALETKEY_PRODUCT_LOGO_DARK: dark };
    const branded = await startTestService(t, variables);
    for (const [colorScheme, width] of [
      ['light', '64px'],
      ['dark', '96px'],
    ] as const) {
      const { page, complaints } = await open({ colorScheme });
      await page.goto(`${branded.appUrl}/sign-in`);
      const look = 'const { width, backgroundColor } = getComputedStyle(document.querySelector(".logo"));';
      const shown = await page.evaluate(`{${look} [width, backgroundColor]}`);
      assert.deepEqual(shown, [width, 'rgba(0, 0, 0, 0)'], colorScheme);
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
  });

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 320],
  ] as const)
    test(`WCAG 2.2 AA: the live pages in ${colorScheme}, ${width} pixels wide, are accessible and fit`, async () => {
      const client = await newClient();
      const { page, complaints } = await open({ colorScheme, viewport: { width, height: 720 } });
      const { appUrl } = service;
      const url = authorizeUrl(service, client, { redirect_uri: redirectUri });
      const look = async () => {
        assert.deepEqual(await inaccessible(page), [], page.url());
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, page.url());
      };
      await page.goto(url);
      await look();
      await signIn(page);
      for (const address of [url, `${appUrl}/account/apps`, `${appUrl}/sign-out`, appUrl, `${appUrl}/developers`]) {
        await page.goto(address);
        await look();
      }
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
});
