/** Default resources of apps (RFC 8707 §2): which one an operator may give, and which have lost their API. */

import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { OperatorError } from '../../oauth/error.ts';
import { knownResource } from '../../oauth/protocol/authorization-request.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';

/** Returns the resource as its API is registered; null for none. Throws an `OperatorError` when no API has it. */
export async function registeredResource(
  named: string | null,
  store: Pick<ResourceServerStore, 'listResources'>,
): Promise<string | null> {
  if (named === null) return null;
  const registered = knownResource(await store.listResources(), named);
  if (registered !== null) return registered;
  throw new OperatorError(`no API is registered with the resource ${JSON.stringify(named)}`, 'default_resource', {
    remedy: 'give the resource of one that is, or register the API first',
    command: '"resource-server list" shows all, and "resource-server register --resource" adds one',
  });
}

/** Lists the default resources that no API has any more: introspection answers for none of their tokens. */
export async function lostDefaults(
  store: Pick<ClientStore, 'listDefaultResources'> & Pick<ResourceServerStore, 'listResources'>,
): Promise<string[]> {
  const registered = await store.listResources();
  return (await store.listDefaultResources()).filter((resource) => knownResource(registered, resource) === null);
}
