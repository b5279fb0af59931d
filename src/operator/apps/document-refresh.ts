/** Changes that a metadata document makes to its client when it is fetched again (draft-ietf-oauth-client-id-metadata-document §8.4). */
import type { Client } from '../../oauth/clients/client.ts';
import type { SettingChange } from '../../oauth/trail/event-members.ts';
import { changesOf } from '../registration/registration-changes.ts';
import { endsVouching, hostsOf } from './app-profile.ts';
import { consentAfter } from './client-update.ts';

/** The settings of a client that its metadata document owns, the document's SHA-256 (hex), and when its fetch began (ms). */
export type RefreshedDocument = Pick<Client, 'type' | 'redirectUris' | 'keys' | 'jwksUri'> & {
  readonly sha256: string;
  readonly fetchedAt: number;
};

/**
 * The client after a refresh at a time (ms). Another redirect host or method ends remembered consent, and another host the
 * operator's vouching and word that nobody is asked. The texts that users read come from the operator, and stay.
 */
export function refreshedClient(before: Client, document: RefreshedDocument, at: number): Client {
  const { sha256, fetchedAt, ...owned } = document;
  const jwksFetchedAt = owned.jwksUri === null ? null : fetchedAt;
  const isElsewhere = before.type !== owned.type || hostsOf(before) !== hostsOf(owned);
  return {
    ...before,
    ...owned,
    documentSha256: sha256,
    jwksFetchedAt,
    jwksAskedAt: jwksFetchedAt,
    isChecked: before.isChecked && !endsVouching(before, { ...before, ...owned }),
    consent: consentAfter(before, { ...before, ...owned }),
    // Never back: the clock of the command that changed it before may have been ahead.
    remembersSince: isElsewhere ? Math.max(at, before.remembersSince ?? 0) : before.remembersSince,
  };
}

/**
 * Returns each setting that a refresh changes; none where all is as before. Keys at an address change by
 * themselves, so there only another address counts.
 */
export function documentChanges(before: Client, after: Client): SettingChange[] {
  const hasLiveKeys = after.jwksUri !== null && before.jwksUri === after.jwksUri;
  const counted = [
    'redirectUris',
    'type',
    'jwksUri',
    'isChecked',
    'consent',
    ...(hasLiveKeys ? [] : (['keys'] as const)),
  ] as const;
  return counted
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .flatMap((name) => changesOf<Client>(before, { [name]: after[name] }));
}
