/** The settings of an identity provider in JSON, for registering and changing it over HTTP. */
import { PROVIDER_RIGHTS } from '../../accounts/people/identity-provider.ts';
import type { Act } from '../access/rights.ts';
import type { IdentityProviderSettings, NewIdentityProvider } from '../identity-provider-registry.ts';
import {
  type Fields,
  flag,
  type Members,
  publicKeys,
  readFields,
  requireMembers,
  secondsOrNone,
  someOf,
  text,
} from './field.ts';

/** The settings by their names in JSON, as `identityProviderJson` has them. */
type Named = Omit<IdentityProviderSettings, 'sessionLifetime'> & { readonly session: number | null };

const PROVIDER_FIELDS: Fields<Named> = {
  name: text,
  signInUrl: text,
  keys: publicKeys,
  rights: someOf(PROVIDER_RIGHTS, ['sign-in']),
  session: secondsOrNone,
};

/** A new provider as a body describes it. `handOver`: no secret now, but an address at which the developer makes it. */
export type NewProvider = { readonly settings: NewIdentityProvider; readonly handOver: boolean };

/** Reads a new identity provider. Throws `OperatorError`. */
export function readNewProvider(members: Members): NewProvider {
  requireMembers(members, ['provider_id', 'name', 'sign_in_url']);
  const fields = { ...PROVIDER_FIELDS, providerId: text, ownIds: flag(false), handOver: flag(false) };
  const { providerId: id = '', ownIds = false, handOver = false, ...said } = readFields(fields, members);
  const { name = '', signInUrl = '', keys = [], rights = ['sign-in'], session = null } = said;
  return {
    handOver,
    settings: { id, ownIds, name, signInUrl, keys, rights, sessionLifetime: session },
  };
}

/** Returns the further acts that a registration is: of its secret or its address. */
export function actsOfNewProvider({ settings, handOver }: NewProvider): Act[] {
  if (handOver) return ['identity-providers.hand-over'];
  return settings.keys.length === 0 ? ['identity-providers.make-secret'] : [];
}

/** Reads the settings that a merge patch changes (RFC 7396). Throws `OperatorError`. */
export function readProviderChanges(members: Members): Partial<IdentityProviderSettings> {
  const { session, ...changes } = readFields(PROVIDER_FIELDS, members);
  return { ...changes, ...(session === undefined ? {} : { sessionLifetime: session }) };
}

/** Returns the further acts that a change of these settings is: whoever answers at another address can sign in as anyone. */
export function actsOfProviderChanges(changes: Partial<IdentityProviderSettings>): Act[] {
  const makesTrust = changes.signInUrl !== undefined || changes.keys !== undefined || changes.rights !== undefined;
  return makesTrust ? ['identity-providers.trust'] : [];
}
