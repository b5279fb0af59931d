/** Passkeys and sessions of operators. */
import type { Operator } from '../../../operator/access/operator.ts';
import { MAX_SESSIONS_OF_OPERATOR, type OperatorSession } from '../../../operator/access/operator-session.ts';
import type { OperatorSessionStore } from '../../../operator/access/operator-store.ts';
import { MAX_PASSKEYS, type Passkey } from '../../../operator/access/passkey.ts';
import { rowKey } from '../../statements/row-key.ts';
import { listRows, type Runner, type Statement } from '../../statements/shared-operations.ts';
import { nullable, sideBySide, Table } from '../../statements/table.ts';
import { isActive, isThere, OPERATOR, onlyOnce, raisingEpoch, withOperator } from './operator-rows.ts';

/** A stored passkey. */
export const OPERATOR_PASSKEY = Table.of<Passkey>('operator_passkey', {
  id: 'text',
  operatorId: 'text',
  name: 'text',
  publicKey: 'bytes',
  counter: 'integer',
  transports: 'json',
  isBackedUp: 'boolean',
  createdAt: 'time',
  lastUsedAt: nullable('time'),
  suspectedAt: nullable('time'),
});

/** A stored session of an operator. */
export const OPERATOR_SESSION = Table.of<OperatorSession>('operator_session', {
  digest: 'bytes',
  operatorId: 'text',
  how: 'text',
  createdAt: 'time',
  lastSeenAt: 'time',
  expiresAt: 'time',
  presentAt: nullable('time'),
  begunBy: nullable('text'),
  confirmedBy: nullable('text'),
  source: 'text',
  browser: 'text',
});

const PASSKEYS = `
  SELECT ${OPERATOR_PASSKEY.names} FROM operator_passkey WHERE operator_id = $1 ORDER BY created_at, id`;
const SUSPECTED = sideBySide<[Passkey, Operator]>(OPERATOR_PASSKEY, OPERATOR);
const LIST_SUSPECTED = `
  SELECT ${SUSPECTED.selected} FROM operator_passkey JOIN operator ON operator.id = operator_passkey.operator_id
  WHERE suspected_at IS NOT NULL ORDER BY suspected_at, operator_passkey.id`;
const SESSIONS = `
  SELECT ${OPERATOR_SESSION.names} FROM operator_session WHERE operator_id = $1 ORDER BY last_seen_at DESC, digest`;

/** A counter that another request moved meanwhile is not the one that was compared. */
const USE_PASSKEY = `
  UPDATE operator_passkey SET counter = $3, is_backed_up = $4, last_used_at = $5
  WHERE id = $1 AND counter = $2 AND operator_id = $6`;
const IS_ROOM = `SELECT 1 WHERE (SELECT count(*) FROM operator_passkey WHERE operator_id = $1) < ${MAX_PASSKEYS}`;
const HAS_NO_PASSKEY = 'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM operator_passkey WHERE operator_id = $1)';
const ADD_PASSKEY = `${OPERATOR_PASSKEY.insertion} ON CONFLICT DO NOTHING`;
const REMOVE_PASSKEY = 'DELETE FROM operator_passkey WHERE id = $1 AND operator_id = $2';
/** The rule of `goesOn`, asked again of the counter as it is now. */
const SUSPECT_PASSKEY = `
  UPDATE operator_passkey SET suspected_at = COALESCE(suspected_at, $4)
  WHERE id = $1 AND operator_id = $2 AND counter >= $3 AND counter > 0`;

const USE_ADDRESS = `
  DELETE FROM operator_one_time_address WHERE digest = $1 AND operator_id = $2 AND purpose = $3 AND expires_at > $4`;
const END_ADDRESSES = 'DELETE FROM operator_one_time_address WHERE operator_id = $1';

