/** Grants. Their verbs are asked most, so each store has its own, and rows are read by hand: see `postgresql/` and `sqlite/`. */
import type { Grant, GrantInContext, RevocationReason } from '../../oauth/grant.ts';
import { asBuffer, Table } from './table.ts';

/** A grant, as it is stored. */
export const GRANT = Table.of<Grant>('oauth_grant', {
  id: 'uuid',
  clientId: 'text',
  resourceOwnerId: 'text',
  epochs: { installation: 'integer', client: 'integer', resourceOwner: 'integer' },
  generation: 'integer',
  keyId: 'integer',
  rotatedAt: 'time',
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
  redirectUri: 'text',
  codeChallenge: 'text?',
  resource: 'text?',
});

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
  redirectUri: string,
  codeChallenge: string | null,
  resource: string | null,
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
  email: string,
  name: string,
  avatarUrl: string | null,
  ...more: unknown[],
];

/** What a decision on a grant needs beside its row, of the installation, its client and its account. */
export const CONTEXT_COLUMNS = `installation.epoch, client.epoch, client.status, client.name,
  account.epoch, account.status, account.username, account.email, account.name, account.avatar_url`;

/** Whether no epoch was raised since the Allow, and client and account are there. */
export const HAS_ITS_EPOCHS = `EXISTS (
  SELECT 1 FROM installation, client, account
  WHERE installation.number = 1 AND installation.epoch = oauth_grant.epochs_installation
    AND client.id = oauth_grant.client_id AND client.epoch = oauth_grant.epochs_client
    AND account.id = oauth_grant.resource_owner_id AND account.epoch = oauth_grant.epochs_resource_owner)`;

/**
 * Not revoked, neither alone nor by an epoch: what transitions ask. SQLite asks it under the write lock. In PostgreSQL a
 * revocation of the grant itself writes the row that a transition writes: one waits for the other, and then asks anew what
 * the row says. An epoch is read there as of the moment when the statement began. One that was raised before is therefore
 * seen, so that a revocation that was answered wins against everything that began after its answer. One that is raised
 * while the statement runs may be missed; then the transition came first, and what it hands out is dead as soon as the
 * epoch is committed, because the grant keeps the epochs of its Allow and every later read compares them. So no transition
 * needs a lock on a row that all grants share.
 */
export const NOT_ENDED = `oauth_grant.revoked_at IS NULL AND ${HAS_ITS_EPOCHS}`;

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
    redirectUri: row[19],
    codeChallenge: row[20],
    resource: row[21],
  };
}

/** The grant of a row with its standing, its resource owner and its client's name. */
export function asGrantInContext(row: GrantInContextRow): GrantInContext & { readonly clientName: string } {
  return {
    grant: asGrant(row),
    standing: {
      epochs: { installation: row[22], client: row[23], resourceOwner: row[26] },
      clientPaused: row[24] === 'paused',
      resourceOwnerDisabled: row[27] === 'disabled',
    },
    resourceOwner: { id: row[2], username: row[28], email: row[29], name: row[30], avatarUrl: row[31] },
    clientName: row[25],
  };
}
