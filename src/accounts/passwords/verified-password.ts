/** Writes that rest on a password that was just verified. */
import type { PasswordAccount, StoredPassword } from '../people/account.ts';
import type { AccountStore } from '../people/store.ts';

/**
 * Runs a write that happens only while the stored password is the verified one, and returns whether it did. The same
 * password may have been sealed with another root key meanwhile, which changes only its stored form: then it is tried once
 * more. A password that was set meanwhile differs in its time or, if that is the same millisecond, has the same root key: then
 * nothing is written.
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
