/** Writes that require a password that was just verified. */
import type { PasswordAccount, StoredPassword } from '../people/account.ts';
import type { AccountStore } from '../people/store.ts';

/**
 * Runs a write that requires the stored password to be the verified one, and returns true if it was written. If the same
 * password has been sealed with another root key since, only its stored form differs: then the write is retried once. A
 * password that was set since differs in its time or, in the same millisecond, has the same root key: then nothing is written.
 */
export async function onVerifiedPassword(
  store: Pick<AccountStore, 'findAccount'>,
  { id, password, passwordSetAt }: PasswordAccount,
  write: (verified: StoredPassword) => Promise<boolean>,
): Promise<boolean> {
  if (await write(password)) return true;
  const now = await store.findAccount(id);
  if (!now?.password || now.passwordSetAt !== passwordSetAt || now.password.keyId === password.keyId) return false;
  return write(now.password);
}
