// The console's forms of apps in the real Chromium, with the keyboard alone.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noBrowser } from '../support/chromium.ts';
import { openConsole, startConsoleInBrowser } from '../support/console-browser.ts';

const SECRET = /^vk_cs_[A-Za-z0-9_-]{40,}$/;

const CLIPBOARD = ['clipboard-read', 'clipboard-write'];

/** Presses a copy button with the keyboard, and returns what was copied. */
async function copiedBy(page: Page, name: RegExp): Promise<string> {
  await page.evaluate("navigator.clipboard.writeText('nothing yet')");
  const button = page.getByRole('button', { name });
  await button.press('Enter');
  await button.filter({ hasText: 'Copied' }).waitFor();
  return page.evaluate('navigator.clipboard.readText()');
}

const prepared = noBrowser ? null : await startConsoleInBrowser({ after });

describe('the forms of apps in the console, in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { browser, service } = prepared;

  test('operators §7: an app is registered after a mistake and handed over, and its developer sees the secret', async () => {
    const { installation } = service;
    await installation.scopes.define('mail.read', { en: 'Read your mail' }, installation.operator);
    const { page, complaints, visit, look, press, type } = await openConsole(browser, service, 'Forms', {
      permissions: CLIPBOARD,
    });
    await visit('/apps/new');
    await type('name', 'Calendar');
    await type('redirect_uris', 'http://client.example/callback');
    await type('scopes', ' ');
    await type('other_scopes', 'mail.send');
    await press(/^Further settings$/);
    await look();
    await press(/^Register the app$/);

    await look();
    const values = () =>
      page.evaluate(
        `['name', 'redirect_uris', 'other_scopes'].map((name) => document.querySelector('[name=' + name + ']').value)`,
      );
    assert.deepEqual(await values(), ['Calendar', 'http://client.example/callback', 'mail.send']);
    assert.ok(await page.isChecked('[name="scopes"]'));
    assert.equal(await page.getAttribute('#redirect_uris', 'aria-invalid'), 'true');
    assert.match(await page.innerText('#redirect_uris-problem'), /https/);
    await type('redirect_uris', 'https://client.example/callback');
    await press(/^Register the app$/);

    await look();
    const link = await page.innerText('.secret code');
    const selectedBy = async (selector: string) => {
      await page.locator(selector).click({ position: { x: 60, y: 20 } });
      return page.evaluate('getSelection().toString().trim()');
    };
    assert.equal(await selectedBy('.secret'), link);
    assert.equal(await selectedBy('.message'), (await page.innerText('.message')).trim());
    assert.equal(await copiedBy(page, /^Copy: the link$/), link);
    assert.equal(await copiedBy(page, /^Copy: the words$/), await page.locator('.message').textContent());
    assert.equal(await copiedBy(page, /^Copy: Client ID$/), await page.innerText('dd code >> nth=0'));
    const visitor = await (await browser.newContext()).newPage();
    await visitor.goto(link);
    await visitor.getByRole('button', { name: 'Make the secret and show it' }).press('Enter');
    await visitor.waitForSelector('text=Store the secret now');
    const shown = await visitor.locator('main code').allTextContents();
    assert.ok(shown.some((text) => SECRET.test(text)));
    assert.ok(shown.includes(await page.innerText('dd code >> nth=0')), 'both pages have the ID');
    await visitor.context().close();

    await page.reload();
    assert.doesNotMatch(await page.content(), /pick-up\?token/, 'a form that is sent again shows no link');
    assert.match(await page.innerText('main'), /The form was sent twice/);
    await look();

    const id = await page.innerText('dd code >> nth=0');
    await visit(`/apps/${id}/edit`);
    await type('publisher', 'Example Ltd');
    await press(/^Save the changes$/);
    const { name, publisher } = await installation.clients.show(id);
    assert.deepEqual([name, publisher], ['Calendar', 'Example Ltd']);
    const expected = /^Failed to load resource: the server responded with a status of 400/;
    assert.deepEqual(
      complaints.filter((text) => !expected.test(text)),
      [],
    );
    await page.context().close();
  });

  test('operators §7: a new secret is copied by keyboard, is in no label, and is there without scripts and buttons', async () => {
    const { page, complaints, visit, look, press, type } = await openConsole(browser, service, 'Copier', {
      permissions: CLIPBOARD,
    });
    await visit('/apps/new');
    await type('name', 'Diary');
    await type('redirect_uris', 'https://client.example/callback');
    await page.check('[name=hand_over][value=secret]');
    await press(/^Register the app$/);
    await look();
    const secret = await page.innerText('.secret code');
    assert.match(secret, SECRET);
    assert.equal(await copiedBy(page, /^Copy: the secret$/), secret);
    const labels = await page.evaluate<string[]>(
      "[...document.querySelectorAll('[aria-label], [data-label]')].map((each) => each.ariaLabel + each.dataset.label)",
    );
    assert.ok(labels.length > 9 && !labels.some((label) => label.includes(secret)), labels.join('\n'));
    assert.deepEqual(complaints, []);

    const storageState = await page.context().storageState();
    const plain = await (await browser.newContext({ storageState, javaScriptEnabled: false })).newPage();
    await plain.goto(`${service.operatorUrl}/apps/new`);
    await plain.fill('[name=name]', 'Plain');
    await plain.fill('[name=redirect_uris]', 'https://client.example/callback');
    await plain.check('[name=hand_over][value=secret]');
    await plain.click('text=Register the app');
    assert.match(await plain.innerText('.secret code'), SECRET);
    assert.equal(await plain.locator('.copy').count(), 0);
    await Promise.all([page, plain].map((each) => each.context().close()));
  });
});
