/** Clients and the audit trail. */
import assert from 'node:assert/strict';
import { event, NOW, sampleAccount, sampleClient, sampleSession } from '../../support/storage.ts';
import { type AnyStore, find, HUNDRED, isAlive, issue, type WithStore, winners } from './any-store.ts';

/** Clients. */
export function clients(withStore: WithStore): void {
  const one = async (store: AnyStore) => {
    const client = await store.findClient('app_one');
    assert.ok(client);
    return client;
  };

  withStore('a client comes back as it was registered; clients are listed oldest first', async (store) => {
    const two = sampleClient({ id: 'app_two', type: 'public', secrets: [], createdAt: NOW - 1, requirePkce: true });
    await store.registerClient(two, event('client_registered'));
    assert.deepEqual(await store.findClient('app_two'), two);
    assert.deepEqual(
      (await store.listClients()).map(({ id }) => id),
      ['app_two', 'app_one'],
    );
    assert.equal(await store.findClient('app_none'), null);
  });

  withStore('an update writes what an operator may change and nothing else', async (store) => {
    const before = await one(store);
    const changed = {
      name: 'Uno',
      redirectUris: ['https://uno.test/'],
      scopes: [],
      requirePkce: true,
      refreshOverlap: 0,
    };
    const asked = { ...before, ...changed, epoch: 9, status: 'paused' as const, secrets: [] };
    assert.equal(await store.updateClient(asked, event('client_updated')), true);
    assert.deepEqual(await one(store), { ...before, ...changed });
    assert.equal(await store.updateClient({ ...asked, id: 'app_none' }, event('client_updated')), false);
  });

  withStore('secrets are replaced only if they are as expected: of 100 at once, one wins', async (store) => {
    const { secrets } = await one(store);
    const replacements = HUNDRED.map(() => [...sampleClient().secrets, ...secrets]);
    const attempts = replacements.map((wanted) =>
      store.replaceClientSecrets('app_one', secrets, wanted, event('client_secret_rotated')),
    );
    assert.equal(await winners(attempts), 1);
    const stored = (await one(store)).secrets;
    assert.deepEqual(stored, replacements[(await Promise.all(attempts)).indexOf(true)]);
    assert.equal(await store.replaceClientSecrets('app_none', [], [], event('client_secret_rotated')), false);
  });

  withStore('a pause shows in every grant of the client, and ends none', async (store) => {
    const grant = await issue(store);
    const set = (status: 'active' | 'paused') => store.setClientStatus('app_one', status, event('client_paused'));
    assert.equal(await set('active'), false);
    assert.equal(await set('paused'), true);
    assert.equal((await find(store, grant)).standing.clientPaused, true);
    assert.equal(await isAlive(store, grant), true);
    assert.equal(await set('active'), true);
    assert.equal(await store.setClientStatus('app_none', 'paused', event('client_paused')), false);
  });
}

/** Events, beside their effects. */
export function trail(withStore: WithStore): void {
  withStore('an event comes back as it was recorded, newest first, by filter and up to a limit', async (store) => {
    const denial = event('consent_denied', {
      actor: { kind: 'user', id: 'usr_ada', source: '192.0.2.1', requestId: 'r1' },
      clientId: 'app_one',
      resourceOwnerId: 'usr_ada',
      grantId: 'g',
      detail: 'd',
    });
    await store.recordDenial(denial);
    await store.recordDenial({ ...denial, clientId: 'app_two' });
    const [second, first] = await store.listAuditEvents({ limit: 2 });
    assert.deepEqual(first, { ...denial, sequence: (second?.sequence as number) - 1 });
    const count = async (filter: object) => (await store.listAuditEvents({ limit: 100, ...filter })).length;
    assert.equal(await count({ clientId: 'app_two' }), 1);
    assert.equal(await count({ resourceOwnerId: 'usr_ada', action: 'consent_denied' }), 2);
    assert.equal(await count({ action: 'consent_denied', clientId: 'app_none' }), 0);
  });

  withStore('an event is there exactly when its effect is (I7)', async (store) => {
    const grant = await issue(store);
    const effects: [string, () => Promise<unknown>][] = [
      ['grant_revoked', () => store.revokeGrant(grant.id, 'user', event('grant_revoked'))],
      ['client_paused', () => store.setClientStatus('app_one', 'paused', event('client_paused'))],
      ['client_deleted', () => store.deleteClient('app_one', event('client_deleted'))],
      ['user_disabled', () => store.setAccountStatus('usr_ada', 'disabled', event('user_disabled'))],
      ['user_deleted', () => store.deleteAccount('usr_ada', event('user_deleted'))],
    ];
    for (const [action, act] of effects) {
      await act();
      await act();
      assert.deepEqual(
        (await actions(store)).filter((recorded) => recorded === action),
        [action],
      );
    }
    const before = await actions(store);
    await store.addSession(sampleSession(), sampleAccount().password, null, event('sign_in'));
    await store.updateClient(sampleClient(), event('client_updated'));
    await store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked'));
    assert.deepEqual(await actions(store), before);
  });
}

async function actions(store: AnyStore): Promise<string[]> {
  return (await store.listAuditEvents({ limit: 1000 })).map(({ action }) => action);
}
