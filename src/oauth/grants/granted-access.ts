/** The access that a grant gives, without its resource owner and client: enough to find the affected resource servers. */
import type { Grant } from './grant.ts';
import { scopeNames } from './scope.ts';

/** The resource that a grant's tokens are for (RFC 8707 §2; null for any), and its scope. */
export type GrantedAccess = Pick<Grant, 'resource' | 'scope'>;

/**
 * The access of a live grant, and the profile fields that its client gets: everything that introspection returns about the
 * grant.
 */
export type LiveAccess = GrantedAccess & Pick<Grant, 'personFields'>;

/** Joins the access of several grants: one scope per resource, with each name once. */
export function joinedAccess(grants: readonly GrantedAccess[]): GrantedAccess[] {
  const byResource = Map.groupBy(grants, ({ resource }) => resource);
  return [...byResource].map(([resource, each]) => {
    const names = new Set(each.flatMap(({ scope }) => scopeNames(scope)));
    return { resource, scope: [...names].join(' ') };
  });
}
