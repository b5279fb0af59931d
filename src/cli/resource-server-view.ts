/** How resource servers are shown, to programs and to people. A secret is shown only once, when it is made. */
import type { ResourceServer } from '../oauth/clients/resource-server.ts';
import { CODEX_DOCUMENT, codexDocumentFor } from '../operator/codex-document.ts';
import { type LiveSecret, liveSecrets, type SecretUses } from '../operator/last-uses.ts';
import { SHOWN_ONCE } from './client-view.ts';
import type { CommandResult } from './command-run.ts';
import type { Endpoints } from './context.ts';
import { quotedWord } from './quoted-word.ts';
import { lastUseLine, secretLines, secretsJson } from './secret-view.ts';
import { type Column, card, fitted } from './table.ts';
import { isoTime, readableTime } from './time.ts';

/** What the developer of a resource server needs. */
export function registeredResourceServer(server: ResourceServer, secret: string, endpoints: Endpoints): CommandResult {
  return {
    json: {
      resource_server_id: server.id,
      resource_server_secret: secret,
      ...settingsJson(server, [{ createdAt: server.createdAt, lastUsedAt: null }]),
      introspection_url: endpoints.introspectionUrl,
      revocation_stream_url: endpoints.revocationStreamUrl,
    },
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
      'In a Node.js API, with the package @valetkey/verify, which you make (see packages/verify/README.md):',
      '',
      ...exampleFor(server, endpoints.issuer).map((line) => `  ${line}`),
      '',
      SHOWN_ONCE,
    ],
    note: `Next: "valetkey resource-server show ${server.id}" shows what is registered, and "resource-server update" changes it.`,
  };
}

/** All that is registered of a resource server. */
export async function resourceServerJson(server: ResourceServer, uses: SecretUses) {
  return { resource_server_id: server.id, ...settingsJson(server, await liveSecrets(server.secrets, uses)) };
}

/** One resource server. */
export async function shownResourceServer(server: ResourceServer, uses: SecretUses): Promise<CommandResult> {
  return {
    json: await resourceServerJson(server, uses),
    text: card([
      ['Resource Server ID', server.id],
      ['Name', server.name],
      ['Resource', server.resource ?? 'none: it takes tokens that are for no certain resource'],
      ['Unbound tokens', server.resource === null || server.acceptsUnbound ? 'accepted' : 'refused'],
      ['Scopes', server.scopes ?? 'all'],
      ['Live secrets', secretLines(await liveSecrets(server.secrets, uses))],
      ['Registered', readableTime(server.createdAt)],
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
    `Earlier versions of Codex name another document: ${admitting(earlier)} --name "Earlier Codex"`,
  ];
  return { ...shown, note };
}

/** Many resource servers. */
export async function listedResourceServers(
  servers: readonly ResourceServer[],
  uses: SecretUses,
  width: number,
): Promise<CommandResult> {
  const rows = await Promise.all(
    servers.map(async (server) => ({ server, secrets: await liveSecrets(server.secrets, uses) })),
  );
  const none = 'No resource servers yet. Register one: valetkey resource-server register --name NAME';
  return {
    json: rows.map(({ server, secrets }) => ({ resource_server_id: server.id, ...settingsJson(server, secrets) })),
    text: rows.length === 0 ? [none] : fitted(COLUMNS, rows, width).lines,
  };
}

/** Returns the sentence about a default resource that no API has. */
export function lostDefaultLine(resource: string): string {
  return `No API has ${resource}, the default resource of an app: its tokens work at no API but /v2/me. "valetkey client update" changes it: --default-resource or --no-default-resource.`;
}

const COLUMNS: readonly Column<{ server: ResourceServer; secrets: readonly LiveSecret[] }>[] = [
  { heading: 'Resource Server ID', value: ({ server }) => server.id },
  { heading: 'Name', value: ({ server }) => server.name, shrinksTo: 8 },
  { heading: 'Last used', value: ({ secrets }) => lastUseLine(secrets) },
  { heading: 'Resource', value: ({ server }) => server.resource ?? '', mayBeLeft: true },
  { heading: 'Scopes', value: ({ server }) => server.scopes?.join(' ') ?? 'all', mayBeLeft: true },
  { heading: 'Registered', value: ({ server }) => readableTime(server.createdAt), mayBeLeft: true },
];

function settingsJson(
  { name, resource, acceptsUnbound, scopes, createdAt }: ResourceServer,
  secrets: readonly LiveSecret[],
) {
  return {
    name,
    resource,
    accepts_unbound: acceptsUnbound,
    scopes,
    live_secrets: secretsJson(secrets),
    created_at: isoTime(createdAt),
  };
}

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
