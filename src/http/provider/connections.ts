/** The connected apps of a provider's user, as its calls list and name them. */
import type { Account } from '../../accounts/people/account.ts';
import type { Members } from '../../accounts/people/profile.ts';
import { documentHost } from '../../oauth/clients/client-document.ts';
import {
  type ConnectedApp,
  type ConnectionName,
  connectionId,
  isLinesCursor,
  pageOfLines,
  readConnectionId,
} from '../../oauth/connected-apps/connected-apps.ts';
import { invalidRequest, type Refusal } from '../../oauth/error.ts';
import { fieldsThere } from '../../oauth/grants/person-fields.ts';
import { effectOf, type ScopeDefinition, sentenceFor } from '../../oauth/grants/scope.ts';
import { dateTime } from '../json/date-time.ts';
import type { Service } from '../service/service.ts';

/** Maximum number of connections on a page, and the usual one. */
export const MAX_CONNECTIONS = 200;

/** Longest tag that is compared (RFC 5646 §4.4.1). */
const LANGUAGE = /^[A-Za-z0-9-]{2,35}$/;

/** Lists a page of a user's connected apps. */
export async function listConnections(
  service: Service,
  { account, apps }: { readonly account: Account; readonly apps: readonly ConnectedApp[] },
  { language = 'en', after }: Members,
  limit: number,
): Promise<object | Refusal> {
  if (typeof language !== 'string' || !LANGUAGE.test(language))
    return invalidRequest('language must be a language tag, such as en');
  if (after !== undefined && !isLinesCursor(String(after))) return invalidRequest('after must be `next` of a page');
  const page = pageOfLines(apps, after === undefined ? null : String(after), limit);
  const definitions = await service.scopes.listScopes();
  const connections = await Promise.all(
    page.entries.map((app) => describe(service, app, account, definitions, language)),
  );
  return { connections, next: page.next };
}

/** Reads the connection that a body names: one by its id, or all of an app. */
export function readConnection({ connection_id, client_id }: Members): ConnectionName | Refusal | null {
  if (connection_id === undefined) return null;
  if (client_id !== undefined) return invalidRequest('send either connection_id or client_id, not both');
  const name =
    typeof connection_id === 'string' && connection_id.length <= 4000 ? readConnectionId(connection_id) : null;
  return name ?? invalidRequest('connection_id must be that of a connection in the list');
}

async function describe(
  service: Service,
  app: ConnectedApp,
  account: Account,
  definitions: readonly ScopeDefinition[],
  language: string,
): Promise<object> {
  const client = await service.clients.findClient(app.clientId);
  return {
    connection_id: connectionId(app),
    client_id: app.clientId,
    name: app.clientName,
    publisher: client?.publisher ?? null,
    homepage: client?.homepage ?? null,
    privacy_page: client?.privacyPage ?? null,
    contact: client?.contact ?? null,
    is_checked: client?.isChecked ?? false,
    host: client && documentHost(client),
    redirect_hosts: app.redirectHosts,
    signs_in: app.signsIn,
    scope: app.scope.join(' '),
    permissions: app.scope.map((name) => {
      const known = client?.scopes.find((scope) => scope.name === name) ?? { name, sentence: null, optional: false };
      const { optional } = known;
      return {
        name,
        sentence: sentenceFor(known, definitions, language),
        effect: effectOf(name, definitions),
        optional,
      };
    }),
    profile: fieldsThere(app.personFields, account),
    granted_at: dateTime(app.since),
    last_used_at: app.lastUsedAt === null ? null : dateTime(app.lastUsedAt),
    expires_at: dateTime(app.expiresAt),
    expires_at_the_latest: dateTime(app.absoluteExpiresAt),
    device: app.kind === 'device',
    is_waiting: app.isWaiting,
  };
}
