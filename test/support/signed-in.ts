/** People who are signed in, and what they allow, for tests. */
import { newSessionToken, passwordSession } from '../../src/accounts/people/session.ts';
import type { AccountStore } from '../../src/accounts/people/store.ts';
import { PERSON_FIELDS } from '../../src/oauth/grants/person-fields.ts';
import type { OwnerSession } from '../../src/oauth/protocol/allow.ts';
import type { PressedAllow } from '../../src/oauth/protocol/consent.ts';
import { event, NOW } from './storage.ts';

/** A new session of an account with a password, as what is allowed in it remembers it; of nobody's account there is none. */
export async function signedIn(
  store: Pick<AccountStore, 'findAccount' | 'addSession'>,
  resourceOwnerId: string,
  at = NOW,
): Promise<OwnerSession> {
  const session = passwordSession(newSessionToken(), resourceOwnerId, at);
  const account = await store.findAccount(resourceOwnerId);
  const signIn = { ...event('sign_in', { resourceOwnerId }), at };
  if (account?.password) await store.addSession(session, account.password, null, signIn);
  return {
    session: session.digest,
    resourceOwnerId,
    providerId: null,
    externalId: null,
    signedInAt: at,
    authTime: at,
    amr: [],
  };
}

/** A press of Allow, with these optional scopes, on a page that named all fields of the person. */
export function pressed(chosen: readonly string[] = []): PressedAllow {
  return { given: 'allowed', chosen, shownFields: PERSON_FIELDS };
}
