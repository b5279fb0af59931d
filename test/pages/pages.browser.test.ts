import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { type Language, languages } from '../../src/pages/messages/messages.ts';
import { stylesheet } from '../../src/pages/stylesheet.ts';
import { launchBrowser } from '../support/chromium.ts';
import { sampleBrand, sampleContext, samplePages } from './sample-pages.ts';

const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";
const names = Object.keys(samplePages(sampleContext('en')));
/** The error pages differ in nothing but their words. */
const distinct = names.filter((name) => !name.startsWith('error-') || name === 'error-unknown_client');
const hardColours = ['#ffff00', '#000000', '#ffffff'];

let browser: Browser;
let server: Server;
let origin: string;

/** Serves `/{language}/{name}` and the stylesheet, both in the colour that `?colour=` names. */
before(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const colour = url.searchParams.get('colour') ?? sampleBrand.colour;
    response.setHeader('content-security-policy', policy);
    if (url.pathname === '/pages.css') return response.setHeader('content-type', 'text/css').end(stylesheet(colour));
    const [, language, name = ''] = url.pathname.split('/');
    const stylesheetHref = `/pages.css?${url.searchParams}`;
    const context = { ...sampleContext(language as Language, { ...sampleBrand, colour }), stylesheetHref };
    response.setHeader('content-type', 'text/html; charset=utf-8').end(String(samplePages(context)[name] ?? ''));
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

async function open({ colorScheme, width }: Look): Promise<[Page, string[]]> {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 720 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  return [page, complaints];
}

async function violations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
  );
}

describe('in each language, colour scheme and width', { concurrency: 4 }, () => {
  for (const language of languages) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [320, 1280]) {
        test(`every page in ${language}, ${colorScheme}, ${width} pixels wide, is accessible and fits`, async () => {
          const [page, complaints] = await open({ colorScheme, width });
          for (const name of names) {
            await page.goto(`${origin}/${language}/${name}`);
            if (distinct.includes(name)) assert.deepEqual(await violations(page), [], name);
            assert.equal(
              await page.evaluate('document.documentElement.scrollWidth'),
              width,
              `${name} scrolls sideways`,
            );
          }
          assert.deepEqual(complaints, []);
          await page.context().close();
        });
      }
    }
  }
});

for (const colour of hardColours) {
  test(`the pages stay accessible with the brand colour ${colour}`, async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const [page] = await open({ colorScheme, width: 1280 });
      for (const name of ['sign-in-wrong', 'consent', 'connected-apps', 'developers']) {
        await page.goto(`${origin}/en/${name}?colour=${encodeURIComponent(colour)}`);
        assert.deepEqual(await violations(page), [], `${name} ${colorScheme}`);
      }
      await page.context().close();
    }
  });
}

test('the consent page is walked with the keyboard alone, Allow before Deny', async () => {
  const [page] = await open({ colorScheme: 'light', width: 1280 });
  await page.goto(`${origin}/en/consent`);
  const stops: string[] = [];
  for (let press = 0; press < 6; press++) {
    await page.keyboard.press('Tab');
    stops.push(await page.locator(':focus').innerText());
  }
  assert.deepEqual(
    stops.map((stop) => stop.replace(/\s+/g, ' ').trim()),
    ['N Northwind Start page', 'Switch account', 'Allow', 'Deny', 'Connected apps', 'Get help'],
  );
  await page.context().close();
});
