/**
 * The shared operations on clients, resource servers and identity providers: rows with secrets that operators register.
 */

import type { StoredSecret } from '../../../oauth/keys/secret.ts';
import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import type { HandOverKind } from '../../../operator/hand-over/hand-over.ts';
import { type Act, findRow, listRows, type Runner, type Statement } from '../../statements/shared-operations.ts';
import type { Stored, Table } from '../../statements/table.ts';
import { endingHandOver } from './hand-over-rows.ts';
import { digestText } from './stored-secrets.ts';

type Registered = {
  readonly id: string;
  readonly createdAt: number;
  readonly secrets: readonly StoredSecret[];
};

/** Returns the statement that registers a row, unless its id exists already. */
export function insertUnlessThere<Row extends Registered>(table: Table<Row>, row: Row): Statement {
  return { sql: `${table.insertion} ON CONFLICT DO NOTHING`, values: table.values(row) };
}

/**
 * Returns operations on a table. An operator may change the columns of `settings` while those are as they were read,
 * and the secrets while the columns of `proof` are. A change of secrets ends an open hand-over.
 */
export function registeredStore<Row extends Registered>(
  runner: Runner,
  kind: HandOverKind,
  table: Table<Row>,
  settings: Table<Partial<Row>>,
  proof: Table<Partial<Row>>,
) {
  const list = `SELECT ${table.names} FROM ${table.name} ORDER BY created_at, id`;
  const set = `
    UPDATE ${table.name} SET ${settings.assignments(2)}
    WHERE id = $1 AND ${settings.unchanged(2 + settings.columns.length)}`;
  const [newer, older] = runner.dialect.secretDigests;
  const bySecret = `SELECT ${table.names} FROM ${table.name} WHERE ${newer} = $1 OR ${older} = $1`;
  const replace = `UPDATE ${table.name} SET secrets = $2 WHERE id = $1 AND ${proof.unchanged(3)}`;
  /** Changes a row by a statement whose `$1` is its id; returns false if no row changed. */
  const change = (
    id: string,
    event: AuditEvent,
    sql: string,
    values: readonly Stored[] = [],
    more: Pick<Act, 'also' | 'rest'> = {},
  ) => runner.act({ touches: [id], event, first: { sql, values: [id, ...values] }, ...more });

  return {
    change,
    list: () => listRows(runner, table, list),
    findBySecret: (digest: Buffer) => findRow(runner, table, { sql: bySecret, values: [digestText(digest)] }),
    register: (row: Row, event: AuditEvent) =>
      runner.act({ touches: [row.id], event, first: insertUnlessThere(table, row) }),
    update: (row: Row, expected: Row, event: AuditEvent) =>
      change(row.id, event, set, [...settings.values(row), ...settings.values(expected)]),
    replaceSecrets: (expected: Row, secrets: Row['secrets'], event: AuditEvent) =>
      change(expected.id, event, replace, [table.stored('secrets', secrets), ...proof.values(expected)], {
        also: [endingHandOver({ kind, id: expected.id }, event, 'secret changed')],
      }),
  };
}
