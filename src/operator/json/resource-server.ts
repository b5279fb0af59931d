/** A resource server as commands and an API print it. Its secret's text is there only once, when it is made. */
import type { ResourceServer } from '../../oauth/resource-servers/resource-server.ts';
import type { Endpoints } from '../apps/endpoints.ts';
import { RESOURCE_SERVER_SETTINGS } from '../fields/resource-server-fields.ts';
import { settingsJson } from '../fields/setting.ts';
import type { SecretUses } from '../secrets/secret-last-uses.ts';
import { findSecretsJson, type SecretJson, secretsJson } from './secret.ts';
import { isoTime } from './time.ts';

/** A resource server for programs. */
export type ResourceServerJson = Awaited<ReturnType<typeof findResourceServerJson>>;

/** All that is registered of a resource server. */
export async function findResourceServerJson(server: ResourceServer, uses: SecretUses) {
  return { resource_server_id: server.id, ...serverJson(server, await findSecretsJson(server.secrets, uses)) };
}

/** Returns the values that a resource server's developer needs, with the registration. */
export function registeredResourceServerJson(server: ResourceServer, secret: string | null, endpoints: Endpoints) {
  return {
    resource_server_id: server.id,
    resource_server_secret: secret,
    ...serverJson(server, secretsJson(server.secrets.map(({ createdAt }) => ({ createdAt, lastUsedAt: null })))),
    introspection_url: endpoints.introspectionUrl,
    revocation_stream_url: endpoints.revocationStreamUrl,
  };
}

function serverJson(server: ResourceServer, secrets: readonly SecretJson[]) {
  const settings = settingsJson(RESOURCE_SERVER_SETTINGS, server);
  return { ...settings, live_secrets: secrets, created_at: isoTime(server.createdAt) };
}
