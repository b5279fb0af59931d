/** A grant as a row, and back. */
import {
  type Grant,
  type GrantInContext,
  grantIdText,
  parseGrantId,
  type RevocationReason,
} from '../../oauth/grant.ts';

type GrantRow = {
  readonly id: string;
  readonly client_id: string;
  readonly resource_owner_id: string;
  readonly scope: string;
  readonly redirect_uri: string;
  readonly code_challenge: string | null;
  readonly resource: string | null;
  readonly seed: Buffer;
  readonly epochs_installation: number;
  readonly epochs_client: number;
  readonly epochs_resource_owner: number;
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
export type GrantInContextRow = GrantRow & {
  readonly epoch_of_installation: number;
  readonly epoch_of_client: number;
  readonly epoch_of_account: number;
  readonly client_paused: boolean;
  readonly account_disabled: boolean;
  readonly username: string | null;
  readonly email: string;
  readonly name: string;
  readonly avatar_url: string | null;
};

/** The same with the client's name beside what is `SELECTED`. */
export type ListedGrantRow = GrantInContextRow & { readonly client_name: string };

const TYPES = {
  id: 'uuid',
  client_id: 'text',
  resource_owner_id: 'text',
  scope: 'text',
  redirect_uri: 'text',
  code_challenge: 'text',
  resource: 'text',
  seed: 'bytea',
  epochs_installation: 'integer',
  epochs_client: 'integer',
  epochs_resource_owner: 'integer',
  granted_at: 'bigint',
  absolute_expires_at: 'bigint',
  generation: 'integer',
  key_id: 'bigint',
  rotated_at: 'bigint',
  access_token_expires_at: 'bigint',
  expires_at: 'bigint',
  used_generation: 'integer',
  last_used_at: 'bigint',
  revoked_at: 'bigint',
  revocation_reason: 'text',
} as const satisfies Record<keyof GrantRow, string>;

/** The columns of a grant. */
export const GRANT_COLUMNS = Object.keys(TYPES).join(', ');

/** Their names and types, as a list of rows in JSON is read. */
export const GRANT_RECORD = Object.entries(TYPES)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/** What is selected of grants whose client and account are there. */
export const SELECTED = `
  ${Object.keys(TYPES)
    .map((column) => `oauth_grant.${column}`)
    .join(', ')},
  installation.epoch AS epoch_of_installation, client.epoch AS epoch_of_client, account.epoch AS epoch_of_account,
  client.status = 'paused' AS client_paused,
  account.status = 'disabled' AS account_disabled, account.username, account.email, account.name, account.avatar_url`;

/**
 * Not revoked, neither alone nor by an epoch. A revocation of the grant itself writes the row that a transition writes:
 * one waits for the other, and then asks anew what the row says. An epoch is read as of the moment when the statement
 * began. One that was raised before is therefore seen, so that a revocation that was answered wins against everything
 * that began after its answer. One that is raised while the statement runs may be missed; then the transition came first,
 * and what it hands out is dead as soon as the epoch is committed, because the grant keeps the epochs of its Allow and
 * every later read compares them. So no transition needs a lock on a row that all grants share.
 */
export const NOT_ENDED = `oauth_grant.revoked_at IS NULL AND EXISTS (
  SELECT 1 FROM installation, client, account
  WHERE installation.number = 1 AND installation.epoch = oauth_grant.epochs_installation
    AND client.id = oauth_grant.client_id AND client.epoch = oauth_grant.epochs_client
    AND account.id = oauth_grant.resource_owner_id AND account.epoch = oauth_grant.epochs_resource_owner)`;

/** Where a decision on a grant takes what it needs beside its row. */
export const CONTEXT = `
  JOIN installation ON installation.number = 1
  JOIN client ON client.id = oauth_grant.client_id
  JOIN account ON account.id = oauth_grant.resource_owner_id`;

/** What is stored of a grant, for JSON. */
export function grantRow(grant: Grant): Omit<GrantRow, 'seed'> & { readonly seed: string } {
  return {
    id: grantIdText(grant.id),
    client_id: grant.clientId,
    resource_owner_id: grant.resourceOwnerId,
    scope: grant.scope,
    redirect_uri: grant.redirectUri,
    code_challenge: grant.codeChallenge,
    resource: grant.resource,
    seed: `\\x${grant.seed.toString('hex')}`,
    epochs_installation: grant.epochs.installation,
    epochs_client: grant.epochs.client,
    epochs_resource_owner: grant.epochs.resourceOwner,
    granted_at: grant.grantedAt,
    absolute_expires_at: grant.absoluteExpiresAt,
    generation: grant.generation,
    key_id: grant.keyId,
    rotated_at: grant.rotatedAt,
    access_token_expires_at: grant.accessTokenExpiresAt,
    expires_at: grant.expiresAt,
    used_generation: grant.usedGeneration,
    last_used_at: grant.lastUsedAt,
    revoked_at: grant.revokedAt,
    revocation_reason: grant.revocationReason,
  };
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
      clientPaused: row.client_paused,
      resourceOwnerDisabled: row.account_disabled,
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

function asGrant(row: GrantRow): Grant {
  return {
    id: parseGrantId(row.id) as Buffer,
    clientId: row.client_id,
    resourceOwnerId: row.resource_owner_id,
    scope: row.scope,
    redirectUri: row.redirect_uri,
    codeChallenge: row.code_challenge,
    resource: row.resource,
    seed: row.seed,
    epochs: {
      installation: row.epochs_installation,
      client: row.epochs_client,
      resourceOwner: row.epochs_resource_owner,
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
