/**
 * Invitations: one-time links where users set their passwords, so that no operator knows them. An account has at most one.
 * Opening the page does not use up the link, because mail programs open links too.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import { auditEvent, userActor } from '../../oauth/trail/audit.ts';
import type { GuessBudget } from '../guessing/guess-budget.ts';
import type { Account, Invitation } from '../people/account.ts';
import type { AccountStore } from '../people/store.ts';
import { hashNewPassword, hasItAlready, type NewPasswordProblem } from './new-password.ts';
import { passwordProblem } from './password.ts';
import type { PasswordHasher } from './password-hash.ts';

/**
 * A token: an account's id, and random bits that prove the possession of the link. The store is never searched for other
 * texts.
 */
const TOKEN = /^([^\p{Cc}\p{Cs}]{1,255})\.[A-Za-z0-9_-]{43}$/u;

/** Lifetime of an invitation (ms). */
const LIFETIME_MS = 24 * 3600 * 1000;

/** An account whose person may set a password, since they showed the token of its invitation. */
export type Invited = Account & { readonly email: string; readonly invitation: Invitation };

/** The parts of invitations. `now` returns ms since the epoch; `guessable` are words that no password may consist of. */
export type InvitationParts = {
  readonly store: Pick<AccountStore, 'findAccount' | 'useInvitation'>;
  readonly hasher: PasswordHasher;
  readonly budget: GuessBudget;
  readonly now: () => number;
  readonly guessable: readonly string[];
};

/** The account of an invitation's token. `dead`: used, expired, replaced, or never made. */
export type FoundInvitation =
  | { readonly kind: 'good'; readonly invited: Invited }
  | { readonly kind: 'dead' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

/** The result of an invited user's choice of a password. */
export type InvitationOutcome =
  | { readonly kind: 'set' | 'dead' | 'busy' }
  | { readonly kind: 'refused'; readonly problem: NewPasswordProblem };

/** Makes the invitation of an account: its stored form, and the token for the link, which is not stored. `now` in ms. */
export function makeInvitation(accountId: string, now: number): { invitation: Invitation; token: string } {
  // The id finds the account, and 256 random bits prove the possession of the link (ASVS 6.4.1).
  const token = `${accountId}.${randomBytes(32).toString('base64url')}`;
  return { token, invitation: { digest: digestOf(token).toString('base64url'), expiresAt: now + LIFETIME_MS } };
}

/** Returns when a link was made (ms), if it can still be used at a time (ms); otherwise null. */
export function openInvitationAt(invitation: Invitation | null, now: number): number | null {
  return invitation && invitation.expiresAt > now ? invitation.expiresAt - LIFETIME_MS : null;
}

/** Finds the account of a token. An invalid token counts as a wrong password of its source. */
export async function findInvitation(
  { store, budget, now }: InvitationParts,
  token: string,
  source: string,
): Promise<FoundInvitation> {
  // Before the search; otherwise simultaneous guesses would not be counted in time.
  const retryAfterSeconds = budget.countSource(source, now());
  if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };
  const found = await findInvited(store, token);
  if (!found || found.expiresAt <= now()) return { kind: 'dead' };
  budget.refundSource(source, now());
  return { kind: 'good', invited: found.invited };
}

/** Finds the account whose invitation has a token, expired or not, and when the invitation was made and ends (ms). */
export async function findInvited(
  store: Pick<AccountStore, 'findAccount'>,
  token: string,
): Promise<{ invited: Invited; madeAt: number; expiresAt: number } | null> {
  const [, accountId] = TOKEN.exec(token) ?? [];
  const account = accountId === undefined ? null : await store.findAccount(accountId);
  if (!account || !isInvited(account) || !hasToken(account.invitation, token)) return null;
  const { expiresAt } = account.invitation;
  return { invited: account, madeAt: expiresAt - LIFETIME_MS, expiresAt };
}

/** Sets the password of an invited user, once, and ends all sessions of the account. It begins none. */
export async function useInvitation(
  { store, hasher, now, guessable }: InvitationParts,
  invited: Invited,
  password: string,
  origin: RequestOrigin,
): Promise<InvitationOutcome> {
  const problem = passwordProblem(password, invited, guessable);
  if (problem) return { kind: 'refused', problem };
  const hashed = await hashNewPassword(hasher, invited, password);
  if (hashed.kind !== 'hashed') return hashed;
  const { id, invitation } = invited;
  const event = auditEvent('password_set_by_invitation', userActor(id, origin), now(), { resourceOwnerId: id });
  if (await store.useInvitation(id, invitation, hashed.stored, event)) return { kind: 'set' };
  const isThere = await hasItAlready(hasher, await store.findAccount(id), password);
  if (isThere === 'busy') return { kind: 'busy' };
  return { kind: isThere ? 'set' : 'dead' };
}

function isInvited(account: Account): account is Invited {
  return account.invitation !== null && account.email !== null;
}

function hasToken({ digest }: Invitation, token: string): boolean {
  return timingSafeEqual(Buffer.from(digest, 'base64url'), digestOf(token));
}

/** 256 random bits need no slow hash (ASVS 6.5.2). */
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
