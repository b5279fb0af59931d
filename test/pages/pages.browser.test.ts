import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { copyScript } from '../../src/pages/layout/copy-script.ts';
import { stylesheet } from '../../src/pages/layout/stylesheet.ts';
import type { Language } from '../../src/pages/messages/messages.ts';
import { inaccessible, prepareLooking } from '../support/accessibility.ts';
import { launchBrowser } from '../support/chromium.ts';
import { sampleBrand, sampleContext, samplePages } from './sample-pages.ts';

const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";
const names = Object.keys(samplePages(sampleContext('en')));
/** Pages that differ from another one in nothing but words, or in how often something is repeated. */
const repeated =
  /^error-(?!unknown_client)|^sign-in-(?!wrong)|-(?:this-device|many|throttled|denied)$|^connected-apps-(?!empty)/;
const distinct = names.filter((name) => !repeated.test(name));
const alike = names.filter((name) => repeated.test(name));
const hardColors = ['#ffff00', '#000000', '#ffffff'];

/** Made once for all who ask: there are many, with long texts in them. */
const made = new Map<string, ReturnType<typeof samplePages>>();
function pagesIn(language: Language, color: string, stylesheetHref: string): ReturnType<typeof samplePages> {
  const key = `${language} ${stylesheetHref}`;
  const pages = made.get(key) ?? samplePages({ ...sampleContext(language, { ...sampleBrand, color }), stylesheetHref });
  made.set(key, pages);
  return pages;
}

let browser: Browser;
let server: Server;
let origin: string;

/** Serves `/{language}/{name}` and the stylesheet, both in the color that `?color=` names. */
before(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const color = url.searchParams.get('color') ?? sampleBrand.color;
    // As the service sends it: scripts of this site on pages with values to copy alone.
    const hasScript = /\/(developers.*|picked-up.*)$/.test(url.pathname);
    response.setHeader('content-security-policy', hasScript ? `${policy}; script-src 'self'` : policy);
    if (url.pathname.endsWith('.js')) return response.setHeader('content-type', 'text/javascript').end(copyScript);
    if (url.pathname === '/pages.css')
      return response
        .setHeader('cache-control', 'public, max-age=31536000, immutable') // as the service sends it, too
        .setHeader('content-type', 'text/css')
        .end(stylesheet(color));
    const [, language, name = ''] = url.pathname.split('/');
    const page = pagesIn(language as Language, color, `/pages.css?${url.searchParams}`)[name];
    response.setHeader('content-type', 'text/html; charset=utf-8').end(String(page ?? ''));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

type Look = { colorScheme: 'light' | 'dark'; width: number };

const HEIGHT = 720;

/** A page that looks like this from its first moment on, where colors do not pass slowly into each other. */
async function open({ colorScheme, width }: Look): Promise<[Page, string[]]> {
  const viewport = { width, height: HEIGHT };
  const context = await browser.newContext({ colorScheme, viewport, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  return [page, complaints];
}

/** Opens the cards of apps, and the question before all apps are removed, where a page has them. */
async function openQuestion(page: Page): Promise<void> {
  // A locator has the page read a long script first, so it is made where there is something to click.
  if (!(await page.evaluate("document.querySelector('.remove-all summary, .app-card') !== null"))) return;
  await page.evaluate("for (const card of document.querySelectorAll('.app-card > details')) card.open = true");
  for (const summary of await page.locator('.remove-all > summary').all()) await summary.click();
}

/** Has a page that is open look otherwise: to open it again takes longer. */
async function show(page: Page, { colorScheme, width }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: HEIGHT });
}

/** Each language, color scheme and width with each value of the other two. */
const LOOKS: Readonly<Record<Language, readonly [Look, Look]>> = {
  en: [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 320 },
  ],
  ar: [
    { colorScheme: 'light', width: 320 },
    { colorScheme: 'dark', width: 1280 },
  ],
};

describe('every page is accessible and fits', { concurrency: 2 }, () => {
  for (const [language, looks] of Object.entries(LOOKS))
    describe(`in ${language}`, { concurrency: 1 }, () => {
      let page: Page;
      let complaints: string[];
      before(async () => {
        [page, complaints] = await open(looks[0]);
      });
      after(() => page.context().close());

      // Those that axe does not look at come first, and are spared the reading of it.
      for (const name of [...alike, ...distinct])
        test(`${name} in ${language}`, async () => {
          if (name === distinct[0]) await prepareLooking(page);
          await page.goto(`${origin}/${language}/${name}`);
          await openQuestion(page);
          for (const look of looks) {
            await show(page, look);
            const about = `${look.colorScheme}, ${look.width} pixels wide`;
            if (distinct.includes(name)) assert.deepEqual(await inaccessible(page), [], about);
            const width = await page.evaluate('document.documentElement.scrollWidth');
            assert.equal(width, look.width, `${about}, scrolls sideways`);
          }
          assert.deepEqual(complaints, []);
        });
    });
});

