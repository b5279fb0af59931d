/** Accounts as operators name them: by id, by who they are at a provider, or by an email address that this installation owns. */
import { NothingThere, OperatorError } from '../../oauth/error.ts';
import { type Account, emailKey, ownsEmail } from './account.ts';
import type { AccountStore } from './store.ts';

/** Maximum number of accounts that are listed for an address that several have. */
const MAX_LISTED = 20;

/**
 * An account as it is named by an operator, in words; or by its id alone, in an object. A found account is passed on by its id:
 * if it is deleted meanwhile, its id must not be read as the address of another one.
 */
export type Named = string | Pick<Account, 'id'>;

/** The account with this id. Throws an `OperatorError`. */
export async function findExactly(
  store: Pick<AccountStore, 'findAccount'>,
  { id }: Pick<Account, 'id'>,
): Promise<Account> {
  const found = await store.findAccount(id);
  if (!found) throw nothing(id);
  return found;
}

/**
 * The one account that is named by its id, by `provider:subject`, or by an address that this installation owns (`ownsEmail`)
 * and that no other such account has. An address from a provider names no account: any user of the product may have typed it
 * there. Throws an `OperatorError`.
 */
export async function findNamed(
  store: Pick<AccountStore, 'findAccount' | 'findIdentityById' | 'listAccountsByEmail'>,
  name: string,
): Promise<Account> {
  const found = (await store.findAccount(name)) ?? (await store.findIdentityById(name))?.account;
  if (found) return found;
  const all = await store.listAccountsByEmail(emailKey(name), MAX_LISTED);
  const [account, ...others] = all.filter(ownsEmail);
  if (account && others.length === 0) return account;
  if (account) throw refusal(`several accounts have the email address ${JSON.stringify(name)}`, [account, ...others]);
  if (all.length > 0)
    throw refusal(`the email address ${JSON.stringify(name)} comes from a product, where anybody may claim it`, all);
  throw nothing(name);
}

function nothing(name: string): OperatorError {
  return new NothingThere(`there is no account ${JSON.stringify(name)}`, null, { command: '"user list" lists them' });
}

function refusal(why: string, accounts: readonly Account[]): OperatorError {
  return new OperatorError(`${why}: name the account by its id (${accounts.map(({ id }) => id).join(', ')})`);
}
