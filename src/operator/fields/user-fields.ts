/** The settings of a user, each described once. */
import type { AboutAccount } from '../../accounts/people/new-account.ts';
import { type Members, text, textOrNone } from './field.ts';
import { readNew, type Settings } from './setting.ts';

/** The address and the names of a user. An address that an operator sets is verified, and apps may know a user by it. */
export const USER_SETTINGS: Settings<AboutAccount> = {
  email: {
    field: text,
    label: 'Email',
    group: '',
    help: 'The email address to sign in with.',
    option: { flag: '--email <address>' },
    act: ['users.invite', 'always'],
  },
  name: {
    field: text,
    label: 'Name',
    group: '',
    help: 'The name that apps see.',
    option: { flag: '--name <name>' },
  },
  username: {
    field: textOrNone,
    initial: null,
    label: 'User name',
    group: '',
    help: 'A short name that apps see: lower-case letters, digits, . _ -',
    option: { flag: '--username <name>', no: 'remove the short name' },
  },
};

/** Reads a new user, who is invited. Throws `OperatorError`. */
export function readNewUser(members: Members): AboutAccount & { readonly email: string; readonly name: string } {
  const { email, name, username } = readNew(USER_SETTINGS, members);
  return { email: email ?? '', name: name ?? '', username };
}
