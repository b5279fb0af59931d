/** An app as commands and an API print it. Its secret's text is there only once, when it is made. */
import type { Client } from '../../oauth/clients/client.ts';
import type { ListedClient } from '../client-list.ts';
import type { ClientSettings } from '../client-settings.ts';
import { type Endpoints, endpointsFor } from '../endpoints.ts';
import { findClientUses, lastClientUse, type SecretUses } from '../last-uses.ts';
import { secretsJson } from './secret.ts';
import { isoTime } from './time.ts';

/** An app for programs. */
export type ClientJson = ReturnType<typeof clientJson>;

/** A name in snake case. */
type InJson<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${InJson<Rest>}`
  : Name;

/** All that is registered of an app. The compiler asks for each setting. */
export function clientJson({ client, uses }: ListedClient) {
  return {
    client_id: client.id,
    type: client.type,
    name: client.name,
    publisher: client.publisher,
    homepage: client.homepage,
    privacy_page: client.privacyPage,
    contact: client.contact,
    is_checked: client.isChecked,
    redirect_uris: client.redirectUris,
    scopes: client.scopes.map(({ name, sentence, optional }) => ({ name, sentence, optional })),
    default_resource: client.defaultResource,
    person_fields: client.personFields,
    require_pkce: client.requirePkce,
    refresh_overlap: client.refreshOverlap,
    refresh_retry_window: client.refreshRetryWindow,
    consent: client.consent,
    device_flow: client.deviceFlow,
    assertion_audience: client.assertionAudience,
    sees_external_id: client.seesExternalId,
    status: client.status,
    last_used_at: isoTime(lastClientUse(uses)),
    live_secrets: secretsJson(uses.secrets),
    keys: client.keys.map(({ kid = null, kty = null, alg = null }, at) => ({
      kid,
      kty,
      alg,
      last_used_at: isoTime(uses.keys[at] ?? null),
    })),
    document_sha256: client.documentSha256,
    jwks_uri: client.jwksUri,
    jwks_fetched_at: isoTime(client.jwksFetchedAt),
    created_at: isoTime(client.createdAt),
  } satisfies Record<string, unknown> & Record<InJson<keyof ClientSettings>, unknown>;
}

/** The same, with the last uses from the store. */
export async function findClientJson(client: Client, uses: SecretUses): Promise<ClientJson> {
  return clientJson({ client, uses: await findClientUses(client, uses) });
}

/** Returns the values that an app's developer needs: five, a sixth for the device flow, and the address of the metadata. */
export function registeredClientJson(client: Client, clientSecret: string | null, endpoints: Endpoints) {
  const its = endpointsFor(client, endpoints);
  return {
    client_id: client.id,
    client_secret: clientSecret,
    authorization_url: its.authorizationUrl,
    access_token_request_url: its.accessTokenRequestUrl,
    refresh_token_request_url: its.refreshTokenRequestUrl,
    ...(its.deviceAuthorizationUrl === null ? {} : { device_authorization_url: its.deviceAuthorizationUrl }),
    metadata_url: endpoints.metadataUrl,
  };
}