for (const color of hardColors) {
  test(`the pages stay accessible with the brand color ${color}`, async () => {
    const [page] = await open({ colorScheme: 'light', width: 1280 });
    await prepareLooking(page);
    for (const name of ['sign-in-wrong', 'consent-device-more', 'device-allowed', 'connected-apps', 'developers']) {
      await page.goto(`${origin}/en/${name}?color=${encodeURIComponent(color)}`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await inaccessible(page), [], `${name} ${colorScheme}`);
      }
    }
    await page.context().close();
  });
}

test('app developers: each example has a button that copies it, by keyboard as well, and none without scripts', async () => {
  const [page, complaints] = await open({ colorScheme: 'light', width: 1280 });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${origin}/en/developers`);
  const places = page.locator('.copyable');
  assert.ok((await places.count()) > 20);
  assert.equal(await page.locator('.copyable > button').count(), await places.count());
  await page.goto(`${origin}/en/developers#authorize`);
  const first = page.locator('#authorize .copyable').first();
  await first.locator('button').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Copied').waitFor({ state: 'attached' });
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), await first.locator('code').textContent());
  assert.match(String(await first.locator('button').getAttribute('aria-label')), /^Copy: Address to open$/);
  assert.deepEqual(complaints, []);
  await page.context().close();
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const without = await plain.newPage();
  await without.goto(`${origin}/en/developers`);
  assert.equal(await without.locator('.copyable button, .copy').count(), 0);
  await without.goto(`${origin}/en/developers#library`);
  await without.locator('#library summary').nth(2).click();
  assert.ok(await without.getByText('package main').isVisible());
  await plain.close();
});

test('app developers: a section opens by pointer, by keyboard and by its address, without scripts', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  const isOpen = (id: string) => page.locator(`#${id}`).isVisible();
  await page.goto(`${origin}/en/developers`);
  const ids = await page.locator('.chapter').evaluateAll((places) => places.map(({ id }) => id));
  assert.ok(ids.length > 10);
  for (const id of ids) assert.equal(await isOpen(id), id === 'need', id);
  await page.getByRole('heading', { name: 'Permissions' }).click();
  assert.ok(await isOpen('scopes'));
  await page.getByRole('heading', { name: 'Permissions' }).click();
  assert.ok(!(await isOpen('scopes')));
  await page.locator('summary', { hasText: 'Rate limits' }).focus();
  await page.keyboard.press('Enter');
  assert.ok(await isOpen('limits'));
  for (const id of [...ids, 'reason-used', 'reason-paused']) {
    await page.goto('about:blank');
    await page.goto(`${origin}/en/developers#${id}`);
    assert.ok(await isOpen(id), id);
    // What opened is in the window, with its heading.
    const { y = -1, height = 0 } = (await page.locator(`#${id}`).boundingBox()) ?? {};
    const heading = await page
      .locator('details', { has: page.locator(`#${id}`) })
      .locator('h2')
      .boundingBox();
    assert.ok(y >= 0 && y < 720 && height > 0, `${id} at ${y}`);
    if (ids.includes(id)) assert.ok(Number(heading?.y) >= 0, `${id}'s heading at ${heading?.y}`);
  }
  await page.goto(`${origin}/en/developers`);
  await page.locator('.contents').getByText('Checking tokens in your API').click();
  await page.locator('#verify').waitFor();
  await context.close();
});

test('app developers: the reason that error_uri leads to is marked', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const [page] = await open({ colorScheme, width: 1280 });
    await page.goto(`${origin}/en/developers#reason-used`);
    const colors = await page.evaluate(
      "['used', 'expired'].map((kind) => getComputedStyle(document.getElementById('reason-' + kind)).backgroundColor)",
    );
    const [marked, other] = colors as string[];
    assert.notEqual(marked, other);
    assert.deepEqual(await inaccessible(page), []);
    await page.context().close();
  }
});

