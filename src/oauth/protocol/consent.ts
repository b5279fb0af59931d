/** Consent: what a resource owner decided before, and whether they must be asked again. */

import { isAppBound } from '../clients/redirect-uri.ts';
import type { Epochs } from '../grants/grant.ts';
import { fieldsThere, type Person, type PersonField } from '../grants/person-fields.ts';
import { optionalNames } from '../grants/scope.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/** A resource owner's earlier decisions about a client, as live grants show them. */
export type EarlierConsent = {
  /** The scope names that the client may use already. */
  readonly granted: readonly string[];
  /** Those that were left out when the client last asked for them. It may still have one by another grant. */
  readonly leftOut: readonly string[];
  /** The profile fields that the client already gets. */
  readonly personFields: readonly PersonField[];
};

/** Earlier consent that stands for a press of Allow. `epochs` were read before it, so that a revocation in between ends what rests on it. */
export type RememberedConsent = EarlierConsent & {
  readonly epochs: Epochs;
  /** The ids of the grants that show it: whatever rests on it rests on them. */
  readonly grantIds: readonly Buffer[];
};

/** A press of Allow: the optional scopes that were chosen, and the fields of the person that the page named. */
export type PressedAllow = {
  readonly given: 'allowed';
  readonly chosen: readonly string[];
  readonly shownFields: readonly PersonField[];
};

/** Why a request is allowed: the person pressed Allow, had done so before, or is not asked (the client's policy). */
export type Consent =
  | PressedAllow
  | { readonly given: 'remembered'; readonly remembered: RememberedConsent }
  | { readonly given: 'skipped' };

/** The optional scope names that consent leaves in a request. */
export function chosenScope(consent: Consent, requested: readonly string[]): readonly string[] {
  if (consent.given === 'allowed') return consent.chosen;
  return consent.given === 'skipped' ? requested : rememberedChoice(requested, consent.remembered);
}

/** Returns the fields of the person that the client gets by consent: those that it named. Without consent the operator decides. */
export function consentedFields(
  consent: Consent,
  { personFields }: Pick<AuthorizationRequest, 'personFields'>,
): readonly PersonField[] {
  if (consent.given === 'allowed') return consent.shownFields;
  if (consent.given === 'skipped') return personFields;
  return personFields.filter((field) => consent.remembered.personFields.includes(field));
}

/**
 * True if the resource owner must be asked. `remembered` is their earlier consent to the client, for the same
 * resource and redirect URI (`GrantRegistry.rememberedConsent`), or null.
 */
export function needsConsent(request: AuthorizationRequest, remembered: EarlierConsent | null, owner: Person): boolean {
  const { client, redirectUri, prompt } = request;
  if (prompt.includes('consent') || client.consent === 'ask') return true;
  // Another app on the device may pretend to be this one, so a person must decide (RFC 8252 §8.6).
  if (client.type === 'public' && isAppBound(redirectUri)) return true;
  return client.consent === 'remember' && !(remembered && isDecided(request, remembered, owner));
}

/**
 * True if each scope was decided on, and each profile field of the user was allowed. If all scopes were declined,
 * nothing can be granted without asking.
 */
function isDecided(
  { client, scope, personFields }: AuthorizationRequest,
  remembered: EarlierConsent,
  owner: Person,
): boolean {
  const chosen = rememberedChoice(scope, remembered);
  const mayStayOut = optionalNames(client.scopes, remembered.leftOut);
  const isEachDecided = scope.every((name) =>
    chosen.includes(name) ? remembered.granted.includes(name) : mayStayOut.includes(name),
  );
  const hasFields = fieldsThere(personFields, owner).every((field) => remembered.personFields.includes(field));
  return isEachDecided && hasFields && (chosen.length > 0 || scope.length === 0);
}

/** The scope names that remembered consent allows: what was left out before stays out (RFC 6749 §3.3). */
export function rememberedChoice(scope: readonly string[], remembered: Pick<EarlierConsent, 'leftOut'>): string[] {
  return scope.filter((name) => !remembered.leftOut.includes(name));
}
