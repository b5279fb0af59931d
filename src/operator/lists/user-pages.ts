/** The walk over people: newest first, or those with one email address or user name by their ids. */
import { type Account, emailKey } from '../../accounts/people/account.ts';
import type { Identity } from '../../accounts/people/identity-provider.ts';
import type { AccountStore } from '../../accounts/people/store.ts';
import type { Walk } from './page.ts';

/** Which people to list: each value is exact. */
export type UserAsked = {
  readonly id?: string;
  readonly email?: string;
  readonly username?: string;
  readonly identity?: Pick<Identity, 'providerId'> & { readonly subject: string };
};

/** The place of an account in its order. */
export type UserPlace = Pick<Account, 'id' | 'createdAt'>;

/** Returns the place of an account. */
export function placeOfAccount({ id, createdAt }: Account): UserPlace {
  return { id, createdAt };
}

/** The store that people are read from. */
export type UserStore = Pick<
  AccountStore,
  'findAccount' | 'findIdentity' | 'listAccounts' | 'listAccountsCalled' | 'findAccountUses'
>;

/** Returns the walk over the people that match. */
export function walkUsers(store: UserStore, asked: UserAsked): Walk<Account, UserPlace> {
  const { id, email, username, identity } = asked;
  const placeOf = placeOfAccount;
  if (Object.keys(asked).length === 0) return { read: (after, limit) => store.listAccounts(after, limit), placeOf };
  const read = async (after: UserPlace | null, limit: number): Promise<Account[]> => {
    if (id !== undefined) return after ? [] : found(await store.findAccount(id));
    if (identity) {
      const known = after ? null : await store.findIdentity(identity.providerId, identity.subject);
      return found(known?.account ?? null);
    }
    const name = email === undefined ? { username: username as string } : { emailKey: emailKey(email) };
    return store.listAccountsCalled(name, after?.id ?? '', limit);
  };
  const isMatch = (account: Account) =>
    (email === undefined || (account.email !== null && emailKey(account.email) === emailKey(email))) &&
    (username ?? account.username) === account.username;
  return { read, placeOf, match: (accounts) => accounts.filter(isMatch) };
}

function found(account: Account | null): Account[] {
  return account === null ? [] : [account];
}
