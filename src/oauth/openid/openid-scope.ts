/** The scopes of OpenID Connect (OpenID Connect Core §5.4), which an app with sign-in may ask for without a registration. */
import type { Client } from '../clients/client.ts';
import type { Grant, ResourceOwner } from '../grants/grant.ts';
import { type PersonField, visibleFields } from '../grants/person-fields.ts';
import { isSignInScope, type Scope, SIGN_IN_SCOPES, scopeNames } from '../grants/scope.ts';

/** The scopes that a client may ask for beside `openid`, as if it had registered them. */
export const SIGN_IN: readonly Scope[] = SIGN_IN_SCOPES.map((name) => ({ name, sentence: null, optional: false }));

/** The profile fields that each scope asks for (OpenID Connect Core §5.4). */
const FIELDS: Readonly<Record<string, readonly PersonField[]>> = {
  profile: ['name', 'username', 'avatar_url'],
  email: ['email'],
};

/** Returns true if a requested scope asks to sign in, and the client may have that (OpenID Connect Core §3.1.2.1). */
export function asksToSignIn({ signIn }: Pick<Client, 'signIn'>, requested: string | undefined): boolean {
  return signIn && scopeNames(requested ?? '').includes('openid');
}

/** Returns true if a scope is for signing in and nothing else. */
export function isSignInAlone(scope: readonly string[]): boolean {
  return scope.includes('openid') && scope.every(isSignInScope);
}

/** Returns the profile fields of a client's registration that the scopes of a request with `openid` ask for (OpenID Connect Core §5.4). */
export function fieldsAskedFor(
  scope: readonly string[],
  { personFields }: Pick<Client, 'personFields'>,
): readonly PersonField[] {
  const asked = scope.flatMap((name) => FIELDS[name] ?? []);
  return personFields.filter((field) => asked.includes(field));
}

/** The claims about a resource owner, in the ID token and at the userinfo endpoint alike. */
export type UserClaims = ReturnType<typeof claimsOf>;

/**
 * Returns the claims about a resource owner (OpenID Connect Core §5.1) that a grant with `openid` gives its client: the fields
 * that were allowed, as far as they have a value. An unverified email address is disclosed to no client.
 */
export function claimsOf(owner: ResourceOwner, grant: Pick<Grant, 'personFields'>) {
  const { id, name, username, avatarUrl, email } = visibleFields(owner, grant);
  return {
    sub: id,
    ...(name === null ? {} : { name }),
    ...(username === null ? {} : { preferred_username: username }),
    ...(avatarUrl === null ? {} : { picture: avatarUrl }),
    ...(email === null ? {} : { email, email_verified: true as const }),
  };
}
