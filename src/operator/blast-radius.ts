/** The grants that an act would end, for a question before it. */
import { type GrantRegistry, MAX_COUNTED } from '../oauth/connected-apps/grant-registry.ts';

/** The grants that would end, of one app or of one user, counted to `MAX_COUNTED`: `more` is true beyond it. */
export async function grantsToEnd(
  grants: Pick<GrantRegistry, 'count'>,
  owner: { readonly clientId?: string; readonly resourceOwnerId?: string },
) {
  const { grants: count, resourceOwners, clients } = await grants.count(owner);
  return { grants: count, users: resourceOwners, apps: clients, more: count >= MAX_COUNTED };
}
