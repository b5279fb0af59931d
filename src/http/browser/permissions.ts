/** Scopes as pages show them, with a sentence in the page's language. */
import type { Account } from '../../accounts/people/account.ts';
import type { Client } from '../../oauth/clients/client.ts';
import { fieldsThere } from '../../oauth/grants/person-fields.ts';
import { effectOf, sentenceFor } from '../../oauth/grants/scope.ts';
import type { EarlierConsent } from '../../oauth/protocol/consent.ts';
import type { EarlierDecision, Permission, PersonSeen } from '../../pages/permissions.ts';
import type { Service } from '../service.ts';

/** What a client asks for; `earlier` is what the person decided before, or null when it has no access. */
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

/** What a client gets of a person, as far as the account has it; `earlier` is what the person decided before. */
export function personToAsk({ personFields }: Client, account: Account, earlier: EarlierConsent | null): PersonSeen {
  const fields = fieldsThere(personFields, account);
  return { fields, isNew: earlier !== null && fields.some((field) => !earlier.personFields.includes(field)) };
}

/** Lifetime of what is allowed, by this installation's settings (s). */
export function lasts({ lifetimes }: Service): { readonly max: number; readonly unused: number } {
  return { max: lifetimes.refreshTokenMax, unused: lifetimes.refreshTokenIdle };
}

/** The last decision on a scope. One that was left out, and may not be any more, is asked for as if it were new. */
function decisionOn({ granted, leftOut }: EarlierConsent, name: string, optional: boolean): EarlierDecision | null {
  if (optional && leftOut.includes(name)) return 'left_out';
  return granted.includes(name) ? 'allowed' : null;
}

/** What a client was granted, even if it is not registered for all of that any more. */
export async function permissionsGranted(
  service: Service,
  client: Client | null,
  scope: readonly string[],
  language: string,
): Promise<Permission[]> {
  const definitions = await service.scopes.listScopes();
  return scope.map((name) => {
    const known = client?.scopes.find((registered) => registered.name === name) ?? { name, sentence: null };
    return { name, sentence: sentenceFor(known, definitions, language), effect: effectOf(name, definitions) };
  });
}
