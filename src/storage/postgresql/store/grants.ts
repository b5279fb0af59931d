/**
 * Grants in PostgreSQL: every transition is one conditional update of one row. Whether the statement changed the row
 * decides a race. Each update writes its own attempt into the row: after a lost connection, the attempt shows whether
 * that update was committed.
 */

import { randomBytes } from 'node:crypto';
import { DEVICE_GRANT_TYPE } from '../../../oauth/grants/device-grant.ts';
import {
  type Generation,
  grantIdText,
  MAX_GRANTS_OF_ONE_APP,
  revokerOf,
  type Use,
} from '../../../oauth/grants/grant.ts';
import type { AccessOfRow } from '../../../oauth/grants/granted-access.ts';
import type { Redemption } from '../../../oauth/protocol/grant-store.ts';
import { type Mark, UseMarks } from '../../late-writes/use-marks.ts';
import { writeEach } from '../../late-writes/write-behind.ts';
import { bytesOf } from '../../statements/row-key.ts';
import { UNDONE } from '../../statements/shared-operations.ts';
import { Table } from '../../statements/table.ts';
import { MARK, MARKED, NOT_ENDED, replaceEqual, STORED_GRANT } from '../../tables/grants/grant-rows.ts';
import type { OwnGrants } from '../../tables/grants/grants.ts';
import { stillProven } from '../../tables/registrations/identity-providers.ts';
import type { Connection } from '../connection/connection.ts';
import { Batches } from '../statements/batches.ts';
import type { Database } from '../statements/database.ts';
import { arraysOf, givenRows } from '../statements/postgresql-dialect.ts';
import { isMet } from '../statements/runner.ts';

/** Identifies the write of a row after a lost connection. */
const ATTEMPT = Table.of<{ readonly id: Buffer; readonly attempt: Buffer }>('oauth_grant', {
  id: 'uuid',
  attempt: 'uuid',
});
const OWN_ATTEMPT = ATTEMPT.pick('attempt');

const GENERATION = STORED_GRANT.pick(
  ...(['generation', 'keyId', 'rotatedAt', 'presentedFrom', 'accessTokenExpiresAt', 'expiresAt'] as const),
).and(OWN_ATTEMPT);
const ADVANCED = STORED_GRANT.pick('id').and(GENERATION);

const MARKED_GRANT = STORED_GRANT.pick('id').and(MARK);

/** Returns the assignments of columns from the relation `asked`. */
const assigned = ({ columns }: Pick<Table<object>, 'columns'>) =>
  columns.map(({ name }) => `${name} = asked.${name}`).join(', ');

const ADVANCE = `
  UPDATE oauth_grant SET ${assigned(GENERATION)} FROM ${givenRows(ADVANCED)}
  WHERE oauth_grant.id = asked.id AND oauth_grant.generation = asked.generation - 1 AND ${NOT_ENDED}
  RETURNING oauth_grant.id`;

const OWNER_AND_CLIENT = '(oauth_grant.resource_owner_id, oauth_grant.client_id)';

/**
 * `ADVANCE`, and whether the resource owner has too many grants for the client. With two equalities, a plan made while
 * the table was empty could read all grants of the client by the client's index; only the index of both columns serves
 * this row comparison.
 */
const REDEEM = `${ADVANCE}, EXISTS (
  SELECT FROM oauth_grant AS other
  WHERE (other.resource_owner_id, other.client_id) BETWEEN ${OWNER_AND_CLIENT} AND ${OWNER_AND_CLIENT}
  OFFSET ${MAX_GRANTS_OF_ONE_APP}) AS is_over_limit`;

const REPLACE_EQUAL = replaceEqual('$1::uuid');

const ATTEMPTED = `
  SELECT oauth_grant.id FROM ${givenRows(ATTEMPT)}
  JOIN oauth_grant ON oauth_grant.id = asked.id AND oauth_grant.attempt = asked.attempt`;

const LOCK_OF_CLIENT = `
  SELECT id FROM oauth_grant
  WHERE resource_owner_id = $1 AND client_id = $2 AND redirect_uri IS DISTINCT FROM $3 AND revoked_at IS NULL
  ORDER BY id FOR NO KEY UPDATE`;

const REVOKE_OF_CLIENT = `
  UPDATE oauth_grant SET revoked_at = $1, revocation_reason = $6, attempt = $2
  WHERE resource_owner_id = $3 AND client_id = $4 AND redirect_uri IS DISTINCT FROM $5 AND ${NOT_ENDED}
  RETURNING resource, scope, openid`;

const REVOKED_OF_CLIENT = `
  SELECT resource, scope, openid FROM oauth_grant WHERE resource_owner_id = $1 AND client_id = $2 AND attempt = $3`;

const MARK_USES = `
  UPDATE oauth_grant SET ${MARKED} FROM ${givenRows(MARKED_GRANT, 'mark')}
  WHERE oauth_grant.id = mark.id AND (oauth_grant.used_generation < mark.generation
    OR oauth_grant.last_used_at IS NULL OR oauth_grant.last_used_at < mark.used_at)`;

/** A written row. After a lost connection a second statement finds it, which does not return `is_over_limit`. */
type WrittenRow = { readonly id: string; readonly is_over_limit?: boolean };

/** The row of a redemption. */
type Redeemed = Parameters<typeof ADVANCED.values>[0];

