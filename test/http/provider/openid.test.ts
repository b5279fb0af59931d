/** Signing in with OpenID Connect where a product signs its own users in, on each store. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { PERSON_FIELDS, type PersonField } from '../../../src/oauth/grants/person-fields.ts';
import { Browser } from '../../support/browser.ts';
import { me } from '../../support/flow.ts';
import { askUsers, signInThrough, storesWithProvider } from '../../support/provider.ts';
import { addClient, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import {
  addResourceServer,
  allowOn,
  exchangeCode,
  type Fields,
  introspect,
  scopes,
  sentTo,
  standardUrl,
} from '../../support/standard.ts';

const server = await sharedPostgres();
after(() => server.remove());

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`signing in through a product on ${store}`, { concurrency: true }, () => {
    async function setUp(t: Parameters<typeof start>[0]) {
      const { instances, provider } = await start(t);
      const one = instances[0] as TestService;
      const two = instances.at(-1) as TestService;
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
      assert.deepEqual(await contextOf(), { auth_time: authTime + 5, amr: ['pwd', 'otp'] });
      one.clock.advance(1);
      await allowOn(browser, await signIn({ max_age: '60', prompt: 'consent login' }, { auth_time: authTime + 5 }));
      assert.deepEqual(await contextOf(), { auth_time: authTime + 5 });
    });

    test('OpenID Connect Core §3.1.2.1: a hint that is ignored makes no request too long for a sign-in', async (t) => {
      const { browser, signIn, contextOf } = await setUp(t);
      await allowOn(browser, await signIn({ id_token_hint: randomBytes(4500).toString('base64url'), nonce: 'n' }));
      assert.deepEqual(await contextOf(), { nonce: 'n' });
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
        assert.deepEqual(await contextOf(), { nonce: consent.nonce, auth_time: authTime, amr: ['pwd'] });
        one.clock.advance(1);
      }
    });

    test('OpenID Connect Core §5.4: a profile field that was not allowed is in no place that an app, an API or the product reads', async (t) => {
      const { one, two, provider } = await setUp(t);
      const fields = {
        name: 'Name Canary',
        username: 'username-canary',
        email: 'email@canary.example',
        avatar_url: 'https://photos.example/avatar-canary.png',
      };
      const api = await addResourceServer(one);
      const cases: [scope: string, chosen: readonly PersonField[], allowed: PersonField[]][] = [
        ['openid photos', PERSON_FIELDS, []],
        ['openid email photos', PERSON_FIELDS, ['email']],
        ['openid profile photos', PERSON_FIELDS, ['name', 'username', 'avatar_url']],
        ['openid profile email photos', ['username'], ['username']],
        ['openid profile email photos', [], []],
      ];
      for (const [index, [scope, personFields, allowed]] of cases.entries()) {
        const subject = `ada-${index}`;
        const app = await addClient(one, { signIn: true, scopes: scopes('photos'), personFields });
        const browser = new Browser();
        const page = await signInThrough(one, provider, browser, standardUrl(one, app, { scope }), {
          subject,
          ...fields,
          email_verified: true,
        });
        const code = String((await allowOn(browser, page)).searchParams.get('code'));
        const { body } = await exchangeCode(two, app, code);
        const token = String(body['access_token']);
        const headers = { Authorization: `Bearer ${token}` };
        const checked = await introspect(two, api, token);
        const listed = await askUsers(two, provider, `GET /connections?subject=${subject}`);
        const [connection] = listed.body['connections'] as Record<string, unknown>[];
        assert.deepEqual([checked.body['active'], connection?.['profile']], [true, allowed]);
        const places = {
          'the ID token': Buffer.from(String(body['id_token']).split('.')[1] ?? '', 'base64url').toString(),
          userinfo: await (await fetch(`${two.appUrl}/oauth2/userinfo`, { headers })).text(),
          '/v2/me': JSON.stringify((await me(two, token)).body['data']),
          introspection: JSON.stringify(checked.body),
          connections: JSON.stringify(listed.body),
        };
        for (const [place, told] of Object.entries(places))
          for (const [field, value] of Object.entries(fields)) {
            const isTold = told.includes(value);
            const isAllowed = allowed.includes(field as PersonField);
            const isNeverTold = place === 'connections' || (place === 'introspection' && field !== 'username');
            assert.equal(isTold, isAllowed && !isNeverTold, `${field} in ${place} with ${scope} of ${personFields}`);
          }
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
