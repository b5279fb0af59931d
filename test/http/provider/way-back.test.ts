/** The account pages of users who sign in at a product: the way back to it, and nothing that does not concern them. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser, type Visit } from '../../support/browser.ts';
import { signIn } from '../../support/flow.ts';
import { signInThrough, storesWithProvider } from '../../support/provider.ts';
import { addUser, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';

const server = await sharedPostgres();
after(() => server.remove());

const HOME = 'https://photos.example/#/home';
const PAGES = ['/account', '/account/apps'];
const LIVED = { sessionLifetime: 43_200 };

/** Returns the links of a page that lead to a product, with their words. */
const linksBack = ({ body }: Visit) => body.match(/<a [^>]*>(?:Back to|العودة إلى)[^\n]*?<\/a>/g) ?? [];

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`the way back to a product on ${store}`, () => {
    test('a user from a product is led back to it, in this tab, and reads of no password and no other product', async (t) => {
      const other = { id: 'films', name: 'Films', homePage: 'https://films.example', ...LIVED };
      const world = await start(t, { homePage: HOME, ...LIVED }, { VALETKEY_PRODUCT_NAME: 'Northwind' }, [other]);
      const [one] = world.instances as [TestService];
      for (const [language, words] of [
        ['en', 'Back to'],
        ['ar', 'العودة إلى'],
      ] as const) {
        const browser = new Browser({ 'Accept-Language': language });
        await signInThrough(one, world.provider, browser, `${one.appUrl}/account`, { name: null, email: null });
        for (const path of PAGES) {
          const page = await browser.get(one.appUrl + path);
          assert.deepEqual(linksBack(page), [`<a href="${HOME}">${words} <bdi>Photos</bdi></a>`], path);
          assert.doesNotMatch(page.body, /\/account\/password|Films/, path);
        }
        const { body } = await browser.get(`${one.appUrl}/account`);
        assert.match(body, /<h1>[^<]* <bdi>Photos<\/bdi><\/h1>/);
      }
    });

    test('the way back is that of the product of this sign-in, as it is set now, and nobody else has one', async (t) => {
      const other = { id: 'films', name: 'Films', ...LIVED };
      const methods = { VALETKEY_SIGN_IN_METHODS: 'password,product,films' };
      const world = await start(t, { homePage: HOME, ...LIVED }, methods, [other]);
      const [one] = world.instances as [TestService];
      const films = world.others[0] ?? assert.fail();
      const links = async (browser: Browser) => linksBack(await browser.get(`${one.appUrl}/account`));
      const [own, theirs, here] = [new Browser(), new Browser(), new Browser()];
      await signInThrough(one, world.provider, own, `${one.appUrl}/account`);
      await signInThrough(one, films, theirs, `${one.appUrl}/account`);
      await addUser(one);
      await signIn(one, here);
      assert.match((await here.get(`${one.appUrl}/account`)).body, /Change your password/);
      assert.deepEqual([(await links(own)).length, await links(theirs), await links(here)], [1, [], []]);
      const { identityProviders, operator } = one.installation;
      await identityProviders.update('films', { homePage: 'http://127.0.0.1:8000' }, operator);
      await identityProviders.update('product', { homePage: null }, operator);
      assert.deepEqual(await links(own), []);
      assert.deepEqual(await links(theirs), ['<a href="http://127.0.0.1:8000">Back to <bdi>Films</bdi></a>']);
    });
  });
