/** All accounts of an installation, newest first. */
import type { Account } from '../../src/accounts/people/account.ts';
import type { Accounts } from '../../src/accounts/sign-in/accounts.ts';

export async function allAccounts(accounts: Pick<Accounts, 'list'>): Promise<Account[]> {
  const all: Account[] = [];
  for await (const page of accounts.list({}, null)) all.push(...page.map(({ account }) => account));
  return all;
}
