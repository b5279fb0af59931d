/** Changes of a client that an operator asks for (`client update`). */
import type { Client, ClientSettings } from '../../oauth/clients/client.ts';
import { OperatorError } from '../../oauth/error.ts';
import { CLIENT_SETTINGS } from '../fields/client-fields.ts';
import { impliedBy } from '../fields/setting.ts';
import { endsVouching, hostsOf } from './app-profile.ts';
import { scopeNamesOf } from './client-settings.ts';

/**
 * The settings that an update changes: those given, those that a flag brings which is set, and the operator's vouching and word
 * that nobody is asked, which some changes end, unless they are given anew. Throws an `OperatorError` for a setting that is not the operator's to change.
 */
export function changesOfUpdate(before: Client, asked: Partial<ClientSettings>): Partial<ClientSettings> {
  const given = before.signIn ? asked : { ...impliedBy(CLIENT_SETTINGS, asked), ...asked };
  if (before.documentSha256 !== null && (given.redirectUris ?? given.keys))
    throw new OperatorError(
      'the redirect URIs and keys of this app come from its metadata document',
      given.redirectUris ? 'redirect_uris' : 'keys',
      { command: `apply them with "client refresh ${before.id}"` },
    );
  if (before.type === 'public' && given.requirePkce === false)
    // RFC 9700 §2.1.1
    throw new OperatorError('a public app must use PKCE: it has no other proof', 'require_pkce');
  const after = { ...before, ...given };
  const isOver = given.isChecked === undefined && endsVouching(before, after);
  const consent = given.consent ?? consentAfter(before, after);
  return { ...given, ...(isOver ? { isChecked: false } : {}), ...(consent === before.consent ? {} : { consent }) };
}

/**
 * The consent of a client after a change: `skip` becomes `ask` where codes would reach another host, or the app another scope or
 * more about the person, which no user would be asked about.
 */
export function consentAfter(before: Client, after: Client): Client['consent'] {
  if (before.consent !== 'skip') return after.consent;
  const had = new Set<string>(scopeNamesOf(before));
  const isWider =
    hostsOf(before) !== hostsOf(after) ||
    scopeNamesOf(after).some((name) => !had.has(name)) ||
    after.personFields.some((field) => !before.personFields.includes(field)) ||
    (after.seesExternalId && !before.seesExternalId);
  return isWider ? 'ask' : after.consent;
}
