/** Identity providers. */

import type { IdentityProvider } from '../../../accounts/people/identity-provider.ts';
import type { IdentityProviderStore } from '../../../accounts/people/store.ts';
import type { ProviderProof } from '../../../oauth/clients/provider-proof.ts';
import { findRow, type Runner, type Statement } from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';
import { endingHandOver, forgettingHandOvers } from './hand-over-rows.ts';
import { registeredStore } from './registered-with-secrets.ts';
import { SECRETS } from './stored-secrets.ts';

/** A stored identity provider. */
export const IDENTITY_PROVIDER = Table.of<IdentityProvider>('identity_provider', {
  id: 'text',
  status: 'text',
  name: 'text',
  signInUrl: 'text',
  homePage: nullable('text'),
  secrets: SECRETS,
  keys: 'json',
  ownIds: 'boolean',
  rights: 'json',
  sessionLifetime: nullable('integer'),
  createdAt: 'time',
});

const SETTINGS = IDENTITY_PROVIDER.pick('name', 'signInUrl', 'homePage', 'keys', 'rights', 'sessionLifetime');

const FIND = `SELECT ${IDENTITY_PROVIDER.names} FROM identity_provider WHERE id = $1`;
const SET_STATUS = 'UPDATE identity_provider SET status = $2 WHERE id = $1 AND status <> $2';
const DELETE = `
  DELETE FROM identity_provider
  WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM identity WHERE provider_id = identity_provider.id)`;

/** Locks the provider's row where others may write: a pause waits for calls that found the provider active. */
const PROVEN = `
  SELECT 1 FROM identity_provider
  WHERE id = $1 AND status = 'active' AND replace(rights, $2, '') <> rights
    AND replace(secrets || keys, $3, '') <> secrets || keys FOR SHARE`;

/** Returns the demand that a provider is active, and still has the right and the credential of the call. */
export function stillProven({ providerId, right, credential }: ProviderProof): Statement {
  const list =
    'secret' in credential
      ? IDENTITY_PROVIDER.stored('secrets', [credential.secret])
      : IDENTITY_PROVIDER.stored('keys', [credential.key]);
  // The credential's exact text within a stored list, since lists are canonical JSON.
  return { sql: PROVEN, values: [providerId, JSON.stringify(right), String(list).slice(1, -1)] };
}

/** Implements the port for identity providers. */
export function identityProviderStore(runner: Runner): IdentityProviderStore {
  const providers = registeredStore(
    runner,
    'identity_provider',
    IDENTITY_PROVIDER,
    SETTINGS,
    IDENTITY_PROVIDER.pick('secrets', 'keys'),
  );
  return {
    findIdentityProvider: (id) => findRow(runner, IDENTITY_PROVIDER, { sql: FIND, values: [id] }, [id]),
    findIdentityProviderBySecret: providers.findBySecret,
    listIdentityProviders: providers.list,
    registerIdentityProvider: providers.register,
    updateIdentityProvider: providers.update,
    replaceIdentityProviderSecrets: providers.replaceSecrets,
    setIdentityProviderStatus: (id, status, event) =>
      providers.change(id, event, SET_STATUS, [status], {
        also: status === 'paused' ? [endingHandOver({ kind: 'identity_provider', id }, event, 'paused')] : [],
      }),
    deleteIdentityProvider: (id, event) =>
      providers.change(id, event, DELETE, [], forgettingHandOvers({ kind: 'identity_provider', id }, event)),
  };
}
