/** What is alike of all that an operator registers under an id, with secrets: clients, resource servers, identity providers. */

import type { StoredSecret } from '../../oauth/keys/secret.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import { listed, type Runner } from '../acts.ts';
import type { Stored, Table } from './table.ts';

type Registered = {
  readonly id: string;
  readonly createdAt: number;
  readonly secrets: readonly StoredSecret[];
};

/**
 * Verbs on the rows of a table, of which an operator may change the columns of `settings`, and the secrets by those of `proof`:
 * only if these are as they were read.
 */
export function registered<Row extends Registered>(
  runner: Runner,
  table: Table<Row>,
  settings: Table<Partial<Row>>,
  proof: Table<Partial<Row>>,
) {
  const list = `SELECT ${table.names} FROM ${table.name} ORDER BY created_at, id`;
  const set = `
    UPDATE ${table.name} SET ${settings.assignments(2)}
    WHERE id = $1 AND ${settings.unchanged(2 + settings.columns.length)}`;
  const replace = `UPDATE ${table.name} SET secrets = $2 WHERE id = $1 AND ${proof.unchanged(3)}`;
  /** Changes the row of an id, by a statement whose first value that is; false when it changes none. */
  const change = (id: string, event: AuditEvent, sql: string, values: readonly Stored[] = []) =>
    runner.act({ touches: [id], event, first: { sql, values: [id, ...values] } });

  return {
    change,
    list: () => listed(runner, table, list),
    register: (row: Row, event: AuditEvent, sql = table.insertion) =>
      runner.act({ touches: [row.id], event, first: { sql, values: table.values(row) } }),
    update: (row: Row, expected: Row, event: AuditEvent) =>
      change(row.id, event, set, [...settings.values(row), ...settings.values(expected)]),
    replaceSecrets: (expected: Row, secrets: Row['secrets'], event: AuditEvent) =>
      change(expected.id, event, replace, [table.stored('secrets', secrets), ...proof.values(expected)]),
  };
}
