/** A hand-over in a real browser: by keyboard, without scripts, with two quick presses, and on the way back. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { inaccessible } from '../support/accessibility.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { REDIRECT_URI, startTestService } from '../support/service.ts';

const SECRET = /^vk_cs_[A-Za-z0-9_-]{40,}$/;

async function prepare() {
  const browser = await launchBrowser();
  after(() => browser.close());
  return { browser, service: await startTestService({ after }) };
}

const prepared = noBrowser ? null : await prepare();

describe('a hand-over in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { browser, service } = prepared;
  const { clients, handOvers, operator } = service.installation;

  async function handedOver(): Promise<{ id: string; address: string }> {
    const said = { name: 'Acme Mail', redirectUris: [REDIRECT_URI] };
    const { row: client } = await clients.register('confidential', said, operator, null, true);
    const { address } = await handOvers.make({ kind: 'client', id: client.id }, operator);
    return { id: client.id, address };
  }

  async function open(options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext({ viewport: { width: 320, height: 720 }, ...options });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    return { page, complaints };
  }

  const secretOn = async (page: Page) =>
    (await page.locator('main code').allTextContents()).find((text) => SECRET.test(text)) ?? null;

  test('a developer picks up and copies a secret with the keyboard alone, and no later page learns of it', async () => {
    const { address } = await handedOver();
    const { page, complaints } = await open({
      colorScheme: 'dark',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(address);
    assert.deepEqual(await inaccessible(page), []);
    const focused = () => page.evaluate('document.activeElement.textContent');
    for (let n = 0; n < 9 && (await focused()) !== 'Make the secret and show it'; n += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Store the secret now');
    const secret = await secretOn(page);
    assert.ok(secret);
    assert.equal(new URL(page.url()).search, '');
    assert.deepEqual(await inaccessible(page), []);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    const button = page.getByRole('button', { name: 'Copy: Client Secret' });
    await button.focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);
    const guide = page.getByRole('link', { name: 'the developer guide' });
    await guide.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/developers');
    assert.equal(await page.evaluate('document.referrer'), `${new URL(page.url()).origin}/`, 'neither path nor token');
    assert.ok(!(await page.content()).includes(secret));
    assert.deepEqual(complaints, []);
  });

  test('without scripts the secret is there, and no button to copy it', async () => {
    const { address } = await handedOver();
    const { page } = await open({ javaScriptEnabled: false });
    await page.goto(address);
    await page.click('main button');
    assert.ok(await secretOn(page));
    assert.equal(await page.locator('main button').count(), 0);
  });

  test('two quick presses make one secret, and show it', async () => {
    const { id, address } = await handedOver();
    const { page } = await open();
    await page.goto(address);
    await page.dblclick('main button', { noWaitAfter: true });
    await page.waitForSelector('text=Store the secret now');
    assert.ok(await secretOn(page));
    assert.equal((await clients.show(id)).secrets.length, 1);
  });

  test('the way back leads to a page that says when the address was used, with no secret on it', async () => {
    const { address } = await handedOver();
    const { page } = await open();
    await page.goto(address);
    await page.click('main button');
    await page.waitForSelector('text=Store the secret now');
    await page.goBack();
    await page.waitForSelector('text=This link was used already');
    assert.equal(await secretOn(page), null);
  });
});
