/** Sessions in PostgreSQL. */
import type { Session } from '../../accounts/session.ts';
import type { AccountStore } from '../../accounts/store.ts';
import { ACCOUNT_COLUMNS, type AccountRow, asAccount, type SessionVerb } from './accounts.ts';
import type { Database } from './database.ts';

type SessionRow = {
  readonly digest: Buffer;
  readonly account_id: string;
  readonly session_created_at: number;
  readonly last_seen_at: number;
};

const FIND = `
  SELECT session.digest, session.account_id, session.created_at AS session_created_at, session.last_seen_at,
    ${ACCOUNT_COLUMNS.map((column) => `account.${column}`).join(', ')}
  FROM session JOIN account ON account.id = session.account_id WHERE session.digest = $1`;

/**
 * The account's row is locked: a password that is being set, or a status, is waited for and then asked about anew; one
 * that comes later waits for this session and ends it.
 */
const ADD = `
  INSERT INTO session (digest, account_id, created_at, last_seen_at)
  SELECT $1, id, $2, $3 FROM account
  WHERE id = $4 AND status = 'active' AND password_phc = $5 AND password_key_id = $6 FOR SHARE`;

const CHANGE_PASSWORD = `
  UPDATE account SET password_phc = $1, password_key_id = $2, password_set_at = $3
  WHERE id = $4 AND status = 'active' AND password_phc = $5 AND password_key_id = $6`;

const END = 'DELETE FROM session WHERE digest = $1';

/** The port's sessions. */
export function sessionStore(database: Database): Pick<AccountStore, SessionVerb> {
  return {
    addSession({ digest, accountId, createdAt, lastSeenAt }, { phc, keyId }, replaces, event) {
      return database.act(event, async (connection) => {
        const row = [digest, createdAt, lastSeenAt, accountId, phc, keyId];
        if ((await connection.change(ADD, row)) === 0) return false;
        if (replaces) await connection.change(END, [replaces]);
        return true;
      });
    },
    changePassword: (verified, { phc, keyId }, { digest, accountId, createdAt, lastSeenAt }, event) =>
      database.act(event, async (connection) => {
        const change = [phc, keyId, event.at, accountId, verified.phc, verified.keyId];
        if ((await connection.change(CHANGE_PASSWORD, change)) === 0) return false;
        await connection.change('DELETE FROM session WHERE account_id = $1', [accountId]);
        await connection.change(ADD, [digest, createdAt, lastSeenAt, accountId, phc, keyId]);
        return true;
      }),
    async findSession(digest) {
      const row = await database.one<SessionRow & AccountRow>(FIND, [digest]);
      return row ? { session: asSession(row), account: asAccount(row) } : null;
    },
    async touchSession(digest, at) {
      await database.change('UPDATE session SET last_seen_at = $2 WHERE digest = $1 AND last_seen_at < $2', [
        digest,
        at,
      ]);
    },
    endSession: (digest, event) =>
      database.act(event, async (connection) => (await connection.change(END, [digest])) === 1),
  };
}

function asSession(row: SessionRow): Session {
  return {
    digest: row.digest,
    accountId: row.account_id,
    createdAt: row.session_created_at,
    lastSeenAt: row.last_seen_at,
  };
}
