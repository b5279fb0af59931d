/** The grants that an act would end, for a question before it. */
import { type GrantRegistry, MAX_COUNTED } from '../../oauth/connected-apps/grant-registry.ts';
import type { Lists } from './lists.ts';

/** The grants that would end, of one app or of one user, counted to `MAX_COUNTED`: `more` is true beyond it. */
export async function grantsToEnd(
  grants: Pick<GrantRegistry, 'count'>,
  owner: { readonly clientId?: string; readonly resourceOwnerId?: string },
) {
  const { grants: count, resourceOwners, clients } = await grants.count(owner);
  return { grants: count, users: resourceOwners, apps: clients, more: count >= MAX_COUNTED };
}

/** Up to this many grants, their users and apps are counted too. */
const OWNERS_COUNTED_TO = 1000;

/** The same for a page, which must not wait for a long count. `users` and `apps` are null if there are many grants. */
export async function grantsToEndSoon(
  { grants, lists }: { readonly grants: Pick<GrantRegistry, 'count'>; readonly lists: Pick<Lists, 'countGrants'> },
  owner: { readonly clientId: string } | { readonly resourceOwnerId: string },
) {
  const found = await lists.countGrants(owner);
  if (found.more || found.grants > OWNERS_COUNTED_TO) return { ...found, users: null, apps: null };
  return grantsToEnd(grants, owner);
}