test('the consent page is walked with the keyboard alone, Allow before Deny', async () => {
  const [page] = await open({ colorScheme: 'light', width: 1280 });
  await page.goto(`${origin}/en/consent`);
  const stops: string[] = [];
  for (let press = 0; press < 9; press++) {
    await page.keyboard.press('Tab');
    stops.push(await page.locator(':focus').innerText());
  }
  assert.deepEqual(
    stops.map((stop) => stop.replace(/\s+/g, ' ').trim()),
    [
      'N Northwind Start page',
      'Website (opens another tab)',
      'Privacy (opens another tab)',
      'Contact',
      'Switch account',
      'Connected apps (opens another tab)',
      'Allow',
      'Deny',
      'Get help',
    ],
  );
  await page.context().close();
});

/** What of a decision's page is wholly in sight, with nothing above it: each thing that is asked, and each fact about it. */
async function inSight(page: Page): Promise<{ allow: boolean; hidden: string[] }> {
  return page.evaluate(() => {
    const isSeen = (element: Element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const holds = (y: number) => element.contains(document.elementFromPoint((left + right) / 2, y));
      return top >= 0 && bottom <= innerHeight && holds(top + 3) && holds(bottom - 3);
    };
    const asked = [
      ...document.querySelectorAll('.permissions li > span, .options label > span, .facts span:not(.unseen)'),
    ];
    return {
      allow: isSeen(document.querySelector('[value="allow"]') as Element),
      hidden: asked.filter((each) => !isSeen(each)).map((each) => each.textContent ?? ''),
    };
  });
}

test('at 1366 by 650 all that is asked, for how long and how to end it are in sight with Allow, with nine permissions as well', async () => {
  const page = await (await browser.newContext({ viewport: { width: 1366, height: 650 } })).newPage();
  for (const language of ['en', 'ar'])
    for (const name of ['six', 'nine', 'unchecked', 'options', 'more', 'expired', 'device', 'device-more']) {
      await page.goto(`${origin}/${language}/consent-${name}`);
      const { allow, hidden } = await inSight(page);
      assert.deepEqual([allow, hidden], [true, []], `${language} ${name}`);
      await page.locator('.below').waitFor({ state: 'hidden' });
    }
  await page.context().close();
});

test('a page of connected apps has at most 1600 pixels and 50 KB', async () => {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 720 } })).newPage();
  for (const name of names.filter((each) => each.startsWith('connected-apps'))) {
    const response = await page.goto(`${origin}/en/${name}`);
    const height = await page.evaluate('document.documentElement.scrollHeight');
    assert.ok(Number(height) <= 1_600, `${name} is ${height} pixels high`);
    const bytes = (await response?.body())?.length ?? assert.fail();
    assert.ok(bytes <= 50_000, `${name} has ${bytes} bytes`);
  }
  await page.context().close();
});

test('nothing jumps between the sign-in to an app and its consent: one card at one place', async () => {
  const page = await (await browser.newContext({ viewport: { width: 1366, height: 768 } })).newPage();
  const places: unknown[] = [];
  for (const name of ['sign-in', 'sign-in-products', 'consent', 'consent-six']) {
    await page.goto(`${origin}/en/${name}`);
    const place = "(({ x, y, width }) => [x, y, width])(document.querySelector('main').getBoundingClientRect())";
    const mark = "(({ x, y }) => [x, y])(document.querySelector('main .monogram').getBoundingClientRect())";
    places.push(await page.evaluate(`[${place}, ${mark}]`));
  }
  for (const place of places) assert.deepEqual(place, places[0]);
  await page.context().close();
});

test('a short consent leaves no empty half: both columns of the card end alike', async () => {
  const page = await (await browser.newContext({ viewport: { width: 1366, height: 768 } })).newPage();
  for (const name of ['consent', 'consent-agent', 'consent-options', 'consent-device']) {
    await page.goto(`${origin}/en/${name}`);
    const ends = "['.aside', '.verdict'].map((part) => document.querySelector(part).getBoundingClientRect().bottom)";
    const [left = 0, right = 0] = (await page.evaluate(ends)) as number[];
    assert.ok(Math.abs(left - right) < 120, `${name}: ${left} and ${right}`);
  }
  await page.context().close();
});

/** Goes to the end of a page by its key, which a busy browser loses if it comes before the page can scroll. */
async function pressEnd(page: Page): Promise<void> {
  const isAtEnd = () => page.evaluate('Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight');
  while (!(await isAtEnd())) await page.keyboard.press('End');
}

