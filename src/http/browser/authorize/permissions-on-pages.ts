/** Scopes as pages show them, with a sentence in the page's language. */
import type { Account } from '../../../accounts/people/account.ts';
import type { Client } from '../../../oauth/clients/client.ts';
import { fieldsThere } from '../../../oauth/grants/person-fields.ts';
import { effectOf, type ScopeDefinition, sentenceFor } from '../../../oauth/grants/scope.ts';
import type { AuthorizationRequest } from '../../../oauth/protocol/authorization-request.ts';
import type { EarlierConsent } from '../../../oauth/protocol/consent.ts';
import type { EarlierDecision, Permission, PersonSeen } from '../../../pages/consent/permission-list.ts';
import type { Service } from '../../service/service.ts';

/**
 * Returns the scopes that a client requests; `earlier` is the user's earlier decision, or null if the client has no
 * access.
 */
export async function permissionsToAsk(
  service: Service,
  client: Client,
  scope: readonly string[],
  earlier: EarlierConsent | null,
  language: string,
): Promise<Permission[]> {
  const definitions = await service.scopes.listScopes();
  return client.scopes
    .filter(({ name }) => scope.includes(name))
    .map(({ name, sentence, optional }) => ({
      name,
      sentence: sentenceFor({ name, sentence }, definitions, language),
      effect: effectOf(name, definitions),
      optional,
      earlier: earlier && decisionOn(earlier, name, optional),
    }));
}

/**
 * Returns the profile fields that a client gets, as far as the account has them, and whether it signs the user in; `earlier` is
 * the user's earlier decision.
 */
export function personToAsk(
  { personFields, openid = null }: Pick<Client, 'personFields'> & Partial<Pick<AuthorizationRequest, 'openid'>>,
  account: Account,
  earlier: EarlierConsent | null,
): PersonSeen {
  const fields = fieldsThere(personFields, account);
  const signsIn = openid !== null;
  const isMore = ({ personFields: had, granted }: EarlierConsent) =>
    fields.some((field) => !had.includes(field)) || (signsIn && !granted.includes('openid'));
  return { fields, signsIn, isNew: earlier !== null && isMore(earlier) };
}

/** Returns the lifetimes of access by this installation's settings (s). */
export function accessDuration({ lifetimes }: Service): { readonly max: number; readonly unused: number } {
  return { max: lifetimes.refreshTokenMax, unused: lifetimes.refreshTokenIdle };
}

/** Returns the last decision on a scope. If the scope was declined and is now mandatory, it counts as new. */
function decisionOn({ granted, leftOut }: EarlierConsent, name: string, optional: boolean): EarlierDecision | null {
  if (optional && leftOut.includes(name)) return 'left_out';
  return granted.includes(name) ? 'allowed' : null;
}

/**
 * Returns the scopes that a client was granted, even if its registration has lost some of them. A page of many grants reads the
 * definitions once.
 */
export function permissionsGranted(
  definitions: readonly ScopeDefinition[],
  client: Client | null,
  scope: readonly string[],
  language: string,
): Permission[] {
  return scope.map((name) => {
    const known = client?.scopes.find((registered) => registered.name === name) ?? { name, sentence: null };
    return { name, sentence: sentenceFor(known, definitions, language), effect: effectOf(name, definitions) };
  });
}
