/** All grants of one resource owner in PostgreSQL: put together for people, and kept to their limit for one client. */
import { DEVICE_GRANT_TYPE } from '../../oauth/device-authorization.ts';
import { parseGrantId } from '../../oauth/grant.ts';
import type { GrantStore } from '../../oauth/store.ts';
import { NOT_ENDED } from '../tables/grants.ts';
import type { UseMarks } from '../use-marks.ts';
import type { Database } from './database.ts';

type SummaryRow = {
  readonly id: string;
  readonly client_id: string;
  readonly client_name: string;
  readonly scope: string;
  readonly resource: string | null;
  readonly redirect_uri: string;
  readonly is_redeemed: boolean;
  readonly granted_at: number;
  readonly last_granted_at: number;
  readonly last_used_at: number | null;
};

/** At least as many as can come together in one statement, so that they do not become more. */
const DELETIONS = 256;

/** `$3` is the grant type of devices, `$4` a client or null. `lastUse` of grant.ts says the last use. */
const SUMMARIZE = `
  SELECT max(oauth_grant.id::text) AS id, client_id, client.name AS client_name, scope, resource, redirect_uri,
    generation > 0 AS is_redeemed, min(granted_at) AS granted_at, max(granted_at) AS last_granted_at,
    max(greatest(last_used_at, CASE WHEN generation > 1 THEN rotated_at END)) AS last_used_at
  FROM oauth_grant JOIN client ON client.id = client_id
  WHERE resource_owner_id = $1 AND expires_at > $2 AND ($4::text IS NULL OR client_id = $4) AND ${NOT_ENDED}
  GROUP BY client_id, client.name, scope, resource, redirect_uri, generation > 0,
    CASE WHEN generation = 0 OR redirect_uri = $3 THEN oauth_grant.id END`;

const ACTIVE = `
  SELECT id, greatest(last_used_at, rotated_at) AS used_at FROM oauth_grant
  WHERE resource_owner_id = $1 AND client_id = $2 AND generation > 0 AND expires_at > $3 AND ${NOT_ENDED}`;

/** Nobody waits for a row that another one deletes, or marks as used. */
const DELETE_ENDED = `
  DELETE FROM oauth_grant WHERE id IN (
    SELECT id FROM oauth_grant
    WHERE resource_owner_id = $1 AND client_id = $2
      AND CASE WHEN generation = 0 THEN expires_at <= $3 ELSE NOT (${NOT_ENDED}) END
    LIMIT ${DELETIONS} FOR UPDATE SKIP LOCKED)`;

/** What the port's grants do with all of one resource owner. */
export function resourceOwnerGrants(
  database: Database,
  marks: UseMarks,
): Pick<GrantStore, 'summarizeGrants' | 'listActiveGrants' | 'deleteEndedGrants'> {
  return {
    async summarizeGrants(resourceOwnerId, liveAt, clientId) {
      await marks.flush();
      const asked = [resourceOwnerId, liveAt, DEVICE_GRANT_TYPE, clientId ?? null];
      return (await database.rows<SummaryRow>(SUMMARIZE, asked)).map(asSummary);
    },
    async listActiveGrants(resourceOwnerId, clientId, liveAt) {
      await marks.flush();
      type Row = { readonly id: string; readonly used_at: number };
      const rows = await database.rows<Row>(ACTIVE, [resourceOwnerId, clientId, liveAt]);
      return rows.map(({ id, used_at }) => ({ id: parseGrantId(id) as Buffer, usedAt: used_at }));
    },
    async deleteEndedGrants(resourceOwnerId, clientId, expiredAt) {
      await database.change(DELETE_ENDED, [resourceOwnerId, clientId, expiredAt]);
    },
  };
}

function asSummary(row: SummaryRow) {
  return {
    id: parseGrantId(row.id) as Buffer,
    clientId: row.client_id,
    clientName: row.client_name,
    scope: row.scope,
    resource: row.resource,
    redirectUri: row.redirect_uri,
    isRedeemed: row.is_redeemed,
    grantedAt: row.granted_at,
    lastGrantedAt: row.last_granted_at,
    lastUsedAt: row.last_used_at,
  };
}
