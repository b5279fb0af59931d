/** A user in JSON, for inviting and changing one over HTTP. */
import type { AboutAccount } from '../../accounts/people/new-account.ts';
import type { Act } from '../access/rights.ts';
import { type Fields, type Members, readFields, requireMembers, text, textOrNone } from './field.ts';

/** Reads a new user, who is invited. Throws `OperatorError`. */
export function readNewUser(members: Members): AboutAccount & { readonly email: string; readonly name: string } {
  requireMembers(members, ['email', 'name']);
  const {
    email = '',
    name = '',
    username = null,
  } = readFields<{ email: string; name: string; username: string | null }>(
    { email: text, name: text, username: textOrNone },
    members,
  );
  return { email, name, username };
}

const USER_FIELDS: Fields<AboutAccount> = {
  email: text,
  name: text,
  username: textOrNone,
};

/** Reads what a merge patch changes (RFC 7396). As the command, it removes a user name alone. Throws `OperatorError`. */
export function readUserChanges(members: Members): Partial<AboutAccount> {
  return readFields(USER_FIELDS, members);
}

/** Returns the further acts that a change is: an address that an operator sets is verified, and apps may know a user by it. */
export function actsOfUserChanges({ email }: Partial<AboutAccount>): Act[] {
  return email === undefined ? [] : ['users.invite'];
}
