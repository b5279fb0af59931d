/** The number of rows that one statement reads, however many there are of what grows without the operator. */
import assert from 'node:assert/strict';
import { type DisconnectPage, listDisconnects } from '../../../src/accounts/providers/disconnects.ts';
import { GrantRegistry } from '../../../src/oauth/connected-apps/grant-registry.ts';
import { Refusal } from '../../../src/oauth/error.ts';
import { AuditTrail } from '../../../src/operator/trail/audit-trail.ts';
import { largestRead } from '../../support/rows-read.ts';
import {
  event,
  HOUR,
  NOW,
  registerProduct,
  sampleAccount,
  sampleClient,
  sampleDeviceRequest,
  sampleExternalSignIn,
  sampleGrant,
  sampleSession,
} from '../../support/storage.ts';
import { keyring } from '../../support/trail-places.ts';
import { type AnyStore, issue, type WithStore } from './any-store.ts';

const MANY = 1502;
const each = (run: (n: number) => Promise<unknown>) => Promise.all(Array.from({ length: MANY }, (_, n) => run(n)));
const redeemed = { generation: 1, expiresAt: NOW + HOUR };

/** Requires that no statement returns more rows than a window has. */
async function requireWindows(run: () => Promise<unknown>): Promise<void> {
  const { rows, sql } = await largestRead(run);
  assert.ok(rows <= 512, `${rows} rows at once of ${sql}`);
}

/** Grants of one person for many apps, with two of each. */
async function allowed(store: AnyStore): Promise<void> {
  await Promise.all(
    Array.from({ length: MANY / 2 }, (_, n) =>
      store.registerClient(sampleClient({ id: `app_${n}`, name: `App ${n}` }), event('client_registered')),
    ),
  );
  await each((n) => issue(store, { ...redeemed, clientId: `app_${n % (MANY / 2)}`, scope: `s${n}` }));
}

/** All of the suite. */
export function windows(withStore: WithStore): void {
  withStore('no statement reads more than 512 grants of one person, and none of them is left out', async (store) => {
    await allowed(store);
    const registry = new GrantRegistry(store, () => NOW);
    await requireWindows(async () => {
      const apps = await registry.connectedApps('usr_ada');
      assert.equal(apps.length, MANY / 2);
      for (const { scope } of apps) assert.equal(scope.length, 2);
      assert.equal((await registry.liveAccess('usr_ada')).length, MANY);
      const consent = await registry.earlierConsent('usr_ada', 'app_7', sampleGrant());
      assert.deepEqual(consent?.granted.toSorted(), ['s7', 's758']);
      await store.walkGrants({ providerId: 'product', since: 0 }, NOW, Buffer.alloc(16));
    });
  });

  withStore('no statement reads more than 512 grants of one person for one app', async (store) => {
    await each((n) => issue(store, { ...redeemed, scope: `s${n}` }));
    const registry = new GrantRegistry(store, () => NOW);
    await requireWindows(async () => {
      assert.equal((await registry.connectedApps('usr_ada')).length, 1);
      assert.equal((await store.listActiveGrants('usr_ada', 'app_one', NOW)).length, 512);
    });
  });

  withStore('no statement reads more than 512 sessions, tickets, devices or events', async (store) => {
    const proof = await registerProduct(store);
    const disconnects = { store, keyring, now: () => NOW };
    const begin = (await listDisconnects(disconnects, { id: 'product' }, undefined, 1)) as DisconnectPage;
    const people = Array.from({ length: 40 }, (_, n) => `usr_${n}`);
    for (const id of people)
      await store.addAccount(sampleAccount({ id, username: null }), `${id}@example.com`, event('user_added'));
    const about = {
      providerId: 'product',
      external: { externalId: 'a', authTime: NOW, amr: [], isBound: true, requests: [] },
    };
    await each((n) =>
      store.addSession(
        sampleSession({ ...about, accountId: people[n % people.length] as string }),
        sampleAccount().password,
        null,
        event('sign_in'),
      ),
    );
    await each((n) => store.recordDenial(event('consent_denied', { detail: String(n) })));
    await each((n) => store.stateExternalSignIn(sampleExternalSignIn({ identityId: `product:${n}` }), proof));
    const waiting = (userCode: string) => ({
      request: sampleDeviceRequest({ userCode }),
      decision: null,
      pace: { polledAt: NOW, interval: 5 },
    });
    const code = (n: number) => `BCDF${String(n).padStart(4, '0')}`;
    await requireWindows(async () => {
      await each((n) => store.addDeviceRequest(waiting(code(n)), [], NOW));
      await store.findDeviceRequest(code(7), NOW);
      await store.walkSessions('product', Buffer.alloc(0));
      await store.walkTickets('product', Buffer.alloc(0));
      for (let after = begin.next; ; ) {
        const page = await listDisconnects(disconnects, { id: 'product' }, after, 1000);
        if (page instanceof Refusal || !page.hasMore) break;
        after = page.next;
      }
      const trail = new AuditTrail({ store, keyring, installation: 'ab', now: () => NOW });
      assert.ok((await trail.verify([])).seen > MANY);
      for await (const events of trail.eventsAfter({ sequence: 0, mac: null })) assert.ok(events.length <= 512);
      while (await store.deleteTrailRows(Number.MAX_SAFE_INTEGER, 500));
    });
  });
}
