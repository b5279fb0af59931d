/** Connections of a provider's user, on each store: what a settings page shows, page by page, and ends one by one. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AccountStore } from '../../../src/accounts/people/store.ts';
import { Browser } from '../../support/browser.ts';
import { assertRefused, authorizeUrl, exchange, me, pairOf, type TestClient } from '../../support/flow.ts';
import { askUsers, signInThrough, storesWithProvider, type WithProvider } from '../../support/provider.ts';
import { addClient, type TestService } from '../../support/service.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { DEVICE_GRANT, postAs } from '../../support/standard.ts';

const server = await sharedPostgres();
after(() => server.remove());

type Shown = Record<string, unknown> & { readonly connection_id: string; readonly client_id: string };
type World = WithProvider & { readonly one: TestService; readonly two: TestService };

/** A person allows an app: the code. */
async function allow({ one, provider }: World, client: TestClient, subject = 'ada'): Promise<string> {
  const browser = new Browser();
  const consent = await signInThrough(one, provider, browser, authorizeUrl(one, client), { subject });
  const allowed = await browser.submit(consent, '/auth/oauth2/authorize', { decision: 'allow', scope: 'other' });
  return new URL(allowed.headers.get('location') ?? '').searchParams.get('code') ?? '';
}

/** A person connects an app: its access token. */
async function connect(world: World, client: TestClient, subject?: string): Promise<string> {
  return pairOf(await exchange(world.one, client, await allow(world, client, subject))).accessToken;
}

/** A person connects an app on a device: its access token. */
async function connectDevice({ one, provider }: World, client: TestClient): Promise<string> {
  const { body } = await postAs(one, client, 'device_authorization');
  const browser = new Browser();
  const page = await signInThrough(one, provider, browser, String(body['verification_uri_complete']), {
    subject: 'ada',
  });
  assert.equal((await browser.submit(page, '/device', { decision: 'allow' })).status, 200);
  const fields = { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) };
  return String((await postAs(one, client, 'token', fields)).body['access_token']);
}

const list = ({ two, provider }: World, more = '') => askUsers(two, provider, `GET /connections?subject=ada${more}`);
const shown = async (world: World, more = '') => (await list(world, more)).body['connections'] as Shown[];
const revoke = ({ one, provider }: World, members: Record<string, unknown>) =>
  askUsers(one, provider, 'POST /connections/revoke', { subject: 'ada', ...members });