const HAS_SESSION = 'SELECT 1 FROM operator_session WHERE digest = $1 AND operator_id = $2';
const HAS_SESSION_AT_ADDRESS = `${HAS_SESSION} AND how = 'address'`;
const END_OLDEST = `
  DELETE FROM operator_session WHERE digest IN (
    SELECT digest FROM operator_session WHERE operator_id = $1 AND digest <> $2 ORDER BY last_seen_at DESC, digest
    LIMIT 100 OFFSET ${MAX_SESSIONS_OF_OPERATOR - 1})`;
const TOUCH = 'UPDATE operator_session SET last_seen_at = $2 WHERE digest = $1 AND last_seen_at < $2';
const END = 'DELETE FROM operator_session WHERE digest = $1 AND operator_id = $2';
const END_ALL = 'DELETE FROM operator_session WHERE operator_id = $1';
const END_BY_ADDRESS = `${END_ALL} AND how = 'address'`;
const END_BY_PASSKEY = `${END_ALL} AND digest <> $2 AND (begun_by = $3 OR confirmed_by = $3)`;
const TAKE_PRESENCE = `
  UPDATE operator_session SET present_at = NULL WHERE operator_id = $1 AND (digest <> $2 OR confirmed_by = $3)`;
const NO_SESSION = Buffer.alloc(0);

/** Returns the statements that begin a session of an operator whose row is locked. */
function beginSession(session: OperatorSession): Statement[] {
  return [
    { sql: OPERATOR_SESSION.insertion, values: OPERATOR_SESSION.values(session) },
    { sql: END_OLDEST, values: [session.operatorId, session.digest] },
  ];
}

/** Returns the demand that a session of an operator whose row is locked is there. */
function hasSession(digest: Buffer, operatorId: string): Statement {
  return { sql: HAS_SESSION, values: [digest, operatorId] };
}

/**
 * Returns the statements that end the sessions that a passkey began or last confirmed, but one (its digest), and the presence of
 * an operator: also in that one, if the passkey confirmed it. Requests under way write nothing any more.
 */
function takingBack(passkeyId: string, operatorId: string, keptSession: Buffer): Statement[] {
  const values = [operatorId, keptSession, passkeyId];
  return [{ sql: END_BY_PASSKEY, values }, { sql: TAKE_PRESENCE, values }, raisingEpoch(operatorId)];
}

