/** One walk through the main job in the real Chromium, for each run; `in-a-browser.test.ts` has the others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { inaccessible } from '../support/accessibility.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { authorizeUrl, exchange, me, pairOf } from '../support/flow.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../support/service.ts';

test('RFC 6749 §4.1: in Chromium a person signs in, allows, and takes the app back; each page passes axe', {
  skip: noBrowser,
}, async (t) => {
  const service = await startTestService(t);
  await addUser(service);
  const app = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>arrived</title>'),
  );
  await once(app.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    app.closeAllConnections();
    app.close();
  });
  const redirectUri = `http://127.0.0.1:${(app.address() as AddressInfo).port}/callback`;
  const scopes = [{ name: 'read', sentence: 'Read your notes', optional: false }];
  const client = await addClient(service, { redirectUris: [redirectUri], scopes });
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const look = async () => assert.deepEqual(await inaccessible(page), [], page.url());

  await page.goto(authorizeUrl(service, client, { redirect_uri: redirectUri, state: 'a b&c' }));
  await look();
  await page.fill('[name=email]', 'ada@example.com');
  await page.fill('[name=password]', PASSWORD);
  await page.click('main button');
  await page.locator('button[value=allow]').waitFor();
  assert.match(await page.innerText('main'), /Read your notes/);
  await look();
  await page.click('button[value=allow]');
  await page.waitForURL(`${redirectUri}?*`);
  const back = new URL(page.url()).searchParams;
  assert.equal(back.get('state'), 'a b&c');
  const { accessToken } = pairOf(
    await exchange(service, client, String(back.get('code')), { redirect_uri: redirectUri }),
  );
  assert.equal((await me(service, accessToken)).status, 200);

  await page.goto(`${service.appUrl}/account/apps`);
  await look();
  await page.click('main form button');
  await page.waitForLoadState();
  assert.equal((await me(service, accessToken)).status, 401);
});
