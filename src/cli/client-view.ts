/** How apps are shown, to programs and to people. A secret is shown only once, when it is made. */
import type { Client, PublicKey } from '../oauth/clients/client.ts';
import type { FetchedClient } from '../operator/client-documents.ts';
import type { ListedClient } from '../operator/client-list.ts';
import type { ClientSettings } from '../operator/client-registry.ts';
import { type ClientUses, findClientUses, lastClientUse, type SecretUses } from '../operator/last-uses.ts';
import type { CommandResult } from './command-run.ts';
import type { Endpoints } from './context.ts';
import type { LongList } from './long-list.ts';
import { secretLines, secretsJson, usedText } from './secret-view.ts';
import { type Column, card, fitted } from './table.ts';
import { isoTime, readableTime, timeOrNever } from './time.ts';

/** The sentence below a secret. */
export const SHOWN_ONCE = 'The secret is shown this once, and only its digest is kept: store it safely now.';

/** What an app's developer needs: five things, and for the device flow a sixth. */
export function fiveThings(
  client: Client,
  clientSecret: string | null,
  endpoints: Endpoints,
  warnings: readonly string[],
): CommandResult {
  // The published face requires a secret, and has no device flow.
  const face = endpoints[clientSecret === null || client.deviceFlow ? 'standard' : 'published'];
  const device = client.deviceFlow ? endpoints.deviceAuthorizationUrl : null;
  const kind = client.type === 'public' ? ' as a public app' : '';
  return {
    json: {
      client_id: client.id,
      client_secret: clientSecret,
      authorization_url: face.authorizationUrl,
      access_token_request_url: face.accessTokenRequestUrl,
      refresh_token_request_url: face.refreshTokenRequestUrl,
      ...(device === null ? {} : { device_authorization_url: device }),
      metadata_url: endpoints.metadataUrl,
    },
    text: [
      `${client.name} is registered${kind}. Its developer needs these ${device === null ? 'five' : 'six'} things:`,
      '',
      ...card([
        ['  Client ID', client.id],
        ['  Client Secret', clientSecret ?? withoutSecret(client)],
        ['  Authorization URL', face.authorizationUrl],
        ['  Access Token Request URL', face.accessTokenRequestUrl],
        ['  Refresh Token Request URL', face.refreshTokenRequestUrl],
        ['  Device Authorization URL', device ?? ''],
      ]),
      '',
      `With an OAuth library, give it the issuer ${endpoints.issuer}`,
      ...(clientSecret === null ? [] : ['', SHOWN_ONCE]),
    ],
    note: [
      ...warnings,
      `Next: "valetkey client show ${client.id}" shows what is registered, and "client update" changes it.`,
    ],
  };
}

/** Lines on a metadata document: all that is honoured, and notes on the rest. */
export function documentLines({ document, notes, sha256 }: FetchedClient, name: string): string[] {
  return [
    ...card([
      ['Document', document.id],
      ['SHA-256', sha256],
      ['Name', name],
      ['Homepage', document.homepage ?? ''],
      ['Privacy page', document.privacyPage ?? ''],
      ['Contact', document.contact ?? ''],
      ['Redirect URIs', document.redirectUris],
      [
        'Proves itself',
        document.method === 'none' ? 'with PKCE alone: any program can claim to be it' : 'with its key',
      ],
      ['Keys', document.keys.map(keyLine)],
      ['Keys at', document.jwksUri ?? ''],
    ]),
    ...notes,
  ];
}

function withoutSecret({ type }: Client): string {
  return type === 'public'
    ? 'none: a public app proves itself with PKCE'
    : 'none: the app proves itself with its own key (private_key_jwt)';
}

