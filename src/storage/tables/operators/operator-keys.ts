/** Keys of operators. */
import { MAX_KEYS_OF_OPERATOR, type OperatorKey } from '../../../operator/access/operator-key.ts';
import type { OperatorKeyStore } from '../../../operator/access/operator-store.ts';
import { rowKey } from '../../statements/row-key.ts';
import { listRows, type Runner } from '../../statements/shared-operations.ts';
import { Table } from '../../statements/table.ts';
import { isActive, isThere, raisingEpoch, withOperator } from './operator-rows.ts';

/** A stored key of an operator. */
export const OPERATOR_KEY = Table.of<OperatorKey>('operator_key', {
  id: 'text',
  operatorId: 'text',
  name: 'text',
  digest: 'bytes',
  rights: 'json',
  createdAt: 'time',
  expiresAt: 'time',
});

const LIST = `SELECT ${OPERATOR_KEY.names} FROM operator_key WHERE operator_id = $1 ORDER BY created_at, id`;
const IS_ROOM = `SELECT 1 WHERE (SELECT count(*) FROM operator_key WHERE operator_id = $1) < ${MAX_KEYS_OF_OPERATOR}`;
const END = 'DELETE FROM operator_key WHERE id = $1 AND operator_id = $2';

/** Implements the port for keys of operators. */
export function operatorKeyStore(runner: Runner): OperatorKeyStore {
  const find = withOperator(runner, OPERATOR_KEY, 'digest');
  return {
    addOperatorKey(key, event) {
      const { operatorId, digest } = key;
      return runner.act({
        touches: [operatorId, rowKey(digest)],
        event,
        demands: [isActive(operatorId), { sql: IS_ROOM, values: [operatorId] }],
        first: { sql: OPERATOR_KEY.insertion, values: OPERATOR_KEY.values(key) },
      });
    },
    async findOperatorKey(digest) {
      const found = await find(digest);
      return found && { key: found.row, operator: found.operator };
    },
    listOperatorKeys: (operatorId) => listRows(runner, OPERATOR_KEY, LIST, [operatorId]),
    endOperatorKey: (id, operatorId, event) =>
      runner.act({
        touches: [operatorId],
        event,
        demands: [isThere(operatorId)],
        first: { sql: END, values: [id, operatorId] },
        rest: [raisingEpoch(operatorId)],
      }),
  };
}
