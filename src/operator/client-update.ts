/** Changes of a client that an operator asks for (`client update`). */
import type { Client } from '../oauth/clients/client.ts';
import { OperatorError } from '../oauth/error.ts';
import { endsVouching } from './app-profile.ts';
import type { ClientSettings } from './client-settings.ts';

/**
 * The settings that an update changes: those given, and the operator's vouching, which another publisher or another host of a
 * redirect URI ends, unless it is given anew. Throws an `OperatorError` for a setting that is not the operator's to change.
 */
export function changesOfUpdate(before: Client, given: Partial<ClientSettings>): Partial<ClientSettings> {
  if (before.documentSha256 !== null && (given.redirectUris ?? given.keys))
    throw new OperatorError(
      `the redirect URIs and keys of this client come from its metadata document: apply them with "client refresh ${before.id}"`,
    );
  if (before.type === 'public' && given.requirePkce === false)
    // RFC 9700 §2.1.1
    throw new OperatorError('a public client must use PKCE: it has no other proof');
  const isOver = given.isChecked === undefined && endsVouching(before, { ...before, ...given });
  return { ...given, ...(isOver ? { isChecked: false } : {}) };
}
