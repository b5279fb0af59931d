/** A grant as a row, and back. */
import type { SQLInputValue } from 'node:sqlite';
import type { Grant, GrantInContext, RevocationReason } from '../../oauth/grant.ts';
import { asBuffer } from './tables.ts';

/** A grant's row: the values of `GRANT_COLUMNS` in their order. */
export type GrantRow = readonly [
  id: Uint8Array,
  clientId: string,
  resourceOwnerId: string,
  scope: string,
  redirectUri: string,
  codeChallenge: string | null,
  resource: string | null,
  seed: Uint8Array,
  installationEpoch: number,
  clientEpoch: number,
  resourceOwnerEpoch: number,
  grantedAt: number,
  absoluteExpiresAt: number,
  generation: number,
  keyId: number,
  rotatedAt: number,
  accessTokenExpiresAt: number | null,
  expiresAt: number,
  usedGeneration: number,
  lastUsedAt: number | null,
  revokedAt: number | null,
  revocationReason: RevocationReason | null,
];

type Names<Row extends readonly unknown[]> = { readonly [Place in keyof Row]: string };

/** What is selected beside it. */
type ContextRow = readonly [
  installationEpoch: number,
  clientEpoch: number,
  clientStatus: 'active' | 'paused',
  clientName: string,
  accountEpoch: number,
  accountStatus: 'active' | 'disabled',
  username: string | null,
  email: string,
  name: string,
  avatarUrl: string | null,
];

/** A row of `SELECT_GRANT`. */
export type ListedGrantRow = readonly [...GrantRow, ...ContextRow];

/** The columns of a grant. */
export const GRANT_COLUMNS = [
  'id',
  'client_id',
  'resource_owner_id',
  'scope',
  'redirect_uri',
  'code_challenge',
  'resource',
  'seed',
  'epochs_installation',
  'epochs_client',
  'epochs_resource_owner',
  'granted_at',
  'absolute_expires_at',
  'generation',
  'key_id',
  'rotated_at',
  'access_token_expires_at',
  'expires_at',
  'used_generation',
  'last_used_at',
  'revoked_at',
  'revocation_reason',
] as const satisfies Names<GrantRow>;

/** Selects grants whose client and account are there, each by its primary key (CROSS JOIN keeps that order). */
export const SELECT_GRANT = `
  SELECT ${GRANT_COLUMNS.map((column) => `oauth_grant.${column}`).join(', ')},
    installation.epoch, client.epoch, client.status, client.name,
    account.epoch, account.status, account.username, account.email, account.name, account.avatar_url
  FROM oauth_grant
  CROSS JOIN installation
  CROSS JOIN client ON client.id = oauth_grant.client_id
  CROSS JOIN account ON account.id = oauth_grant.resource_owner_id`;

/**
 * Not revoked, neither alone nor by an epoch. Transitions ask under the write lock, so that a revocation of any kind
 * that was committed first wins, whatever the request had read before it.
 */
export const NOT_ENDED = `revoked_at IS NULL AND EXISTS (
  SELECT 1 FROM installation, client, account
  WHERE installation.epoch = oauth_grant.epochs_installation
    AND client.id = oauth_grant.client_id AND client.epoch = oauth_grant.epochs_client
    AND account.id = oauth_grant.resource_owner_id AND account.epoch = oauth_grant.epochs_resource_owner)`;

/** What is stored of a grant, in the order of `GRANT_COLUMNS`. */
export function grantValues(grant: Grant): SQLInputValue[] {
  return [
    grant.id,
    grant.clientId,
    grant.resourceOwnerId,
    grant.scope,
    grant.redirectUri,
    grant.codeChallenge,
    grant.resource,
    grant.seed,
    grant.epochs.installation,
    grant.epochs.client,
    grant.epochs.resourceOwner,
    grant.grantedAt,
    grant.absoluteExpiresAt,
    grant.generation,
    grant.keyId,
    grant.rotatedAt,
    grant.accessTokenExpiresAt,
    grant.expiresAt,
    grant.usedGeneration,
    grant.lastUsedAt,
    grant.revokedAt,
    grant.revocationReason,
  ];
}

/** The grant of a row of `SELECT_GRANT` with its standing, its resource owner and its client's name. */
export function asListedGrant(row: ListedGrantRow): GrantInContext & { readonly clientName: string } {
  const context = row.slice(GRANT_COLUMNS.length) as unknown as ContextRow;
  const [installation, client, clientStatus, clientName, account, accountStatus, ...owner] = context;
  const [username, email, name, avatarUrl] = owner;
  const grant = asGrant(row);
  return {
    grant,
    standing: {
      epochs: { installation, client, resourceOwner: account },
      clientPaused: clientStatus === 'paused',
      resourceOwnerDisabled: accountStatus === 'disabled',
    },
    resourceOwner: { id: grant.resourceOwnerId, username, email, name, avatarUrl },
    clientName,
  };
}

/** The grant of a row. */
export function asGrant(row: GrantRow | ListedGrantRow): Grant {
  return {
    id: asBuffer(row[0]),
    clientId: row[1],
    resourceOwnerId: row[2],
    scope: row[3],
    redirectUri: row[4],
    codeChallenge: row[5],
    resource: row[6],
    seed: asBuffer(row[7]),
    epochs: { installation: row[8], client: row[9], resourceOwner: row[10] },
    grantedAt: row[11],
    absoluteExpiresAt: row[12],
    generation: row[13],
    keyId: row[14],
    rotatedAt: row[15],
    accessTokenExpiresAt: row[16],
    expiresAt: row[17],
    usedGeneration: row[18],
    lastUsedAt: row[19],
    revokedAt: row[20],
    revocationReason: row[21],
  };
}
