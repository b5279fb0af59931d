/** The real store, in memory, with a client and an account, and a clock that tests set. */
import type { TestContext } from 'node:test';
import type { Account } from '../../src/accounts/account.ts';
import { emailKey } from '../../src/accounts/account.ts';
import type { Actor } from '../../src/oauth/audit.ts';
import { auditEvent } from '../../src/oauth/audit.ts';
import type { Keyring } from '../../src/oauth/keyring.ts';
import { openSqlite, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { keyring, NOW } from './samples.ts';

export const operator: Actor = { kind: 'operator', id: 'root', source: null, requestId: null };

export const ada: Account = {
  id: 'usr_ada',
  email: 'Ada@example.com',
  username: 'ada',
  name: 'Ada Lovelace',
  avatarUrl: null,
  isOperator: false,
  status: 'active',
  epoch: 0,
  password: { phc: 'none', keyId: keyring.currentKeyId },
  createdAt: NOW,
};

export type Memory = { readonly store: SqliteStorage['store']; readonly clock: { now: number } };

/** Opens an empty store that closes with the test. */
export async function openMemory(context: TestContext, ring: Keyring = keyring): Promise<Memory> {
  const clock = { now: NOW };
  const storage = await openSqlite({
    path: ':memory:',
    keyring: ring,
    now: () => clock.now,
    migrate: true,
    role: 'service',
    durability: 'awaited',
    onFailure: (error) => {
      throw error;
    },
  });
  context.after(() => storage.close());
  return { store: storage.store, clock };
}

/** Adds an account as it is. */
export async function addAccount({ store }: Memory, account: Account): Promise<void> {
  await store.addAccount(account, emailKey(account.email), auditEvent('user_added', operator, NOW, {}));
}
