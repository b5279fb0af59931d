// The console's pages of apps in the real Chromium.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { startConsole } from '../support/console.ts';
import { openConsole } from '../support/console-browser.ts';
import { addClient } from '../support/service.ts';

async function prepare() {
  const browser = await launchBrowser();
  after(() => browser.close());
  return { browser, service: await startConsole({ after }) };
}

const prepared = noBrowser ? null : await prepare();

describe('apps in the console, in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { browser, service } = prepared;

  test('operators §7: the list of apps, empty and full, and a search, with the keyboard alone', async () => {
    const { page, complaints, visit, look, press, type } = await openConsole(browser, service, 'Apps');
    await visit('/apps');
    assert.match(await page.innerText('main'), /No app yet/);
    await addClient(service, { name: 'Calendar' });
    await addClient(service, { name: 'Notes' });
    await visit('/apps');
    await type('q', 'cal');
    await press(/^Search$/);
    assert.deepEqual(await page.locator('tbody tr').count(), 1);
    await look();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
