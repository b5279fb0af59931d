/** A person's own pages in the real browser, with the keyboard alone and without scripts. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { inaccessible } from '../support/accessibility.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { me, obtainPair, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../support/service.ts';

const scopes = [
  { name: 'read', sentence: 'Read your notes', optional: false },
  { name: 'erase', sentence: 'Erase your notes', optional: false },
];

/** The words of the element with the focus, its label or its text. */
const FOCUSED = `(() => {
  const { activeElement: at } = document;
  return (at.labels?.[0] ?? at).innerText + ' ' + (at.getAttribute('aria-label') ?? '');
})()`;

/** Presses Tab until the focus is on what says this. */
async function tabTo(page: Page, words: RegExp): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    await page.keyboard.press('Tab');
    if (words.test(await page.evaluate<string>(FOCUSED))) return;
  }
  assert.fail(`nothing with the focus says ${words} on ${page.url()}`);
}

describe('in Chromium', { skip: noBrowser }, () => {
  test('Promise 2: of 30 apps one is found, read and removed with the keyboard alone, without scripts, at 320 px', async () => {
    const service = await startTestService({ after });
    const { catalogue, operator } = { catalogue: service.installation.scopes, operator: service.installation.operator };
    await catalogue.define('erase', { en: 'Erase your notes' }, operator, 'sensitive');
    await addUser(service);
    const visitor = await signedInBrowser(service);
    const tokens = new Map<string, string>();
    for (let number = 1; number <= 30; number += 1) {
      const client = await addClient(service, { name: `Notes ${number}`, scopes });
      tokens.set(client.client.name, (await obtainPair(service, visitor, client)).accessToken);
    }
    const browser = await launchBrowser();
    after(() => browser.close());
    const viewport = { width: 320, height: 640 };
    const context = await browser.newContext({ javaScriptEnabled: false, viewport, colorScheme: 'dark' });
    const page = await context.newPage();
    const fits = async () =>
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${page.url()} is wide`);
    /** Presses Enter on a link or button, and waits for the next page. */
    const enter = async () => {
      const loaded = page.waitForEvent('load');
      await page.keyboard.press('Enter');
      await loaded;
    };
    await page.goto(`${service.appUrl}/account`);
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('ada@example.com');
    await tabTo(page, /^Password/);
    await page.keyboard.type(PASSWORD);
    await enter();
    await fits();
    await tabTo(page, /^Connected apps/);
    await enter();
    await tabTo(page, /Find an app/);
    await fits();
    await page.keyboard.type('notes 23');
    await enter();
    await tabTo(page, /Notes 23/);
    await page.keyboard.press('Enter');
    await page.locator('details[open]', { hasText: 'Erase your notes' }).waitFor();
    await fits();
    await tabTo(page, /Remove/);
    await enter();
    assert.match(await page.innerText('[role=status]'), /Notes 23/);
    const statuses = await Promise.all([...tokens].map(async ([, token]) => (await me(service, token)).status));
    assert.deepEqual(
      [...tokens.keys()].filter((_, at) => statuses[at] !== 200),
      ['Notes 23'],
    );
    await tabTo(page, /^Account/);
    await enter();
    assert.match(await page.innerText('main'), /29 apps can use your account[\s\S]*Notes 23/, 'and the home tells it');
    await fits();
    await context.close();
  });

  test('WCAG 2.2: the pages of a person stay whole at 200 %, light and dark, in English and Arabic', async () => {
    const service = await startTestService({ after });
    await addUser(service);
    const visitor = await signedInBrowser(service);
    for (let number = 1; number <= 13; number += 1)
      await obtainPair(service, visitor, await addClient(service, { name: `Notes ${number}`, scopes }));
    const browser = await launchBrowser();
    after(() => browser.close());
    for (const locale of ['en', 'ar'])
      for (const colorScheme of ['light', 'dark'] as const) {
        const viewport = { width: 640, height: 450 };
        const context = await browser.newContext({ locale, colorScheme, viewport, deviceScaleFactor: 2 });
        const page = await context.newPage();
        await page.goto(`${service.appUrl}/sign-in`);
        await page.fill('[name=email]', 'ada@example.com');
        await page.fill('[name=password]', PASSWORD);
        await page.click('main button');
        for (const path of ['/account', '/account/apps', '/account/password', '/developers']) {
          await page.goto(service.appUrl + path);
          assert.deepEqual(await inaccessible(page), [], `${locale} ${colorScheme} ${path}`);
          assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${path} is wide`);
        }
        await context.close();
      }
  });
});
