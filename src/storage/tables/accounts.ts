/** Accounts. */
import type { Account } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/store.ts';
import type { AuditEvent } from '../../oauth/audit.ts';
import type { Runner, Statement } from '../acts.ts';
import { type Stored, Table } from './table.ts';

/** An account, as it is stored: with the key by which its address is searched, which is no part of what is read. */
export const STORED_ACCOUNT = Table.of<Account & { readonly emailKey: string }>('account', {
  id: 'text',
  epoch: 'integer',
  status: 'text',
  email: 'text',
  emailKey: 'text',
  username: 'text?',
  name: 'text',
  avatarUrl: 'text?',
  isOperator: 'boolean',
  password: { phc: 'text', keyId: 'integer' },
  passwordSetAt: 'time',
  createdAt: 'time',
});

/** An account, as it is read. */
export const ACCOUNT = STORED_ACCOUNT.without('emailKey');

const SELECT = `SELECT ${ACCOUNT.names} FROM account`;
const INSERT = `${STORED_ACCOUNT.insertion} ON CONFLICT DO NOTHING`;
const TAKEN = `
  SELECT CASE WHEN email_key = $1 THEN 'email' ELSE 'username' END AS taken FROM account
  WHERE (email_key = $1 OR username = $2) AND id <> $3 ORDER BY taken LIMIT 1`;
const UPDATE = `
  UPDATE account SET email = $2, email_key = $3, username = $4, name = $5
  WHERE id = $1 AND NOT EXISTS (
    SELECT 1 FROM account AS other WHERE (other.email_key = $3 OR other.username = $4) AND other.id <> $1)`;
const SET_PASSWORD = 'UPDATE account SET password_phc = $2, password_key_id = $3, password_set_at = $4 WHERE id = $1';
const REHASH = `
  UPDATE account SET password_phc = $4, password_key_id = $5
  WHERE id = $1 AND password_phc = $2 AND password_key_id = $3`;
const SET_STATUS = 'UPDATE account SET status = $2 WHERE id = $1 AND status <> $2';
/** Changes nothing: it asks whether the account is there, and has its row locked as every other change has. */
const LOCK = 'UPDATE account SET status = status WHERE id = $1';
const RAISE_EPOCH = 'UPDATE account SET epoch = epoch + 1 WHERE id = $1';
const DELETE = 'DELETE FROM account WHERE id = $1';

/** Ends all sessions of an account. */
export const END_SESSIONS = 'DELETE FROM session WHERE account_id = $1';

/** What `sessions.ts` does. */
type SessionVerb = 'addSession' | 'changePassword' | 'findSession' | 'touchSession' | 'endSession';

/** The port's accounts, without their sessions. */
export function accountStore(runner: Runner): Omit<AccountStore, SessionVerb> {
  const one = async (where: string, value: string, restsOn: readonly string[] | 'all') => {
    const [row] = await runner.select({ sql: `${SELECT} WHERE ${where} = $1`, values: [value] }, restsOn);
    return row ? ACCOUNT.read(row) : null;
  };
  const taken = async ({ id, username }: Pick<Account, 'id' | 'username'>, emailKey: string) => {
    const [row] = await runner.select({ sql: TAKEN, values: [emailKey, username, id] }, 'all');
    return row ? (row[0] as 'email' | 'username') : null;
  };
  /** The account first: in PostgreSQL a session that is being added has its row locked, and is there when this goes on. */
  const change = (id: string, event: AuditEvent, sql: string, values: readonly Stored[], rest: Statement[] = []) =>
    runner.act({ touches: [id], event, first: { sql, values: [id, ...values] }, rest });
  const endSessions = (id: string) => ({ sql: END_SESSIONS, values: [id] });

  return {
    findAccount: (id) => one('id', id, [id]),
    // Found or not, the answer takes as long: sign-in must not tell by time which addresses are known (ASVS 6.3.8).
    findAccountByEmail: (emailKey) => one('email_key', emailKey, 'all'),
    async hasAccounts() {
      return (await runner.select({ sql: 'SELECT 1 FROM account LIMIT 1', values: [] }, 'all')).length > 0;
    },
    async listAccounts(limit) {
      const sql = `${SELECT} ORDER BY created_at DESC, id DESC LIMIT $1`;
      return (await runner.select({ sql, values: [limit] }, 'all')).map((row) => ACCOUNT.read(row));
    },
    recordWrongSignIns: (event) => runner.record(event),
    async addAccount(account, emailKey, event) {
      const first = { sql: INSERT, values: STORED_ACCOUNT.values({ ...account, emailKey }) };
      if (await runner.act({ touches: [account.id], event, first })) return null;
      const name = await taken(account, emailKey);
      if (!name) throw new Error('there is an account with this id already, or was one with its names');
      return name;
    },
    async updateAccount(account, emailKey, event) {
      const { id, email, username, name } = account;
      if (await change(id, event, UPDATE, [email, emailKey, username, name])) return null;
      return (await taken(account, emailKey)) ?? 'gone';
    },
    setPassword: (id, { phc, keyId }, event) =>
      change(id, event, SET_PASSWORD, [phc, keyId, event.at], [endSessions(id)]),
    rehashPassword: (id, from, to) =>
      runner.change([id], { sql: REHASH, values: [id, from.phc, from.keyId, to.phc, to.keyId] }),
    setAccountStatus: (id, status, event) =>
      change(id, event, SET_STATUS, [status], status === 'disabled' ? [endSessions(id)] : []),
    endAccountSessions: (id, event) => change(id, event, LOCK, [], [endSessions(id)]),
    revokeAccountGrants: (id, event) => change(id, event, RAISE_EPOCH, []),
    // Its sessions go with it, as they refer to it.
    deleteAccount: (id, event) => change(id, event, DELETE, []),
  };
}
