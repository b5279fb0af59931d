/**
 * The statements by which a restore ends the grants that ended after the backup, by the newer audit trail, and the
 * revived things.
 */
import { DEVICE_GRANT_TYPE } from '../../../oauth/grants/device-grant.ts';
import { parseGrantId } from '../../../oauth/grants/grant.ts';
import type { EndedSince, Revived, RevivedThing } from '../../../oauth/installation/since-backup.ts';
import type { Dialect, Statement } from '../../statements/shared-operations.ts';

const END_GRANT = `UPDATE oauth_grant SET revoked_at = $1, revocation_reason = 'restored' WHERE revoked_at IS NULL`;

/** Returns the statements that end everything in `ended`, at a time (ms). */
export function endingOf(ended: EndedSince, at: number, { givenId }: Dialect): Statement[] {
  const raised = (table: string) => (id: string) => ({
    sql: `UPDATE ${table} SET epoch = epoch + 1 WHERE id = $1`,
    values: [id],
  });
  return [
    ...ended.clientIds.map(raised('client')),
    ...ended.resourceOwnerIds.map(raised('account')),
    ...ended.pairs.map(({ clientId, resourceOwnerId, butForDevices }) => ({
      sql: `${END_GRANT} AND resource_owner_id = $2 AND client_id = $3 AND redirect_uri <> $4`,
      values: [at, resourceOwnerId, clientId, butForDevices ? DEVICE_GRANT_TYPE : ''],
    })),
    ...ended.grantIds
      .map(parseGrantId)
      .filter((id) => id !== null)
      .map((id) => ({ sql: `${END_GRANT} AND id = ${givenId('$2')}`, values: [at, id] })),
  ];
}

/** Pauses clients and providers, and disables users and operators: an operator reviews and reactivates each. */
const ENDINGS: Readonly<Record<Revived['kind'], (what: RevivedThing) => readonly string[]>> = {
  client: () => ["UPDATE client SET status = 'paused' WHERE id = $1"],
  identity_provider: () => ["UPDATE identity_provider SET status = 'paused' WHERE id = $1"],
  resource_server: () => ["UPDATE resource_server SET secrets = '[]' WHERE id = $1"],
  user: (what) => [
    what === 'password'
      ? 'UPDATE account SET password = NULL, password_set_at = NULL, foreign_rank = NULL, is_unwrapped = FALSE WHERE id = $1'
      : "UPDATE account SET status = 'disabled' WHERE id = $1",
  ],
  // A restore ends all sessions and one-time addresses of operators.
  operator: (what) =>
    what === 'passkeys'
      ? ['DELETE FROM operator_passkey WHERE operator_id = $1']
      : [
          "UPDATE operator SET status = 'disabled', epoch = epoch + 1 WHERE id = $1",
          'DELETE FROM operator_key WHERE operator_id = $1',
        ],
  root_key: () => [],
};

/** Returns the statements that end revived things again. */
export function endingRevived(revived: readonly Revived[]): Statement[] {
  return revived.flatMap(({ kind, id, what }) => ENDINGS[kind](what).map((sql) => ({ sql, values: [id] })));
}
