/** Lists of accounts, by keys, and when those listed were last used. */
import type { AccountListStore, AccountUse, LastSignIn } from '../../accounts/people/store.ts';
import { listRows, type Runner, type Tuple } from '../statements/shared-operations.ts';
import { ACCOUNT } from './accounts/accounts.ts';
import { LAST_USE } from './grants/grant-summaries.ts';

const SELECT = `SELECT ${ACCOUNT.names} FROM account`;
const CALLED = (column: 'email_key' | 'username') => `
  ${SELECT} WHERE ${column} = $1 AND id > $2 ORDER BY id LIMIT $3`;
/** The last character of Unicode, which stands for nothing, so that no name has it. */
const LAST_CHARACTER = '\u{10ffff}';
/** The limit is in the text: PostgreSQL would plan a parameter as a tenth of all accounts. */
const keysThatBegin = (column: 'email_key' | 'username', limit: number) => `
  ${SELECT} WHERE ${column} >= $1 AND ${column} < $2 AND (${column}, id) > ($3, $4) ORDER BY ${column}, id LIMIT ${limit}`;
const next = (limit: number) => `
  ${SELECT} WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
/** After every account's creation (ms). */
const NEVER = Number.MAX_SAFE_INTEGER;

/** A password change also begins a session, without a sign-in event. An invitation begins none. */
const IS_SIGN_IN = "action IN ('sign_in', 'password_changed')";
/** The audit trail has an event of each sign-in, so its time needs no column. */
const USES = `
  SELECT account.id,
    (SELECT at FROM audit_event WHERE resource_owner_id = account.id AND ${IS_SIGN_IN} ORDER BY sequence DESC LIMIT 1),
    (SELECT max(${LAST_USE}) FROM oauth_grant WHERE resource_owner_id = account.id)
  FROM account`;
/** Number of an account's last events among which a sign-in is looked for. */
const LATELY = 1000;
const SIGN_INS = `
  SELECT account.id,
    (SELECT at FROM (
        SELECT sequence, at, action FROM audit_event WHERE resource_owner_id = account.id
        ORDER BY sequence DESC LIMIT ${LATELY}) AS lately
      WHERE ${IS_SIGN_IN} ORDER BY sequence DESC LIMIT 1),
    (SELECT 1 FROM audit_event WHERE resource_owner_id = account.id ORDER BY sequence DESC LIMIT 1 OFFSET ${LATELY})
  FROM account`;
/** Number of accounts in one statement. */
const AT_ONCE = 100;

/** Implements the port's lists of accounts. */
export function accountLists(runner: Runner): AccountListStore {
  const byIds = async (sql: string, ids: readonly string[]) => {
    const rows: Tuple[] = [];
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      const these = `${sql} WHERE account.id IN (${some.map((_, index) => `$${index + 1}`).join(', ')})`;
      rows.push(...(await runner.select({ sql: these, values: some }, 'all')));
    }
    return rows;
  };
  return {
    listAccounts: (after, limit) =>
      listRows(runner, ACCOUNT, next(limit), [after?.createdAt ?? NEVER, after?.id ?? '']),
    listAccountsCalled: (name, after, limit) =>
      'emailKey' in name
        ? listRows(runner, ACCOUNT, CALLED('email_key'), [name.emailKey, after, limit])
        : listRows(runner, ACCOUNT, CALLED('username'), [name.username, after, limit]),
    listAccountsBeginning(start, after, limit) {
      const [column, key] =
        'emailKey' in start ? (['email_key', start.emailKey] as const) : (['username', start.username] as const);
      const place = after ? [after.key, after.id] : [key, ''];
      return listRows(runner, ACCOUNT, keysThatBegin(column, limit), [key, key + LAST_CHARACTER, ...place]);
    },
    async findAccountUses(ids) {
      const uses = (await byIds(USES, ids)).map((row): [string, AccountUse] => {
        const [id, lastSignInAt, appsLastUsedAt] = row as [string, number | null, number | null];
        return [id, { lastSignInAt, appsLastUsedAt }];
      });
      return new Map(uses);
    },
    async findLastSignIns(ids) {
      const found = (await byIds(SIGN_INS, ids)).map((row): [string, LastSignIn] => {
        const [id, at, hasMore] = row as [string, number | null, 1 | null];
        return [id, at ?? (hasMore === null ? 'never' : 'not lately')];
      });
      return new Map(found);
    },
  };
}
