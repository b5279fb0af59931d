/** Last uses of secrets and of accounts. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { event, NOW } from '../../support/storage.ts';
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
}
