/** Signing in with OpenID Connect where a product signs its own users in, on each store. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Browser } from '../../support/browser.ts';
import { me } from '../../support/flow.ts';
import { askUsers, signInThrough, storesWithProvider } from '../../support/provider.ts';
import { addClient, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { allowOn, exchangeCode, type Fields, scopes, sentTo, standardUrl } from '../../support/standard.ts';

const server = await sharedPostgres();
after(() => server.remove());

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`signing in through a product on ${store}`, { concurrency: true }, () => {
    async function setUp(t: Parameters<typeof start>[0]) {
      const { instances, provider } = await start(t);
      const [one, two] = [instances[0] as TestService, instances.at(-1) as TestService];
      const app = await addClient(one, { signIn: true, scopes: scopes('photos') });
      const browser = new Browser();
      const signIn = async (parameters: Fields, members: Record<string, unknown> = {}) => {
        const url = standardUrl(one, app, { scope: 'openid', ...parameters });
        return signInThrough(one, provider, browser, url, { subject: 'ada', ...members });
      };
      const contextOf = async () => (await one.installation.grants.list({ limit: 1 }))[0]?.grant.openid;
      return { one, two, provider, app, browser, signIn, contextOf };
    }

    test('OpenID Connect Core §2: time and methods are those that the product said, and none are guessed', async (t) => {
      const { one, browser, signIn, contextOf } = await setUp(t);
      await allowOn(browser, await signIn({ nonce: 'n' }));
      assert.deepEqual(await contextOf(), { nonce: 'n' });
      one.clock.advance(1);
      const authTime = Math.floor(one.clock.now() / 1000) - 5;
      await allowOn(
        browser,
        await signIn({ prompt: 'login consent' }, { auth_time: authTime + 5, amr: ['pwd', 'otp'] }),
      );
      assert.deepEqual(await contextOf(), { authTime: authTime + 5, amr: ['pwd', 'otp'] });
      one.clock.advance(1);
      await allowOn(browser, await signIn({ max_age: '60', prompt: 'consent login' }, { auth_time: authTime + 5 }));
      assert.deepEqual(await contextOf(), { authTime: authTime + 5 });
    });

    test('OpenID Connect Core §2: a sign-in of another tab takes no later time away from one that demanded it', async (t) => {
      const { one, provider, app, browser, signIn, contextOf } = await setUp(t);
      const authTime = Math.floor(one.clock.now() / 1000);
      for (const ofOtherTab of [{}, { auth_time: authTime - 3000, amr: ['otp'] }]) {
        const consent = { prompt: 'consent', nonce: JSON.stringify(ofOtherTab) };
        const page = await signIn({ ...consent, max_age: '60' }, { auth_time: authTime, amr: ['pwd'] });
        const other = standardUrl(one, app, { scope: 'openid', ...consent, state: 'other tab' });
        await signInThrough(one, provider, browser, other, { subject: 'ada', ...ofOtherTab });
        await allowOn(browser, page);
        assert.deepEqual(await contextOf(), { nonce: consent.nonce, authTime, amr: ['pwd'] });
        one.clock.advance(1);
      }
    });

    test('a sign-in replaces its equal on every instance at once, and the list says signs_in', async (t) => {
      const { one, two, provider, app, browser, signIn } = await setUp(t);
      const exchanged = async (location: URL) =>
        String((await exchangeCode(two, app, String(location.searchParams.get('code')))).body['access_token']);
      const first = await exchanged(await allowOn(browser, await signIn({})));
      const second = await exchanged(sentTo(await browser.get(standardUrl(one, app, { scope: 'openid' }))));
      assert.deepEqual([(await me(one, first)).status, (await me(one, second)).status], [401, 200]);
      const listed = async () => {
        const { body } = await askUsers(two, provider, 'GET /connections?subject=ada');
        const [connection, ...others] = body['connections'] as Record<string, unknown>[];
        assert.equal(others.length, 0);
        return connection;
      };
      const { signs_in, scope, permissions, last_used_at } = (await listed()) ?? {};
      assert.deepEqual([signs_in, scope, permissions], [true, '', []]);
      assert.equal(typeof last_used_at, 'string', 'a sign-in is a use');
    });
  });
