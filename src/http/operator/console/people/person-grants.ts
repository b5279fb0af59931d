/** The live grants of one person, a page at a time. */
import type { Account } from '../../../../accounts/people/account.ts';
import type { Client } from '../../../../oauth/clients/client.ts';
import { isForDevice } from '../../../../oauth/grants/device-grant.ts';
import { grantIdText, lastUse } from '../../../../oauth/grants/grant.ts';
import { fieldsThere, personFieldsOf } from '../../../../oauth/grants/person-fields.ts';
import { type ScopeDefinition, scopeNames } from '../../../../oauth/grants/scope.ts';
import type { Parameters } from '../../../../oauth/parameters.ts';
import type { ListedGrant } from '../../../../oauth/protocol/grant-store.ts';
import type { GrantsData, ShownGrant } from '../../../../pages/operator/people/person-data.ts';
import { permissionsGranted } from '../../../browser/authorize/permissions-on-pages.ts';
import type { Service } from '../../../service/service.ts';
import { askedPage } from '../asked-list-page.ts';

/** Number of grants on the page, each with a form that names the app, and has an ID of the person of 255 characters. */
const GRANTS = 10;

/** Returns the page of grants that a query asks for; null if its cursor is none, or too old. */
export async function grantsOf(service: Service, account: Account, query: Parameters): Promise<GrantsData | null> {
  const page = askedPage(query, GRANTS);
  const found = await service.operatorApi.lists.grants({ resourceOwnerId: account.id, status: 'live' }, page);
  if (found === null) return null;
  const ids = [...new Set(found.items.map(({ grant }) => grant.clientId))];
  const [definitions, ...pairs] = await Promise.all([
    service.scopes.listScopes(),
    ...ids.map(async (id) => [id, await service.clients.findClient(id)] as const),
  ]);
  const clients = new Map(pairs);
  const items = found.items.map((listed) =>
    shownGrant(definitions, listed, account, clients.get(listed.grant.clientId) ?? null),
  );
  return { list: { items, next: found.next }, isFirst: page.after === undefined };
}

function shownGrant(
  definitions: readonly ScopeDefinition[],
  { grant, clientName }: ListedGrant,
  account: Account,
  client: Client | null,
): ShownGrant {
  const { id, clientId, generation, grantedAt, expiresAt, scope } = grant;
  return {
    id: grantIdText(id),
    clientId,
    appName: clientName,
    expiresAt,
    since: grantedAt,
    isPaused: client?.status === 'paused',
    kind: isForDevice(grant) ? 'device' : client?.documentSha256 ? 'installation' : 'app',
    isWaiting: generation === 0,
    permissions: permissionsGranted(definitions, client, scopeNames(scope), 'en'),
    person: fieldsThere(personFieldsOf(grant), account),
    lastUsedAt: lastUse(grant),
  };
}
