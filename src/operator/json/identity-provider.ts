/** An identity provider as commands and an API print it. Its secret's text is there only once, when it is made. */
import type { IdentityProvider } from '../../accounts/people/identity-provider.ts';
import type { Endpoints } from '../apps/endpoints.ts';
import { providerSettingsJson } from '../fields/identity-provider-fields.ts';
import type { EndedThroughProvider } from '../products-and-apis/provider-ending.ts';
import type { SecretUses } from '../secrets/secret-last-uses.ts';
import { findSecretsJson, type SecretJson, secretsJson } from './secret.ts';
import { isoTime } from './time.ts';

/** An identity provider for programs. */
export type IdentityProviderJson = ReturnType<typeof providerJson>;

/** All that is registered of a provider. */
export async function findIdentityProviderJson(
  provider: IdentityProvider,
  uses: SecretUses,
): Promise<IdentityProviderJson> {
  return providerJson(provider, await findSecretsJson(provider.secrets, uses));
}

/** Returns the values that a product's developer needs, with the registration. */
export function registeredProviderJson(provider: IdentityProvider, secret: string | null, endpoints: Endpoints) {
  const unused = secretsJson(provider.secrets.map(({ createdAt }) => ({ createdAt, lastUsedAt: null })));
  return {
    ...providerJson(provider, unused),
    provider_secret: secret,
    sign_in_endpoint: endpoints.signInEndpoint,
  };
}

function providerJson(provider: IdentityProvider, secrets: readonly SecretJson[]) {
  const { name, sign_in_url, keys, ...settings } = providerSettingsJson(provider);
  return {
    provider_id: provider.id,
    name,
    status: provider.status,
    sign_in_url,
    own_ids: provider.ownIds,
    ...settings,
    live_secrets: secrets,
    keys: keys.length,
    created_at: isoTime(provider.createdAt),
  };
}

/** Returns what was ended through a provider since a time (ms). */
export function endedThroughProviderJson({ id }: IdentityProvider, since: number, ended: EndedThroughProvider) {
  return {
    provider_id: id,
    since: isoTime(since),
    sign_ins_ended: ended.signIns,
    sessions_ended: ended.sessions,
    grants_ended: ended.grants,
  };
}
