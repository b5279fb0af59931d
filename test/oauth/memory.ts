/** The real store, in memory, and a clock that tests set. */
import type { TestContext } from 'node:test';
import { type Account, emailKey, type PasswordAccount } from '../../src/accounts/people/account.ts';
import type { Keyring } from '../../src/oauth/keys/keyring.ts';
import type { SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { event, openAsService, sampleAccount } from '../support/storage.ts';
import { keyring, NOW } from './samples.ts';

export { operator } from '../support/storage.ts';

export const ada: PasswordAccount = sampleAccount();

export type Memory = { readonly store: SqliteStorage['store']; readonly clock: { now: number } };

/** Opens an empty store that closes with the test. */
export async function openMemory(context: TestContext, ring: Keyring = keyring): Promise<Memory> {
  const clock = { now: NOW };
  const { store, close } = await openAsService(':memory:', { keyring: ring, now: () => clock.now });
  context.after(close);
  return { store, clock };
}

/** Adds an account as it is. */
export async function addAccount({ store }: Memory, account: Account): Promise<void> {
  await store.addAccount(account, account.email && emailKey(account.email), event('user_added'));
}
