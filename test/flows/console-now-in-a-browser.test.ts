// The console's start page and the state of the installation in the real Chromium.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { noBrowser } from '../support/chromium.ts';
import { openConsole, startConsoleInBrowser } from '../support/console-browser.ts';
import { addClient } from '../support/service.ts';

const prepared = noBrowser ? null : await startConsoleInBrowser({ after });

describe('Now in the console, in Chromium', { skip: noBrowser }, () => {
  if (!prepared) return;
  const { browser, service } = prepared;

  test('operators §7: a new installation’s next steps, with the keyboard alone', async () => {
    const { page, complaints, look, press } = await openConsole(browser, service, 'First');
    await look();
    assert.match(await page.innerText('main'), /Next steps/);
    await press(/^Register an app$/);
    assert.equal(page.url(), `${service.operatorUrl}/apps/new`);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('operators §7: a broken backup is noticed on Now, and its remedy is read, with the keyboard alone', async () => {
    const { installation, clock } = service;
    const { clientId } = await addClient(service, { name: 'Calendar' });
    await installation.backups.note('another disk', installation.operator);
    clock.advance(3 * 86_400);
    for (const counter of ['checks', 'checks', 'invalidGrant'] as const) installation.activity.count(clientId, counter);
    await installation.activity.flush();
    const { page, complaints, look, press } = await openConsole(browser, service, 'Second');
    assert.match(await page.innerText('.problem'), /Last backup: 3 days old/);
    await look();
    await press(/^Show the numbers$/);
    assert.match(await page.innerText('.plot table'), /Refused.*Invalid grant/s);
    await look();
    await press(/^See health$/);
    assert.equal(page.url(), `${service.operatorUrl}/health`);
    assert.match(
      await page.innerText('.things li'),
      /Last backup\s+Problem\s+3 days old \(limit: 48 h\)\.\s+Remedy: valetkey database backup FILE, or/,
    );
    await look();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('WCAG 1.4.3, operators §7: a warning has a color of its own that can be read, and its remedy says what users notice', async () => {
    const { installation, clock } = service;
    clock.advance(370 * 86_400);
    await installation.backups.note('another disk', installation.operator);
    clock.advance(11); // The state is kept for 10 seconds.
    const { page, complaints, visit } = await openConsole(browser, service, 'Third');
    await visit('/health');
    assert.match(
      await page.innerText('.things li'),
      /Root key in use\s+Warning\s.*keys rotate \(users notice nothing; /s,
    );
    const background = "getComputedStyle(document.querySelector('.effect.warning')).backgroundColor";
    assert.notEqual(await page.evaluate(background), 'rgba(0, 0, 0, 0)', 'the pill of a state has none');
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
