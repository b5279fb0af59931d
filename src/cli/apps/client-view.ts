/** How apps are shown, to programs and to people. A secret is shown only once, when it is made. */
import type { Client } from '../../oauth/clients/client.ts';
import type { FetchedClient } from '../../operator/apps/client-documents.ts';
import type { Endpoints } from '../../operator/apps/endpoints.ts';
import { clientRows } from '../../operator/fields/client-fields.ts';
import { type ClientJson, clientJson, findClientJson, registeredClientJson } from '../../operator/json/client.ts';
import type { ListedClient, SecretUses } from '../../operator/secrets/secret-last-uses.ts';
import type { CommandResult } from '../command/command-run.ts';
import type { LongList } from '../input/list-options.ts';
import { settingFields } from '../input/setting-options.ts';
import { type Column, card, type Field } from '../output/table.ts';
import { readableTime, timeOrNever } from '../output/time.ts';
import { SHOWN_ONCE, secretLines, usedText } from '../registrations/secret-view.ts';

/** Returns the values that an app's developer needs: five, and a sixth for the device flow. */
export function fiveThings(
  client: Client,
  clientSecret: string | null,
  endpoints: Endpoints,
  warnings: readonly string[],
): CommandResult {
  const json = registeredClientJson(client, clientSecret, endpoints);
  const { device_authorization_url: device = '' } = json;
  const kind = client.type === 'public' ? ' as a public app' : '';
  return {
    json,
    text: [
      `${client.name} is registered${kind}. Its developer needs these ${device === '' ? 'five' : 'six'} things:`,
      '',
      ...card([
        ['  Client ID', json.client_id],
        ['  Client Secret', clientSecret ?? withoutSecret(client)],
        ['  Authorization URL', json.authorization_url],
        ['  Access Token Request URL', json.access_token_request_url],
        ['  Refresh Token Request URL', json.refresh_token_request_url],
        ['  Device Authorization URL', device],
      ]),
      '',
      `With an OAuth library, give it the issuer ${endpoints.issuer}`,
      ...(clientSecret === null ? [] : ['', SHOWN_ONCE]),
    ],
    note: [...warnings, nextAfterRegistering(client)],
  };
}

/** Returns the note after a registration. */
export function nextAfterRegistering({ id }: Client): string {
  return `Next: "valetkey client show ${id}" shows the registration, and "client update" changes it.`;
}

/** Lines on a metadata document: all that is honored, and notes on the rest. */
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
      ['Authenticates', document.method === 'none' ? 'only with PKCE: any program can claim to be it' : 'with its key'],
      ['Keys', document.keys.map(keyLine)],
      ['Keys at', document.jwksUri ?? ''],
    ]),
    ...notes,
  ];
}

function withoutSecret({ type }: Client): string {
  return type === 'public'
    ? 'none: a public app uses PKCE'
    : 'none: the app authenticates with its own key (private_key_jwt)';
}

/** Data on an app besides its registration. */
export type MoreOfClient = { readonly json: object; readonly fields: readonly Field[] };

/** One app. */
export async function shownClient(client: Client, uses: SecretUses, more?: MoreOfClient): Promise<CommandResult> {
  const json = await findClientJson(client, uses);
  return { json: { ...json, ...more?.json }, text: card([...clientFields(json, client), ...(more?.fields ?? [])]) };
}

/** One app after it was changed. */
export async function saidOfClient(client: Client, uses: SecretUses, sentence: string): Promise<CommandResult> {
  return { json: await findClientJson(client, uses), text: [sentence] };
}

/** Returns the note after an update: its side effects, with their remedies. */
export function noteOfUpdate(before: Client, updated: Client): string {
  const { id, name, type, keys, secrets, scopes } = updated;
  const cannotProveItself = type === 'confidential' && keys.length === 0 && secrets.length === 0;
  const lost = before.scopes.map((scope) => scope.name).filter((scope) => scopes.every((left) => left.name !== scope));
  return [
    `${name} is updated.`,
    before.isChecked &&
      !updated.isChecked &&
      'You no longer vouch for it: its name, publisher, pages or contact, or the host of a redirect URI, changed. Check them, and give --checked again.',
    before.consent === 'skip' &&
      updated.consent === 'ask' &&
      'Users are asked again: it has another redirect host, or may get more. Check that, and give --consent skip again.',
    cannotProveItself && `It has neither a key nor a secret now: "valetkey client rotate-secret ${id}" makes a secret.`,
    before.defaultResource !== updated.defaultResource &&
      `Its default resource applies to new grants only. Earlier grants stay unchanged: "valetkey client revoke-grants ${id}" ends them.`,
    lost.length > 0 &&
      `No longer registered: ${lost.join(', ')}. Existing grants keep it: "valetkey client revoke-grants ${id}" ends them.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(' ');
}

/** Many apps, after a filter or without one. */
export function listedClients(
  pages: AsyncIterable<readonly ListedClient[]>,
  isFiltered: boolean,
): LongList<ListedClient, ClientJson> {
  const none = isFiltered
    ? 'No app matches.'
    : 'No apps yet. Register one: valetkey client register --name NAME --redirect-uri URI';
  return { pages, json: clientJson, none, columns: COLUMNS, id: ({ client }) => client.id };
}

const COLUMNS: readonly Column<ClientJson>[] = [
  { heading: 'Client ID', value: (app) => app.client_id },
  { heading: 'Name', value: (app) => app.name, shrinksTo: 8 },
  { heading: 'Status', value: (app) => app.status },
  { heading: 'Last used', value: (app) => timeOrNever(app.last_used_at) },
  { heading: 'Type', value: (app) => app.type, mayBeLeft: true },
  { heading: 'Registered', value: (app) => readableTime(app.created_at), mayBeLeft: true },
];

/** `client` also has the result of the last fetch of its keys. */
function clientFields(app: ClientJson, client: Client): Field[] {
  const [name = ['', ''], ...settings] = settingFields(clientRows(client), {
    scopes: app.scopes.map(scopeLine),
    keys: app.keys.map((key) => `${keyLine(key)}, ${usedText(key.last_used_at)}`),
  });
  return [
    ['Client ID', app.client_id],
    name,
    ['Type', app.type],
    ['Status', app.status],
    ...settings,
    ['Live secrets', orNone(secretLines(app.live_secrets))],
    ['Keys at', app.jwks_uri === null ? '' : keysAtLine(app.jwks_uri, client)],
    ['Document', app.document_sha256 === null ? '' : `SHA-256 ${app.document_sha256}`],
    ['Registered', readableTime(app.created_at)],
    ['Last used', timeOrNever(app.last_used_at)],
  ];
}

function orNone(lines: readonly string[]): string | readonly string[] {
  return lines.length === 0 ? 'none' : lines;
}

function scopeLine({ name, sentence, optional }: ClientJson['scopes'][number]): string {
  return name + (optional ? ' (optional)' : '') + (sentence === null ? '' : `: ${sentence}`);
}

function keyLine({ kid, kty, alg }: Partial<Record<'kid' | 'kty' | 'alg', string | null>>): string {
  return [kid, kty, alg].filter((part) => part != null).join(' ');
}

/** The address of the keys, and when they were fetched; a last try without a fetch has failed. */
function keysAtLine(uri: string, { jwksFetchedAt, jwksAskedAt }: Client): string {
  const failed = jwksAskedAt === jwksFetchedAt ? '' : `; the fetch at ${timeOrNever(jwksAskedAt)} failed`;
  return `${uri}, fetched ${timeOrNever(jwksFetchedAt)}${failed}`;
}
