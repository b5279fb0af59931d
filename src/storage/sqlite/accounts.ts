/** Accounts and their sessions in SQLite. */
import type { Account } from '../../accounts/account.ts';
import type { Session } from '../../accounts/session.ts';
import type { AccountStore } from '../../accounts/store.ts';
import { rowKey } from '../row-key.ts';
import { asBuffer, type Tables } from './tables.ts';

type AccountRow = {
  readonly id: string;
  readonly email: string;
  readonly username: string | null;
  readonly name: string;
  readonly avatar_url: string | null;
  readonly is_operator: number;
  readonly status: Account['status'];
  readonly epoch: number;
  readonly password_phc: string;
  readonly password_key_id: number;
  readonly password_set_at: number;
  readonly created_at: number;
};

type SessionRow = {
  readonly digest: Uint8Array;
  readonly account_id: string;
  readonly session_created_at: number;
  readonly last_seen_at: number;
};

const COLUMNS = [
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
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM account`;

/** The port of accounts on these tables. */
export function accountStore(tables: Tables): AccountStore {
  return { ...accounts(tables), ...sessions(tables) };
}

type SessionVerbs = 'addSession' | 'findSession' | 'touchSession' | 'endSession';

function accounts(tables: Tables): Omit<AccountStore, SessionVerbs> {
  const find = tables.one<AccountRow>(`${SELECT} WHERE id = ?`);
  const findByEmail = tables.one<AccountRow>(`${SELECT} WHERE email_key = ?`);
  const findByUsername = tables.one<AccountRow>(`${SELECT} WHERE username = ?`);
  const has = tables.one('SELECT 1 FROM account LIMIT 1');
  const list = tables.all<AccountRow>(`${SELECT} ORDER BY created_at DESC, id DESC LIMIT ?`);
  const insert = tables.change(
    `INSERT INTO account (${COLUMNS.join(', ')}, email_key) VALUES (${COLUMNS.map(() => '?').join(', ')}, ?)`,
  );
  const update = tables.change('UPDATE account SET email = ?, email_key = ?, username = ?, name = ? WHERE id = ?');
  const setPassword = tables.change(
    'UPDATE account SET password_phc = ?, password_key_id = ?, password_set_at = ? WHERE id = ?',
  );
  const change = tables.change(
    `UPDATE account SET password_phc = ?, password_key_id = ?, password_set_at = ?
     WHERE id = ? AND status = 'active' AND password_phc = ? AND password_key_id = ?`,
  );
  const insertSession = tables.change(INSERT_SESSION);
  const rehash = tables.change(
    'UPDATE account SET password_phc = ?, password_key_id = ? WHERE id = ? AND password_phc = ? AND password_key_id = ?',
  );
  const setStatus = tables.change('UPDATE account SET status = ? WHERE id = ? AND status <> ?');
  const raiseEpoch = tables.change('UPDATE account SET epoch = epoch + 1 WHERE id = ?');
  const remove = tables.change('DELETE FROM account WHERE id = ?');
  const endSessions = tables.change('DELETE FROM session WHERE account_id = ?');

  return {
    async findAccount(id) {
      const row = find(id);
      return tables.onDisk([id], row ? asAccount(row) : null);
    },
    async findAccountByEmail(emailKey) {
      const row = findByEmail(emailKey);
      // Found or not, the answer takes as long: sign-in must not tell by time which addresses are known (ASVS 6.3.8).
      return tables.onDisk('all', row ? asAccount(row) : null);
    },
    async hasAccounts() {
      return tables.onDisk('all', has() !== undefined);
    },
    async listAccounts(limit) {
      return tables.onDisk('all', list(limit).map(asAccount));
    },
    recordWrongSignIns: (event) => tables.record(event),
    async addAccount(account, emailKey, event) {
      let taken: 'email' | 'username' | null = null;
      await tables.act([account.id], event, () => {
        const hasUsername = account.username !== null && findByUsername(account.username) !== undefined;
        taken = findByEmail(emailKey) ? 'email' : hasUsername ? 'username' : null;
        return taken === null && insert(...values(account), emailKey) === 1;
      });
      return taken;
    },
    async updateAccount({ id, email, username, name }, emailKey, event) {
      let problem: 'email' | 'username' | 'gone' | null = null;
      const isOthers = (found: AccountRow | undefined) => found !== undefined && found.id !== id;
      await tables.act([id], event, () => {
        const hasUsername = username !== null && isOthers(findByUsername(username));
        problem = isOthers(findByEmail(emailKey)) ? 'email' : hasUsername ? 'username' : null;
        if (problem === null && update(email, emailKey, username, name, id) === 0) problem = 'gone';
        return problem === null;
      });
      return problem;
    },
    setPassword: (id, { phc, keyId }, event) =>
      tables.act([id], event, () => {
        endSessions(id);
        return setPassword(phc, keyId, event.at, id) === 1;
      }),
    changePassword: (verified, { phc, keyId }, { digest, accountId, createdAt, lastSeenAt }, event) =>
      tables.act([accountId, rowKey(digest)], event, () => {
        if (change(phc, keyId, event.at, accountId, verified.phc, verified.keyId) === 0) return false;
        endSessions(accountId);
        insertSession(digest, createdAt, lastSeenAt, accountId, phc, keyId);
        return true;
      }),
    async rehashPassword(id, from, to) {
      await tables.write([id], () => rehash(to.phc, to.keyId, id, from.phc, from.keyId));
    },
    setAccountStatus: (id, status, event) =>
      tables.act([id], event, () => {
        if (setStatus(status, id, status) === 0) return false;
        if (status === 'disabled') endSessions(id);
        return true;
      }),
    revokeAccountGrants: (id, event) => tables.act([id], event, () => raiseEpoch(id) === 1),
    deleteAccount: (id, event) =>
      tables.act([id], event, () => {
        endSessions(id);
        return remove(id) === 1;
      }),
  };
}

/** While the account is active and its password is the one that was verified. */
const INSERT_SESSION = `
  INSERT INTO session (digest, account_id, created_at, last_seen_at)
  SELECT ?, id, ?, ? FROM account
  WHERE id = ? AND status = 'active' AND password_phc = ? AND password_key_id = ?`;

function sessions(tables: Tables): Pick<AccountStore, SessionVerbs> {
  const find = tables.one<SessionRow & AccountRow>(
    `SELECT session.digest, session.account_id, session.created_at AS session_created_at, session.last_seen_at,
       ${COLUMNS.map((column) => `account.${column}`).join(', ')}
     FROM session CROSS JOIN account ON account.id = session.account_id WHERE session.digest = ?`,
  );
  const insert = tables.change(INSERT_SESSION);
  const touch = tables.change('UPDATE session SET last_seen_at = max(last_seen_at, ?) WHERE digest = ?');
  const end = tables.change('DELETE FROM session WHERE digest = ?');

  return {
    addSession({ digest, accountId, createdAt, lastSeenAt }, { phc, keyId }, replaces, event) {
      const touches = replaces ? [rowKey(digest), rowKey(replaces)] : [rowKey(digest)];
      return tables.act(touches, event, () => {
        if (insert(digest, createdAt, lastSeenAt, accountId, phc, keyId) === 0) return false;
        if (replaces) end(replaces);
        return true;
      });
    },
    async findSession(digest) {
      const row = find(digest);
      if (!row) return tables.onDisk('all', null);
      return tables.onDisk([rowKey(digest), row.id], { session: asSession(row), account: asAccount(row) });
    },
    async touchSession(digest, at) {
      await tables.write([rowKey(digest)], () => touch(at, digest));
    },
    endSession: (digest, event) => tables.act([rowKey(digest)], event, () => end(digest) === 1),
  };
}

function values(account: Account): (string | number | null)[] {
  return [
    account.id,
    account.email,
    account.username,
    account.name,
    account.avatarUrl,
    account.isOperator ? 1 : 0,
    account.status,
    account.epoch,
    account.password.phc,
    account.password.keyId,
    account.passwordSetAt,
    account.createdAt,
  ];
}

function asAccount(row: AccountRow): Account {
  return {
    id: row.id,
    email: row.email,
    username: row.username,
    name: row.name,
    avatarUrl: row.avatar_url,
    isOperator: row.is_operator === 1,
    status: row.status,
    epoch: row.epoch,
    password: { phc: row.password_phc, keyId: row.password_key_id },
    passwordSetAt: row.password_set_at,
    createdAt: row.created_at,
  };
}

function asSession(row: SessionRow): Session {
  return {
    digest: asBuffer(row.digest),
    accountId: row.account_id,
    createdAt: row.session_created_at,
    lastSeenAt: row.last_seen_at,
  };
}
