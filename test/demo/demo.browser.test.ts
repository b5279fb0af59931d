import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { inaccessible } from '../support/accessibility.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { type Invitation, invitationOf, startDemo } from './run-demo.ts';

type Look = { colorScheme: 'light' | 'dark'; width: number; javaScriptEnabled: boolean };

/** With scripts, only because the accessibility check is one: the pages have none. */
const looks: Look[] = [
  { colorScheme: 'light', width: 1280, javaScriptEnabled: false },
  { colorScheme: 'light', width: 320, javaScriptEnabled: true },
  { colorScheme: 'dark', width: 1280, javaScriptEnabled: true },
];

test('the demo is walked in a browser, without scripts too; its pages fit and are accessible', {
  skip: noBrowser,
}, async (t) => {
  const invitation = await invitationOf(startDemo(t, '--json'));
  await using browser = await launchBrowser();
  for (const look of looks) await walkPages(browser, invitation, look);
});

test('the demo of a product is walked in a browser: its sign-in, the consent here, and its settings', {
  skip: noBrowser,
}, async (t) => {
  const invitation = await invitationOf(startDemo(t, '--product', '--json'));
  await using browser = await launchBrowser();
  for (const look of looks.slice(1)) await walkProduct(browser, invitation, look);
});

async function walkProduct(browser: Browser, { url, email, password }: Invitation, look: Look): Promise<void> {
  const { context, page, complaints } = await open(browser, look);
  const product = { name: 'Tintype', button: 'Connect with Tintype' };
  await page.goto(url);
  await page.getByRole('button', { name: product.button }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await checkLook(page, look);
  await page.getByRole('button', { name: 'No, go back to Postcards' }).click();
  await page.getByText('nothing was shared').waitFor();
  await page.getByRole('button', { name: product.button }).click();
  await signIn(page, email, 'not the password');
  await page.getByText('don’t go together').waitFor();
  await signIn(page, email, password);
  await page.getByRole('heading', { name: 'Allow Postcards to use your Tintype account?' }).waitFor();
  await page.getByRole('button', { name: 'Switch account' }).click();
  await page.getByRole('heading', { name: 'Choose an account' }).waitFor();
  await checkLook(page, look);
  await page.getByRole('button', { name: 'Go on as Mira Lindqvist' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Mira, you’re connected' }).waitFor();
  await checkLook(page, look);
  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Take the access back at Tintype' }).click();
  const settings = await opened;
  await settings.getByRole('heading', { name: 'Postcards' }).waitFor();
  await checkLook(settings, look);
  await settings.getByRole('button', { name: 'Disconnect Postcards' }).click();
  await settings.getByText('No app is connected').waitFor();
  await settings.locator('summary').first().click();
  await checkLook(settings, look);
  await settings.getByRole('link', { name: 'Album', exact: true }).click();
  await settings.getByRole('heading', { name: 'Mira’s album' }).waitFor();
  await checkLook(settings, look);
  await page.getByRole('button', { name: 'Check the token again' }).click();
  await page.getByText('The token is refused').waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  // Whoever types before the browser has set the focus by itself makes it complain.
  await page.locator('input:focus').waitFor();
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function open(browser: Browser, { colorScheme, width, javaScriptEnabled }: Look) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 720 }, javaScriptEnabled });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  return { context, page, complaints };
}

async function walkPages(browser: Browser, { url, email, password }: Invitation, look: Look): Promise<void> {
  const { context, page, complaints } = await open(browser, look);
  await page.goto(url);
  await checkLook(page, look);
  await page.getByRole('button', { name: 'Connect with Valetkey' }).click();
  await signIn(page, email, password);
  await page.getByRole('button', { name: 'Deny' }).click();
  await checkLook(page, look);
  await page.getByRole('button', { name: 'Connect with Valetkey' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Mira, you’re connected' }).waitFor();
  await page.locator('summary').first().click();
  await checkLook(page, look);
  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Take the access back' }).click();
  const apps = await opened;
  await apps.getByRole('button', { name: 'Remove Postcards' }).click();
  await apps.getByText('Postcards was removed').waitFor();
  await page.getByRole('button', { name: 'Check the token again' }).click();
  await page.getByText('The token is refused').waitFor();
  await checkLook(page, look);
  assert.deepEqual(complaints, []);
  await context.close();
}

async function checkLook(page: Page, { width, javaScriptEnabled }: Look): Promise<void> {
  if (!javaScriptEnabled) return;
  assert.deepEqual(await inaccessible(page), [], page.url());
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${page.url()} scrolls sideways`);
}
