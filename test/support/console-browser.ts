/** The console in the real Chromium: an operator who is signed in, and looks at pages as people with other screens see them. */
import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Role } from '../../src/operator/access/operator.ts';
import { inaccessible, prepareLooking } from './accessibility.ts';
import { launchBrowser } from './chromium.ts';
import { addOperator, startConsole, type TestConsole } from './console.ts';
import type { Lifetime } from './service.ts';
import { addAuthenticator } from './virtual-authenticator.ts';

const WIDTHS = [1280, 390] as const;
const FITS = 'document.documentElement.scrollWidth <= innerWidth';
const SCHEMES = ['light', 'dark'] as const;

/** A window of a signed-in operator with a passkey. */
export type ConsoleWindow = {
  readonly page: Page;
  /** Complaints of the browser; a journey expects none at its end. */
  readonly complaints: readonly string[];
  /** Goes to a path of the console, and looks at the page. */
  readonly visit: (path: string) => Promise<void>;
  /** Looks at the open page: 1280 and 390 px, light and dark, without a fault that axe finds, and below 50 KB. It stays wide. */
  readonly look: () => Promise<void>;
  /** Presses a link or button that says this, with the keyboard alone, and waits for the next page; or opens a question. */
  readonly press: (words: RegExp) => Promise<void>;
  /** Moves to the field of this name with the keyboard, and types. */
  readonly type: (name: string, text: string) => Promise<void>;
};

/** Starts a service with a console, and a Chromium that is closed after the tests. */
export async function startConsoleInBrowser(t: Lifetime): Promise<{ browser: Browser; service: TestConsole }> {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  return { browser, service: await startConsole(t) };
}

/** Enrolls an operator in a window of their own. */
export async function openConsole(
  browser: Browser,
  service: TestConsole,
  name: string,
  { role = 'admin', ...options }: BrowserContextOptions & { readonly role?: Role } = {},
): Promise<ConsoleWindow> {
  const { enrollUrl } = await addOperator(service, role, name);
  const page = await (await browser.newContext(options)).newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await prepareLooking(page);
  await addAuthenticator(page);
  await page.goto(enrollUrl);
  await page.click('main button');
  await page.waitForURL(`${service.operatorUrl}/`);

  const look = async () => {
    assert.ok(Buffer.byteLength(await page.content()) < 50_000, `${page.url()} is large`);
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize({ width, height: 800 });
        // Without motion a color is at once what it will be.
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const where = `${page.url()} at ${width} px, ${colorScheme}`;
        assert.deepEqual(await inaccessible(page), [], where);
        assert.ok(await page.evaluate(FITS), `${where} is too wide`);
      }
    // WCAG 1.4.10
    await page.setViewportSize({ width: 320, height: 800 });
    assert.ok(await page.evaluate(FITS), `${page.url()} is too wide at 320 px`);
    await page.setViewportSize({ width: WIDTHS[0], height: 800 });
  };
  const focus = async (what: string, isIt: string) => {
    for (let tries = 0; tries < 200; tries += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate<boolean>(`(${isIt})(document.activeElement)`)) return;
    }
    assert.fail(`the keyboard does not reach ${what} on ${page.url()}`);
  };
  return {
    page,
    complaints,
    look,
    async visit(path) {
      await page.goto(service.operatorUrl + path);
      await look();
    },
    async press(words) {
      await focus(String(words), `(element) => ${words}.test(element?.innerText ?? '')`);
      const opens = await page.evaluate("document.activeElement.tagName === 'SUMMARY'");
      const loaded = opens ? null : page.waitForEvent('load');
      await page.keyboard.press('Enter');
      await loaded;
    },
    async type(name, text) {
      await focus(name, `(element) => element?.name === ${JSON.stringify(name)}`);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type(text);
    },
  };
}
