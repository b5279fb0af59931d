/** The transitions of grants in SQLite: each is one conditional update of one row, whose count of changed rows decides a race. */

import { DEVICE_GRANT_TYPE } from '../../oauth/grants/device-grant.ts';
import { type AllowBasis, type Generation, type Grant, MAX_GRANTS_OF_ONE_APP } from '../../oauth/grants/grant.ts';
import type { GrantedAccess } from '../../oauth/grants/granted-access.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { Runner, Statement } from '../acts.ts';
import { bytesOf, rowKey } from '../row-key.ts';
import { GRANT, hasItsEpochs, IS_REMEMBERED, MARK, MARKED, NOT_ENDED, STORED_GRANT } from '../tables/grant-rows.ts';
import type { OwnGrants } from '../tables/grants.ts';
import { stillProven } from '../tables/identity-providers.ts';
import { Table } from '../tables/table.ts';
import { type Mark, UseMarks } from '../use-marks.ts';
import type { Tables } from './tables.ts';

/** Number of marks that share one write. */
const MARKS_PER_WRITE = 128;

const MARK_USE = `UPDATE oauth_grant SET ${MARK.columns.reduce((sql, { name }, index) => sql.replaceAll(`mark.${name}`, `$${index + 2}`), MARKED)} WHERE id = $1`;

const HAS_SESSION = 'SELECT 1 FROM session WHERE digest = $1';
const EPOCHS = GRANT.pick('clientId', 'resourceOwnerId', 'epochs');
const HAS_EPOCHS = `
  SELECT 1 FROM (SELECT ${EPOCHS.columns.map(({ name }, index) => `$${index + 1} AS ${name}`).join(', ')}) AS asked
  WHERE ${hasItsEpochs('asked')}`;
const REMEMBERED = `SELECT 1 FROM oauth_grant WHERE id = $1 AND ${IS_REMEMBERED}`;

const ADVANCED = STORED_GRANT.pick(
  ...(['generation', 'keyId', 'rotatedAt', 'presentedFrom', 'accessTokenExpiresAt', 'expiresAt'] as const),
);
const ADVANCE = `UPDATE oauth_grant SET ${ADVANCED.assignments(2)} WHERE id = $1 AND generation = $2 - 1 AND ${NOT_ENDED}`;

/** The index has both columns, so that of the others no row is read. */
const CROWDED = `
  SELECT 1 FROM oauth_grant CROSS JOIN oauth_grant AS other INDEXED BY grant_by_resource_owner
    ON other.resource_owner_id = oauth_grant.resource_owner_id AND other.client_id = oauth_grant.client_id
  WHERE oauth_grant.id = $1 LIMIT 1 OFFSET ${MAX_GRANTS_OF_ONE_APP}`;

/** What a grant gave that has ended. */
const ENDED = Table.of<GrantedAccess>('oauth_grant', { resource: 'text?', scope: 'text' });
const REVOKE = `
  UPDATE oauth_grant SET revoked_at = $1, revocation_reason = $2 WHERE id = $3 AND ${NOT_ENDED} RETURNING ${ENDED.names}`;
const REVOKE_OF_CLIENT = `
  UPDATE oauth_grant SET revoked_at = $1, revocation_reason = 'user'
  WHERE resource_owner_id = $2 AND client_id = $3 AND redirect_uri IS NOT $4 AND ${NOT_ENDED} RETURNING ${ENDED.names}`;

/** The marks of these tables' grants. They touch no row, as nobody waits for them: losing one is allowed. */
export function useMarks(tables: Tables): UseMarks {
  const write = (marks: readonly Mark[]) =>
    tables.write([], () => {
      for (const mark of marks) tables.change({ sql: MARK_USE, values: [bytesOf(mark.key), ...MARK.values(mark)] });
    });
  return new UseMarks({ write, maxPerWrite: MARKS_PER_WRITE });
}

/** The transitions of grants on these tables. */
export function ownGrants(tables: Tables, runner: Runner): OwnGrants {
  /** Ends grants and records what they gave, if any did; returns how many. */
  const end = (event: AuditEvent, revoking: Statement): number => {
    const ended = tables.rows(revoking).map((row) => ENDED.read(row));
    if (ended.length > 0) tables.record(event, ended);
    return ended.length;
  };

  return {
    issueGrant: (grant, event, basis) =>
      runner.act({
        touches: [rowKey(grant.id)],
        event,
        demands: basis ? demandsOf(grant, basis) : [],
        first: { sql: GRANT.insertion, values: GRANT.values(grant) },
      }),
    redeemAuthorizationCode: (next, source) =>
      tables.write([rowKey(next.grantId)], () => {
        if (tables.change(advancing(next, source)) === 0) return false;
        return tables.isAny({ sql: CROWDED, values: [next.grantId] }) ? 'crowded' : 'redeemed';
      }),
    rotateRefreshToken: (next, source) => runner.changeOne([rowKey(next.grantId)], advancing(next, source)),
    revokeGrant: (id, reason, event) =>
      tables.write([rowKey(id)], () => end(event, { sql: REVOKE, values: [event.at, reason, id] }) === 1),
    revokeGrantsOfClient: (resourceOwnerId, clientId, event, which = 'all', proof) =>
      tables.write([resourceOwnerId], () => {
        if (proof && !tables.isAny(stillProven(proof))) return 0;
        const spared = which === 'all' ? null : DEVICE_GRANT_TYPE;
        return end(event, { sql: REVOKE_OF_CLIENT, values: [event.at, resourceOwnerId, clientId, spared] });
      }),
  };
}

/** What an Allow rests on, asked for again in the write of its grant. */
function demandsOf(grant: Grant, { session, remembered }: AllowBasis): Statement[] {
  return [
    { sql: HAS_SESSION, values: [session] },
    { sql: HAS_EPOCHS, values: EPOCHS.values(grant) },
    ...remembered.map((id) => ({ sql: REMEMBERED, values: [id] })),
  ];
}

function advancing(next: Generation, source?: string): Statement {
  return { sql: ADVANCE, values: [next.grantId, ...ADVANCED.values({ ...next, presentedFrom: source ?? null })] };
}
