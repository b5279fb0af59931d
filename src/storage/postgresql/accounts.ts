/** Accounts in PostgreSQL. */
import type { Account } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/store.ts';
import type { Database } from './database.ts';
import { SQLSTATE, sqlState } from './errors.ts';

/** An account as a row. */
export type AccountRow = {
  readonly id: string;
  readonly email: string;
  readonly username: string | null;
  readonly name: string;
  readonly avatar_url: string | null;
  readonly is_operator: boolean;
  readonly status: Account['status'];
  readonly epoch: number;
  readonly password_phc: string;
  readonly password_key_id: number;
  readonly password_set_at: number;
  readonly created_at: number;
};

/** What `sessions.ts` does. */
export type SessionVerb = 'addSession' | 'changePassword' | 'findSession' | 'touchSession' | 'endSession';

/** The columns of an account. */
export const ACCOUNT_COLUMNS = [
  'id',
  'email',
  'username',
  'name',
  'avatar_url',
  'is_operator',
  'status',
  'epoch',
  'password_phc',
  'password_key_id',
  'password_set_at',
  'created_at',
] as const satisfies readonly (keyof AccountRow)[];

const SELECT = `SELECT ${ACCOUNT_COLUMNS.join(', ')} FROM account`;

const INSERT = `
  INSERT INTO account (${ACCOUNT_COLUMNS.join(', ')}, email_key)
  VALUES (${ACCOUNT_COLUMNS.map((_, index) => `$${index + 1}`).join(', ')}, $13) ON CONFLICT DO NOTHING`;

const TAKEN = `
  SELECT CASE WHEN email_key = $1 THEN 'email' ELSE 'username' END AS name FROM account
  WHERE email_key = $1 OR username = $2 ORDER BY name LIMIT 1`;

const TAKEN_BY_OTHER = `
  SELECT CASE WHEN email_key = $1 THEN 'email' ELSE 'username' END AS name FROM account
  WHERE (email_key = $1 OR username = $2) AND id <> $3 ORDER BY name LIMIT 1`;

const UPDATE = 'UPDATE account SET email = $1, email_key = $2, username = $3, name = $4 WHERE id = $5';

const REHASH = `
  UPDATE account SET password_phc = $1, password_key_id = $2
  WHERE id = $3 AND password_phc = $4 AND password_key_id = $5`;

/** The port's accounts, without their sessions. */
export function accountStore(database: Database): Omit<AccountStore, SessionVerb> {
  const endSessions = 'DELETE FROM session WHERE account_id = $1';
  return {
    async findAccount(id) {
      const row = await database.one<AccountRow>(`${SELECT} WHERE id = $1`, [id]);
      return row ? asAccount(row) : null;
    },
    async findAccountByEmail(emailKey) {
      const row = await database.one<AccountRow>(`${SELECT} WHERE email_key = $1`, [emailKey]);
      return row ? asAccount(row) : null;
    },
    async hasAccounts() {
      return (await database.one('SELECT 1 FROM account LIMIT 1')) !== undefined;
    },
    async listAccounts(limit) {
      const rows = await database.rows<AccountRow>(`${SELECT} ORDER BY created_at DESC, id DESC LIMIT $1`, [limit]);
      return rows.map(asAccount);
    },
    recordWrongSignIns: (event) => database.record(event),
    async addAccount(account, emailKey, event) {
      let taken: 'email' | 'username' | null = null;
      const isAdded = await database.act(event, async (connection) => {
        if ((await connection.change(INSERT, [...values(account), emailKey])) === 1) return true;
        const found = await connection.one<{ name: 'email' | 'username' }>(TAKEN, [emailKey, account.username]);
        if (!found) throw new Error('there is an account with this id already');
        taken = found.name;
        return false;
      });
      return isAdded ? null : taken;
    },
    async updateAccount({ id, email, username, name }, emailKey, event) {
      let problem: 'email' | 'username' | 'gone' | null = null;
      const update = () =>
        database.act(event, async (connection) => {
          const found = await connection.one<{ name: 'email' | 'username' }>(TAKEN_BY_OTHER, [emailKey, username, id]);
          const isChanged = !found && (await connection.change(UPDATE, [email, emailKey, username, name, id])) === 1;
          problem = found?.name ?? (isChanged ? null : 'gone');
          return isChanged;
        });
      // Another account may take the name between the look and the change: then it is there for a second look.
      await update().catch((error: unknown) =>
        sqlState(error) === SQLSTATE.UNIQUE_VIOLATION ? update() : Promise.reject(error),
      );
      return problem;
    },
    // The account first, here and below: a session that is being added has its row locked, and is there when this goes on.
    setPassword: (id, { phc, keyId }, event) =>
      database.act(event, async (connection) => {
        const set = 'UPDATE account SET password_phc = $1, password_key_id = $2, password_set_at = $3 WHERE id = $4';
        if ((await connection.change(set, [phc, keyId, event.at, id])) === 0) return false;
        await connection.change(endSessions, [id]);
        return true;
      }),
    async rehashPassword(id, from, to) {
      await database.change(REHASH, [to.phc, to.keyId, id, from.phc, from.keyId]);
    },
    setAccountStatus: (id, status, event) =>
      database.act(event, async (connection) => {
        const set = 'UPDATE account SET status = $2 WHERE id = $1 AND status <> $2';
        if ((await connection.change(set, [id, status])) === 0) return false;
        if (status === 'disabled') await connection.change(endSessions, [id]);
        return true;
      }),
    revokeAccountGrants: (id, event) =>
      database.act(event, async (connection) => {
        return (await connection.change('UPDATE account SET epoch = epoch + 1 WHERE id = $1', [id])) === 1;
      }),
    // Its sessions go with it.
    deleteAccount: (id, event) =>
      database.act(
        event,
        async (connection) => (await connection.change('DELETE FROM account WHERE id = $1', [id])) === 1,
      ),
  };
}

/** The account of a row. */
export function asAccount(row: AccountRow): Account {
  return {
    id: row.id,
    email: row.email,
    username: row.username,
    name: row.name,
    avatarUrl: row.avatar_url,
    isOperator: row.is_operator,
    status: row.status,
    epoch: row.epoch,
    password: { phc: row.password_phc, keyId: row.password_key_id },
    passwordSetAt: row.password_set_at,
    createdAt: row.created_at,
  };
}

function values(account: Account): unknown[] {
  return [
    account.id,
    account.email,
    account.username,
    account.name,
    account.avatarUrl,
    account.isOperator,
    account.status,
    account.epoch,
    account.password.phc,
    account.password.keyId,
    account.passwordSetAt,
    account.createdAt,
  ];
}
