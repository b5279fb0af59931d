/** What a store records of backups, and what a restore ends. */
import assert from 'node:assert/strict';
import { DEVICE_GRANT_TYPE } from '../../../src/oauth/device-authorization.ts';
import { event, NOW, sampleAccount, sampleSession } from '../../support/storage.ts';
import { find, isAlive, issue, type WithStore } from './any-store.ts';

const HISTORY = Buffer.alloc(16, 7);
const restored = { ...event('database_restored'), at: NOW + 5 };

/** Backups and restores. */
export function backups(withStore: WithStore): void {
  withStore('the last backup and the last restore are known', async (store) => {
    assert.deepEqual(await store.findBackups(), { backedUpAt: null, restoredAt: null });
    await store.noteBackup({ ...event('database_backed_up'), at: NOW });
    await store.beginHistory(HISTORY, restored, null);
    assert.deepEqual(await store.findBackups(), { backedUpAt: NOW, restoredAt: NOW + 5 });
    const actions = (await store.listAuditEvents({ limit: 9 })).map(({ action }) => action);
    assert.deepEqual(actions.slice(0, 2), ['database_restored', 'database_backed_up']);
  });

  withStore('a restore ends every grant, with an event of its own', async (store) => {
    const grant = await issue(store, { generation: 3 });
    await store.beginHistory(HISTORY, restored, event('all_grants_revoked'));
    assert.equal(await isAlive(store, grant), false);
    assert.equal((await store.listAuditEvents({ action: 'all_grants_revoked', limit: 9 })).length, 1);
  });

  withStore(
    'a restore that keeps grants ends codes, and what was allowed to devices that did not fetch it',
    async (store) => {
      const [active, code, device] = [
        await issue(store, { generation: 3, accessTokenExpiresAt: NOW + 60_000 }),
        await issue(store, { generation: 0 }),
        await issue(store, { generation: 0, redirectUri: DEVICE_GRANT_TYPE }),
      ];
      await store.beginHistory(HISTORY, restored, null);
      assert.equal(await isAlive(store, active), true);
      for (const ended of [code, device]) {
        const { grant } = await find(store, ended);
        assert.deepEqual([grant.revokedAt, grant.revocationReason], [NOW + 5, 'restored']);
      }
    },
  );

  withStore('a restore ends sessions and invitations in any case', async (store) => {
    const session = sampleSession();
    await store.addSession(session, sampleAccount().password, null, event('sign_in'));
    const invitation = { digest: 'one', expiresAt: NOW + 1000 };
    await store.invite('usr_ada', 'ada@example.com', invitation, event('user_invited'));
    await store.beginHistory(HISTORY, restored, null);
    assert.equal(await store.findSession(session.digest), null);
    assert.equal((await store.findAccount('usr_ada'))?.invitation, null);
  });
}