for (const [store, start] of Object.entries(storesWithProvider(server)))
  describe(`connections of a provider’s user on ${store}`, { concurrency: true }, () => {
    const setUp = async (t: Parameters<typeof start>[0]): Promise<World> => {
      const world = await start(t);
      return { ...world, one: world.instances[0] as TestService, two: world.instances.at(-1) as TestService };
    };

    test('each permission is in words of the asked language, with its effect and whether it was optional', async (t) => {
      const world = await setUp(t);
      const { scopes, operator } = world.one.installation;
      await scopes.put(
        'mail.read',
        { sentences: { en: 'Read your mail', ar: 'قراءة بريدك' }, effect: 'reads' },
        operator,
      );
      const names = ['mail.read', 'other'];
      const client = await addClient(world.one, {
        ...{ name: 'Mailer', publisher: 'Acme', homepage: 'https://acme.example/', contact: 'help@acme.example' },
        scopes: names.map((name) => ({ name, sentence: null, optional: name === 'other' })),
      });
      await connect(world, client);
      const [connection] = await shown(world);
      assert.deepEqual(connection?.['permissions'], [
        { name: 'mail.read', sentence: 'Read your mail', effect: 'reads', optional: false },
        { name: 'other', sentence: null, effect: null, optional: true },
      ]);
      assert.deepEqual([connection?.['publisher'], connection?.['homepage']], ['Acme', 'https://acme.example/']);
      const [inArabic] = await shown(world, '&language=ar');
      assert.match(JSON.stringify(inArabic?.['permissions']), /قراءة بريدك/);
      for (const language of ['a', 'e_n', 'x'.repeat(36)])
        assertRefused(await list(world, `&language=${language}`), 400, 'invalid_request');
    });

    test('pages follow each other without a gap, and a cursor that is none is refused', async (t) => {
      const world = await setUp(t);
      for (const name of ['C', 'A', 'B']) await connect(world, await addClient(world.one, { name }));
      const names: unknown[] = [];
      let after = '';
      do {
        const { body } = await list(world, `&limit=1${after && `&after=${after}`}`);
        const page = body['connections'] as Shown[];
        assert.equal(page.length, 1);
        names.push(page[0]?.['name']);
        after = (body['next'] as string | null) ?? '';
      } while (after);
      assert.deepEqual(names, ['A', 'B', 'C']);
      for (const wrong of ['&after=x', '&limit=0', '&limit=201', '&limit=1.5'])
        assertRefused(await list(world, wrong), 400, 'invalid_request', wrong);
    });

    test('connection_id ends a whole entry, and nothing beside it; what has ended is 204', async (t) => {
      const world = await setUp(t);
      const client = await addClient(world.one, { deviceFlow: true });
      const first = await connect(world, client);
      const [before] = await shown(world);
      const second = await connect(world, client);
      const [tv, eve] = [await connectDevice(world, client), await connect(world, client, 'eve')];
      const works = async (token: string) => (await me(world.two, token)).status === 200;
      const all = await shown(world);
      assert.equal(all.length, 2);
      const [app, device] = all.toSorted((one, other) => Number(one['device']) - Number(other['device'])) as [
        Shown,
        Shown,
      ];
      assert.equal(app.connection_id, before?.connection_id, 'the same, whichever grants it has by now');

      assert.equal((await revoke(world, { connection_id: device.connection_id })).status, 204);
      assert.deepEqual([await works(tv), await works(first), await works(second)], [false, true, true]);
      assert.equal((await revoke(world, { connection_id: app.connection_id })).status, 204);
      assert.deepEqual([await works(first), await works(second), await works(eve)], [false, false, true]);
      for (const { connection_id } of all) assert.equal((await revoke(world, { connection_id })).status, 204, 'again');
      assert.deepEqual(await shown(world), []);
    });

    test('a connection that waits for its app ends alone', async (t) => {
      const world = await setUp(t);
      const client = await addClient(world.one);
      const token = await connect(world, client);
      const code = await allow(world, client);
      const waiting = (await shown(world)).find(({ is_waiting }) => is_waiting);
      assert.equal((await revoke(world, { connection_id: waiting?.connection_id })).status, 204);
      assert.equal((await me(world.two, token)).status, 200);
      assertRefused(await exchange(world.one, client, code), 400, 'invalid_grant');
    });

    test('connection_id with client_id, another person’s, or no such text ends nothing', async (t) => {
      const world = await setUp(t);
      const client = await addClient(world.one, { deviceFlow: true });
      const token = await connectDevice(world, client);
      await connect(world, client, 'eve');
      const [{ connection_id } = { connection_id: '' }] = await shown(world);
      assertRefused(await revoke(world, { connection_id, client_id: client.clientId }), 400, 'invalid_request');
      assertRefused(await revoke(world, {}), 400, 'invalid_request');
      for (const wrong of ['', 'x', 7, null, 'x'.repeat(4001), Buffer.from('null').toString('base64url')])
        assertRefused(await revoke(world, { connection_id: wrong }), 400, 'invalid_request');
      assert.equal((await revoke(world, { subject: 'eve', connection_id })).status, 204, 'as if it had ended');
      assert.equal((await me(world.two, token)).status, 200);
    });

    test('a call that waits while its provider is paused ends no connection', async (t) => {
      const world = await setUp(t);
      const { identityProviders, operator, audit } = world.one.installation;
      const client = await addClient(world.one, { deviceFlow: true });
      const tokens = [await connect(world, client), await connectDevice(world, client)];
      const store = audit as unknown as Pick<AccountStore, 'findIdentity'>;
      const { findIdentity } = store;
      for (const { connection_id } of await shown(world)) {
        store.findIdentity = async (...asked) => {
          const found = await findIdentity(...asked);
          await identityProviders.pause('product', operator);
          return found;
        };
        const answer = await revoke(world, { connection_id });
        Object.assign(store, { findIdentity });
        await identityProviders.resume('product', operator);
        assertRefused(answer, 401, 'invalid_client');
      }
      for (const token of tokens) assert.equal((await me(world.two, token)).status, 200);
    });
  });
