/** The console's walk over people: newest first, or those whose user name or email address begins with a text. */
import { type Account, emailKey } from '../../accounts/people/account.ts';
import type { AccountListStore } from '../../accounts/people/store.ts';
import type { Walk } from './page.ts';
import { placeOfAccount, type UserPlace } from './user-pages.ts';

/** Which people to list. Email addresses are compared as at a sign-in, user names byte by byte. */
export type PeopleAsked = { readonly beginning?: string };

/** A person, and the name whose beginning was found. */
type Named = { readonly account: Account; readonly by: 'username' | 'email' };

/** The place of a person in the order of the name that was found: user names come first. */
type NamedPlace = { readonly by: Named['by']; readonly key: string; readonly id: string };

/** The store that people are read from. */
export type PeopleStore = Pick<AccountListStore, 'listAccounts' | 'listAccountsBeginning' | 'findLastSignIns'>;

/** Returns the walk over all people, newest first. */
export function walkAll(store: PeopleStore): Walk<Account, UserPlace> {
  return { read: (after, limit) => store.listAccounts(after, limit), placeOf: placeOfAccount };
}

/** Returns the walk over the people whose user name or email address begins with a text, each once. */
export function walkBeginning(store: PeopleStore, text: string): Walk<Named, NamedPlace> {
  const key = emailKey(text);
  const named = async (by: Named['by'], after: NamedPlace | null, limit: number): Promise<Named[]> => {
    const start = by === 'username' ? { username: text } : { emailKey: key };
    return (await store.listAccountsBeginning(start, after, limit)).map((account) => ({ account, by }));
  };
  return {
    async read(after, limit) {
      if (after?.by === 'email') return named('email', after, limit);
      const some = await named('username', after, limit);
      return some.length === limit ? some : [...some, ...(await named('email', null, limit - some.length))];
    },
    placeOf: ({ account: { id, username, email }, by }) => ({
      by,
      id,
      key: by === 'username' ? (username ?? '') : emailKey(email ?? ''),
    }),
    match: (some) => some.filter(({ account, by }) => by === 'username' || !account.username?.startsWith(text)),
  };
}
