/** Consent that stands for a press of Allow, against whoever takes it back at the same time. */
import assert from 'node:assert/strict';
import { GrantRegistry } from '../../../src/oauth/connected-apps/grant-registry.ts';
import { newGrantId } from '../../../src/oauth/grants/grant.ts';
import { operationsOn, origin, validRequest } from '../../oauth/protocol.ts';
import { signedIn } from '../../support/signed-in.ts';
import { event, HOUR, NOW, sampleClient, sampleGrant } from '../../support/storage.ts';
import { type AnyStore, issue, type WithStore } from './any-store.ts';

/** Rounds of each race, and browsers that are led to an app at the same time in each. */
const [ROUNDS, BROWSERS] = [12, 12];

const NO_RESOURCE = { resource: null, resourceIsDefault: false };

/** Remembered consent. */
export function rememberedConsent(withStore: WithStore): void {
  const endings: Record<string, (store: AnyStore) => Promise<unknown>> = {
    'disconnecting the app': (store) => store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked')),
    'ending all grants of the client': (store) => store.revokeClientGrants('app_one', event('client_grants_revoked')),
    'ending all grants of the person': (store) => store.revokeAccountGrants('usr_ada', event('user_grants_revoked')),
    'ending all grants': (store) => store.revokeAllGrants(event('all_grants_revoked')),
  };
  for (const [what, end] of Object.entries(endings)) {
    withStore(`Promise 2: ${what} is final against consent that is remembered meanwhile`, async (store) => {
      const settings = sampleClient({ consent: 'remember', scopes: [] });
      await store.updateClient(settings, sampleClient(), event('client_updated'));
      const { server } = operationsOn({ store, clock: { now: NOW } });
      const registry = new GrantRegistry(store, () => NOW);
      const owner = await signedIn(store, 'usr_ada');
      const turns = async (number: number) => {
        for (let turn = 0; turn < number; turn += 1) await store.findSession(owner.session);
      };
      const visit = async (n: number) => {
        await turns(n);
        const request = await validRequest({ server });
        const remembered = await registry.rememberedConsent('usr_ada', request.client, request.redirectUri, request);
        if (!remembered) return 'asked';
        return (await server.allow(request, owner, { given: 'remembered', remembered }, origin)) ?? 'asked again';
      };
      const redeemed = { generation: 1, expiresAt: NOW + HOUR, scope: '' };
      for (let round = 0; round < ROUNDS; round += 1) {
        const epochs = (await store.findEpochs('app_one', 'usr_ada')) ?? assert.fail();
        await store.issueGrant(sampleGrant({ ...redeemed, epochs }), event('consent_allowed'));
        const visits = Array.from({ length: BROWSERS }, (_, n) => visit(n));
        await turns(round % 8);
        await end(store);
        await Promise.all(visits);
        assert.equal(await store.countLiveGrants('usr_ada', NOW), 0, `round ${round}`);
        assert.equal(await visit(0), 'asked');
      }
    });
  }

  withStore('Promise 2: a refresh ends consent of before also where clocks differ, and that alone', async (store) => {
    const client = sampleClient({ consent: 'remember', scopes: [], documentSha256: 'ab'.repeat(32) });
    await store.updateClient(client, sampleClient(), event('client_updated'));
    const before = (await store.findClient('app_one')) ?? assert.fail();
    const registry = new GrantRegistry(store, () => NOW);
    const isRemembered = async () => {
      const now = (await store.findClient('app_one')) ?? assert.fail();
      return (await registry.rememberedConsent('usr_ada', now, 'https://one.test/cb', NO_RESOURCE)) !== null;
    };
    const allow = (grantedAt: number) =>
      issue(store, { id: newGrantId(grantedAt), generation: 1, expiresAt: NOW + HOUR, grantedAt });
    await allow(NOW);
    await allow(NOW + 5000);
    assert.equal(await store.refreshClient({ ...before, keys: [] }, before, event('client_document_refreshed')), true);
    assert.equal(await isRemembered(), true, 'nothing that counts has changed');
    const elsewhere = { ...before, redirectUris: ['https://one.test/cb', 'https://two.test/cb'], remembersSince: NOW };
    assert.equal(await store.refreshClient(elsewhere, before, event('client_document_refreshed')), true);
    assert.equal(await isRemembered(), false);
    // By a command whose clock is behind.
    await store.setClientStatus('app_one', 'paused', event('client_paused'));
    await store.setClientStatus('app_one', 'active', event('client_resumed'));
    assert.equal(await isRemembered(), false, 'a resume never brings consent back');
    await allow(NOW + 5001);
    assert.equal(await isRemembered(), true);
  });
}
