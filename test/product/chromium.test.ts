/** packages/product in the real Chromium: cookies of other sites, tabs, reloads and a path behind a proxy. */
import assert from 'node:assert/strict';
import { createServer, request as forward } from 'node:http';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startService } from '../examples/product.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { addClient, freePort, type Lifetime } from '../support/service.ts';
import { standardUrl } from '../support/standard.ts';
import { installProduct } from './installed.ts';
import { FRAMEWORKS, type Framework, type Habits, PATH, startSite } from './site.ts';

const { modules } = await installProduct({ after });
const chromium = noBrowser ? null : await launchBrowser();
after(() => chromium?.close());

/** A product and an app on another site than the service, and a page of the browser without scripts. */
async function open(t: Lifetime, framework: Framework, habits: Habits = {}, mount = '') {
  const [port, front] = [await freePort(), await freePort()];
  // The service is at 127.0.0.1: another site than localhost.
  const publicUrl = `http://localhost:${mount ? front : port}${mount}`;
  const { service, secret } = await startService(t, publicUrl + PATH);
  const site = await startSite(t, modules, framework, { url: service.appUrl, secret }, port, { ...habits, publicUrl });
  if (mount) {
    // A proxy that takes its path away.
    const proxy = createServer((request, response) => {
      const path = (request.url ?? '').replace(new RegExp(`^${mount}`), '');
      const asked = forward({
        port,
        host: 'localhost',
        path,
        method: request.method,
        headers: { ...request.headers, host: 'inside' },
      });
      request
        .pipe(asked)
        .on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)));
    }).listen(front, 'localhost');
    t.after(() => void proxy.close());
  }
  const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const app = createServer((_request, response) => response.end('back at the app'));
  app.listen(Number(new URL(redirectUri).port), '127.0.0.1');
  t.after(() => void app.close());
  const client = await addClient(service, { redirectUris: [redirectUri] });
  const context = await (chromium ?? assert.fail()).newContext({ javaScriptEnabled: false });
  t.after(() => context.close());
  const start = (page: Page, members: Record<string, string> = {}) =>
    page.goto(standardUrl(service, client, { redirect_uri: redirectUri, ...members }));
  return { context, page: await context.newPage(), start, site, publicUrl };
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const atConsent = (page: Page) => page.getByRole('button', { name: 'Allow', exact: true }).waitFor();

for (const framework of FRAMEWORKS)
  test(`${framework}: sessions that are Strict are found, accounts are chosen, and a refusal reaches the app`, {
    skip: noBrowser,
  }, async (t) => {
    const { page, start, site } = await open(t, framework, { strict: true });
    await start(page);
    await press(page, 'Sign in as ada');
    await atConsent(page);
    await start(page);
    await atConsent(page);
    assert.equal(site.wishes.length, 1, 'the second time nobody had to sign in');
    await start(page, { prompt: 'select_account' });
    await press(page, 'Go on as Ada <Lovelace>');
    await atConsent(page);
    await start(page, { prompt: 'select_account' });
    await press(page, 'Another account');
    await press(page, 'Sign in as grace');
    await page.getByText('Grace Hopper').first().waitFor();
    await start(page, { prompt: 'login' });
    await press(page, 'Refuse');
    await page.getByText('back at the app').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('error'), 'access_denied');
    assert.deepEqual(site.problems, []);
  });

test('two tabs, a reload, and Back: each tab goes on with its own request', { skip: noBrowser }, async (t) => {
  const { context, page, start } = await open(t, 'Express');
  const other = await context.newPage();
  await start(page, { state: 'one' });
  await start(other, { state: 'two' });
  await page.reload();
  await press(page, 'Sign in as ada');
  await atConsent(page);
  assert.match(page.url(), /state=one/);
  await press(other, 'Sign in as ada');
  await atConsent(other);
  assert.match(other.url(), /state=two/);
  await other.goBack();
  await other.goForward();
  await atConsent(other);
});

test('behind a proxy and a path that it takes away, the address is the public one', { skip: noBrowser }, async (t) => {
  const { page, start, publicUrl } = await open(t, 'Fastify', {}, '/photos');
  await start(page, { prompt: 'select_account' });
  assert.ok(page.url().startsWith(publicUrl), page.url());
  await press(page, 'Sign in as ada');
  await atConsent(page);
  await start(page, { prompt: 'select_account' });
  await press(page, 'Go on as Ada <Lovelace>');
  await atConsent(page);
});

test('a form of another site is refused, though the browser sends its cookies', { skip: noBrowser }, async (t) => {
  const { context, page, start, site } = await open(t, 'Hono');
  await start(page);
  await press(page, 'Sign in as ada');
  await start(page, { prompt: 'select_account' });
  const target = await page.locator('form', { hasText: 'No, go back' }).getAttribute('action');
  const evil = createServer((_request, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(
        `<form method="post" enctype="text/plain" action="${new URL(target ?? '', page.url()).href.replaceAll('&', '&amp;')}"><button>Win</button></form>`,
      ),
  );
  const port = await freePort();
  evil.listen(port, '127.0.0.1');
  t.after(() => void evil.close());
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${port}/`);
  await press(other, 'Win');
  await other.getByText('Not from here').waitFor();
  assert.equal(site.problems.at(-1)?.code, 'foreign_form');
});