test('a longer list leaves Allow and Deny in sight, and says that there is more until one has seen its end', async () => {
  const page = await (await browser.newContext({ viewport: { width: 1366, height: 650 } })).newPage();
  for (const name of ['consent-fifteen', 'consent-many']) {
    await page.goto(`${origin}/en/${name}`);
    assert.equal((await inSight(page)).allow, true, name);
    await page.locator('.below').waitFor({ state: 'visible' });
    await pressEnd(page);
    await page.locator('.below').waitFor({ state: 'hidden' });
  }
  await page.goto(`${origin}/en/consent-six`);
  await page.locator('.below').waitFor({ state: 'hidden' });
  await page.context().close();
});

test('RFC 8628 §5.4: Allow is not in sight before all that a device asks, and on a small screen not before what any app asks', async () => {
  const page = await (await browser.newContext()).newPage();
  const small = [390, 664, 320, 640, 683, 325, 768, 700];
  for (const [names, sizes] of [
    [
      ['device', 'device-more', 'device-twelve'],
      [1366, 650, 1366, 768, 1000, 560, ...small],
    ],
    [['six', 'nine', 'unchecked', 'fifteen', 'many'], small],
  ] as const)
    for (let at = 0; at < sizes.length; at += 2) {
      const viewport = { width: sizes[at] ?? 0, height: sizes[at + 1] ?? 0 };
      await page.setViewportSize(viewport);
      for (const name of names) {
        await page.goto(`${origin}/en/consent-${name}`);
        const { allow, hidden } = await inSight(page);
        assert.ok(!allow || hidden.length === 0, `${name} at ${viewport.width} by ${viewport.height}: ${hidden}`);
      }
    }
  await page.context().close();
});

/** What can be pressed on a page: its text, and its height in pixels. */
function targets(page: Page): Promise<{ text: string; height: number }[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, .button, .field input, .options label, .ways li')]
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .map((element) => ({ text: element.innerText, height: element.getBoundingClientRect().height })),
  );
}

test('WCAG 2.2 §2.5.5: whatever is pressed on a small screen is 44 pixels high', async () => {
  const [page] = await open({ colorScheme: 'light', width: 320 });
  let count = 0;
  for (const name of distinct) {
    await page.goto(`${origin}/en/${name}`);
    await openQuestion(page);
    for (const { text, height } of await targets(page)) {
      count += 1;
      assert.ok(height >= 44, `${name}: ${text} is ${height} pixels high`);
    }
  }
  assert.ok(count > distinct.length, `${count} were looked at`);
  await page.context().close();
});

test('an optional permission is chosen by a press anywhere on its row, and Enter on it allows nothing', async () => {
  const [page] = await open({ colorScheme: 'light', width: 1280 });
  await page.goto(`${origin}/en/consent-options`);
  const posted: string[] = [];
  await page.route('**/auth/oauth2/authorize**', (route) => {
    posted.push(route.request().postData() ?? '');
    return route.fulfill({ status: 204 });
  });
  await page.getByText('Book meeting rooms in your name').click();
  assert.equal(await page.getByLabel('Book meeting rooms in your name').isChecked(), true);
  await page.getByLabel('contacts.read').press('Enter');
  assert.deepEqual(posted, []);
  await Promise.all([
    page.waitForResponse('**/auth/oauth2/authorize**'),
    page.getByRole('button', { name: 'Allow' }).click(),
  ]);
  assert.equal(posted.length, 1);
  const form = new URLSearchParams(posted[0]);
  assert.deepEqual(form.getAll('scope'), ['rooms.book']);
  assert.equal(form.get('decision'), 'allow');
  await page.context().close();
});

test('RFC 8628 §6.1: the code of a device can be typed in small letters, with any dash or space or none', async () => {
  const [page] = await open({ colorScheme: 'light', width: 1280 });
  await page.goto(`${origin}/en/device-code`);
  const field = page.getByLabel('Code on your device');
  for (const [code, fits] of [
    ['BCDF-GHJK', true],
    ['bcdfghjk', true],
    [' bcdf–ghjk ', true],
    ['B C D F G H J K', true],
    ['BCDFGHJ', false],
    ['BCDF-GHJKL', false],
    ['', false],
  ] as const) {
    await field.fill(code);
    assert.equal(await page.evaluate("document.querySelector('#user_code').checkValidity()"), fits, code);
  }
  await page.context().close();
});
