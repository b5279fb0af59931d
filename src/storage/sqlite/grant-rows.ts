/** A grant as a row, and back. */
import type { SQLInputValue } from 'node:sqlite';
import type { Grant, GrantInContext, RevocationReason } from '../../oauth/grant.ts';
import { asBuffer } from './tables.ts';

/** A grant's row. */
export type GrantRow = {
  readonly id: Uint8Array;
  readonly client_id: string;
  readonly resource_owner_id: string;
  readonly scope: string;
  readonly redirect_uri: string;
  readonly code_challenge: string | null;
  readonly resource: string | null;
  readonly seed: Uint8Array;
  readonly installation_epoch: number;
  readonly client_epoch: number;
  readonly resource_owner_epoch: number;
  readonly granted_at: number;
  readonly absolute_expires_at: number;
  readonly generation: number;
  readonly key_id: number;
  readonly rotated_at: number;
  readonly access_token_expires_at: number | null;
  readonly expires_at: number;
  readonly used_generation: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
  readonly revocation_reason: RevocationReason | null;
};

/** A grant's row with all that a decision on it needs. */
type GrantInContextRow = GrantRow & {
  readonly epoch_of_installation: number;
  readonly epoch_of_client: number;
  readonly epoch_of_account: number;
  readonly client_status: 'active' | 'paused';
  readonly account_status: 'active' | 'disabled';
  readonly username: string | null;
  readonly email: string;
  readonly name: string;
  readonly avatar_url: string | null;
};

/** The same with the client's name. */
export type ListedGrantRow = GrantInContextRow & { readonly client_name: string };

/** The columns of a grant, in the order of `grantValues`. */
export const GRANT_COLUMNS = [
  'id',
  'client_id',
  'resource_owner_id',
  'scope',
  'redirect_uri',
  'code_challenge',
  'resource',
  'seed',
  'installation_epoch',
  'client_epoch',
  'resource_owner_epoch',
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
] as const satisfies readonly (keyof GrantRow)[];

/** Selects grants whose client and account are there, each by its primary key (CROSS JOIN keeps that order). */
export const SELECT_GRANT = `
  SELECT ${GRANT_COLUMNS.map((column) => `oauth_grant.${column}`).join(', ')},
    installation.epoch AS epoch_of_installation, client.epoch AS epoch_of_client, account.epoch AS epoch_of_account,
    client.status AS client_status, client.name AS client_name,
    account.status AS account_status, account.username, account.email, account.name, account.avatar_url
  FROM oauth_grant
  CROSS JOIN installation
  CROSS JOIN client ON client.id = oauth_grant.client_id
  CROSS JOIN account ON account.id = oauth_grant.resource_owner_id`;

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

/** The grant of a row, with its standing and its resource owner. */
export function asGrantInContext(row: GrantInContextRow): GrantInContext {
  return {
    grant: asGrant(row),
    standing: {
      epochs: {
        installation: row.epoch_of_installation,
        client: row.epoch_of_client,
        resourceOwner: row.epoch_of_account,
      },
      clientPaused: row.client_status === 'paused',
      resourceOwnerDisabled: row.account_status === 'disabled',
    },
    resourceOwner: {
      id: row.resource_owner_id,
      username: row.username,
      email: row.email,
      name: row.name,
      avatarUrl: row.avatar_url,
    },
  };
}

/** The grant of a row. */
export function asGrant(row: GrantRow): Grant {
  return {
    id: asBuffer(row.id),
    clientId: row.client_id,
    resourceOwnerId: row.resource_owner_id,
    scope: row.scope,
    redirectUri: row.redirect_uri,
    codeChallenge: row.code_challenge,
    resource: row.resource,
    seed: asBuffer(row.seed),
    epochs: {
      installation: row.installation_epoch,
      client: row.client_epoch,
      resourceOwner: row.resource_owner_epoch,
    },
    grantedAt: row.granted_at,
    absoluteExpiresAt: row.absolute_expires_at,
    generation: row.generation,
    keyId: row.key_id,
    rotatedAt: row.rotated_at,
    accessTokenExpiresAt: row.access_token_expires_at,
    expiresAt: row.expires_at,
    usedGeneration: row.used_generation,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    revocationReason: row.revocation_reason,
  };
}
