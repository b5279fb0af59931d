/** Operators, and their one-time addresses. */

import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import type { OneTimeAddress } from '../../../operator/access/one-time-address.ts';
import type { AdminBound, OperatorProblem, OperatorStore } from '../../../operator/access/operator-store.ts';
import { rowKey } from '../../statements/row-key.ts';
import { findRow, isAny, listRows, type Runner, type Statement } from '../../statements/shared-operations.ts';
import { Table } from '../../statements/table.ts';
import { operatorKeyStore } from './operator-keys.ts';
import { isActive, OPERATOR, onlyOnce, withOperator } from './operator-rows.ts';
import { operatorSessionStore } from './operator-sessions.ts';

/** A stored one-time address. */
export const OPERATOR_ONE_TIME_ADDRESS = Table.of<OneTimeAddress>('operator_one_time_address', {
  digest: 'bytes',
  operatorId: 'text',
  purpose: 'text',
  createdAt: 'time',
  expiresAt: 'time',
});

const SELECT = `SELECT ${OPERATOR.names} FROM operator`;
const ADD = `${OPERATOR.insertion} ON CONFLICT DO NOTHING`;
const SETTINGS = OPERATOR.pick('name', 'role', 'epoch');
const IS_TAKEN = 'SELECT 1 FROM operator WHERE name = $1 AND id <> $2';
const UPDATE = `
  UPDATE operator SET ${SETTINGS.assignments(2)} WHERE id = $1 AND ${OPERATOR.unchanged(5)}
    AND NOT EXISTS (SELECT 1 FROM operator AS other WHERE other.name = $2 AND other.id <> $1)`;
const DISABLE = "UPDATE operator SET status = 'disabled', epoch = epoch + 1 WHERE id = $1 AND status = 'active'";
const ENABLE = "UPDATE operator SET status = 'active' WHERE id = $1 AND status = 'disabled'";
const DELETE = 'DELETE FROM operator WHERE id = $1';
const RESET = "UPDATE operator SET epoch = epoch + 1 WHERE id = $1 AND status = 'active'";

/**
 * True if another active admin exists, or this operator is not one. Locks the found row, so that no concurrent change removes
 * that admin.
 */
const ADMIN_STAYS = `
  SELECT 1 FROM operator
  WHERE CASE WHEN id = $1 THEN NOT (role = 'admin' AND status = 'active') ELSE role = 'admin' AND status = 'active' END
  LIMIT 1 FOR SHARE`;

const END_ADDRESSES = 'DELETE FROM operator_one_time_address WHERE operator_id = $1';

/** Returns the statements that end the rows of some tables that belong to an operator. */
function ending(id: string, ...tables: readonly string[]): Statement[] {
  return tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE operator_id = $1`, values: [id] }));
}

function adding(address: OneTimeAddress): Statement {
  return { sql: OPERATOR_ONE_TIME_ADDRESS.insertion, values: OPERATOR_ONE_TIME_ADDRESS.values(address) };
}

/** Implements the port for operators. */
export function operatorStore(runner: Runner): OperatorStore {
  const findAddress = withOperator(runner, OPERATOR_ONE_TIME_ADDRESS, 'digest');
  const one = (column: 'id' | 'name', value: string) =>
    findRow(runner, OPERATOR, { sql: `${SELECT} WHERE ${column} = $1`, values: [value] });
  const staysAdmin = (id: string): Statement => ({ sql: ADMIN_STAYS, values: [id] });
  const demandsOf = (id: string, bound: AdminBound) => (bound === 'an admin stays' ? [staysAdmin(id)] : []);
  const whyNot = async (id: string, bound: AdminBound): Promise<OperatorProblem> => {
    const isLast = bound === 'an admin stays' && !(await isAny(runner, ADMIN_STAYS, [id]));
    return isLast && (await one('id', id)) ? 'last admin' : 'gone';
  };
  const take = async (
    id: string,
    bound: AdminBound,
    event: AuditEvent,
    first: Statement,
    rest: readonly Statement[] = [],
  ): Promise<OperatorProblem | null> => {
    const isDone = await runner.act({ touches: [id], event, demands: demandsOf(id, bound), first, rest });
    return isDone ? null : whyNot(id, bound);
  };

  return {
    ...operatorSessionStore(runner),
    ...operatorKeyStore(runner),
    findOperator: (id) => one('id', id),
    findOperatorByName: (name) => one('name', name),
    listOperators: () => listRows(runner, OPERATOR, `${SELECT} ORDER BY created_at, id`),
    addOperator: (operator, address, event) =>
      runner.act({
        touches: [operator.id, ...(address ? [rowKey(address.digest)] : [])],
        event,
        first: { sql: ADD, values: OPERATOR.values(operator) },
        rest: address ? [adding(address)] : [],
      }),
    async updateOperator(changed, expected, bound, event) {
      const { id, name } = changed;
      const values = [id, ...SETTINGS.values(changed), ...OPERATOR.values(expected)];
      const bounded = changed.role === 'admin' ? 'no bound' : bound;
      const problem = await take(id, bounded, event, { sql: UPDATE, values });
      if (problem !== 'gone') return problem;
      return (await isAny(runner, IS_TAKEN, [name, id])) ? 'name' : 'gone';
    },
    disableOperator: (id, bound, event) =>
      take(
        id,
        bound,
        event,
        { sql: DISABLE, values: [id] },
        ending(id, 'operator_session', 'operator_key', 'operator_one_time_address'),
      ),
    enableOperator: (id, event) => runner.act({ touches: [id], event, first: { sql: ENABLE, values: [id] } }),
    // Foreign keys delete what belongs to the operator.
    deleteOperator: (id, bound, event) => take(id, bound, event, { sql: DELETE, values: [id] }),
    resetOperator(address, event) {
      const { operatorId: id } = address;
      return runner.act({
        touches: [id, rowKey(address.digest)],
        event,
        first: { sql: RESET, values: [id] },
        rest: [...ending(id, 'operator_passkey', 'operator_session', 'operator_one_time_address'), adding(address)],
      });
    },
    addOneTimeAddress(address, event) {
      const { operatorId: id, purpose } = address;
      return runner.act({
        touches: [id, rowKey(address.digest)],
        event,
        demands: [isActive(id)],
        rest: [{ sql: `${END_ADDRESSES} AND purpose = $2`, values: [id, purpose] }, adding(address)],
      });
    },
    async findOneTimeAddress(digest) {
      const found = await findAddress(digest);
      return found && { address: found.row, operator: found.operator };
    },
    recordOperatorRefused(refused, event) {
      const { isFirst, noting } = onlyOnce(refused);
      return runner.act({ touches: [], event, demands: [isFirst], rest: [noting] });
    },
  };
}
