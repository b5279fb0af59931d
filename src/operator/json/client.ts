/** An app as commands and an API print it. Its secret's text is there only once, when it is made. */
import type { Client } from '../../oauth/clients/client.ts';
import { type Endpoints, endpointsFor } from '../apps/endpoints.ts';
import { CLIENT_SETTINGS } from '../fields/client-fields.ts';
import { settingsJson } from '../fields/setting.ts';
import { findClientUses, type ListedClient, lastClientUse, type SecretUses } from '../secrets/secret-last-uses.ts';
import { secretsJson } from './secret.ts';
import { isoTime } from './time.ts';

/** An app for programs. */
export type ClientJson = ReturnType<typeof clientJson>;

/** All that is registered of an app; of its keys only what names them. */
export function clientJson({ client, uses }: ListedClient) {
  const { keys, ...settings } = settingsJson(CLIENT_SETTINGS, client);
  return {
    client_id: client.id,
    type: client.type,
    ...settings,
    status: client.status,
    last_used_at: isoTime(lastClientUse(uses)),
    live_secrets: secretsJson(uses.secrets),
    keys: keys.map(({ kid = null, kty = null, alg = null }, at) => ({
      kid,
      kty,
      alg,
      last_used_at: isoTime(uses.keys[at] ?? null),
    })),
    document_sha256: client.documentSha256,
    jwks_uri: client.jwksUri,
    jwks_fetched_at: isoTime(client.jwksFetchedAt),
    created_at: isoTime(client.createdAt),
  };
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
