/** How resource servers are shown, to programs and to people. A secret is shown only once, when it is made. */
import type { ResourceServer } from '../oauth/resource-server.ts';
import { SHOWN_ONCE } from './client-view.ts';
import type { CommandResult } from './command-run.ts';
import type { Endpoints } from './context.ts';
import { card, table } from './table.ts';
import { isoTime, readableTime } from './time.ts';

/** What the developer of a resource server needs. */
export function registeredResourceServer(server: ResourceServer, secret: string, endpoints: Endpoints): CommandResult {
  return {
    json: {
      resource_server_id: server.id,
      resource_server_secret: secret,
      ...settingsJson(server),
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
export function resourceServerJson(server: ResourceServer) {
  return { resource_server_id: server.id, ...settingsJson(server) };
}

/** One resource server. */
export function shownResourceServer(server: ResourceServer): CommandResult {
  const secrets = server.secrets.map(({ createdAt }) => `made ${readableTime(createdAt)}`);
  return {
    json: resourceServerJson(server),
    text: card([
      ['Resource Server ID', server.id],
      ['Name', server.name],
      ['Resource', server.resource ?? 'none: it takes tokens that are for no certain resource'],
      ['Scopes', server.scopes ?? 'all'],
      ['Live secrets', secrets],
      ['Registered', readableTime(server.createdAt)],
    ]),
  };
}

/** Many resource servers. */
export function listedResourceServers(servers: readonly ResourceServer[], width: number): CommandResult {
  const rows = servers.map(({ id, name, resource, scopes, createdAt }) => [
    id,
    name,
    resource ?? '',
    scopes?.join(' ') ?? 'all',
    readableTime(createdAt),
  ]);
  const none = 'No resource servers yet. Register one: valetkey resource-server register --name NAME';
  return {
    json: servers.map(resourceServerJson),
    text: rows.length === 0 ? [none] : table(HEADINGS, rows, width),
  };
}

const HEADINGS = ['Resource Server ID', 'Name', 'Resource', 'Scopes', 'Registered'];

function settingsJson({ name, resource, scopes, secrets, createdAt }: ResourceServer) {
  return {
    name,
    resource,
    scopes,
    live_secrets: secrets.map((secret) => ({ created_at: isoTime(secret.createdAt) })),
    created_at: isoTime(createdAt),
  };
}

/** The secret is a variable in the example: it must not be in source code. */
function exampleFor({ id, resource }: ResourceServer, issuer: string): string[] {
  const settings = { issuer, id, ...(resource === null ? {} : { resource }) };
  const members = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [
    'import { createVerifier } from "@valetkey/verify";',
    `const verifier = createVerifier({ ${members.join(', ')}, secret });`,
    'const result = await verifier.check(request.headers.authorization);',
  ];
}
