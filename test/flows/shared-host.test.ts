/** Valetkey beside a product on one host name, in a real browser: people find every page, and a script there cannot press Allow. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { Browser, formOf } from '../support/browser.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { authorizeUrl, exchange, me, pairOf } from '../support/flow.ts';
import { addClient, addUser, PASSWORD } from '../support/service.ts';
import { DEVICE_GRANT, postAs } from '../support/standard.ts';
import { BASE, startSharedHost } from './shared-host.ts';

async function signIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', password);
  await page.click('main button');
  await page.locator('[name=password]').waitFor({ state: 'detached' });
}

/** The browser, the service beside its product, and Grace, who is signed in there and may allow an app. */
async function prepare() {
  const browser = await launchBrowser();
  after(() => browser.close());
  const { service, strays } = await startSharedHost({ after });
  const pages = service.appUrl + BASE;
  /** Where apps get their codes: a page of the product, so that the browser has somewhere to arrive. */
  const redirectUri = `${service.appUrl}/product`;
  const { id, email } = await addUser(service, 'grace@example.com', 'Grace Example');
  const client = await addClient(service, { name: 'Evil', redirectUris: [redirectUri] });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${pages}/sign-in`);
  await signIn(page, String(email));
  return { browser, service, strays, pages, redirectUri, grace: { id, client, context, page } };
}

const prepared = noBrowser ? null : await prepare();

describe('on a host name that a product has as well', { skip: noBrowser, concurrency: 2 }, () => {
  if (!prepared) return;
  const { browser, service, strays, pages, redirectUri, grace } = prepared;
  const { appUrl, installation } = service;

  test('RFC 6749 §4.1, RFC 8628 §3.3: every page is found below the base, without scripts, and the product is asked for none', async () => {
    const ada = 'ada@example.com';
    await addUser(service, ada);
    const client = await addClient(service, { name: 'Notes', redirectUris: [redirectUri, `${redirectUri}?back`] });
    const device = await addClient(service, { name: 'Television', redirectUris: [], deviceFlow: true }, 'public');
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(authorizeUrl(service, client, { redirect_uri: `${redirectUri}?back`, state: 'a b&c' }));
    await signIn(page, ada);
    await page.click(`a[href="${BASE}/account/apps"]`);
    await page.goBack();
    await page.click('button[value=allow]');
    await page.waitForURL(`${redirectUri}?back&code=*`);
    const back = new URL(page.url()).searchParams;
    assert.equal(back.get('state'), 'a b&c');
    const code = String(back.get('code'));
    const { accessToken } = pairOf(await exchange(service, client, code, { redirect_uri: `${redirectUri}?back` }));
    assert.equal((await me(service, accessToken)).status, 200);

    const { body: codes } = await postAs(service, device, 'device_authorization');
    assert.equal(codes['verification_uri'], `${pages}/device`);
    await page.goto(String(codes['verification_uri']));
    await page.fill('[name=user_code]', String(codes['user_code']));
    await page.keyboard.press('Enter');
    await page.click('button[value=allow]');
    await page.locator('h1', { hasText: 'back to your device' }).waitFor();
    const poll = { grant_type: DEVICE_GRANT, device_code: String(codes['device_code']) };
    pairOf(await postAs(service, device, 'token', poll));

    await page.click('header a.brand');
    assert.equal(page.url(), pages);
    await page.click('main a.primary');
    assert.equal(page.url(), `${pages}/account/apps`);
    await page.click('li:has-text("Notes") form button');
    assert.match(await page.innerText('[role=status]'), /Notes/);
    assert.equal((await me(service, accessToken)).status, 401);
    await page.click(`a[href="${BASE}/account/password"]`);
    const next = 'another horse battery staple';
    await page.fill('[name=current_password]', PASSWORD);
    for (const name of ['password', 'password_again']) await page.fill(`[name=${name}]`, next);
    await page.click('main button');
    assert.match(await page.innerText('[role=status]'), /./);
    await page.goto(`${pages}/sign-out`);
    await page.click('main button');
    await page.locator('h1', { hasText: 'signed out' }).waitFor();
    await page.click('main a');
    await signIn(page, ada, next);
    assert.equal(page.url(), `${pages}/account/apps`);
    assert.notEqual(
      await page.evaluate("getComputedStyle(document.querySelector('button')).cursor"),
      'default',
      'with its style',
    );
    assert.deepEqual(
      strays.filter((path) => !path.startsWith('/product?')),
      [],
    );
    await page.context().close();
  });

  describe('a script that somebody injected into the product', { concurrency: 1 }, () => {
    const { id, client, context, page } = grace;
    const url = authorizeUrl(service, client, { redirect_uri: redirectUri });
    const allowed = async () => (await installation.grants.connectedApps(id)).length;
    const inProduct = async <T>(script: string, path = '/product') => {
      await page.goto(appUrl + path);
      return page.evaluate<T>(script);
    };
    const opened = (then: string) => `new Promise((resolve) => {
      const other = open(${JSON.stringify(url)});
      const look = (times) => {
        let button = null;
        try { button = other.document.querySelector('button[value=allow]'); } catch {}
        if (button === null && times > 0) return setTimeout(look, 50, times - 1);
        ${then}
      };
      look(40);
    })`;
    /** The form as the person's own browser shows it, as if the script had come by it. */
    const shownForm = async () => {
      const cookies = new Browser();
      for (const { name, value } of await context.cookies()) cookies.cookies.set(name, value);
      return formOf((await cookies.get(url)).body, '/auth/oauth2/authorize');
    };

    test('RFC 6749 §10.12: it reads no page that has a form token, by fetch, in a frame or in a second window', async () => {
      const fetched = await inProduct<[number, string]>(
        `fetch(${JSON.stringify(url)}).then(async (answer) => [answer.status, await answer.text()])`,
      );
      assert.equal(fetched[0], 403);
      assert.ok(!/form_token|Grace/.test(fetched[1]));
      const framed = await inProduct<string>(`new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.src = ${JSON.stringify(url)};
        frame.onload = () => resolve(frame.contentDocument?.body.innerHTML ?? 'closed');
        document.body.append(frame);
      })`);
      assert.equal(framed, 'closed');
      for (const path of ['/product', '/apart']) {
        const found = await inProduct<string>(opened("resolve(button === null ? 'cut apart' : 'read')"), path);
        assert.equal(found, 'cut apart', path);
      }
    });

    test('RFC 6749 §10.12: it posts no form, by fetch or in a frame, even with the token of the page', async () => {
      const { action, fields } = await shownForm();
      const body = JSON.stringify({ ...fields, decision: 'allow' });
      const status = await inProduct<number>(
        `fetch(${JSON.stringify(action)}, { method: 'POST', body: new URLSearchParams(${body}) }).then(({ status }) => status)`,
      );
      assert.equal(status, 403);
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.evaluate(`{
        document.body.innerHTML = '<iframe name="frame"></iframe><form method="post" target="frame"></form>';
        const form = document.querySelector('form');
        form.action = ${JSON.stringify(action)};
        for (const [name, value] of Object.entries(${body})) form.append(Object.assign(document.createElement('input'), { name, value }));
        form.submit();
      }`);
      assert.equal((await answered).status(), 403);
      assert.equal(await allowed(), 0);
    });

    for (const worker of ['hands-on', 'reads-ahead'])
      test(`design: a service worker of the product (${worker}) gets no page, and one that leaves our paths alone is in nobody’s way`, async () => {
        const install = (name: string) => `(async () => {
          for (const old of await navigator.serviceWorker.getRegistrations()) await old.unregister();
          const changed = new Promise((resolve) => { navigator.serviceWorker.oncontrollerchange = resolve; });
          await navigator.serviceWorker.register('/${name}.js');
          await changed;
        })()`;
        await inProduct(install(worker));
        assert.equal((await page.goto(url))?.status(), 403);
        assert.match(await page.innerText('h1'), /in its own window/);
        await inProduct(install('leaves'));
        assert.equal((await page.goto(url))?.status(), 200);
        assert.ok(await page.locator('button[value=allow]').isVisible());
        await inProduct(
          'navigator.serviceWorker.getRegistrations().then((all) => Promise.all(all.map((one) => one.unregister())))',
        );
      });

    test('accepted: where the product’s page is cross-origin isolated, as ours are, it opens a window and presses Allow', async () => {
      const press = opened("if (button === null) return resolve('cut apart'); button.click(); resolve('pressed');");
      assert.equal(await inProduct<string>(press, '/isolated'), 'pressed');
      await context.waitForEvent('requestfinished', (request) => request.url().includes('code='));
      assert.equal(await allowed(), 1);
    });
  });
});
