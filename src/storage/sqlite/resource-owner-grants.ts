/** All grants of one resource owner in SQLite: put together for people, and kept to their limit for one client. */
import { DEVICE_GRANT_TYPE } from '../../oauth/device-authorization.ts';
import type { GrantStore } from '../../oauth/store.ts';
import { NOT_ENDED } from '../tables/grants.ts';
import { asBuffer } from '../tables/table.ts';
import type { UseMarks } from '../use-marks.ts';
import type { Tables } from './tables.ts';

type SummaryRow = readonly [
  id: Uint8Array,
  clientId: string,
  clientName: string,
  scope: string,
  resource: string | null,
  redirectUri: string,
  isRedeemed: 0 | 1,
  grantedAt: number,
  lastGrantedAt: number,
  lastUsedAt: number,
];

/** At least as many as can come together in one commit, so that they do not become more. */
const DELETIONS = 256;

/** `?1` is the resource owner, `?2` the moment, `?3` the grant type of devices. `lastUse` of grant.ts says the last use. */
const summarize = (some: string) => `
  SELECT max(oauth_grant.id), client_id, client.name, scope, resource, redirect_uri, generation > 0,
    min(granted_at), max(granted_at), max(max(coalesce(last_used_at, 0), iif(generation > 1, rotated_at, 0)))
  FROM oauth_grant INDEXED BY grant_by_resource_owner CROSS JOIN client ON client.id = client_id
  WHERE resource_owner_id = ?1 AND expires_at > ?2 AND ${NOT_ENDED} ${some}
  GROUP BY client_id, scope, resource, redirect_uri, generation > 0,
    iif(generation = 0 OR redirect_uri = ?3, oauth_grant.id, NULL)`;

/** What the port's grants do with all of one resource owner. */
export function resourceOwnerGrants(
  tables: Tables,
  marks: UseMarks,
): Pick<GrantStore, 'summarizeGrants' | 'listActiveGrants' | 'deleteEndedGrants'> {
  const summaries = tables.tuples<SummaryRow>(summarize(''));
  const summariesOfClient = tables.tuples<SummaryRow>(summarize('AND client_id = ?4'));
  const active = tables.tuples<readonly [id: Uint8Array, usedAt: number]>(
    `SELECT id, max(coalesce(last_used_at, 0), rotated_at) FROM oauth_grant INDEXED BY grant_by_resource_owner
     WHERE resource_owner_id = ? AND client_id = ? AND generation > 0 AND expires_at > ? AND ${NOT_ENDED}`,
  );
  const deleteEnded = tables.change(
    `DELETE FROM oauth_grant WHERE id IN (
       SELECT id FROM oauth_grant INDEXED BY grant_by_resource_owner
       WHERE resource_owner_id = ? AND client_id = ? AND iif(generation = 0, expires_at <= ?, NOT (${NOT_ENDED}))
       LIMIT ${DELETIONS})`,
  );

  return {
    async summarizeGrants(resourceOwnerId, liveAt, clientId) {
      await marks.flush();
      const asked = [resourceOwnerId, liveAt, DEVICE_GRANT_TYPE] as const;
      const rows = clientId === undefined ? summaries(...asked) : summariesOfClient(...asked, clientId);
      return tables.onDisk('all', rows.map(asSummary));
    },
    async listActiveGrants(resourceOwnerId, clientId, liveAt) {
      await marks.flush();
      const rows = active(resourceOwnerId, clientId, liveAt);
      return tables.onDisk(
        'all',
        rows.map(([id, usedAt]) => ({ id: asBuffer(id), usedAt })),
      );
    },
    async deleteEndedGrants(resourceOwnerId, clientId, expiredAt) {
      // What is kept of them may stay: it says the same, that they are over.
      await tables.writeThrough([], () => deleteEnded(resourceOwnerId, clientId, expiredAt));
    },
  };
}

function asSummary(row: SummaryRow) {
  const [id, clientId, clientName, scope, resource, redirectUri, isRedeemed, grantedAt, lastGrantedAt, lastUsedAt] =
    row;
  return {
    id: asBuffer(id),
    clientId,
    clientName,
    scope,
    resource,
    redirectUri,
    isRedeemed: isRedeemed === 1,
    grantedAt,
    lastGrantedAt,
    lastUsedAt: lastUsedAt || null,
  };
}
