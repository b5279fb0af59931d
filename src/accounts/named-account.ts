/** Accounts as operators name them: by id, or by e-mail address. */
import { OperatorError } from '../oauth/error.ts';
import { type Account, emailKey } from './account.ts';
import type { AccountStore } from './store.ts';

/** Maximum number of accounts that are listed for an address that several have. */
const MAX_LISTED = 20;

/** One account by id, or by an e-mail address that no other has. Throws an `OperatorError`. */
export async function findNamed(
  store: Pick<AccountStore, 'findAccount' | 'listAccountsByEmail'>,
  idOrEmail: string,
): Promise<Account> {
  const byId = await store.findAccount(idOrEmail);
  if (byId) return byId;
  const [account, ...others] = await store.listAccountsByEmail(emailKey(idOrEmail), MAX_LISTED);
  if (!account) throw new OperatorError(`there is no account ${JSON.stringify(idOrEmail)}: "user list" lists them`);
  if (others.length > 0) throw severalOf(idOrEmail, [account, ...others]);
  return account;
}

/** The refusal of an address that names several accounts. */
function severalOf(email: string, accounts: readonly Account[]): OperatorError {
  const ids = accounts.map(({ id }) => id).join(', ');
  return new OperatorError(
    `several accounts have the e-mail address ${JSON.stringify(email)}: name one by its id (${ids})`,
  );
}
