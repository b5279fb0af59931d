/** How apps are shown, to programs and to people. Never with a secret: that is said once, where it is made. */
import type { Client } from '../oauth/client.ts';
import type { Answer } from './command-run.ts';
import type { Endpoints } from './context.ts';
import { card, table } from './table.ts';
import { isoTime, readableTime } from './time.ts';

/** What stands below a secret. */
export const SHOWN_ONCE = 'The secret is shown this once, and only its digest is kept: store it safely now.';

/** The five things that an app needs. */
export function fiveThings(client: Client, clientSecret: string | null, endpoints: Endpoints): Answer {
  const kind = client.type === 'public' ? ' as a public app' : '';
  return {
    json: {
      client_id: client.id,
      client_secret: clientSecret,
      authorization_url: endpoints.authorizationUrl,
      access_token_request_url: endpoints.accessTokenRequestUrl,
      refresh_token_request_url: endpoints.refreshTokenRequestUrl,
    },
    text: [
      `${client.name} is registered${kind}. Its developer needs these five things:`,
      '',
      ...card([
        ['  Client ID', client.id],
        ['  Client Secret', clientSecret ?? 'none: a public app proves itself with PKCE'],
        ['  Authorization URL', endpoints.authorizationUrl],
        ['  Access Token Request URL', endpoints.accessTokenRequestUrl],
        ['  Refresh Token Request URL', endpoints.refreshTokenRequestUrl],
      ]),
      ...(clientSecret === null ? [] : ['', SHOWN_ONCE]),
    ],
    note:
      client.type === 'public'
        ? 'Public apps connect at the endpoints of the standards (/oauth2/…), which this version does not serve yet.'
        : `Next: "valetkey client show ${client.id}" shows what is registered, and "client update" changes it.`,
  };
}

/** All that is registered of an app. */
export function clientJson(client: Client) {
  return {
    client_id: client.id,
    type: client.type,
    name: client.name,
    redirect_uris: client.redirectUris,
    scopes: client.scopes.map(({ name, sentence }) => ({ name, sentence })),
    require_pkce: client.requirePkce,
    refresh_overlap: client.refreshOverlap,
    refresh_retry_window: client.refreshRetryWindow,
    status: client.status,
    live_secrets: client.secrets.map(({ createdAt }) => ({ created_at: isoTime(createdAt) })),
    created_at: isoTime(client.createdAt),
  };
}

/** One app. */
export function shownClient(client: Client): Answer {
  return { json: clientJson(client), text: clientCard(client) };
}

/** One app after something was done to it. */
export function saidOfClient(client: Client, sentence: string): Answer {
  return { json: clientJson(client), text: [sentence] };
}

/** Many apps. */
export function listedClients(clients: readonly Client[], width: number): Answer {
  const rows = clients.map(({ id, name, type, status, createdAt }) => [
    id,
    name,
    type,
    status,
    readableTime(createdAt),
  ]);
  const none = 'No apps yet. Register one: valetkey client register --name NAME --redirect-uri URI';
  return {
    json: clients.map(clientJson),
    text: rows.length === 0 ? [none] : table(['Client ID', 'Name', 'Type', 'Status', 'Registered'], rows, width),
  };
}

function clientCard(client: Client): string[] {
  const secrets = client.secrets.map(({ createdAt }) => `made ${readableTime(createdAt)}`);
  return card([
    ['Client ID', client.id],
    ['Name', client.name],
    ['Type', client.type],
    ['Status', client.status],
    ['Redirect URIs', client.redirectUris],
    ['Scopes', client.scopes.length === 0 ? 'none' : client.scopes.map(scopeLine)],
    ['PKCE', client.requirePkce || client.type === 'public' ? 'required' : 'optional'],
    ['Refresh overlap', secondsText(client.refreshOverlap)],
    ['Refresh retry window', secondsText(client.refreshRetryWindow)],
    ['Live secrets', secrets.length === 0 ? 'none' : secrets],
    ['Registered', readableTime(client.createdAt)],
  ]);
}

function scopeLine({ name, sentence }: Client['scopes'][number]): string {
  return sentence === null ? name : `${name}: ${sentence}`;
}

function secondsText(seconds: number | null): string {
  return seconds === null ? 'default' : `${seconds} s`;
}
