/** The products of examples/ that use the package, or its file in Python: each signs its people in for a real service. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser } from '../support/browser.ts';
import { authorizeUrl, exchange, me, pairOf } from '../support/flow.ts';
import { addClient } from '../support/service.ts';
import { standardUrl, VERIFIER } from '../support/standard.ts';
import { ADA, type AtProduct, GRACE, linesForValetkey, startProduct, WITH_PACKAGE } from './product.ts';
import { follow, press } from './walk.ts';

// All before the first test: the runner ends the products as soon as it has no more tests, even while one starts.
const products: (AtProduct | null)[] = [];
for (const example of WITH_PACKAGE) products.push(example.command && (await startProduct({ after }, example)));

for (const [index, example] of WITH_PACKAGE.entries()) {
  const started = products[index];

  describe(example.file, { concurrency: false }, () => {
    test('adopting: what it needs for Valetkey is at most 20 lines that one can read', () => {
      const lines = linesForValetkey(example);
      assert.ok(lines.length > 5 && lines.length <= 20, `${lines.length} lines`);
      assert.deepEqual(
        lines.filter((line) => line.length > 130),
        [],
      );
    });

    if (!started) return; // Then npm run test:languages walks it.
    const { service, productUrl } = started;

    test('adopting: from an app to its password form, back, Allow, and a token of that person', async () => {
      const client = await addClient(service);
      const browser = new Browser();
      const form = await follow(browser, await browser.get(authorizeUrl(service, client)));
      assert.ok(form.url.startsWith(`${productUrl}/sign-in?next=`), form.url);
      assert.match(form.body, /Test App asks/);
      const wrong = await follow(browser, await browser.submit(form, '/sign-in', { ...ADA, password: 'poems' }));
      assert.match(wrong.body, /not right/);
      const consent = await follow(browser, await browser.submit(wrong, '/sign-in', ADA));
      assert.match(consent.body, /Ada Lovelace/);
      const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
      const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
      const { accessToken } = pairOf(await exchange(service, client, code));
      assert.equal(((await me(service, accessToken)).body['data'] as { email: string }).email, ADA.email);
      assert.match((await follow(browser, await browser.get(authorizeUrl(service, client)))).body, /value="allow"/);
      const settings = await browser.get(`${productUrl}/settings`);
      assert.match(settings.body, /Test App.*Publisher not stated.*client\.example/s);
      const left = await follow(browser, await browser.submit(settings, '/settings'));
      assert.match(left.body, /No app is connected/);
      assert.equal((await me(service, accessToken)).status, 401);
    });

    test('a settings page shows a connection as the page of Valetkey does, and removes it', async () => {
      const { scopes, operator } = service.installation;
      const sentences = { en: 'Read your <i>photos</i>' };
      await scopes.put('photos.read', { sentences, effect: 'sensitive' }, operator);
      const client = await addClient(service, {
        ...{ name: 'Postcards <b>', publisher: 'Acme <Ltd>', contact: 'help@acme.example', isChecked: true },
        ...{ homepage: 'https://acme.example/?a&b', privacyPage: 'https://acme.example/privacy' },
        scopes: ['photos.read', 'print'].map((name) => ({ name, sentence: null, optional: name === 'print' })),
      });
      const browser = new Browser();
      const form = await follow(browser, await browser.get(standardUrl(service, client)));
      const consent = await follow(browser, await browser.submit(form, '/sign-in', GRACE));
      const scope = ['print'];
      const allowed = await browser.submit(consent, '/oauth2/authorize', { decision: 'allow', scope });
      const textOf = async () => {
        const { body } = await browser.get(`${productUrl}/settings`);
        assert.doesNotMatch(body, /<[bi]>|<Ltd>|\?a&b/, 'escaped');
        return unescaped(body.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ');
      };
      const waiting = await textOf();
      assert.match(waiting, /Allowed 20\d\d-\d\d-\d\d\. Waiting for the app: expires if the app doesn’t fetch it\./);
      const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
      const { accessToken } = pairOf(await exchange(service, client, code, { code_verifier: VERIFIER }));
      assert.match(await textOf(), /Not used yet\. Ends on 20/);
      assert.equal((await me(service, accessToken)).status, 200);
      const shown = await textOf();
      for (const part of [
        /Postcards <b> by Acme <Ltd> · checked · client\.example Website Privacy Contact/,
        /See who you are: your name, email Read your <i>photos<\/i> \(sensitive\) Use the permission print \(optional\)/,
        /Connected 20\d\d-\d\d-\d\d\. Last used 20\d\d-\d\d-\d\d\. Ends on 20\d\d-\d\d-\d\d, or on 20\d\d-\d\d-\d\d without use\./,
        /Remove Postcards <b>/,
      ])
        assert.match(shown, part);
      const { body } = await browser.get(`${productUrl}/settings`);
      assert.match(body, /href="mailto:help@acme\.example"/);
      const failed = await browser.get(`${productUrl}/settings?after=x`);
      assert.deepEqual([failed.status, /can’t be shown right now/.test(failed.body)], [503, true], 'and not “no app”');
      const left = await follow(
        browser,
        await browser.submit(await browser.get(`${productUrl}/settings`), '/settings'),
      );
      assert.match(left.body, /No app is connected/);
      assert.equal((await me(service, accessToken)).status, 401);
    });

    test('adopting: prompt and max_age are heard, accounts are chosen, and a refusal goes on to the app', async () => {
      const client = await addClient(service);
      const browser = new Browser();
      const begin = async (members: Record<string, string>) =>
        follow(browser, await browser.get(standardUrl(service, client, members)));
      const first = await begin({});
      await follow(browser, await browser.submit(first, '/sign-in', ADA));
      for (const members of [{ prompt: 'login' }, { max_age: '0' }]) {
        const anew = await begin(members);
        assert.match(anew.body, /Password/, JSON.stringify(members));
        assert.match((await follow(browser, await browser.submit(anew, '/sign-in', ADA))).body, /value="allow"/);
      }
      const choice = await begin({ prompt: 'select_account' });
      assert.match((await press(browser, choice, 'Go on as Ada Lovelace')).body, /Ada Lovelace/);
      const other = await press(browser, await begin({ prompt: 'select_account' }), 'Another account');
      assert.match((await follow(browser, await browser.submit(other, '/sign-in', GRACE))).body, /Grace Hopper/);
      const refused = await press(browser, await begin({ prompt: 'select_account' }), 'No, go back');
      assert.match(refused.url, /^https:\/\/client\.example\/callback\?.*error=access_denied/);
      const stranger = new Browser();
      const asked = await follow(stranger, await stranger.get(standardUrl(service, client)));
      assert.match(
        (await press(stranger, asked, 'No, go back')).url,
        /error=access_denied/,
        'on its sign-in page, too',
      );
      const again = await begin({ prompt: 'select_account' });
      assert.equal((await press(browser, again, 'No, go back', 'https://evil.example')).status, 403);
    });

    test('adopting: a request that was changed, is of another browser, or is too long, is a page', async () => {
      const client = await addClient(service);
      const browser = new Browser();
      const form = await follow(browser, await browser.get(standardUrl(service, client)));
      const next = productUrl + (new URL(form.url).searchParams.get('next') ?? '');
      assert.equal((await new Browser().get(next)).status, 400);
      const [[name, value] = ['', '']] = [...browser.cookies].filter(([one]) => one.startsWith('valetkey_request_'));
      browser.cookies.set(
        name,
        value.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      );
      assert.match((await browser.get(next)).body, /This sign-in is over/);
      const long = `${productUrl}/oauth/sign-in?sign_in_request=${'x'.repeat(7000)}`;
      assert.equal((await new Browser().get(long)).status, 400);
      const fits = new Browser();
      await fits.get(`${productUrl}/oauth/sign-in?sign_in_request=${'x'.repeat(6000)}&login_hint=${'y'.repeat(900)}`);
      assert.equal([...fits.cookies].filter(([one]) => one.startsWith('valetkey_request_')).length, 2);
    });
  });
}

function unescaped(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', amp: '&' };
  return text.replace(/&(?:#(\d+)|(lt|gt|amp));/g, (_whole, code, name) => named[name] ?? String.fromCharCode(code));
}