/** Number of marks that share one statement. */
const MARKS_PER_STATEMENT = 256;

/** The grants' rows as what a statement locks. */
const ROWS = { table: 'oauth_grant', key: 'id', rowOf: ({ id }: { readonly id: Buffer }) => grantIdText(id) };

/** Returns the use marks of one instance, which other instances see within a second. */
export function useMarks(database: Database): UseMarks {
  type Row = Use & { readonly id: Buffer };
  const batches = new Batches<Row, null>({
    connections: database.writes,
    // Without waiting: the mark of a locked row is written later.
    locks: ROWS,
    keyOf: ROWS.rowOf,
    async send(connection, rows) {
      await connection.change(MARK_USES, arraysOf(MARKED_GRANT, rows));
      return rows.map(() => null);
    },
  });
  const write = (marks: readonly Mark[]) =>
    writeEach(marks, ({ key, ...mark }) => batches.add({ id: bytesOf(key), ...mark }));
  return new UseMarks({ write, maxPerWrite: MARKS_PER_STATEMENT });
}

/** Returns the transitions of grants in a database. */
export function ownGrants(database: Database): OwnGrants {
  const write = <Row extends Written>(table: Table<Row>, sql: string) => writing(database, table, sql);
  const redeem = write(ADVANCED, REDEEM);
  const rotate = write(ADVANCED, ADVANCE);

  return {
    async redeemAuthorizationCode(next, source, renews = false): Promise<Redemption> {
      const redeemed = renews
        ? await redeemRenewed(database, { ...advanced(next, source), attempt: randomBytes(16) })
        : await redeem(advanced(next, source));
      if (!redeemed) return false;
      return redeemed.is_over_limit === false ? 'redeemed' : 'overLimit';
    },
    rotateRefreshToken: async (next, source) => (await rotate(advanced(next, source))) !== null,
    async revokeGrantsOfClient(resourceOwnerId, clientId, event, which = 'all', proof) {
      const whose = [resourceOwnerId, clientId];
      const spared = which === 'all' ? null : DEVICE_GRANT_TYPE;
      const ended = await database.act<AccessOfRow[]>(
        event,
        async (connection, attempt) => {
          if (proof && !(await isMet(connection, stillProven(proof)))) return [];
          await lockAll(connection, [...whose, spared]);
          return connection.rows(REVOKE_OF_CLIENT, [event.at, attempt, ...whose, spared, revokerOf(event)]);
        },
        (connection, attempt) => connection.rows(REVOKED_OF_CLIENT, [...whose, attempt]),
      );
      return ended.length;
    },
  };
}

/** Redeems a grant that replaces its equals, in one transaction; resolves to null, and replaces none, if it was not redeemed. */
function redeemRenewed(database: Database, row: Redeemed): Promise<WrittenRow | null> {
  return database.run(async (connection, again) => {
    const [written] = again ? await connection.rows<WrittenRow>(ATTEMPTED, arraysOf(ATTEMPT, [row])) : [];
    if (written) return written;
    try {
      return await connection.transaction(async () => {
        await connection.change(REPLACE_EQUAL, [grantIdText(row.id), row.rotatedAt]);
        const [redeemed] = await connection.rows<WrittenRow>(REDEEM, arraysOf(ADVANCED, [row]));
        if (!redeemed) throw UNDONE;
        return redeemed;
      });
    } catch (error) {
      if (error !== UNDONE) throw error;
      return null;
    }
  });
}

/**
 * Locks all grants of an app before they are revoked. A waiting lock may wait for an Allow that depends on one of them,
 * and cannot see that Allow's new grant. So it locks again until it finds no more. Afterwards every later Allow waits.
 */
async function lockAll(connection: Connection, values: readonly (string | null)[]): Promise<void> {
  const lock = async () => (await connection.rows(LOCK_OF_CLIENT, values)).length;
  let before = 0;
  let locked = await lock();
  while (locked !== before) {
    before = locked;
    locked = await lock();
  }
}

function advanced({ grantId, ...next }: Generation, source: string | undefined) {
  return { id: grantId, ...next, presentedFrom: source ?? null };
}

/** A write of one grant: its id, an attempt, and the columns that a statement names. */
type Written = { readonly id: Buffer; readonly attempt: Buffer };

/**
 * Prepares a write of grants by their ids; resolves to null if the row was not written. After a lost connection, a row
 * with the same attempt was written by the earlier try: this statement waited for that try if it was still in progress.
 */
function writing<Row extends Written>(database: Database, table: Table<Row>, sql: string) {
  const batches = new Batches<Row, WrittenRow | null>({
    connections: database.writes,
    locks: { ...ROWS, waits: database.waits },
    keyOf: ROWS.rowOf,
    async send(connection, rows, again) {
      const written = await connection.rows<WrittenRow>(sql, arraysOf(table, rows));
      if (again) written.push(...(await connection.rows<WrittenRow>(ATTEMPTED, arraysOf(ATTEMPT, rows))));
      const byId = new Map(written.map((row) => [row.id, row]));
      return rows.map(({ id }) => byId.get(grantIdText(id)) ?? null);
    },
  });
  return (row: Omit<Row, 'attempt'>) => batches.add({ ...row, attempt: randomBytes(16) } as Row);
}
