/** The rows of grants, in either store. Each request reads one of them: so that is written by hand, for speed. */
import type { Grant, RevocationReason, Use } from '../../oauth/grants/grant.ts';
import type { ListedGrant } from '../../oauth/protocol/grant-store.ts';
import { asBuffer, Table } from './table.ts';

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

/** The values of a grant's columns. */
export type GrantRow = readonly [
  id: Uint8Array,
  clientId: string,
  resourceOwnerId: string,
  installationEpoch: number,
  clientEpoch: number,
  resourceOwnerEpoch: number,
  generation: number,
  keyId: number,
  rotatedAt: number,
  accessTokenExpiresAt: number | null,
  expiresAt: number,
  usedGeneration: number,
  lastUsedAt: number | null,
  revokedAt: number | null,
  revocationReason: RevocationReason | null,
  grantedAt: number,
  absoluteExpiresAt: number,
  seed: Uint8Array,
  scope: string,
  leftOut: string,
  personFields: string,
  redirectUri: string,
  codeChallenge: string | null,
  resource: string | null,
  resourceIsDefault: boolean | number,
  providerId: string | null,
  externalId: string | null,
  signedInAt: number,
];

/** The same, and those of `CONTEXT_COLUMNS` after them. */
export type GrantInContextRow = readonly [
  ...GrantRow,
  epochOfInstallation: number,
  epochOfClient: number,
  clientStatus: 'active' | 'paused',
  clientName: string,
  epochOfAccount: number,
  accountStatus: 'active' | 'disabled',
  username: string | null,
  email: string | null,
  name: string | null,
  avatarUrl: string | null,
  ...more: unknown[],
];

/** The columns that a decision on a grant needs beside its row, of the installation, its client and its account. Nobody is told an address that is not verified. */
export const CONTEXT_COLUMNS = `installation.epoch, client.epoch, client.status, client.name,
  account.epoch, account.status, account.username, CASE WHEN account.email_verified THEN account.email END, account.name, account.avatar_url`;

/** The condition that no epoch was raised since the Allow of a grant, and that client and account are there. */
export const hasItsEpochs = (grant: string) => `EXISTS (
  SELECT 1 FROM installation, client, account
  WHERE installation.number = 1 AND installation.epoch = ${grant}.epochs_installation
    AND client.id = ${grant}.client_id AND client.epoch = ${grant}.epochs_client
    AND account.id = ${grant}.resource_owner_id AND account.epoch = ${grant}.epochs_resource_owner)`;

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
export const NOT_ENDED = `oauth_grant.revoked_at IS NULL AND ${hasItsEpochs('oauth_grant')}`;

/** The condition that consent is still remembered by a grant: it is not ended, and no older than its client's last pause. */
export const IS_REMEMBERED = `${NOT_ENDED} AND EXISTS (
  SELECT 1 FROM client
  WHERE client.id = oauth_grant.client_id AND (client.remembers_since IS NULL OR client.remembers_since < oauth_grant.granted_at))`;

/** The grant of a row. */
export function asGrant(row: GrantRow | GrantInContextRow): Grant {
  return {
    id: asBuffer(row[0]),
    clientId: row[1],
    resourceOwnerId: row[2],
    epochs: { installation: row[3], client: row[4], resourceOwner: row[5] },
    generation: row[6],
    keyId: row[7],
    rotatedAt: row[8],
    accessTokenExpiresAt: row[9],
    expiresAt: row[10],
    usedGeneration: row[11],
    lastUsedAt: row[12],
    revokedAt: row[13],
    revocationReason: row[14],
    grantedAt: row[15],
    absoluteExpiresAt: row[16],
    seed: asBuffer(row[17]),
    scope: row[18],
    leftOut: row[19],
    personFields: row[20],
    redirectUri: row[21],
    codeChallenge: row[22],
    resource: row[23],
    resourceIsDefault: Boolean(row[24]),
    providerId: row[25],
    externalId: row[26],
    signedInAt: row[27],
  };
}

/** The standing of a row's grant, its resource owner and its client's name. */
export function contextOf(row: GrantInContextRow): Omit<ListedGrant, 'grant'> {
  return {
    standing: {
      epochs: { installation: row[28], client: row[29], resourceOwner: row[32] },
      clientPaused: row[30] === 'paused',
      resourceOwnerDisabled: row[33] === 'disabled',
    },
    resourceOwner: { id: row[2], username: row[34], email: row[35], name: row[36], avatarUrl: row[37] },
    clientName: row[31],
  };
}

/** A use mark, but for its grant. */
export const MARK = Table.of<Use>('mark', { generation: 'integer', usedAt: 'time' });

/** What a mark makes of a grant's row: it only ever grows. */
export const MARKED = `
  used_generation = CASE WHEN mark.generation > used_generation THEN mark.generation ELSE used_generation END,
  last_used_at = CASE WHEN mark.used_at > coalesce(last_used_at, 0) THEN mark.used_at ELSE last_used_at END`;
