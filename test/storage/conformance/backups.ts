/** Records of backups, and the ends that a restore makes. */
import assert from 'node:assert/strict';
import { DEVICE_GRANT_TYPE } from '../../../src/oauth/grants/device-grant.ts';
import { grantIdText } from '../../../src/oauth/grants/grant.ts';
import { makeHandOver } from '../../../src/operator/hand-over/hand-over.ts';
import {
  sampleAddress,
  sampleChallenge,
  sampleOperator,
  sampleOperatorKey,
  sampleOperatorSession,
  samplePasskey,
} from '../../support/operators.ts';
import {
  event,
  NOW,
  registerProduct,
  sampleAccount,
  sampleClient,
  sampleExternalSignIn,
  sampleSession,
} from '../../support/storage.ts';
import { find, isAlive, issue, type WithStore } from './any-store.ts';

const HISTORY = Buffer.alloc(16, 7);
const NOTHING_ELSE = { endAll: null, ended: null, revived: [], events: [] };
const restored = { ...event('database_restored'), at: NOW + 5 };

/** Backups and restores. */
export function backups(withStore: WithStore): void {
  withStore('the last backup and the last restore are known', async (store) => {
    assert.deepEqual(await store.findBackups(), { backedUpAt: null, restoredAt: null });
    await store.noteBackup({ ...event('database_backed_up'), at: NOW });
    await store.beginHistory(HISTORY, restored, NOTHING_ELSE);
    assert.deepEqual(await store.findBackups(), { backedUpAt: NOW, restoredAt: NOW + 5 });
    const actions = (await store.listAuditEvents({ limit: 9 })).map(({ action }) => action);
    assert.deepEqual(actions.slice(0, 2), ['database_restored', 'database_backed_up']);
  });

  withStore('a restore ends every grant, with an event of its own', async (store) => {
    const grant = await issue(store, { generation: 3 });
    await store.beginHistory(HISTORY, restored, { ...NOTHING_ELSE, endAll: event('all_grants_revoked') });
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
      await store.beginHistory(HISTORY, restored, NOTHING_ELSE);
      assert.equal(await isAlive(store, active), true);
      for (const ended of [code, device]) {
        const { grant } = await find(store, ended);
        assert.deepEqual([grant.revokedAt, grant.revocationReason], [NOW + 5, 'restored']);
      }
    },
  );

  withStore('a restore ends an open hand-over, and leaves a used one as it is', async (store) => {
    const subject = { kind: 'client', row: sampleClient({ id: 'app_new' }) } as const;
    await store.registerClient(subject.row, event('client_registered'));
    const add = async (at: number) => {
      const { handOver } = makeHandOver({ kind: 'client', id: subject.row.id }, 'root', at);
      assert.equal(await store.addHandOver(handOver, subject, { ...event('hand_over_made'), at }), true);
      return handOver;
    };
    const used = await add(NOW);
    await store.useHandOver(used, subject, { secret: null, from: '192.0.2.0/24' }, event('hand_over_fetched'));
    const open = await add(NOW + 1);
    const before = await store.findHandOver(used.digest);
    await store.beginHistory(HISTORY, restored, NOTHING_ELSE);
    assert.deepEqual(await store.findHandOver(open.digest), { ...open, endedAt: NOW + 5, endedWhy: 'restored' });
    assert.deepEqual(await store.findHandOver(used.digest), before);
  });

  withStore('a restore ends sessions, tickets of sign-ins elsewhere, and invitations in any case', async (store) => {
    const session = sampleSession();
    const signIn = sampleExternalSignIn();
    await store.stateExternalSignIn(signIn, await registerProduct(store));
    await store.addSession(session, sampleAccount().password, null, event('sign_in'));
    const invitation = { digest: 'one', expiresAt: NOW + 1000 };
    await store.invite('usr_ada', 'ada@example.com', invitation, event('user_invited'));
    await store.beginHistory(HISTORY, restored, NOTHING_ELSE);
    assert.equal(await store.findSession(session.digest), null);
    assert.equal(await store.findExternalSignIn(signIn.nonce), null);
    assert.equal((await store.findAccount('usr_ada'))?.invitation, null);
  });

  withStore(
    'what ended after the backup ends in the restore: one by one, of a person for an app, and in bulk',
    async (store) => {
      const redeemed = { generation: 2, accessTokenExpiresAt: NOW + 60_000 };
      const [kept, one] = [await issue(store, redeemed), await issue(store, redeemed)];
      const ended = { all: false, clientIds: [], resourceOwnerIds: [], pairs: [], grantIds: [grantIdText(one.id)] };
      await store.beginHistory(HISTORY, restored, { ...NOTHING_ELSE, ended });
      assert.deepEqual([await isAlive(store, kept), await isAlive(store, one)], [true, false]);
      const device = await issue(store, { ...redeemed, redirectUri: DEVICE_GRANT_TYPE });
      const pair = { clientId: kept.clientId, resourceOwnerId: kept.resourceOwnerId, butForDevices: true };
      await store.beginHistory(HISTORY, restored, { ...NOTHING_ELSE, ended: { ...ended, pairs: [pair] } });
      assert.deepEqual([await isAlive(store, kept), await isAlive(store, device)], [false, true]);
      for (const bulk of [{ clientIds: [kept.clientId] }, { resourceOwnerIds: [kept.resourceOwnerId] }]) {
        const epochs = await store.findEpochs(kept.clientId, kept.resourceOwnerId);
        const other = await issue(store, { ...redeemed, ...(epochs ? { epochs } : {}) });
        assert.equal(await isAlive(store, other), true);
        await store.beginHistory(HISTORY, restored, { ...NOTHING_ELSE, ended: { ...ended, ...bulk } });
        assert.equal(await isAlive(store, other), false);
      }
    },
  );

  withStore('what a restore brings back to life is taken away again where it is told to', async (store) => {
    const revived = [
      { kind: 'client', id: 'app_one', what: 'secret' },
      { kind: 'user', id: 'usr_ada', what: 'password' },
      { kind: 'user', id: 'usr_ada', what: 'activity' },
      { kind: 'root_key', id: '1f0c27a9', what: 'itself' },
    ] as const;
    const events = [{ ...event('client_paused'), clientId: 'app_one' }, event('user_disabled')];
    await store.beginHistory(HISTORY, restored, { ...NOTHING_ELSE, revived, events });
    const actions = (await store.listAuditEvents({ limit: 3 })).map(({ action }) => action);
    assert.deepEqual(
      actions,
      ['user_disabled', 'client_paused', 'database_restored'],
      'each is told of, after the restore',
    );
    assert.equal((await store.findClient('app_one'))?.status, 'paused');
    const ada = await store.findAccount('usr_ada');
    assert.deepEqual([ada?.password, ada?.status], [null, 'disabled']);
  });

  withStore('operators who come back to life are disabled without keys, or lose their passkeys', async (store) => {
    const operators = ['opr_off', 'opr_reset', 'opr_other'];
    for (const id of operators) {
      await store.addOperator(sampleOperator({ id, name: id }), null, event('operator_added'));
      const address = sampleAddress({ operatorId: id });
      await store.addOneTimeAddress(address, event('operator_reset'));
      const passkey = samplePasskey({ operatorId: id });
      const session = sampleOperatorSession({ operatorId: id });
      await store.enrollByAddress(passkey, session, address.digest, sampleChallenge(), event('operator_passkey_added'));
      const key = sampleOperatorKey({ id: `opk_${id}`, operatorId: id });
      assert.equal(await store.addOperatorKey(key, event('operator_key_added')), true);
    }
    const revived = [
      { kind: 'operator', id: 'opr_off', what: 'activity' },
      { kind: 'operator', id: 'opr_reset', what: 'passkeys' },
    ] as const;
    await store.beginHistory(HISTORY, restored, { ...NOTHING_ELSE, revived });
    const left = await Promise.all(
      operators.map(async (id) => {
        const [found, keys] = [await store.findOperator(id), await store.listOperatorKeys(id)];
        return [found?.status, keys.length, (await store.listPasskeys(id)).length];
      }),
    );
    assert.deepEqual(left, [
      ['disabled', 0, 1],
      ['active', 1, 0],
      ['active', 1, 1],
    ]);
  });
}
