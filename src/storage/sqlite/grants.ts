/** Grants in SQLite: every transition is one conditional update of one row, and its count of changed rows decides a race. */

import type { Client } from '../../oauth/clients/client.ts';
import { DEVICE_GRANT_TYPE } from '../../oauth/grants/device-grant.ts';
import { type AllowBasis, type Generation, type Grant, MAX_GRANTS_OF_ONE_APP } from '../../oauth/grants/grant.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import { INSTALLATION_KEY } from '../acts.ts';
import { bytesOf, rowKey } from '../row-key.ts';
import {
  asGrant,
  GRANT,
  type GrantRow,
  hasItsEpochs,
  IS_REMEMBERED,
  MARK,
  MARKED,
  NOT_ENDED,
} from '../tables/grant-rows.ts';
import type { OwnGrants } from '../tables/grants.ts';
import { stillProven } from '../tables/identity-providers.ts';
import { type Mark, UseMarks } from '../use-marks.ts';
import { CachedGrant, SharedTexts } from './cached-grant.ts';
import type { RowCache } from './row-cache.ts';
import { isMet } from './runner.ts';
import { bound } from './sql.ts';
import { Standings } from './standings.ts';
import type { Tables } from './tables.ts';

/** Size of each of the two maps in which the cache of grants keeps them: see `RowCache`. */
const MANY_GRANTS = 16_384;
/** What a grant gave that has ended. */
type EndedAccess = readonly [resource: string | null, scope: string];

/** Number of marks that share one write. */
const MARKS_PER_WRITE = 128;

/** The marks of these tables' grants. They touch no row, as nobody waits for them: losing one is allowed. */
export function useMarks(tables: Tables): UseMarks {
  const set = MARK.columns.reduce((sql, { name }, index) => sql.replaceAll(`mark.${name}`, `?${index + 1}`), MARKED);
  const update = tables.change(`UPDATE oauth_grant SET ${set} WHERE id = ?${MARK.columns.length + 1}`);
  const write = (written: readonly Mark[]) =>
    tables.writeThrough([], () => {
      for (const mark of written) update(...MARK.values(mark).map(bound), bytesOf(mark.key));
    });
  return new UseMarks({ write, maxPerWrite: MARKS_PER_WRITE });
}

