/** Last uses of secrets and of accounts. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Account } from '../../../src/accounts/people/account.ts';
import { type AccountFilter, listAccounts } from '../../../src/accounts/people/account-list.ts';
import type { Client } from '../../../src/oauth/clients/client.ts';
import type { AuditAction } from '../../../src/oauth/trail/audit.ts';
import { type ClientAsked, walkClients } from '../../../src/operator/lists/client-pages.ts';
import { everyPage } from '../../../src/operator/lists/page.ts';
import { event, NOW, sampleAccount, sampleClient } from '../../support/storage.ts';
import { issue, type WithStore } from './any-store.ts';

/** Last uses. */
export function lastUses(withStore: WithStore): void {
  const newSecret = () => ({ digest: randomBytes(32), createdAt: NOW });

  withStore('the last use of a secret is found, to a minute, and never shrinks', async (store) => {
    const [used, other] = [newSecret(), newSecret()];
    const at = async (usedAt: number) => {
      store.noteSecretUse(used, usedAt);
      return ((await store.findSecretUse(used)) ?? 0) - NOW;
    };
    assert.equal(await store.findSecretUse(used), null);
    assert.equal(await at(NOW), 0);
    assert.equal(await at(NOW + 59_999), 0, 'nothing is written for each use');
    assert.equal(await at(NOW + 60_000), 60_000);
    assert.equal(await at(NOW - 5_000_000), 60_000, 'the clock stepped back');
    assert.equal(await store.findSecretUse(other), null);
  });

  withStore('many secrets that are used at once are each found', async (store) => {
    const secrets = Array.from({ length: 200 }, newSecret);
    for (const [n, secret] of secrets.entries()) store.noteSecretUse(secret, NOW + n);
    const found = await Promise.all(secrets.map((secret) => store.findSecretUse(secret)));
    assert.deepEqual(
      found,
      secrets.map((_, n) => NOW + n),
    );
  });

  withStore('of an account the last sign-in is found, and the last use of its grants', async (store) => {
    const none = { lastSignInAt: null, appsLastUsedAt: null };
    assert.deepEqual([...(await store.findAccountUses(['usr_ada', 'usr_none']))], [['usr_ada', none]]);
    assert.equal((await store.findAccountUses([])).size, 0);
    for (const at of [NOW + 1, NOW + 3])
      await store.recordSignInEvent({ ...event('sign_in', { resourceOwnerId: 'usr_ada' }), at });
    await store.recordSignInEvent({ ...event('password_changed', { resourceOwnerId: 'usr_ada' }), at: NOW + 4 });
    await store.recordSignInEvent({ ...event('sign_out', { resourceOwnerId: 'usr_ada' }), at: NOW + 5 });
    // It sets a password and begins no session.
    const invited = event('password_set_by_invitation', { resourceOwnerId: 'usr_ada' });
    await store.recordSignInEvent({ ...invited, at: NOW + 6 });
    await issue(store, { generation: 1, lastUsedAt: NOW + 8 });
    await issue(store, { generation: 2, rotatedAt: NOW + 9, lastUsedAt: null });
    const many = ['usr_ada', ...Array.from({ length: 150 }, (_, n) => `usr_${n}`)];
    const expected = { lastSignInAt: NOW + 4, appsLastUsedAt: NOW + 9 };
    assert.deepEqual([...(await store.findAccountUses(many))], [['usr_ada', expected]]);
  });

  withStore('the last sign-in of a page is found among a bounded number of events', async (store) => {
    const record = (action: AuditAction, at: number) =>
      store.recordSignInEvent({ ...event(action, { resourceOwnerId: 'usr_ada' }), at });
    const found = async () => [...(await store.findLastSignIns(['usr_ada', 'usr_none']))];
    assert.deepEqual(await found(), [['usr_ada', 'never']]);
    await record('sign_in', NOW + 1);
    assert.deepEqual(await found(), [['usr_ada', NOW + 1]]);
    await record('password_changed', NOW + 2);
    await Promise.all(Array.from({ length: 999 }, () => record('sign_out', NOW + 3)));
    assert.deepEqual(await found(), [['usr_ada', NOW + 2]]);
    await record('sign_out', NOW + 4);
    assert.deepEqual(await found(), [['usr_ada', 'not lately']]);
    await record('sign_in', NOW + 5);
    assert.deepEqual(await found(), [['usr_ada', NOW + 5]]);
  });

  withStore(
    'lists have what matches, in their order, from one on: by name, state, and last use or beginning',
    async (store) => {
      const DAY = 86_400_000;
      const old = { createdAt: NOW - 100 * DAY };
      const secret = newSecret();
      for (const [n, some] of [
        { secrets: [secret] },
        { secrets: [], status: 'paused' as const },
        { secrets: [] },
      ].entries())
        await store.registerClient(
          sampleClient({ ...old, id: `app_${n}`, name: `Éclair ${n}`, ...some }),
          event('client_registered'),
        );
      store.noteSecretUse(secret, NOW - 2 * DAY);
      const clientsOf = async (filter: ClientAsked, after: Client | null = null) => {
        const found: string[] = [];
        for await (const page of everyPage(walkClients(store, filter, NOW), after))
          found.push(...page.map(({ id }) => id));
        return found;
      };
      assert.deepEqual(await clientsOf({}), ['app_0', 'app_1', 'app_2', 'app_one']);
      assert.deepEqual(await clientsOf({ name: 'ÉCLAIR' }), ['app_0', 'app_1', 'app_2']);
      assert.deepEqual(await clientsOf({ status: 'paused' }), ['app_1']);
      assert.deepEqual(await clientsOf({ unusedSince: NOW - 90 * DAY }), ['app_1', 'app_2'], 'neither used nor new');
      assert.deepEqual(await clientsOf({ unusedSince: NOW - DAY }), ['app_0', 'app_1', 'app_2']);
      assert.deepEqual(await clientsOf({}, await store.findClient('app_1')), ['app_2', 'app_one']);
      for (const n of [0, 1, 2])
        await store.addAccount(
          {
            ...sampleAccount({ ...old, id: `usr_${n}`, username: null, name: `Grace ${n}` }),
            ...(n === 1 ? { status: 'disabled' } : {}),
          },
          `grace${n}@example.com`,
          event('user_added'),
        );
      await store.recordSignInEvent({ ...event('sign_in', { resourceOwnerId: 'usr_0' }), at: NOW - 2 * DAY });
      const accountsOf = async (filter: AccountFilter, after: Account | null = null) => {
        const found: string[] = [];
        for await (const page of listAccounts(store, filter, after))
          found.push(...page.map(({ account }) => account.id));
        return found;
      };
      assert.deepEqual(await accountsOf({}), ['usr_ada', 'usr_2', 'usr_1', 'usr_0']);
      assert.deepEqual(await accountsOf({ name: 'LOVE' }), ['usr_ada']);
      assert.deepEqual(await accountsOf({ name: 'grace', status: 'active' }), ['usr_2', 'usr_0']);
      assert.deepEqual(await accountsOf({ unusedSince: NOW - 90 * DAY }), ['usr_2', 'usr_1']);
      assert.deepEqual(await accountsOf({}, await store.findAccount('usr_2')), ['usr_1', 'usr_0']);
    },
  );
}
