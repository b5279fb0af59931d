/** The basis of a token request's decision, and its demands on the tokens: less than the grant, never more. */
import type { Client } from '../clients/client.ts';
import { Refusal } from '../error.ts';
import type { Grant, GrantInContext, Lifetimes } from '../grants/grant.ts';
import { invalidScope, type ScopeRule, scopeNames, withoutOpenIdHabits } from '../grants/scope.ts';
import type { Credential } from '../keys/credential.ts';
import type { Keyring } from '../keys/keyring.ts';
import { isSameResource } from '../resource-servers/resource-uri.ts';

/**
 * The scope and resources that a token request names (RFC 6749 §6, RFC 8707 §2.2). The tokens are for the whole grant in any
 * case, and the answer says so.
 */
export type AskedOfTokens = { readonly scope: string | undefined; readonly resources: readonly string[] };

/** A credential that an authenticated client presents for tokens, with the grant that it names. `now` in ms. */
export type TokenRequest = {
  readonly keyring: Keyring;
  readonly lifetimes: Lifetimes;
  readonly client: Client;
  readonly credential: Credential;
  readonly found: GrantInContext | null;
  readonly asked: AskedOfTokens;
  readonly now: number;
};

const NOT_GRANTED: ScopeRule = { lacks: 'not granted', remedy: 'leave it out, or ask the user again with it' };

/** A request that names neither. */
export const WHOLE_GRANT: AskedOfTokens = { scope: undefined, resources: [] };

/** Why a client's grant cannot give what is asked, or null. */
export function beyondGrant(grant: Grant, client: Client, asked: AskedOfTokens): Refusal | null {
  const granted = scopeNames(grant.scope);
  const scope = withoutOpenIdHabits(client.scopes, asked.scope);
  if (scope !== undefined && !scopeNames(scope).every((name) => granted.includes(name)))
    return invalidScope(scope, granted, NOT_GRANTED); // RFC 6749 §6
  return asked.resources.every((resource) => grant.resource !== null && isSameResource(resource, grant.resource))
    ? null
    : new Refusal('invalid_target', 'resource differs from the authorization request'); // RFC 8707 §2.2
}
