/** Grants in SQLite: every transition is one conditional update of one row, and its count of changed rows decides a race. */
import type { SQLInputValue } from 'node:sqlite';
import type { Client } from '../../oauth/client.ts';
import type { Generation, Grant } from '../../oauth/grant.ts';
import type { GrantFilter, GrantStore } from '../../oauth/store.ts';
import {
  asGrant,
  asGrantInContext,
  GRANT_COLUMNS,
  type GrantRow,
  grantValues,
  type ListedGrantRow,
  SELECT_GRANT,
} from './grant-rows.ts';
import { RowCache } from './row-cache.ts';
import { Standings } from './standings.ts';
import { INSTALLATION, rowKey, type Tables } from './tables.ts';
import type { UseMarks } from './use-marks.ts';

/**
 * Not revoked, neither alone nor by an epoch. Transitions ask under the write lock, so that a revocation of any kind
 * that was committed first wins, whatever the request had read before it.
 */
const NOT_ENDED = `revoked_at IS NULL AND EXISTS (
  SELECT 1 FROM installation, client, account
  WHERE installation.epoch = oauth_grant.installation_epoch
    AND client.id = oauth_grant.client_id AND client.epoch = oauth_grant.client_epoch
    AND account.id = oauth_grant.resource_owner_id AND account.epoch = oauth_grant.resource_owner_epoch)`;

/** Grants as their rows say; marks that are still to be written may be missing. */
export function grantCache(tables: Tables): RowCache<Grant> {
  const find = tables.one<GrantRow>(`SELECT ${GRANT_COLUMNS.join(', ')} FROM oauth_grant WHERE id = ?`);
  return new RowCache(tables, (key) => {
    const row = find(Buffer.from(key, 'latin1'));
    return row ? asGrant(row) : null;
  });
}

/** The port's grants on these tables. */
export function grantStore(
  tables: Tables,
  grants: RowCache<Grant>,
  clients: RowCache<Client>,
  marks: UseMarks,
): GrantStore {
  const standings = new Standings(tables, clients);
  const epochs = tables.one<{ installation: number; client: number; resourceOwner: number }>(
    `SELECT installation.epoch AS installation, client.epoch AS client, account.epoch AS resourceOwner
     FROM installation, client, account WHERE client.id = ? AND account.id = ?`,
  );
  const insert = tables.change(
    `INSERT INTO oauth_grant (${GRANT_COLUMNS.join(', ')}) VALUES (${GRANT_COLUMNS.map(() => '?').join(', ')})`,
  );
  const advance = tables.change(
    `UPDATE oauth_grant
     SET generation = ?, key_id = ?, rotated_at = ?, access_token_expires_at = ?, expires_at = ?
     WHERE id = ? AND generation = ? AND ${NOT_ENDED}`,
  );
  const revoke = tables.change(
    `UPDATE oauth_grant SET revoked_at = ?, revocation_reason = ? WHERE id = ? AND ${NOT_ENDED}`,
  );
  const revokeOfClient = tables.change(
    `UPDATE oauth_grant SET revoked_at = ?, revocation_reason = 'user'
     WHERE resource_owner_id = ? AND client_id = ? AND ${NOT_ENDED}`,
  );
  const raiseEpoch = tables.change('UPDATE installation SET epoch = epoch + 1');
  const clientsOf = tables.all<{ client_id: string }>(
    `SELECT DISTINCT client_id FROM oauth_grant WHERE resource_owner_id = ? AND expires_at > ? AND ${NOT_ENDED}`,
  );

  const transition = ({ grantId, generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt }: Generation) => {
    const key = rowKey(grantId);
    return tables.writeThrough([key], () => {
      const values = [generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt];
      if (advance(...values, grantId, generation - 1) === 0) return false;
      grants.change(key, (grant) => ({ ...grant, generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt }));
      return true;
    });
  };

  return {
    async findGrant(id) {
      const key = rowKey(id);
      const grant = grants.find(key);
      const context = grant && standings.find(grant);
      if (!context) return tables.onDisk('all', null);
      const restsOn = [key, grant.clientId, grant.resourceOwnerId, INSTALLATION];
      return tables.onDisk(restsOn, { ...context, grant: marks.merge(grant) });
    },
    async findEpochs(clientId, resourceOwnerId) {
      const found = epochs(clientId, resourceOwnerId);
      return tables.onDisk([clientId, resourceOwnerId, INSTALLATION], found ? { ...found } : null);
    },
    async issueGrant(grant, event) {
      const key = rowKey(grant.id);
      await tables.act([key], event, () => {
        grants.keep(key, grant);
        return insert(...grantValues(grant));
      });
    },
    redeemAuthorizationCode: transition,
    rotateRefreshToken: transition,
    revokeGrant: (id, reason, event) => tables.act([rowKey(id)], event, () => revoke(event.at, reason, id) === 1),
    revokeGrantsOfClient: (resourceOwnerId, clientId, event) =>
      tables.act([resourceOwnerId], event, () => {
        grants.forgetAll();
        return revokeOfClient(event.at, resourceOwnerId, clientId);
      }),
    async revokeAllGrants(event) {
      await tables.act([INSTALLATION], event, () => raiseEpoch());
    },
    noteUse: (grant, generation, at) => marks.note(grant, generation, at),
    async listGrants(filter) {
      const { where, parameters } = conditions(filter);
      const rows = tables.all<ListedGrantRow>(`${SELECT_GRANT} ${where} ORDER BY oauth_grant.id DESC LIMIT ?`)(
        ...parameters,
        filter.limit,
      );
      const listed = rows.map((row) => {
        const found = asGrantInContext(row);
        return { ...found, grant: marks.merge(found.grant), clientName: row.client_name };
      });
      return tables.onDisk('all', listed);
    },
    async listClientsOf(resourceOwnerId, liveAt) {
      return tables.onDisk(
        'all',
        clientsOf(resourceOwnerId, liveAt).map(({ client_id }) => client_id),
      );
    },
  };
}

/** Ids are ordered by time, and an index ends with the id: the newest come without sorting. */
function conditions({ clientId, resourceOwnerId, liveAt }: GrantFilter): {
  where: string;
  parameters: SQLInputValue[];
} {
  const asked = [
    ['oauth_grant.client_id = ?', clientId],
    ['oauth_grant.resource_owner_id = ?', resourceOwnerId],
    [`oauth_grant.expires_at > ? AND ${NOT_ENDED}`, liveAt],
  ].filter((condition): condition is [string, string | number] => condition[1] !== undefined);
  return {
    where: asked.length > 0 ? `WHERE ${asked.map(([sql]) => sql).join(' AND ')}` : '',
    parameters: asked.map(([, value]) => value),
  };
}
