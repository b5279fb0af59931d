// Ending all that was given through an identity provider, as after its secret leaked, on each store.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { grantIdText } from '../../../src/oauth/grants/grant.ts';
import { Browser } from '../../support/browser.ts';
import { assertRefused, auditActions, authorizeUrl, exchange, me, pairOf, refresh } from '../../support/flow.ts';
import {
  atProvider,
  redirectOf,
  requestOf,
  signInThrough,
  state,
  storesWithProvider,
  type TestProvider,
} from '../../support/provider.ts';
import { RevocationStream } from '../../support/revocation-stream.ts';
import { addClient, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { addResourceServer, DEVICE_GRANT, post } from '../../support/standard.ts';

const server = await sharedPostgres();
after(() => server.remove());

type Client = Awaited<ReturnType<typeof addClient>>;

/** The code of a new grant that somebody allows who signs in at the provider. */
async function codeThrough(service: TestService, provider: TestProvider, client: Client, browser = new Browser()) {
  const consent = await signInThrough(service, provider, browser, authorizeUrl(service, client));
  const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
  return new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? assert.fail();
}

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`end-all on ${store}`, () => {
    test('end-all: sessions, grants, codes and tickets since then end on every instance, and nothing else does', async (t) => {
      const world = await start(t, { sessionLifetime: 12 * 3600 });
      const one = world.instances[0] as TestService;
      const two = world.instances.at(-1) as TestService;
      const { provider } = world;
      const client = await addClient(one);
      const before = pairOf(await exchange(one, client, await codeThrough(one, provider, client)));
      one.clock.advance(1200);
      const since = one.clock.now();
      const browser = new Browser();
      const pair = pairOf(await exchange(one, client, await codeThrough(one, provider, client, browser)));
      assert.equal((await me(two, pair.accessToken)).status, 200);
      const code = await codeThrough(one, provider, client);
      const onTheWay = new Browser();
      const ticket = await state(one, provider, requestOf(await onTheWay.get(authorizeUrl(one, client))));

      const { ended } = await one.installation.identityProviders.endAll(provider.id, since, one.installation.operator);
      assert.deepEqual(ended, { signIns: 1, sessions: 2, grants: 2, isAll: true });
      assert.equal((await me(two, pair.accessToken)).status, 401);
      assertRefused(await refresh(two, client, pair.refreshToken), 400, 'invalid_grant');
      assertRefused(await exchange(two, client, code), 400, 'invalid_grant');
      assert.equal((await onTheWay.get(redirectOf(ticket, two))).status, 400);
      atProvider(await browser.get(`${one.appUrl}/account/apps`));
      assert.equal((await me(two, before.accessToken)).status, 200, 'what was given earlier goes on');
      assert.ok((await auditActions(one)).includes('identity_provider_all_ended'));
      const again = await one.installation.identityProviders.endAll(provider.id, since, one.installation.operator);
      assert.deepEqual(again.ended, { signIns: 0, sessions: 0, grants: 0, isAll: true });
    });

    test('end-all: a device that was allowed gets nothing, and APIs hear of each grant', async (t) => {
      const world = await start(t);
      const [one] = world.instances as [TestService];
      const client = await addClient(one, { deviceFlow: true }, 'public');
      const api = await addResourceServer(one);
      const stream = await RevocationStream.open(t, one, api);
      const asked = await post(one, 'device_authorization', { client_id: client.clientId });
      const browser = new Browser();
      const url = String(asked.body['verification_uri_complete']);
      const consent = await signInThrough(one, world.provider, browser, url);
      await browser.submit(consent, '/device', { decision: 'allow' });
      const [listed] = await one.installation.grants.list({ limit: 1 });
      assert.deepEqual([listed?.grant.providerId, listed?.grant.externalId], ['product', 'ada']);
      const { ended } = await one.installation.identityProviders.endAll(
        'product',
        one.clock.now() - 1000,
        one.installation.operator,
      );
      assert.equal(ended.grants, 1);
      const fields = { client_id: client.clientId, device_code: String(asked.body['device_code']) };
      const polled = await post(one, 'token', { grant_type: DEVICE_GRANT, ...fields });
      assertRefused(polled, 400, 'invalid_grant');
      await stream.next('revoked', { grant_id: grantIdText(listed?.grant.id ?? assert.fail()) });
    });

    test('end-all: who pressed Allow while the session ended is sent to sign in, with nothing given', async (t) => {
      const world = await start(t);
      const [one] = world.instances as [TestService];
      const client = await addClient(one);
      const browser = new Browser();
      const consent = await signInThrough(one, world.provider, browser, authorizeUrl(one, client));
      await one.installation.identityProviders.endAll('product', one.clock.now(), one.installation.operator);
      const pressed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
      assert.equal(pressed.status, 303);
      atProvider(await browser.get(one.appUrl + pressed.headers.get('location')));
      assert.deepEqual(await one.installation.grants.list({ limit: 1 }), []);
    });

    test('end-all: a time in the future is refused', async (t) => {
      const [one] = (await start(t)).instances as [TestService];
      await assert.rejects(
        one.installation.identityProviders.endAll('product', one.clock.now() + 1, one.installation.operator),
        /in the future/,
      );
    });
  });
