/** The people of identity providers: who they are here, made and updated by what their provider says. */

import { invalidRequest, Refusal } from '../../oauth/error.ts';
import { jsonName } from '../../oauth/json-name.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import { type Account, emailKey, isMadeHere } from './account.ts';
import { type IdentityProvider, identityId, type ProvenProvider } from './identity-provider.ts';
import { newAccount } from './new-account.ts';
import type { PersonStatement, Profile } from './profile.ts';
import type { AccountStore, IdentityStore, PersonChange } from './store.ts';

/** The parts that work on users. `now` returns ms since the epoch. */
export type PeopleParts = {
  readonly store: Pick<IdentityStore, 'findIdentity' | 'findIdentityById' | 'findPeople' | 'writePeople'> &
    Pick<AccountStore, 'findTaken' | 'findAccount'>;
  readonly now: () => number;
};

/**
 * The reason why a text cannot be a subject at a provider, or null: with `--own-ids` it is the account's id, and must not look
 * like one of ours. `at` is a prefix of the field's name.
 */
export function refusedSubject({ ownIds }: IdentityProvider, subject: string, at = ''): Refusal | null {
  return ownIds && isMadeHere(subject) ? invalidRequest(`${at}subject must not begin with usr_`) : null;
}

/** Why a person may not sign in with a provider, or null when they may. Who is not known yet may. */
export function refusedPerson(account: Account | null): Refusal | null {
  return account?.status === 'disabled' ? new Refusal('access_denied', 'this user is disabled here') : null;
}

/**
 * Creates or updates the accounts of users with their provider's data; all or none. False after a lost race: another request
 * wrote some of the data or took a name first, or the provider no longer has the right.
 */
export async function bringUpToDate(
  parts: PeopleParts,
  provider: ProvenProvider,
  said: readonly PersonStatement[],
  actor: Actor,
): Promise<Refusal | boolean> {
  const { store } = parts;
  // In one order, so that two requests for the same people cannot deadlock.
  const people = said.toSorted((one, other) => (one.subject < other.subject ? -1 : 1));
  const found = await store.findPeople(
    provider.id,
    people.map(({ subject }) => subject),
  );
  const changes: PersonChange[] = [];
  /** Two subjects may be the same person; what was said last counts. */
  const latest = new Map<string, Account>();
  for (const person of people) {
    const known = found.get(person.subject);
    const before = known && (latest.get(known.id) ?? known);
    const change = await changeOfPerson(parts, provider, before ?? null, person, actor);
    if (!change) continue;
    changes.push(change);
    latest.set(change.account.id, change.account);
  }
  return store.writePeople(changes, provider.proof);
}

/** Returns the change that a provider's statement makes to a person: a new account where there was none `before`; null where nothing changes. */
export async function changeOfPerson(
  parts: PeopleParts,
  provider: IdentityProvider,
  before: Account | null,
  said: PersonStatement,
  actor: Actor,
): Promise<PersonChange | null> {
  return before ? update(parts, before, said.profile, actor) : addition(provider, said, actor, parts.now());
}

function addition(
  provider: IdentityProvider,
  { subject, profile }: PersonStatement,
  actor: Actor,
  at: number,
): PersonChange {
  const blank = newAccount({ email: null, name: null, username: null }, at);
  const account: Account = { ...blank, ...profile, ...(provider.ownIds ? { id: subject } : {}) };
  const identity = {
    id: identityId(provider.id, subject),
    providerId: provider.id,
    accountId: account.id,
    createdAt: at,
  };
  const event = auditEvent('user_added', actor, at, { resourceOwnerId: account.id }, { provider: provider.id });
  return { identity, before: null, account, emailKey: keyOf(account.email), event };
}

/**
 * Updates an account. An account with a password or an invitation keeps its address, with which its user signs in here. It
 * also keeps its user name if another such account has the new one: a refusal would reveal other users to the provider.
 */
async function update(
  { store, now }: PeopleParts,
  before: Account,
  profile: Profile,
  actor: Actor,
): Promise<PersonChange | null> {
  const changes = changesIn(before, profile);
  if (changes.length === 0) return null;
  const account: Account = { ...before, ...(Object.fromEntries(changes) as Partial<Account>) };
  if (hasNamesOfItsOwn(before) && account.username !== before.username) {
    const { username: _username, ...rest } = profile;
    if (await store.findTaken(account.username, null)) return update({ store, now }, before, rest, actor);
  }
  const fields = changes.map(([name]) => jsonName(name)).filter((name) => name !== 'email_set_here');
  const event = auditEvent('user_updated', actor, now(), { resourceOwnerId: before.id }, { fields });
  return { identity: null, before, account, emailKey: keyOf(account.email), event };
}

/** The part of a profile that changes an account, by the names of its fields. */
function changesIn(before: Account, { email, emailVerified, ...others }: Profile): [name: string, value: unknown][] {
  const said = { ...others, ...addressIn(before, { email, emailVerified }) };
  return Object.entries(said).filter(([name, value]) => value !== undefined && before[name as keyof Account] !== value);
}

/** Fields of an account; undefined where nothing is said. */
type Said = { readonly [Field in keyof Account]?: Account[Field] | undefined };

/**
 * The part for the address. Only the operator changes the address of an account with a password or an invitation. An address
 * that an operator set stays verified, whatever a provider says, until the provider sends another address.
 */
function addressIn(before: Account, { email, emailVerified }: Said): Said {
  const isSame = email === undefined || keyOf(email) === keyOf(before.email);
  if (isSame && before.emailSetHere) return {};
  if (hasNamesOfItsOwn(before)) return isSame ? { emailVerified } : {};
  return { email, emailVerified, emailSetHere: false };
}

/** True if no other account may have the same names: this one signs in with a password, or is invited to set one. */
function hasNamesOfItsOwn({ password, invitation }: Account): boolean {
  return password !== null || invitation !== null;
}

function keyOf(email: string | null): string | null {
  return email === null ? null : emailKey(email);
}
