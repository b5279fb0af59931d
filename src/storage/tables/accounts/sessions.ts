/** Sessions of accounts. */
import { MAX_SESSIONS, SESSION_LIFETIMES, type Session } from '../../../accounts/people/session.ts';
import type { SessionStore } from '../../../accounts/people/store.ts';
import { rowKey } from '../../statements/row-key.ts';
import { listRows, pageOfWalk, type Runner, type Statement, WALK_WINDOW } from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';
import { ACCOUNT, endingSessions, NEW_PASSWORD, storedPassword } from './accounts.ts';

/** A stored session. */
export const SESSION = Table.of<Session>('session', {
  digest: 'bytes',
  accountId: 'text',
  createdAt: 'time',
  lastSeenAt: 'time',
  expiresAt: 'time',
  providerId: nullable('text'),
  external: nullable('json'),
});

const FIND = `
  SELECT ${SESSION.selected}, ${ACCOUNT.selected}
  FROM session JOIN account ON account.id = session.account_id WHERE session.digest = $1`;

/**
 * Locks the account's row where others may write. If a password or status change is in progress, this waits and then
 * checks the account again. A later change waits for this session, and ends it.
 */
const ADD = `
  INSERT INTO session (${SESSION.names})
  SELECT $1, id, $3, $4, $5, $6, $7 FROM account
  WHERE id = $2 AND status = 'active' AND password = $8 FOR NO KEY UPDATE`;

/** A session that is live at a time (ms). */
const isLive = (at: string) => `expires_at > ${at} AND last_seen_at + ${SESSION_LIFETIMES.idle} > ${at}`;

const COUNT_LIVE = `SELECT count(*) FROM session WHERE account_id = $1 AND ${isLive('$2')}`;

/** Deletes an account's sessions except the new one and the newest live ones; expired sessions go first. */
const END_OLDEST = `
  DELETE FROM session WHERE digest IN (
    SELECT digest FROM session WHERE account_id = $1 AND digest <> $2
    ORDER BY CASE WHEN ${isLive('$3')} THEN 0 ELSE 1 END,
      created_at DESC, digest
    LIMIT ${WALK_WINDOW} OFFSET ${MAX_SESSIONS - 1})`;

const CHANGE_PASSWORD = `
  UPDATE account SET password = $3, ${NEW_PASSWORD}, password_set_at = $4, must_change_password = FALSE
  WHERE id = $1 AND status = 'active' AND password = $2`;

const OF_ACCOUNT = `
  SELECT ${SESSION.names} FROM session WHERE account_id = $1 ORDER BY created_at DESC, digest LIMIT ${MAX_SESSIONS}`;
const TOUCH = 'UPDATE session SET last_seen_at = $2 WHERE digest = $1 AND last_seen_at < $2';
const WALK = `SELECT ${SESSION.names} FROM session WHERE digest > $1 ORDER BY digest LIMIT ${WALK_WINDOW}`;
const END = 'DELETE FROM session WHERE digest = $1';

/**
 * Returns the statement that ends an account's sessions beyond the maximum, counting the given new one. The account's
 * row must be locked.
 */
export function endingOldest({ accountId, digest, createdAt }: Session): Statement {
  return { sql: END_OLDEST, values: [accountId, digest, createdAt] };
}

/** Implements the port for sessions. */
export function sessionStore(runner: Runner): SessionStore {
  const ending = (digest: Buffer) => ({ sql: END, values: [digest] });
  return {
    addSession(session, verified, replaces, event) {
      const ended = replaces ? [replaces] : [];
      const first = { sql: ADD, values: [...SESSION.values(session), storedPassword(verified)] };
      return runner.act({
        touches: [session.digest, ...ended].map(rowKey),
        event,
        first,
        rest: [...ended.map(ending), endingOldest(session)],
      });
    },
    changePassword(verified, password, session, replaces, event) {
      const { accountId, digest } = session;
      const ended = replaces ? [replaces] : [];
      const change = [accountId, storedPassword(verified), storedPassword(password), event.at];
      return runner.act({
        touches: [accountId, ...[digest, ...ended].map(rowKey)],
        event,
        first: { sql: CHANGE_PASSWORD, values: change },
        rest: [
          ...endingSessions(accountId, event.at),
          ...ended.map(ending),
          { sql: ADD, values: [...SESSION.values(session), storedPassword(password)] },
        ],
      });
    },
    async findSession(digest) {
      const [row] = await runner.select({ sql: FIND, values: [digest] }, ([found]) =>
        found ? [rowKey(digest), found[1] as string] : 'all',
      );
      if (!row) return null;
      return { session: SESSION.read(row), account: ACCOUNT.read(row.slice(SESSION.columns.length)) };
    },
    listSessions: (accountId) => listRows(runner, SESSION, OF_ACCOUNT, [accountId]),
    async countSessions(accountId, liveAt) {
      const [row] = await runner.select({ sql: COUNT_LIVE, values: [accountId, liveAt] }, 'all');
      return row?.[0] as number;
    },
    touchSession: (digest, at) => runner.change([rowKey(digest)], { sql: TOUCH, values: [digest, at] }),
    async walkSessions(providerId, after) {
      return pageOfWalk(
        await listRows(runner, SESSION, WALK, [after]),
        (session) => session.providerId === providerId,
        ({ digest }) => digest,
      );
    },
    endSession: (digest, event) => runner.act({ touches: [rowKey(digest)], event, first: ending(digest) }),
  };
}