/** A name in snake case. */
type InJson<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${InJson<Rest>}`
  : Name;

/** All that is registered of an app. The compiler asks for each setting. */
function clientJson(client: Client, uses: ClientUses) {
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

/** One app. */
export async function shownClient(client: Client, uses: SecretUses): Promise<CommandResult> {
  const found = await findClientUses(client, uses);
  return { json: clientJson(client, found), text: clientCard(client, found) };
}

/** One app after it was changed. */
export async function saidOfClient(client: Client, uses: SecretUses, sentence: string): Promise<CommandResult> {
  return { json: clientJson(client, await findClientUses(client, uses)), text: [sentence] };
}

/** Many apps, after a filter or without one. */
export function listedClients(
  pages: AsyncIterable<readonly ListedClient[]>,
  isFiltered: boolean,
  width: number,
): LongList<ListedClient> {
  const none = isFiltered
    ? 'No app is so.'
    : 'No apps yet. Register one: valetkey client register --name NAME --redirect-uri URI';
  return {
    pages,
    json: ({ client, uses }) => clientJson(client, uses),
    lines: (rows) => (rows.length === 0 ? [none] : fitted(COLUMNS, rows, width).lines),
    id: ({ client }) => client.id,
  };
}

const COLUMNS: readonly Column<ListedClient>[] = [
  { heading: 'Client ID', value: ({ client }) => client.id },
  { heading: 'Name', value: ({ client }) => client.name, shrinksTo: 8 },
  { heading: 'Status', value: ({ client }) => client.status },
  { heading: 'Last used', value: ({ uses }) => timeOrNever(lastClientUse(uses)) },
  { heading: 'Type', value: ({ client }) => client.type, mayBeLeft: true },
  { heading: 'Registered', value: ({ client }) => readableTime(client.createdAt), mayBeLeft: true },
];

function clientCard(client: Client, { secrets, keys, itself }: ClientUses): string[] {
  const rows: Record<
    Exclude<keyof Client, 'epoch' | 'remembersSince' | 'jwksFetchedAt' | 'jwksAskedAt'>,
    Parameters<typeof card>[0][number]
  > = {
    id: ['Client ID', client.id],
    name: ['Name', client.name],
    publisher: ['Publisher', client.publisher ?? ''],
    homepage: ['Homepage', client.homepage ?? ''],
    privacyPage: ['Privacy page', client.privacyPage ?? ''],
    contact: ['Contact', client.contact ?? ''],
    isChecked: ['Checked', client.isChecked ? 'you vouch for its publisher and redirect hosts' : ''],
    type: ['Type', client.type],
    status: ['Status', client.status],
    redirectUris: ['Redirect URIs', client.redirectUris.length === 0 ? 'none' : client.redirectUris],
    scopes: ['Scopes', client.scopes.length === 0 ? 'none' : client.scopes.map(scopeLine)],
    defaultResource: ['Default resource', client.defaultResource ?? ''],
    personFields: ['Person', client.personFields.join(', ') || 'nothing but an ID'],
    requirePkce: ['PKCE', client.requirePkce || client.type === 'public' ? 'required' : 'optional'],
    consent: ['Consent', CONSENT[client.consent]],
    deviceFlow: ['Device flow', client.deviceFlow ? 'allowed' : 'not allowed'],
    refreshOverlap: ['Refresh overlap', secondsText(client.refreshOverlap)],
    refreshRetryWindow: ['Refresh retry window', secondsText(client.refreshRetryWindow)],
    secrets: ['Live secrets', secrets.length === 0 ? 'none' : secretLines(secrets)],
    keys: [
      'Keys',
      client.keys.length === 0
        ? 'none'
        : client.keys.map((key, at) => `${keyLine(key)}, ${usedText(keys[at] ?? null)}`),
    ],
    jwksUri: ['Keys at', client.jwksUri === null ? '' : keysAtLine(client.jwksUri, client)],
    assertionAudience: ['Assertion audience', audienceLine(client)],
    seesExternalId: ['External id', client.seesExternalId ? 'told in /v2/me' : ''],
    documentSha256: ['Document', client.documentSha256 === null ? '' : `SHA-256 ${client.documentSha256}`],
    createdAt: ['Registered', readableTime(client.createdAt)],
  };
  const lastUsed = ['Last used', client.type === 'public' ? timeOrNever(itself) : ''] as const;
  return card([...Object.values(rows), lastUsed]);
}

const CONSENT = {
  ask: 'asked each time',
  remember: 'asked for what was not allowed before',
  skip: 'never asked',
} as const satisfies Record<Client['consent'], string>;

/** Empty for an app without keys. */
function audienceLine({ assertionAudience, keys }: Client): string {
  if (assertionAudience === 'issuer') return 'the issuer alone';
  return keys.length === 0 ? '' : 'this server: the issuer, or the address of the endpoint';
}

function scopeLine({ name, sentence, optional }: Client['scopes'][number]): string {
  return name + (optional ? ' (optional)' : '') + (sentence === null ? '' : `: ${sentence}`);
}

function keyLine({ kid, kty, alg }: PublicKey): string {
  return [kid, kty, alg].filter((part) => part !== undefined).join(' ');
}

/** The address of the keys, and when they were fetched; a last try without a fetch has failed. */
function keysAtLine(uri: string, { jwksFetchedAt, jwksAskedAt }: Client): string {
  const failed = jwksAskedAt === jwksFetchedAt ? '' : `, and not at ${timeOrNever(jwksAskedAt)}`;
  return `${uri}, fetched ${timeOrNever(jwksFetchedAt)}${failed}`;
}

function secondsText(seconds: number | null): string {
  return seconds === null ? 'default' : `${seconds} s`;
}
