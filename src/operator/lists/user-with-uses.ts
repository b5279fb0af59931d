/** One user, as API and console show them. */
import { type ListedAccount, NO_USE } from '../../accounts/people/account-list.ts';
import type { Identity } from '../../accounts/people/identity-provider.ts';
import type { AccountStore } from '../../accounts/people/store.ts';

/** A user with the last uses and the identities at products. */
export type ShownUser = ListedAccount & { readonly identities: readonly Identity[] };

/** Finds a user by the exact id; null if there is none. */
export async function findShownUser(
  store: Pick<AccountStore, 'findAccount' | 'findAccountUses' | 'listIdentities'>,
  id: string,
): Promise<ShownUser | null> {
  const account = await store.findAccount(id);
  if (!account) return null;
  const [uses, identities] = await Promise.all([store.findAccountUses([id]), store.listIdentities(id)]);
  return { account, use: uses.get(id) ?? NO_USE, identities };
}
