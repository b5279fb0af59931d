/** The made-up people: their accounts, and their sign-ins. */
import { emailKey, type PasswordAccount } from '../../src/accounts/people/account.ts';
import { newAccount, SET_HERE } from '../../src/accounts/people/new-account.ts';
import { newSessionToken, passwordSession } from '../../src/accounts/people/session.ts';
import { newRequestId } from '../../src/http/request/request-id.ts';
import type { RequestOrigin } from '../../src/oauth/clients/client-authenticator.ts';
import type { OwnerSession } from '../../src/oauth/protocol/allow.ts';
import { type Actor, auditEvent, userActor } from '../../src/oauth/trail/audit.ts';
import type { WiredInstallation } from '../../src/wiring/installation.ts';
import { FIRST_NAMES, LAST_NAMES } from './cast.ts';
import type { Chance } from './chance.ts';

/** Somebody with an account, and the address of their browser. */
export type Person = { readonly account: PasswordAccount; readonly source: string };

/** The origin of one request. */
export function requestFrom(source: string): RequestOrigin {
  return { source, requestId: newRequestId() };
}

/** Names of people, each once. */
export function* names(chance: Chance): Generator<string, never> {
  const given = new Set<string>();
  for (;;) {
    const name = `${chance.pick(FIRST_NAMES)} ${chance.pick(LAST_NAMES)}`;
    if (given.has(name)) continue;
    given.add(name);
    yield name;
  }
}

/** Adds people. All have the password of one account: nobody knows it, and hashing one takes longer than all other writes of a person. */
export async function addPerson(
  { operators: { store } }: WiredInstallation,
  { password }: Pick<PasswordAccount, 'password'>,
  { name, source, at }: { readonly name: string; readonly source: string; readonly at: number },
  operator: Actor,
): Promise<Person> {
  const email = `${name.toLowerCase().replace(' ', '.')}@example.org`;
  const account = {
    ...newAccount({ name, email, username: null }, at),
    ...SET_HERE,
    password,
    passwordSetAt: at,
  };
  await store.addAccount(
    account,
    emailKey(email),
    auditEvent('user_added', operator, at, { resourceOwnerId: account.id }),
  );
  return { account, source };
}

/** Signs somebody in whose password was checked. */
export async function signIn(
  { operators: { store } }: WiredInstallation,
  { account, source }: Person,
  at: number,
): Promise<OwnerSession> {
  const session = passwordSession(newSessionToken(), account.id, at);
  const event = auditEvent('sign_in', userActor(account.id, requestFrom(source)), at, { resourceOwnerId: account.id });
  if (!(await store.addSession(session, account.password, null, event)))
    throw new Error(`${account.email} cannot sign in`);
  return {
    resourceOwnerId: account.id,
    providerId: null,
    externalId: null,
    signedInAt: at,
    authTime: at,
    amr: [],
    session: session.digest,
  };
}
