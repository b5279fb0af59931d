/** The rows of grants in both stores, and the conditions of their transitions. */
import type { Grant, Use } from '../../../oauth/grants/grant.ts';
import type { AccessOfRow } from '../../../oauth/grants/granted-access.ts';
import { nullable, Table } from '../../statements/table.ts';

/**
 * A stored grant, with the source address that presented its current generation: the audit trail names it after a
 * reuse.
 */
export const STORED_GRANT = Table.of<Grant & { readonly presentedFrom: string | null }>('oauth_grant', {
  id: 'uuid',
  clientId: 'text',
  resourceOwnerId: 'text',
  epochs: { installation: 'integer', client: 'integer', resourceOwner: 'integer' },
  generation: 'integer',
  keyId: 'integer',
  rotatedAt: 'time',
  presentedFrom: nullable('text'),
  accessTokenExpiresAt: nullable('time'),
  expiresAt: 'time',
  usedGeneration: 'integer',
  lastUsedAt: nullable('time'),
  revokedAt: nullable('time'),
  revocationReason: nullable('text'),
  grantedAt: 'time',
  absoluteExpiresAt: 'time',
  seed: 'bytes',
  scope: 'text',
  leftOut: 'text',
  personFields: 'text',
  redirectUri: 'text',
  codeChallenge: nullable('text'),
  resource: nullable('text'),
  resourceIsDefault: 'boolean',
  providerId: nullable('text'),
  externalId: nullable('text'),
  signedInAt: 'time',
  openid: nullable('json'),
});

/** The columns of a grant that a request reads. */
export const GRANT = STORED_GRANT.without('presentedFrom');

/**
 * Returns the condition that no epoch was raised since the grant's Allow, and that its client and account exist. `of`
 * returns the expression of a column of the grant.
 */
export const hasItsEpochs = (of: (column: string) => string) => `EXISTS (
  SELECT 1 FROM installation, client, account
  WHERE installation.number = 1 AND installation.epoch = ${of('epochs_installation')}
    AND client.id = ${of('client_id')} AND client.epoch = ${of('epochs_client')}
    AND account.id = ${of('resource_owner_id')} AND account.epoch = ${of('epochs_resource_owner')})`;

/**
 * Condition of every transition: the grant is revoked neither by itself nor by an epoch. So no transition needs a lock on
 * a row that all grants share.
 *
 * - SQLite evaluates the condition under the write lock.
 * - In PostgreSQL a revocation of the grant itself writes the same row as a transition: the second statement waits for the
 *   first, and then reads the row again.
 * - In PostgreSQL an epoch is read as of the start of the statement. An epoch committed earlier is seen: a confirmed
 *   revocation wins against every later transition. An epoch raised while the statement runs may be missed. Then the
 *   transition came first, and its tokens are dead once the epoch is committed: the grant keeps the epochs of its Allow,
 *   and every later read compares them.
 */
export const NOT_ENDED = `oauth_grant.revoked_at IS NULL AND ${hasItsEpochs((column) => `oauth_grant.${column}`)}`;

/**
 * Condition that a grant still makes its client's consent remembered: the grant is not ended, and newer than the
 * client's last pause.
 */
export const IS_REMEMBERED = `${NOT_ENDED} AND EXISTS (
  SELECT 1 FROM client
  WHERE client.id = oauth_grant.client_id AND (client.remembers_since IS NULL OR client.remembers_since < oauth_grant.granted_at))`;

/** The access of a grant, as returned by the statement that ends it. */
export const ENDED_ACCESS: Table<AccessOfRow> = GRANT.pick('resource', 'scope', 'openid');

/**
 * Ends the grants of the same access that a grant for signing in alone (`id`) replaces, at a time (`$2`, ms): those that were
 * redeemed before its Allow, which rested on them.
 * They are locked in key order, before the grant itself, as other transactions do.
 */
export const replaceEqual = (id: string) => `
  UPDATE oauth_grant SET revoked_at = $2, revocation_reason = 'replaced' WHERE id IN (
    SELECT earlier.id FROM oauth_grant AS renewed JOIN oauth_grant AS earlier
      ON earlier.resource_owner_id = renewed.resource_owner_id AND earlier.client_id = renewed.client_id
    WHERE renewed.id = ${id} AND earlier.id <> renewed.id
      AND earlier.revoked_at IS NULL AND ${hasItsEpochs((column) => `earlier.${column}`)}
      AND earlier.generation > 0 AND earlier.rotated_at <= renewed.granted_at
      AND earlier.openid IS NOT NULL AND earlier.scope = renewed.scope AND earlier.left_out = renewed.left_out
      AND earlier.person_fields = renewed.person_fields
      AND earlier.redirect_uri = renewed.redirect_uri AND earlier.resource IS NOT DISTINCT FROM renewed.resource
      AND earlier.resource_is_default = renewed.resource_is_default
    ORDER BY earlier.id FOR NO KEY UPDATE OF earlier)`;

/** A use mark without its grant. */
export const MARK = Table.of<Use>('mark', { generation: 'integer', usedAt: 'time' });

/** Assignments that merge a mark into a grant's row; they never lower a value. */
export const MARKED = `
  used_generation = CASE WHEN mark.generation > used_generation THEN mark.generation ELSE used_generation END,
  last_used_at = CASE WHEN mark.used_at > coalesce(last_used_at, 0) THEN mark.used_at ELSE last_used_at END`;