/** What each request asks of a grant, on these tables. */
export function ownGrants(tables: Tables, clients: RowCache<Client>, marks: UseMarks): OwnGrants {
  const find = tables.tuple<GrantRow>(`SELECT ${GRANT.names} FROM oauth_grant WHERE id = ?`);
  const texts = new SharedTexts();
  const read = (key: string) => {
    const row = find(bytesOf(key));
    return row ? new CachedGrant(marks.merge(asGrant(row)), texts) : null;
  };
  const grants = tables.caches.add(read, MANY_GRANTS);
  const standings = new Standings(tables, clients);
  const insert = tables.change(GRANT.insertion);
  const hasSessionAndEpochs = tables.tuple<readonly [1]>(
    `SELECT 1 FROM (SELECT ? AS session, ? AS client_id, ? AS resource_owner_id,
       ? AS epochs_installation, ? AS epochs_client, ? AS epochs_resource_owner) AS asked
     WHERE EXISTS (SELECT 1 FROM session WHERE digest = asked.session) AND ${hasItsEpochs('asked')}`,
  );
  const isRemembered = tables.tuple<readonly [1]>(`SELECT 1 FROM oauth_grant WHERE id = ? AND ${IS_REMEMBERED}`);
  const advance = tables.change(
    `UPDATE oauth_grant
     SET generation = ?, key_id = ?, rotated_at = ?, presented_from = ?, access_token_expires_at = ?, expires_at = ?
     WHERE id = ? AND generation = ? AND ${NOT_ENDED}`,
  );
  const revoke = tables.changed<EndedAccess>(
    `UPDATE oauth_grant SET revoked_at = ?, revocation_reason = ? WHERE id = ? AND ${NOT_ENDED}
     RETURNING resource, scope`,
  );
  const revokeOfClient = tables.changed<EndedAccess>(
    `UPDATE oauth_grant SET revoked_at = ?, revocation_reason = 'user'
     WHERE resource_owner_id = ? AND client_id = ? AND redirect_uri IS NOT ? AND ${NOT_ENDED}
     RETURNING resource, scope`,
  );
  // The index has both columns, so that of the others no row is read.
  const beyondLimit = tables.tuple<readonly [1]>(
    `SELECT 1 FROM oauth_grant CROSS JOIN oauth_grant AS other INDEXED BY grant_by_resource_owner
       ON other.resource_owner_id = oauth_grant.resource_owner_id AND other.client_id = oauth_grant.client_id
     WHERE oauth_grant.id = ? LIMIT 1 OFFSET ${MAX_GRANTS_OF_ONE_APP}`,
  );

  const isStillThere = ({ session, remembered }: AllowBasis, { clientId, resourceOwnerId, epochs }: Grant) => {
    const { installation, client, resourceOwner } = epochs;
    return (
      hasSessionAndEpochs(session, clientId, resourceOwnerId, installation, client, resourceOwner) !== undefined &&
      remembered.every((id) => isRemembered(id) !== undefined)
    );
  };

  const hasAdvanced = (key: string, next: Generation, source: string | null) => {
    const { grantId, generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt } = next;
    const values = [generation, keyId, rotatedAt, source, accessTokenExpiresAt, expiresAt];
    if (advance(...values, grantId, generation - 1) === 0) return false;
    grants.kept(key)?.advance(next);
    return true;
  };

  /** Records what ended, if anything did; returns how many grants. */
  const end = (event: AuditEvent, ended: readonly EndedAccess[]) => {
    const access = ended.map(([resource, scope]) => ({ resource, scope }));
    if (access.length > 0) tables.record(event, access);
    return access.length;
  };

  return {
    async findGrant(id) {
      const key = rowKey(id);
      const grant = grants.find(key)?.grant(id);
      const context = grant && standings.find(grant);
      if (!context) return tables.onDisk('all', null);
      const restsOn = [key, grant.clientId, grant.resourceOwnerId, INSTALLATION_KEY];
      return tables.onDisk(restsOn, { ...context, grant });
    },
    version: () => tables.caches.changes(),
    async issueGrant(grant, event, basis) {
      const key = rowKey(grant.id);
      return tables.write([key], () => {
        if (basis && !isStillThere(basis, grant)) return false;
        insert(...GRANT.values(grant).map(bound));
        grants.keep(key, new CachedGrant(grant, texts));
        tables.record(event);
        return true;
      });
    },
    redeemAuthorizationCode(next, source) {
      const key = rowKey(next.grantId);
      return tables.writeThrough([key], () => {
        if (!hasAdvanced(key, next, source ?? null)) return false;
        return beyondLimit(next.grantId) ? 'crowded' : 'redeemed';
      });
    },
    rotateRefreshToken(next, source) {
      const key = rowKey(next.grantId);
      return tables.writeThrough([key], () => hasAdvanced(key, next, source ?? null));
    },
    revokeGrant: (id, reason, event) =>
      tables.write([rowKey(id)], () => end(event, revoke(event.at, reason, id)) === 1),
    revokeGrantsOfClient: (resourceOwnerId, clientId, event, which = 'all', proof) =>
      tables.write([resourceOwnerId], () => {
        if (proof && !isMet(tables, stillProven(proof))) return 0;
        grants.forgetAll();
        const spared = which === 'all' ? null : DEVICE_GRANT_TYPE;
        return end(event, revokeOfClient(event.at, resourceOwnerId, clientId, spared));
      }),
    noteUse(grant, use) {
      const usedAt = marks.note(grant, use);
      if (usedAt === use.usedAt) grants.kept(rowKey(grant.id))?.use(use);
      return usedAt;
    },
  };
}