/** Implements the port for passkeys and sessions of operators. */
export function operatorSessionStore(runner: Runner): OperatorSessionStore {
  const findPasskey = withOperator(runner, OPERATOR_PASSKEY, 'id');
  const findSession = withOperator(runner, OPERATOR_SESSION, 'digest');
  return {
    async findPasskey(id) {
      const found = await findPasskey(id);
      return found && { passkey: found.row, operator: found.operator };
    },
    listPasskeys: (operatorId) => listRows(runner, OPERATOR_PASSKEY, PASSKEYS, [operatorId]),
    beginSessionByPasskey(session, { passkeyId, before, counter, isBackedUp, challenge }, replaces, event) {
      const { operatorId, digest, lastSeenAt } = session;
      const { isFirst, noting } = onlyOnce(challenge);
      const ended = replaces ? [replaces] : [];
      return runner.act({
        touches: [operatorId, passkeyId, ...[digest, ...ended].map(rowKey)],
        event,
        demands: [isActive(operatorId), isFirst, ...ended.map((old) => hasSession(old, operatorId))],
        first: { sql: USE_PASSKEY, values: [passkeyId, before, counter, isBackedUp, lastSeenAt, operatorId] },
        rest: [noting, ...ended.map((old) => ({ sql: END, values: [old, operatorId] })), ...beginSession(session)],
      });
    },
    beginSessionByAddress(session, address, event) {
      const { operatorId, digest, lastSeenAt } = session;
      return runner.act({
        touches: [operatorId, rowKey(digest), rowKey(address)],
        event,
        demands: [isActive(operatorId)],
        first: { sql: USE_ADDRESS, values: [address, operatorId, 'sign-in', lastSeenAt] },
        rest: beginSession(session),
      });
    },
    enrollByAddress(passkey, session, address, challenge, event) {
      const { operatorId } = passkey;
      const { isFirst, noting } = onlyOnce(challenge);
      const isNew = {
        sql: 'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM operator_passkey WHERE id = $1)',
        values: [passkey.id],
      };
      return runner.act({
        touches: [operatorId, passkey.id, rowKey(session.digest), rowKey(address)],
        event,
        demands: [isActive(operatorId), isFirst, isNew, { sql: IS_ROOM, values: [operatorId] }],
        first: { sql: USE_ADDRESS, values: [address, operatorId, 'enroll', passkey.createdAt] },
        rest: [
          { sql: OPERATOR_PASSKEY.insertion, values: OPERATOR_PASSKEY.values(passkey) },
          noting,
          ...beginSession(session),
        ],
      });
    },
    enrollInSession(passkey, session, replaces, challenge, event) {
      const { operatorId } = passkey;
      const { isFirst, noting } = onlyOnce(challenge);
      return runner.act({
        touches: [operatorId, passkey.id, ...[session.digest, replaces].map(rowKey)],
        event,
        demands: [
          isActive(operatorId),
          isFirst,
          { sql: HAS_SESSION_AT_ADDRESS, values: [replaces, operatorId] },
          { sql: HAS_NO_PASSKEY, values: [operatorId] },
        ],
        first: { sql: ADD_PASSKEY, values: OPERATOR_PASSKEY.values(passkey) },
        rest: [noting, { sql: END, values: [replaces, operatorId] }, ...beginSession(session)],
      });
    },
    addPasskey(passkey, session, challenge, event) {
      const { operatorId } = passkey;
      const { isFirst, noting } = onlyOnce(challenge);
      return runner.act({
        touches: [operatorId, passkey.id],
        event,
        demands: [
          isActive(operatorId),
          hasSession(session, operatorId),
          isFirst,
          { sql: IS_ROOM, values: [operatorId] },
        ],
        first: { sql: ADD_PASSKEY, values: OPERATOR_PASSKEY.values(passkey) },
        rest: [noting],
      });
    },
    removePasskey: (id, operatorId, session, event) =>
      runner.act({
        touches: [operatorId, id],
        event,
        demands: [isThere(operatorId)],
        first: { sql: REMOVE_PASSKEY, values: [id, operatorId] },
        rest: [{ sql: END_BY_ADDRESS, values: [operatorId] }, ...takingBack(id, operatorId, session)],
      }),
    suspectPasskey({ passkeyId, counter, challenge }, operatorId, at, event) {
      const { isFirst, noting } = onlyOnce(challenge);
      return runner.act({
        touches: [operatorId, passkeyId],
        event,
        demands: [isActive(operatorId), isFirst],
        first: { sql: SUSPECT_PASSKEY, values: [passkeyId, operatorId, counter, at] },
        rest: [noting, ...takingBack(passkeyId, operatorId, NO_SESSION)],
      });
    },
    async listSuspectedPasskeys() {
      const rows = await runner.select({ sql: LIST_SUSPECTED, values: [] }, 'all');
      return rows.map(SUSPECTED.read).map(([passkey, operator]) => ({ passkey, operator }));
    },
    async findOperatorSession(digest) {
      const found = await findSession(digest);
      return found && { session: found.row, operator: found.operator };
    },
    listOperatorSessions: (operatorId) => listRows(runner, OPERATOR_SESSION, SESSIONS, [operatorId]),
    touchOperatorSession: (digest, at) => runner.change([rowKey(digest)], { sql: TOUCH, values: [digest, at] }),
    endOperatorSession: (digest, operatorId, event) =>
      runner.act({
        touches: [operatorId, rowKey(digest)],
        event,
        demands: [isThere(operatorId)],
        first: { sql: END, values: [digest, operatorId] },
        rest: [raisingEpoch(operatorId)],
      }),
    endOperatorSessions: (operatorId, event) =>
      runner.act({
        touches: [operatorId],
        event,
        first: raisingEpoch(operatorId),
        rest: [
          { sql: END_ALL, values: [operatorId] },
          { sql: END_ADDRESSES, values: [operatorId] },
        ],
      }),
  };
}
