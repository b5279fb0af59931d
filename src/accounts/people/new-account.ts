/** Operators' data on new users, the accounts made of it, and the reasons for refusing it. */
import { OperatorError } from '../../oauth/error.ts';
import { type Account, emailKey, emailProblem, newAccountId, personNameProblem, usernameProblem } from './account.ts';
import type { AccountStore } from './store.ts';

/** The names and the email address of an account. */
export type AboutAccount = Pick<Account, 'email' | 'name' | 'username'>;

/** An operator's data on a new user. */
export type NewPerson = AboutAccount & {
  readonly email: string;
  readonly name: string;
};

/** An operator's data on a new account with a password. */
export type NewAccount = NewPerson & { readonly password: string; readonly mustChangePassword?: boolean };

/** An account that nobody can sign in to yet, made at a time (ms). */
export function newAccount<Person extends AboutAccount>(person: Person, at: number) {
  return {
    ...person,
    id: newAccountId(),
    emailVerified: false,
    emailSetHere: false,
    avatarUrl: null,
    status: 'active' as const,
    epoch: 0,
    password: null,
    passwordSetAt: null,
    mustChangePassword: false,
    invitation: null,
    createdAt: at,
  };
}

/** The state of an address that an operator set. */
export const SET_HERE = { emailVerified: true, emailSetHere: true } as const;

/** Throws an `OperatorError` that names the field if the address or a name is malformed. */
export function checkAbout({ email, name, username }: AboutAccount): void {
  const problems = {
    email: email === null ? null : emailProblem(email),
    name: name === null ? null : personNameProblem(name),
    username: username === null ? null : usernameProblem(username),
  };
  for (const [field, problem] of Object.entries(problems))
    if (problem) throw new OperatorError(`${field}: ${problem}`, field);
}

/** Throws an `OperatorError` where a provider gives all people their ids (`--own-ids`): nobody else is here, and nobody has a password. */
export async function refuseOwnIds(store: Pick<AccountStore, 'listIdentityProviders'>): Promise<void> {
  const alone = (await store.listIdentityProviders()).find(({ ownIds }) => ownIds);
  if (alone)
    throw new OperatorError(
      `${alone.id} gives all people their IDs: all accounts come from there, and none has a password`,
    );
}

/** Throws an `OperatorError` if this person cannot be added, as far as that is known before anybody is asked for a password. */
export async function refuseNewPerson(
  store: Pick<AccountStore, 'listIdentityProviders' | 'findTaken'>,
  person: NewPerson,
): Promise<void> {
  await refuseOwnIds(store);
  checkAbout(person);
  const taken = await store.findTaken(person.username, emailKey(person.email));
  if (taken) throw new OperatorError(TAKEN[taken]);
}

/** Why an account cannot have an email address or a user name. */
export const TAKEN = {
  email: 'another account has this email address already',
  username: 'another account has this user name already',
} as const;

/** The refusal of a password for an account without an email address. */
export function noEmail(): OperatorError {
  return new OperatorError('without an email address nobody can sign in with a password', null, {
    remedy: 'set an email address first',
    command: 'set one with "user update --email"',
  });
}
