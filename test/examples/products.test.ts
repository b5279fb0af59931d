// The products of examples/ through the whole flow: each signs its people in for a real service, which asks for consent.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { allAccounts } from '../support/all-accounts.ts';
import { Browser, type Visit } from '../support/browser.ts';
import { launchBrowser, noBrowser } from '../support/chromium.ts';
import { authorizeUrl, exchange, me, pairOf, type TestClient } from '../support/flow.ts';
import { addClient, freePort, REDIRECT_URI, type TestService } from '../support/service.ts';
import { standardUrl } from '../support/standard.ts';
import { ADA, EXAMPLES, GRACE, linesForValetkey, startProduct } from './product.ts';

/** The most that a product needs. */
const MAX_LINES = 25;

const chromium = noBrowser ? null : await launchBrowser();
after(() => chromium?.close());

for (const example of EXAMPLES) {
  // Started once for those of its tests that need neither a clock nor an account of their own.
  const started = example.command && (await startProduct({ after }, example));

  describe(example.file, { concurrency: false }, () => {
    test(`adopting: what it needs for Valetkey is at most ${MAX_LINES} lines that one can read`, () => {
      const lines = linesForValetkey(example);
      assert.ok(lines.length > 10 && lines.length <= MAX_LINES, `${lines.length} lines`);
      assert.deepEqual(
        lines.filter((line) => line.length > 125),
        [],
      );
    });

    if (!started) return; // Then npm run test:languages walks it.

    test('adopting: from an app to its password form, back, Allow, and a token of that person', async () => {
      const { service, productUrl } = started;
      const client = await addClient(service);
      const browser = new Browser();
      const form = await follow(browser, await browser.get(authorizeUrl(service, client)));
      assert.equal(form.url, `${productUrl}/oauth/sign-in`, 'the sign-in request is out of the address');
      assert.match(form.body, /Test App asks/);
      const wrong = await follow(browser, await browser.submit(form, '/sign-in', { ...ADA, password: 'poems' }));
      assert.match(wrong.body, /not right/);
      const consent = await follow(browser, await browser.submit(wrong, '/sign-in', ADA));
      assert.match(consent.body, /Ada Lovelace/);
      assert.equal(await emailOf(service, client, await decide(browser, consent, 'allow')), ADA.email);

      const dead = await browser.get(`${productUrl}/oauth/sign-in`);
      assert.equal(dead.status, 400, 'a used request is gone');
      const begun = await browser.get(authorizeUrl(service, client));
      const again = await follow(browser, begun);
      assert.match(again.body, /value="allow"/, 'who is signed in at the product sees no page of it');
    });

    test('adopting: prompt and max_age are heard, and a refusal goes on to the app', async () => {
      const { service, productUrl } = started;
      const client = await addClient(service);
      const browser = new Browser();
      const begin = async (members: Record<string, string>) =>
        follow(browser, await browser.get(standardUrl(service, client, members)));
      const answer = (choice: string) => browser.post(`${productUrl}/oauth/sign-in`, { answer: choice });
      const first = await begin({});
      assert.match((await follow(browser, await browser.submit(first, '/sign-in', ADA))).body, /value="allow"/);

      for (const members of [{ prompt: 'login' }, { max_age: '0' }]) {
        const anew = await begin(members);
        assert.match(anew.body, /Password/, JSON.stringify(members));
        assert.doesNotMatch(anew.body, /Go on as/, 'the old sign-in does not do');
        assert.match((await follow(browser, await browser.submit(anew, '/sign-in', ADA))).body, /value="allow"/);
      }

      const choice = await begin({ prompt: 'select_account' });
      assert.match(choice.body, /Go on as Ada Lovelace/);
      assert.match((await follow(browser, await answer('yes'))).body, /Ada Lovelace/);
      const other = await begin({ prompt: 'select_account' });
      const consent = await follow(browser, await browser.submit(other, '/sign-in', GRACE));
      assert.match(consent.body, /Grace Hopper/);

      await begin({ prompt: 'select_account' });
      const refused = new URL((await follow(browser, await answer('no'))).url);
      assert.deepEqual(
        [refused.origin + refused.pathname, refused.searchParams.get('error')],
        [REDIRECT_URI, 'access_denied'],
      );
      const stranger = await new Browser().post(`${productUrl}/oauth/sign-in`, { answer: 'no' });
      assert.equal(stranger.status, 403, 'a form of another site has no cookie with it');
    });

    test('adopting: an error of ours is a page in words, and is no loop', async (t) => {
      const { service } = await startProduct(t, example);
      const client = await addClient(service);
      const browser = new Browser();
      const form = await follow(browser, await browser.get(authorizeUrl(service, client)));
      service.clock.advance(3601);
      const late = await follow(browser, await browser.submit(form, '/sign-in', ADA));
      assert.equal(late.status, 502);
      assert.match(late.body, /You are not connected.*Begin again/s);
      const { installation } = service;
      service.clock.advance(-3601);
      await follow(browser, await browser.get(authorizeUrl(service, client)));
      const [account] = await allAccounts(installation.accounts);
      await installation.accounts.disable(account?.id ?? '', installation.operator);
      const closed = await follow(browser, await browser.get(authorizeUrl(service, client)));
      assert.match(closed.body, /Your account is closed there/);
    });

    test('adopting: the same in a real browser without scripts, with "Switch account"', {
      skip: noBrowser,
    }, async (t) => {
      assert.ok(chromium);
      const { service, productUrl } = started;
      const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
      const app = createServer((_request, response) => response.end('back at the app'));
      t.after(() => void app.close());
      app.listen(Number(new URL(redirectUri).port), '127.0.0.1');
      const client = await addClient(service, { redirectUris: [redirectUri] });
      const context = await chromium.newContext({ javaScriptEnabled: false });
      t.after(() => context.close());
      const page = await context.newPage();
      const press = (name: string) => page.getByRole('button', { name }).click();
      const atApp = async (name: string) => {
        await press(name);
        await page.getByText('back at the app').waitFor();
        return new URL(page.url());
      };
      await page.goto(authorizeUrl(service, client, { redirect_uri: redirectUri }));
      assert.equal(page.url(), `${productUrl}/oauth/sign-in`);
      await signIn(page, ADA);
      await page.getByText(ADA.name).first().waitFor();
      await press('Switch account');
      await page.getByRole('button', { name: `Go on as ${ADA.name}` }).waitFor();
      await signIn(page, GRACE);
      await page.getByText(GRACE.name).first().waitFor();
      assert.equal(await emailOf(service, client, await atApp('Allow'), redirectUri), GRACE.email);
      await page.goto(standardUrl(service, client, { redirect_uri: redirectUri, prompt: 'login' }));
      assert.equal((await atApp('No, go back')).searchParams.get('error'), 'access_denied');
    });
  });
}

async function signIn(page: Page, { email, password }: typeof ADA): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Follows redirects from host to host until a page comes, or the app's own address. */
async function follow(browser: Browser, visit: Visit): Promise<Visit> {
  for (let hops = 0; visit.status === 303; hops += 1) {
    assert.ok(hops < 10, 'no loop');
    const { href } = new URL(visit.headers.get('location') ?? '', visit.url);
    if (href.startsWith(REDIRECT_URI)) return { ...visit, url: href };
    visit = await browser.get(href);
  }
  return visit;
}

async function decide(browser: Browser, consent: Visit, decision: string): Promise<URL> {
  return new URL((await browser.submit(consent, '/auth/oauth2/authorize', { decision })).headers.get('location') ?? '');
}

/** Whose token an app gets. */
async function emailOf(
  service: TestService,
  client: TestClient,
  callback: URL,
  redirectUri = REDIRECT_URI,
): Promise<unknown> {
  const { accessToken } = pairOf(
    await exchange(service, client, callback.searchParams.get('code') ?? '', { redirect_uri: redirectUri }),
  );
  return ((await me(service, accessToken)).body['data'] as Record<string, unknown>)['email'];
}
