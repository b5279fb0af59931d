/** Operators as rows, and the statements on them that the operations on all that belongs to one share. */

import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import type { Operator } from '../../../operator/access/operator.ts';
import type { UsedChallenge } from '../../../operator/access/passkey.ts';
import { rowKey } from '../../statements/row-key.ts';
import type { Runner, Statement } from '../../statements/shared-operations.ts';
import { sideBySide, Table } from '../../statements/table.ts';

/** A stored operator. */
export const OPERATOR = Table.of<Operator>('operator', {
  id: 'text',
  name: 'text',
  role: 'text',
  status: 'text',
  epoch: 'integer',
  createdAt: 'time',
});

/** The digest of what happens once until a time. */
export const OPERATOR_ONCE = Table.of<UsedChallenge>('operator_once', { digest: 'bytes', expiresAt: 'time' });

/** Locks the operator's row where others may write, so that changes of what belongs to one operator come one by one. */
const LOCK = 'SELECT 1 FROM operator WHERE id = $1';
const STANDING = `${LOCK} AND status = 'active' AND epoch = $2 FOR`;

/** Returns the demand that an operator is there. */
export function isThere(id: string): Statement {
  return { sql: `${LOCK} FOR NO KEY UPDATE`, values: [id] };
}

/** Returns the demand that an operator is active. */
export function isActive(id: string): Statement {
  return { sql: `${LOCK} AND status = 'active' FOR NO KEY UPDATE`, values: [id] };
}

/**
 * Returns the demand that an operator's access is as it was when the request began; null for other actors. A disabling waits
 * for the transaction, or the transaction for it. An act on the actor's own operator takes at once the lock that its effect
 * needs: two such acts with shared locks would wait for each other.
 */
export function standingOf({ actor: { standing }, clientId }: AuditEvent): Statement | null {
  if (standing === undefined) return null;
  const { operatorId, epoch } = standing;
  return { sql: `${STANDING} ${clientId === operatorId ? 'NO KEY UPDATE' : 'SHARE'}`, values: [operatorId, epoch] };
}

/** Returns the statement that raises an operator's epoch. */
export function raisingEpoch(id: string): Statement {
  return { sql: 'UPDATE operator SET epoch = epoch + 1 WHERE id = $1', values: [id] };
}

/** Returns the demand that something has not happened yet, and the statement that notes it. */
export function onlyOnce(happening: UsedChallenge): { isFirst: Statement; noting: Statement } {
  return {
    isFirst: {
      sql: 'SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM operator_once WHERE digest = $1)',
      values: [happening.digest],
    },
    noting: { sql: OPERATOR_ONCE.insertion, values: OPERATOR_ONCE.values(happening) },
  };
}

/** Returns a search for a row that belongs to an operator, together with the operator, by a column. */
export function withOperator<Row extends { readonly operatorId: string }>(
  runner: Runner,
  table: Table<Row>,
  column: string,
) {
  const { selected, read } = sideBySide<[Row, Operator]>(table, OPERATOR);
  const sql = `
    SELECT ${selected} FROM ${table.name} JOIN operator ON operator.id = ${table.name}.operator_id
    WHERE ${table.name}.${column} = $1`;
  return async (key: string | Buffer): Promise<{ row: Row; operator: Operator } | null> => {
    const own = typeof key === 'string' ? key : rowKey(key);
    const [first] = await runner.select({ sql, values: [key] }, ([tuple]) =>
      tuple ? [own, read(tuple)[0].operatorId] : 'all',
    );
    if (!first) return null;
    const [row, operator] = read(first);
    return { row, operator };
  };
}
