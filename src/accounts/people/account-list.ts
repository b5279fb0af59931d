/** The list of accounts, page by page: an installation may have millions. */
import { isNamed } from '../../oauth/name-key.ts';
import type { Account } from './account.ts';
import type { AccountStore, AccountUse } from './store.ts';

/** An account in a list, with its last uses. */
export type ListedAccount = { readonly account: Account; readonly use: AccountUse };

/**
 * Which accounts to list. `name` is a part of the name, the user name or the address. `unusedSince` (ms): neither used nor
 * added at this time or later.
 */
export type AccountFilter = {
  readonly name?: string;
  readonly status?: Account['status'];
  readonly unusedSince?: number;
};

/** The use of an account that nobody used. */
export const NO_USE: AccountUse = { lastSignInAt: null, appsLastUsedAt: null };

/** Number of rows that are read at once. */
const PAGE = 500;

/** The accounts that match, newest first, after one (null: from the newest), a page at a time. */
export async function* listAccounts(
  store: Pick<AccountStore, 'listAccounts' | 'findAccountUses'>,
  { name, status, unusedSince }: AccountFilter,
  after: Account | null,
): AsyncGenerator<readonly ListedAccount[]> {
  for (let last = after; ; ) {
    const page = await store.listAccounts(last, PAGE);
    const some = page.filter(
      (account) =>
        (name === undefined || isNamed(name, [account.name, account.username, account.email])) &&
        (status ?? account.status) === account.status,
    );
    const uses = await store.findAccountUses(some.map(({ id }) => id));
    const listed = some.map((account) => ({ account, use: uses.get(account.id) ?? NO_USE }));
    yield listed.filter(
      ({ account, use }) => unusedSince === undefined || (lastUse(use) ?? account.createdAt) < unusedSince,
    );
    last = page.at(-1) ?? null;
    if (page.length < PAGE) return;
  }
}

function lastUse({ lastSignInAt, appsLastUsedAt }: AccountUse): number | null {
  return Math.max(lastSignInAt ?? 0, appsLastUsedAt ?? 0) || null;
}
