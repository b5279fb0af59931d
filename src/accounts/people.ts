/** The people of identity providers: who they are here, made and updated by what their provider says. */
import { type Actor, auditEvent } from '../oauth/audit.ts';
import { invalidRequest, Refusal } from '../oauth/error.ts';
import { type Account, emailKey, isMadeHere, newAccountId } from './account.ts';
import { type IdentityProvider, identityId } from './identity-provider.ts';
import type { Profile } from './profile.ts';
import type { AccountStore, IdentityStore } from './store.ts';

/** What it works with. `now` returns ms since the epoch. */
export type PeopleParts = {
  readonly store: IdentityStore & Pick<AccountStore, 'updateAccount' | 'findAccount'>;
  readonly now: () => number;
};

/** Why a subject can be nobody at a provider, or null: with `--own-ids` it is the account's id, and must not look like one of ours. */
export function refusedSubject({ ownIds }: IdentityProvider, subject: string): Refusal | null {
  return ownIds && isMadeHere(subject) ? invalidRequest('subject must not begin with usr_') : null;
}

/** Why a person may not sign in with a provider, or null when they may. Who is not known yet may. */
export function refusedPerson({ forOperators }: IdentityProvider, account: Account | null): Refusal | null {
  if (account?.status === 'disabled') return new Refusal('access_denied', 'this person is disabled here');
  if (account?.isOperator && !forOperators)
    return new Refusal('access_denied', 'this person may not sign in with this identity provider', 'an operator');
  return null;
}

/** The account of a subject, made or brought up to date with a profile. */
export async function bringUpToDate(
  parts: PeopleParts,
  provider: IdentityProvider,
  subject: string,
  profile: Profile,
  actor: Actor,
): Promise<Account> {
  const found = await parts.store.findIdentity(provider.id, subject);
  if (found) return update(parts, found.account, profile, actor);
  const at = parts.now();
  const account: Account = {
    id: provider.ownIds ? subject : newAccountId(),
    email: null,
    emailVerified: false,
    username: null,
    name: null,
    avatarUrl: null,
    ...profile,
    isOperator: false,
    status: 'active',
    epoch: 0,
    password: null,
    passwordSetAt: null,
    mustChangePassword: false,
    invitation: null,
    createdAt: at,
  };
  const identity = {
    id: identityId(provider.id, subject),
    providerId: provider.id,
    accountId: account.id,
    createdAt: at,
  };
  const event = auditEvent('user_added', actor, at, { resourceOwnerId: account.id, detail: `by ${provider.id}` });
  if (await parts.store.addIdentityAndAccount(identity, account, keyOf(account.email), event)) return account;
  // Somebody else was faster to say the same.
  return bringUpToDate(parts, provider, subject, profile, actor);
}

/** A provider is told nothing of who else has an address: who has a password here keeps theirs where another one has it. */
async function update({ store, now }: PeopleParts, before: Account, profile: Profile, actor: Actor): Promise<Account> {
  const changed = Object.entries(profile).filter(([name, value]) => before[name as keyof Profile] !== value);
  // Who has a password signs in with this address, and needs one.
  const fitting =
    before.password === null ? changed : changed.filter(([name, value]) => name !== 'email' || value !== null);
  if (fitting.length === 0) return before;
  const after: Account = { ...before, ...(Object.fromEntries(fitting) as Profile) };
  const detail = fitting.map(([name]) => name).join(', ');
  const event = auditEvent('user_updated', actor, now(), { resourceOwnerId: before.id, detail });
  const problem = await store.updateAccount(after, keyOf(after.email), event);
  if (problem === null || problem === 'gone') return after;
  const { email: _email, emailVerified: _verified, username: _username, ...rest } = profile;
  return update({ store, now }, before, rest, actor);
}

function keyOf(email: string | null): string | null {
  return email === null ? null : emailKey(email);
}
