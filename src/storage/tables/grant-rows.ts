/** The rows of grants, in either store, and the conditions on which their transitions rest. */
import type { Grant, Use } from '../../oauth/grants/grant.ts';
import type { GrantedAccess } from '../../oauth/grants/granted-access.ts';
import { Table } from './table.ts';

/**
 * A grant, as it is stored: with from where its current generation was presented, which the audit trail tells if that is
 * presented again.
 */
export const STORED_GRANT = Table.of<Grant & { readonly presentedFrom: string | null }>('oauth_grant', {
  id: 'uuid',
  clientId: 'text',
  resourceOwnerId: 'text',
  epochs: { installation: 'integer', client: 'integer', resourceOwner: 'integer' },
  generation: 'integer',
  keyId: 'integer',
  rotatedAt: 'time',
  presentedFrom: 'text?',
  accessTokenExpiresAt: 'time?',
  expiresAt: 'time',
  usedGeneration: 'integer',
  lastUsedAt: 'time?',
  revokedAt: 'time?',
  revocationReason: 'text?',
  grantedAt: 'time',
  absoluteExpiresAt: 'time',
  seed: 'bytes',
  scope: 'text',
  leftOut: 'text',
  personFields: 'text',
  redirectUri: 'text',
  codeChallenge: 'text?',
  resource: 'text?',
  resourceIsDefault: 'boolean',
  providerId: 'text?',
  externalId: 'text?',
  signedInAt: 'time',
});

/** What a request needs of it. */
export const GRANT = STORED_GRANT.without('presentedFrom');

/** The condition that no epoch was raised since the Allow of a grant, and that client and account are there. `of` gives the columns of the grant. */
export const hasItsEpochs = (of: (column: string) => string) => `EXISTS (
  SELECT 1 FROM installation, client, account
  WHERE installation.number = 1 AND installation.epoch = ${of('epochs_installation')}
    AND client.id = ${of('client_id')} AND client.epoch = ${of('epochs_client')}
    AND account.id = ${of('resource_owner_id')} AND account.epoch = ${of('epochs_resource_owner')})`;

/**
 * Not revoked, neither alone nor by an epoch: the condition of every transition. So no transition needs a lock on a row that
 * all grants share.
 *
 * - SQLite looks at it under the write lock.
 * - In PostgreSQL a revocation of the grant itself writes the row that a transition writes: the second waits for the first,
 *   and then looks at the row anew.
 * - An epoch is read there as of the moment when the statement began. One that was committed before is seen: a revocation
 *   that was confirmed wins against everything that begins later. One that is raised while the statement runs may be missed.
 *   Then the transition came first, and its tokens are dead as soon as the epoch is committed: the grant keeps the epochs of
 *   its Allow, and every later read compares them.
 */
export const NOT_ENDED = `oauth_grant.revoked_at IS NULL AND ${hasItsEpochs((column) => `oauth_grant.${column}`)}`;

/** The condition that consent is still remembered by a grant: it is not ended, and no older than its client's last pause. */
export const IS_REMEMBERED = `${NOT_ENDED} AND EXISTS (
  SELECT 1 FROM client
  WHERE client.id = oauth_grant.client_id AND (client.remembers_since IS NULL OR client.remembers_since < oauth_grant.granted_at))`;

/** What a grant gave, as a change returns it that ends grants. */
export const ENDED_ACCESS = Table.of<GrantedAccess>('oauth_grant', { resource: 'text?', scope: 'text' });

/** A use mark, but for its grant. */
export const MARK = Table.of<Use>('mark', { generation: 'integer', usedAt: 'time' });

/** What a mark makes of a grant's row: it only ever grows. */
export const MARKED = `
  used_generation = CASE WHEN mark.generation > used_generation THEN mark.generation ELSE used_generation END,
  last_used_at = CASE WHEN mark.used_at > coalesce(last_used_at, 0) THEN mark.used_at ELSE last_used_at END`;
