/** Attacks of another site, another browser or an app on the products of examples/ that use the package, or its file in Python. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, describe, test } from 'node:test';
import { Browser, type Visit } from '../support/browser.ts';
import { addClient } from '../support/service.ts';
import { standardUrl } from '../support/standard.ts';
import { ADA, type AtProduct, GRACE, startProduct, startService, WITH_PACKAGE } from './product.ts';
import { follow, press, targetOf } from './walk.ts';

// All before the first test: the runner ends the products as soon as it has no more tests, even while one starts.
const products: (AtProduct | null)[] = [];
for (const example of WITH_PACKAGE) products.push(example.command && (await startProduct({ after }, example)));

/** The cookies of requests that a browser holds. Django ends a cookie with a quoted empty value. */
const requestsIn = ({ cookies }: Browser) =>
  [...cookies].filter(([name, value]) => name.startsWith('valetkey_request_') && value !== '""');

/** The sentence for a person whose request is another product's or installation's. */
const FOREIGN =
  /<h1>This request is not for here<\/h1><p>It was made for another product or installation, or is too old: go back to the app, begin again there, and ask its support if this page comes back\.<\/p>/;

for (const [index, example] of WITH_PACKAGE.entries()) {
  const started = products[index];
  if (!started) continue; // Then npm run test:languages walks it.
  const { service, productUrl } = started;

  /** Sends a browser to the product with a new request; not yet opened. */
  const arrive = async (browser: Browser, members: Record<string, string> = {}) => {
    const visit = await browser.get(standardUrl(service, await addClient(service), members));
    return new URL(visit.headers.get('location') ?? '');
  };
  const begin = async (browser: Browser, members: Record<string, string> = {}) =>
    follow(browser, await browser.get((await arrive(browser, members)).href));
  const signedIn = async (person: typeof ADA) => {
    const browser = new Browser();
    const form = await follow(browser, await browser.get(`${productUrl}/sign-in`));
    await follow(browser, await browser.submit(form, '/sign-in', person));
    return browser;
  };
  const nextOf = (login: Visit) => productUrl + (new URL(login.url).searchParams.get('next') ?? '');

  describe(example.file, { concurrency: false }, () => {
    test('a post that another site forged is refused', async () => {
      const browser = await signedIn(ADA);
      const target = targetOf(await begin(browser, { prompt: 'select_account' }), 'No, go back').href;
      for (const headers of [
        { Origin: 'https://evil.example' },
        { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
        { Origin: productUrl, 'Sec-Fetch-Site': 'same-site' },
        { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' },
        { Origin: 'null' },
        {},
      ]) {
        const answer = await browser.post(target, {}, { 'Content-Type': 'text/plain', ...headers });
        assert.deepEqual([answer.status, /Not from here/.test(answer.body)], [403, true], JSON.stringify(headers));
      }
    });

    test('an answer needs the MAC of its own request', async () => {
      const browser = await signedIn(ADA);
      const choice = await begin(browser, { prompt: 'select_account' });
      const other = targetOf(await begin(browser, { prompt: 'select_account' }), 'No, go back');
      const target = targetOf(choice, 'No, go back');
      const own = { 'Content-Type': 'text/plain', Origin: productUrl, 'Sec-Fetch-Site': 'same-origin' };
      const right = target.searchParams.get('mac') ?? '';
      for (const mac of ['', 'x'.repeat(43), 'ä', '\u0000', other.searchParams.get('mac') ?? '', right.slice(0, -1)]) {
        target.searchParams.set('mac', mac);
        assert.match((await browser.post(target.href, {}, own)).body, /Choose an account/, 'as without an answer');
      }
      target.searchParams.set('mac', right);
      assert.match((await follow(browser, await browser.post(target.href, {}, own))).url, /error=access_denied/);
    });

    test('a button goes on as the person whom it named', async () => {
      const browser = await signedIn(ADA);
      const choice = await begin(browser, { prompt: 'select_account' });
      for (const [name, value] of (await signedIn(GRACE)).cookies) browser.cookies.set(name, value);
      assert.match((await press(browser, choice, 'Go on as Ada Lovelace')).body, /Go on as Grace Hopper/);
    });

    test('a request that somebody changed, or of another browser, is a page', async () => {
      const browser = new Browser();
      const next = nextOf(await begin(browser));
      const stranger = await (await signedIn(GRACE)).get(next);
      assert.deepEqual([stranger.status, /This sign-in is over/.test(stranger.body)], [400, true]);
      const [[name, value] = ['', '']] = requestsIn(browser);
      const flipped = value.replace(/.(?=.$)/, (mark) => (mark === 'A' ? 'B' : 'A'));
      for (const changed of [value.replace(/^./, '0'), flipped, value.slice(0, -1), 'a.b.c.d', '....', 'ÿ.ÿ.ÿ.ÿ']) {
        browser.cookies.set(name, changed);
        const answer = await browser.get(next);
        assert.deepEqual([answer.status, /This sign-in is over/.test(answer.body)], [400, true], changed);
      }
      browser.cookies.set(name, value);
      assert.match((await browser.get(next)).body, /You are not signed in|Sign in to Photos/, 'unchanged, it is one');
    });

    test('a victim who opens an attacker’s request connects nothing', async () => {
      const victim = await signedIn(ADA);
      const arrival = await arrive(new Browser());
      const end = await follow(victim, await victim.get(arrival.href));
      assert.deepEqual([end.status, /can’t be finished here/.test(end.body)], [400, true]);
    });

    test('a request of another installation is refused, without a loop', async (t) => {
      const { service: elsewhere } = await startService(t, `${productUrl}/oauth/sign-in`);
      const visit = await new Browser().get(standardUrl(elsewhere, await addClient(elsewhere)));
      const victim = await signedIn(ADA);
      const end = await follow(victim, await victim.get(visit.headers.get('location') ?? ''));
      assert.match(end.body, FOREIGN);
      assert.deepEqual([end.status, requestsIn(victim)], [400, []]);
    });

    test('a request of another provider of the installation is refused, and the page says so', async (t) => {
      const music = { id: 'music', name: 'Music', signInUrl: 'http://localhost:9/sign-in' };
      const { service, productUrl } = await startProduct(t, example, [music]);
      const victim = new Browser();
      const form = await victim.get(`${productUrl}/sign-in`);
      await victim.submit(form, '/sign-in', ADA);
      const choice = await victim.get(standardUrl(service, await addClient(service)));
      const [, href] = /href="(\/sign-in\/with\?provider=music&[^"]*)"/.exec(choice.body) ?? [];
      const foreign = await victim.get(service.appUrl + (href ?? '').replaceAll('&amp;', '&'));
      const { search } = new URL(foreign.headers.get('location') ?? '');
      const end = await follow(victim, await victim.get(`${productUrl}/oauth/sign-in${search}`));
      assert.match(end.body, FOREIGN);
      assert.deepEqual([end.status, requestsIn(victim)], [400, []]);
    });

    test('nothing in an address or a header leads to another host', async () => {
      const arrival = await arrive(new Browser());
      arrival.searchParams.set('next', 'https://evil.example/');
      arrival.searchParams.set('client_name', '"><script>alert(1)</script>\r\nX: y');
      const sent = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Forwarded: 'host=evil.example' };
      const { headers } = await new Promise<{ headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
        request(arrival, { headers: { ...sent, 'X-Forwarded-Proto': 'https' } }, resolve)
          .on('error', reject)
          .end();
      });
      assert.match(String(headers['location']), /^\/oauth\/sign-in\?request=[\w-]{16}$/);
      for (const cookie of [headers['set-cookie'] ?? []].flat().filter((line) => line.startsWith('valetkey_')))
        assert.doesNotMatch(cookie, /Secure|Domain/i, 'http by its address, and this host alone');
      const browser = new Browser();
      const login = await follow(browser, await browser.get(arrival.href));
      assert.equal(new URL(login.url).origin, productUrl);
      assert.match(login.body, /&(#34|#x27|quot);&(#62|gt);&(#60|lt);script/, 'the name is shown, escaped');
      assert.doesNotMatch(login.body, /<script>|evil/);
      const choice = await arrive(browser, { prompt: 'select_account' });
      choice.searchParams.set('client_name', '<script>alert(1)</script>');
      const ada = await signedIn(ADA);
      const page = await follow(ada, await ada.get(choice.href));
      assert.match(page.body, /Choose an account.*&(#60|lt);script/s);
      assert.doesNotMatch(page.body, /<script>/);
    });

    for (const next of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      'javascript:alert(1)',
    ])
      test(`the sign-in page does not go on to ${JSON.stringify(next)}`, async () => {
        const browser = new Browser();
        const form = await browser.get(`${productUrl}/sign-in?${new URLSearchParams({ next })}`);
        for (const answer of [
          await browser.submit(form, '/sign-in', { ...ADA, next }),
          await browser.get(`${productUrl}/sign-in?${new URLSearchParams({ next })}`),
        ]) {
          assert.match(String(answer.status), /^30[23]$/);
          const { origin } = new URL(answer.headers.get('location') ?? '', productUrl);
          assert.equal(origin, productUrl, answer.headers.get('location') ?? '');
        }
      });

    test('whoever comes back without having signed in again is asked to sign out, without a loop', async () => {
      const browser = await signedIn(ADA);
      const login = await begin(browser, { prompt: 'login' });
      assert.match((await browser.get(nextOf(login))).body, /Sign out first.*still signed in as Ada Lovelace/s);
    });
  });
}
