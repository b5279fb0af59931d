/** The access that a grant gives, without its resource owner and client: enough to find the affected resource servers. */
import type { Grant } from './grant.ts';
import { scopeNames, withoutSignIn } from './scope.ts';

/** The resource that a grant's tokens are for (RFC 8707 §2; null for any), and its scope. */
export type GrantedAccess = Pick<Grant, 'resource' | 'scope'>;

/**
 * The access of a live grant, and the profile fields that its client gets: everything that introspection returns about the
 * grant.
 */
export type LiveAccess = GrantedAccess & Pick<Grant, 'personFields'>;

/** The access of a grant as its row has it; `openid` is null unless the grant signs its resource owner in. */
export type AccessOfRow = GrantedAccess & { readonly openid: unknown };

/** Returns a grant's access as APIs see it: they learn nothing of a sign-in, so that no API accepts a token of a sign-in alone. */
export function accessForApis<Access extends AccessOfRow>({ openid, ...access }: Access): Omit<Access, 'openid'>[] {
  if (openid === null) return [access];
  const names = withoutSignIn(access.scope);
  return names.length === 0 ? [] : [{ ...access, scope: names.join(' ') }];
}

/** Joins the access of several grants as APIs see it: one scope per resource, with each name once. */
export function joinedAccess(grants: readonly AccessOfRow[]): GrantedAccess[] {
  const byResource = Map.groupBy(grants.flatMap(accessForApis), ({ resource }) => resource);
  return [...byResource].map(([resource, each]) => {
    const names = new Set(each.flatMap(({ scope }) => scopeNames(scope)));
    return { resource, scope: [...names].join(' ') };
  });
}
