/** How resource servers are shown, to programs and to people. A secret is shown only once, when it is made. */
import type { ResourceServer } from '../../oauth/resource-servers/resource-server.ts';
import type { Endpoints } from '../../operator/apps/endpoints.ts';
import { resourceServerRows } from '../../operator/fields/resource-server-fields.ts';
import {
  findResourceServerJson,
  type ResourceServerJson,
  registeredResourceServerJson,
} from '../../operator/json/resource-server.ts';
import { CODEX_DOCUMENT, codexDocumentFor } from '../../operator/products-and-apis/codex-client-ids.ts';
import type { SecretUses } from '../../operator/secrets/secret-last-uses.ts';
import type { CommandResult } from '../command/command-run.ts';
import { settingFields } from '../input/setting-options.ts';
import { quotedWord } from '../output/quoted-word.ts';
import { card, type ShortList } from '../output/table.ts';
import { readableTime } from '../output/time.ts';
import { lastUseLine, SHOWN_ONCE, secretLines } from '../registrations/secret-view.ts';

/** Returns the values that a resource server's developer needs. */
export function registeredResourceServer(server: ResourceServer, secret: string, endpoints: Endpoints): CommandResult {
  return {
    json: registeredResourceServerJson(server, secret, endpoints),
    text: [
      `${server.name} is registered. Its developer needs these four things:`,
      '',
      ...card([
        ['  Resource Server ID', server.id],
        ['  Resource Server Secret', secret],
        ['  Introspection URL', endpoints.introspectionUrl],
        ['  Revocation Stream URL', endpoints.revocationStreamUrl],
      ]),
      '',
      'In a Node.js API, with the package @valetkey/verify ("npm run package" in a checkout makes it):',
      '',
      ...exampleFor(server, endpoints.issuer).map((line) => `  ${line}`),
      '',
      SHOWN_ONCE,
    ],
    note: nextAfterRegistering(server),
  };
}

/** Returns the note after a registration. */
export function nextAfterRegistering({ id }: ResourceServer): string {
  return `Next: "valetkey resource-server show ${id}" shows the registration, and "resource-server update" changes it.`;
}

/** One resource server. */
export async function shownResourceServer(server: ResourceServer, uses: SecretUses): Promise<CommandResult> {
  const api = await findResourceServerJson(server, uses);
  return {
    json: api,
    text: card([
      ['Resource Server ID', api.resource_server_id],
      ...settingFields(resourceServerRows(server)),
      ['Live secrets', secretLines(api.live_secrets)],
      ['Registered', readableTime(api.created_at)],
    ]),
  };
}

/** The same, with the commands that admit Codex for the API. */
export async function resourceServerWithCodex(server: ResourceServer, uses: SecretUses): Promise<CommandResult> {
  const shown = await shownResourceServer(server, uses);
  const earlier = codexDocumentFor(server.resource);
  if (earlier === null) return shown;
  const scope = (server.scopes ?? ['NAME']).map(quotedWord).join(' ');
  const admitting = (document: string) => `valetkey client register --from ${document} --scope ${scope}`;
  const note = [
    `To admit Codex for this API: ${admitting(CODEX_DOCUMENT)}`,
    `Earlier versions of Codex use another document: ${admitting(earlier)} --name "Earlier Codex"`,
  ];
  return { ...shown, note };
}

/** Returns the sentence about a default resource that no API has. */
export function lostDefaultLine(resource: string): string {
  return `No API has the resource ${resource}, which is the default of an app. The tokens of that app work only at /v2/me. Change it with "valetkey client update": --default-resource or --no-default-resource.`;
}

/** The list of resource servers. */
export const RESOURCE_SERVERS: ShortList<ResourceServerJson> = {
  none: 'No resource servers yet. Register one: valetkey resource-server register --name NAME',
  columns: [
    { heading: 'Resource Server ID', value: (api) => api.resource_server_id },
    { heading: 'Name', value: (api) => api.name, shrinksTo: 8 },
    { heading: 'Last used', value: (api) => lastUseLine(api.live_secrets) },
    { heading: 'Resource', value: (api) => api.resource ?? '', mayBeLeft: true },
    { heading: 'Scopes', value: (api) => api.scopes?.join(' ') ?? 'all', mayBeLeft: true },
    { heading: 'Registered', value: (api) => readableTime(api.created_at), mayBeLeft: true },
  ],
};

/** The secret is a variable in the example: it must not be in source code. */
function exampleFor({ id, resource, acceptsUnbound }: ResourceServer, issuer: string): string[] {
  const settings = {
    issuer,
    id,
    ...(resource === null ? {} : { resource }),
    ...(acceptsUnbound ? { acceptUnbound: true } : {}),
  };
  const members = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [
    'import { createVerifier } from "@valetkey/verify";',
    `const verifier = createVerifier({ ${members.join(', ')}, secret });`,
    'const result = await verifier.check(request.headers.authorization);',
  ];
}
