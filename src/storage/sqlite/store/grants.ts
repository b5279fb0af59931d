/**
 * The transitions of grants in SQLite: each is one conditional update of one row. Its count of changed rows decides a
 * race.
 */

import { DEVICE_GRANT_TYPE } from '../../../oauth/grants/device-grant.ts';
import { type Generation, MAX_GRANTS_OF_ONE_APP, revokerOf } from '../../../oauth/grants/grant.ts';
import { type Mark, UseMarks } from '../../late-writes/use-marks.ts';
import { bytesOf, rowKey } from '../../statements/row-key.ts';
import type { Runner, Statement } from '../../statements/shared-operations.ts';
import { ENDED_ACCESS, MARK, MARKED, NOT_ENDED, replaceEqual, STORED_GRANT } from '../../tables/grants/grant-rows.ts';
import type { OwnGrants } from '../../tables/grants/grants.ts';
import { stillProven } from '../../tables/registrations/identity-providers.ts';
import type { Tables } from '../statements/prepared-statements.ts';
import { endGrants } from '../statements/runner.ts';

/** Number of marks that share one write. */
const MARKS_PER_WRITE = 128;

const MARK_USE = `UPDATE oauth_grant SET ${MARK.columns.reduce((sql, { name }, index) => sql.replaceAll(`mark.${name}`, `$${index + 2}`), MARKED)} WHERE id = $1`;

const ADVANCED = STORED_GRANT.pick(
  ...(['generation', 'keyId', 'rotatedAt', 'presentedFrom', 'accessTokenExpiresAt', 'expiresAt'] as const),
);
const ADVANCE = `UPDATE oauth_grant SET ${ADVANCED.assignments(2)} WHERE id = $1 AND generation = $2 - 1 AND ${NOT_ENDED}`;

/** The index has both columns, so the count reads no rows of the other grants. */
const OVER_LIMIT = `
  SELECT 1 FROM oauth_grant CROSS JOIN oauth_grant AS other INDEXED BY grant_by_resource_owner
    ON other.resource_owner_id = oauth_grant.resource_owner_id AND other.client_id = oauth_grant.client_id
  WHERE oauth_grant.id = $1 LIMIT 1 OFFSET ${MAX_GRANTS_OF_ONE_APP}`;

const REPLACE_EQUAL = replaceEqual('$1');

const REVOKE_OF_CLIENT = `
  UPDATE oauth_grant SET revoked_at = $1, revocation_reason = $5
  WHERE resource_owner_id = $2 AND client_id = $3 AND redirect_uri IS NOT $4 AND ${NOT_ENDED} RETURNING ${ENDED_ACCESS.names}`;

/**
 * Returns the use marks of these tables' grants. Their write touches no row, so no read waits for them: losing a mark
 * is allowed.
 */
export function useMarks(tables: Tables): UseMarks {
  const write = (marks: readonly Mark[]) =>
    tables.write([], () => {
      for (const mark of marks) tables.change({ sql: MARK_USE, values: [bytesOf(mark.key), ...MARK.values(mark)] });
      return [];
    });
  return new UseMarks({ write, maxPerWrite: MARKS_PER_WRITE });
}

/** Returns the transitions of grants on these tables. */
export function ownGrants(tables: Tables, runner: Runner): OwnGrants {
  return {
    redeemAuthorizationCode: (next, source, renews = false) =>
      tables.write([rowKey(next.grantId)], () => {
        if (tables.change(advancing(next, source)) === 0) return false;
        if (renews) tables.change({ sql: REPLACE_EQUAL, values: [next.grantId, next.rotatedAt] });
        return tables.isAny({ sql: OVER_LIMIT, values: [next.grantId] }) ? 'overLimit' : 'redeemed';
      }),
    rotateRefreshToken: (next, source) => runner.changeOne([rowKey(next.grantId)], advancing(next, source)),
    revokeGrantsOfClient: (resourceOwnerId, clientId, event, which = 'all', proof) =>
      tables.write([resourceOwnerId], () => {
        if (proof && !tables.isAny(stillProven(proof))) return 0;
        const spared = which === 'all' ? null : DEVICE_GRANT_TYPE;
        const values = [event.at, resourceOwnerId, clientId, spared, revokerOf(event)];
        return endGrants(tables, event, { sql: REVOKE_OF_CLIENT, values });
      }),
  };
}

function advancing(next: Generation, source?: string): Statement {
  return { sql: ADVANCE, values: [next.grantId, ...ADVANCED.values({ ...next, presentedFrom: source ?? null })] };
}
