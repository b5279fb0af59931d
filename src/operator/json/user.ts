/** A person as commands and an API print them: never a password. */
import type { Account } from '../../accounts/people/account.ts';
import type { ListedAccount } from '../../accounts/people/account-list.ts';
import { type Identity, subjectOf } from '../../accounts/people/identity-provider.ts';
import { isoTime } from './time.ts';

/** A person for programs. */
export type UserJson = ReturnType<typeof userJson>;

/** A person for programs, with the last uses. */
export type UsedUserJson = ReturnType<typeof usedUserJson>;

/** Returns the stored data of a user. */
export function userJson(account: Account) {
  return {
    id: account.id,
    email: account.email,
    email_verified: account.emailVerified,
    username: account.username,
    name: account.name,
    avatar_url: account.avatarUrl,
    status: account.status,
    has_password: account.password !== null,
    must_change_password: account.mustChangePassword,
    invited_until: account.invitation && isoTime(account.invitation.expiresAt),
    created_at: isoTime(account.createdAt),
  };
}

/** The same, with when they came last. */
export function usedUserJson({ account, use }: ListedAccount) {
  return {
    ...userJson(account),
    last_sign_in_at: isoTime(use.lastSignInAt),
    apps_last_used_at: isoTime(use.appsLastUsedAt),
  };
}

/** A user with the last uses and the identities, for programs. */
export function shownUserJson(listed: ListedAccount, identities: readonly Identity[]) {
  return { ...usedUserJson(listed), identities: identitiesJson(identities) };
}

/** Returns a user's identities at providers. */
function identitiesJson(identities: readonly Identity[]) {
  return identities.map((identity) => ({ provider: identity.providerId, subject: subjectOf(identity) }));
}

/** Returns an invited user, with the one-time address of the page where they set a password; null if it was shown before. */
export function invitedJson(account: Account, newPasswordUrl: string, token: string | null) {
  return {
    ...userJson(account),
    invitation_url: token === null ? null : invitationUrl(newPasswordUrl, token),
  };
}

/** Returns the one-time address of an invitation's token. */
export function invitationUrl(newPasswordUrl: string, token: string): string {
  return `${newPasswordUrl}?${new URLSearchParams({ token })}`;
}
