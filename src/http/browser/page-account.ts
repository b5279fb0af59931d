/** Accounts as pages show them. */
import { type Account, callName } from '../../accounts/account.ts';
import type { PageAccount } from '../../pages/consent-page.ts';

/** What pages show of an account. */
export function pageAccount(account: Account): PageAccount {
  return { name: callName(account), email: account.email };
}
