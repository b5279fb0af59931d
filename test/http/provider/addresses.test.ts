// The worth of an email address that comes from a product, on each store: to operators, to apps and on pages.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { OperatorError } from '../../../src/oauth/error.ts';
import { Browser, type Visit } from '../../support/browser.ts';
import { authorizeUrl, exchange, me, pairOf } from '../../support/flow.ts';
import { askUsers, signInThrough, storesWithProvider, type WithProvider } from '../../support/provider.ts';
import { addClient } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { operator } from '../../support/storage.ts';

const server = await sharedPostgres();
after(() => server.remove());

const EMAIL = 'ada@example.com';

/** The provider says something of its people. */
async function put({ instances: [service], provider }: WithProvider, ...users: Record<string, unknown>[]) {
  assert.ok(service);
  const { status } = await askUsers(service, provider, 'PUT ', { users });
  assert.equal(status, 204);
}

/** The installation at hand, and how it names people. */
function named({ instances: [service] }: WithProvider) {
  assert.ok(service);
  const { accounts } = service.installation;
  const idOf = async (name: string) => (await accounts.show(name)).id;
  const refusal = async (name: string) => {
    const error = await accounts.show(name).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof OperatorError, `${name} names somebody`);
    return error.message;
  };
  return { service, accounts, idOf, refusal };
}

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`addresses that come from a product on ${store}`, { concurrency: true }, () => {
    test('operating: an address that is known from a product alone names nobody, verified or not; the refusal has the ids', async (t) => {
      const world = await start(t);
      const { service, idOf, refusal } = named(world);
      await put(world, { subject: 'mallory', email: EMAIL }, { subject: 'eve', email: EMAIL, email_verified: true });
      const [mallory, eve] = [await idOf('product:mallory'), await idOf('product:eve')];
      const message = await refusal('Ada@Example.com');
      assert.match(message, /comes from a product/);
      for (const id of [mallory, eve]) assert.ok(message.includes(id), 'it is told by which ids they are named');
      const { accounts, links } = service.installation;
      await assert.rejects(accounts.invite(EMAIL, operator), /comes from a product/);
      await assert.rejects(
        links.link({ account: EMAIL, provider: 'product', subject: 'new' }, operator),
        /comes from a product/,
      );
      assert.equal((await accounts.show(mallory)).id, mallory);
    });

    test('operating: the account whose address was set here is named by it, however many claimed it before', async (t) => {
      const world = await start(t, {}, { VALETKEY_SIGN_IN_METHODS: 'product,password' });
      const { accounts, idOf, refusal } = named(world);
      await put(world, ...Array.from({ length: 30 }, (_, n) => ({ subject: `m${n}`, email: EMAIL })));
      const ada = await accounts.addInvited({ email: EMAIL, name: 'Ada', username: null }, operator);
      assert.equal(await idOf(EMAIL), ada.account.id);
      await accounts.update('product:m0', { email: EMAIL }, operator);
      const message = await refusal(EMAIL);
      assert.match(message, /several accounts/);
      assert.ok(message.includes(ada.account.id) && message.includes(await idOf('product:m0')));
      await put(world, { subject: 'm0', email: 'other@example.com', email_verified: true });
      assert.equal(await idOf(EMAIL), ada.account.id, 'what the product brings in its place was not set here');
      assert.match(await refusal('other@example.com'), /comes from a product/);
    });

    test('interface: what the operator set stays verified, whatever a product says of the same address', async (t) => {
      const world = await start(t);
      const { accounts } = named(world);
      await put(world, { subject: 'ada', email: 'old@example.com' });
      await accounts.update('product:ada', { email: EMAIL }, operator);
      await put(world, { subject: 'ada', email: EMAIL, email_verified: false });
      const { emailVerified, emailSetHere } = await accounts.show('product:ada');
      assert.deepEqual([emailVerified, emailSetHere], [true, true]);
    });

    test('interface: an address is told to an app, and named on consent, only while it is verified; without email_verified it is not', async (t) => {
      const world = await start(t);
      const { service } = named(world);
      const client = await addClient(service);
      const browser = new Browser();
      const url = authorizeUrl(service, client);
      const asked = await signInThrough(service, world.provider, browser, url, { name: null, email: EMAIL });
      assert.match(asked.body, /Your account at <bdi>Photos<\/bdi>/);
      assert.doesNotMatch(asked.body, /ada@example\.com|email address/i);
      const allow = async (consent: Visit) => {
        const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow' });
        const code = new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
        return pairOf(await exchange(service, client, code));
      };
      const told = async ({ accessToken }: { accessToken: string }) => {
        const { data } = (await me(service, accessToken)).body as { data: Record<string, unknown> };
        const { body } = await askUsers(service, world.provider, 'GET ?subject=ada');
        return [data['email'], 'email' in data, body['email'], body['email_verified']];
      };
      assert.deepEqual(await told(await allow(asked)), [null, true, EMAIL, false]);
      await put(world, { subject: 'ada', email: EMAIL, email_verified: true });
      const again = await browser.get(url);
      assert.match(again.body, /ada@example\.com/);
      const pair = await allow(again);
      assert.deepEqual(await told(pair), [EMAIL, true, EMAIL, true]);
      await put(world, { subject: 'ada', email: EMAIL });
      assert.deepEqual(await told(pair), [null, true, EMAIL, false]);
      const grants = await service.installation.grants.list({ limit: 1 });
      assert.equal(grants[0]?.resourceOwner.email, null, 'nor is a grant labelled with it');
    });
  });
