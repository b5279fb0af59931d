/** `user`: adds, shows, changes and deletes the accounts of the people who allow apps. */
import { Option } from 'commander';
import { type Account, accountLabel } from '../../accounts/people/account.ts';
import { NO_USE } from '../../accounts/people/account-list.ts';
import { USER_SETTINGS } from '../../operator/fields/user-fields.ts';
import { shownUserJson, userJson } from '../../operator/json/user.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { countedGrants } from '../grants/count-ended-grants.ts';
import { confirm } from '../input/confirm.ts';
import { filterOf, LIMIT, type ListOptions, longList, UNUSED_SINCE } from '../input/list-options.ts';
import { newPassword } from '../input/password-input.ts';
import { addSettings, requireChange, settingsIn } from '../input/setting-options.ts';
import { addImportCommand } from './user-import.ts';
import { addLinkCommand } from './user-link.ts';
import { invitationResult, listedAccounts, userActResult, userCard, withPassword } from './user-view.ts';

type PasswordOptions = { passwordStdin?: boolean; mustChange?: boolean };
type AddOptions = PasswordOptions & {
  email: string;
  name: string;
  username?: string;
  invite?: boolean;
};

type UserListOptions = ListOptions<Account['status']>;

const PASSWORD_STDIN = [
  '--password-stdin',
  'read the password from standard input; otherwise the command asks at a terminal, or makes one',
] as const;

const MUST_CHANGE = [
  '--must-change',
  'the user must choose a new password at the first sign-in (always for one that the command makes)',
] as const;

/** Adds the commands about accounts. */
export function addUserCommands(program: CliCommand, run: CommandRun): void {
  const user = program.group('user', 'Users: add them, set their passwords, disable or delete them.');
  addMaking(user, run);
  addImportCommand(user, run);
  addLinkCommand(user, run);
  addLooking(user, run);
  addStopping(user, run);
}

function addMaking(user: CliCommand, run: CommandRun): void {
  const add = user.leaf('add', 'Add a user.', [
    'user add --email ada@example.com --name "Ada Lovelace" --invite',
    'user add --email ada@example.com --name "Ada Lovelace" --username ada --password-stdin < password.txt',
  ]);
  addSettings(add, USER_SETTINGS, 'register')
    .option('--invite', 'set no password; print a one-time link where the user sets one that no operator knows')
    .option(...PASSWORD_STDIN)
    .option(...MUST_CHANGE)
    .action((options: AddOptions, command: CliCommand) => {
      if (options.invite && (options.passwordStdin || options.mustChange))
        command.error('--invite sets no password: omit --password-stdin and --must-change');
      return run.withInstallation((installation) => addUser(installation, options, run), { mayCreate: true });
    });
  const update = user.leaf(
    'update <user>',
    'Change the email address or the names of a user; sessions and grants stay.',
    ['user update ada@example.com --email ada@lovelace.example', 'user update ada@example.com --no-username'],
  );
  addSettings(update, USER_SETTINGS, 'update').action((user: string, options: object, command: CliCommand) => {
    requireChange(command, options);
    return run.withInstallation(async ({ accounts, operator }) => {
      const account = await accounts.update(user, await settingsIn(USER_SETTINGS, options), operator);
      const json = userJson(account);
      return { json, text: [`${account.name ?? accountLabel(account)} is updated.`, '', ...userCard(json)] };
    });
  });
  user
    .leaf('set-password <user>', 'Set the password of a user, and end all their sessions.', [
      'user set-password ada@example.com',
      'user set-password ada@example.com --password-stdin < password.txt',
    ])
    .option(...PASSWORD_STDIN)
    .option(...MUST_CHANGE)
    .acts(
      run,
      async ({ accounts, operator }, user: string, { passwordStdin = false, mustChange = false }: PasswordOptions) => {
        const { id } = await accounts.show(user);
        const given = await newPassword(run.context, passwordStdin);
        const account = await accounts.setPassword({ id }, given.password, operator, given.made || mustChange);
        const done = `The password of ${accountLabel(account)} is set, and all their sessions are ended.`;
        return warned(accounts, withPassword(account, given, done));
      },
    );
  user
    .leaf('invite <user>', 'Print a one-time link where a user sets a first or a new password.', [
      'user invite ada@example.com',
    ])
    .acts(run, async ({ accounts, operator, newPasswordUrl }, user: string) => {
      const invitation = await accounts.invite(user, operator);
      const done = `${accountLabel(invitation.account)} is invited to set a password.`;
      return warned(accounts, invitationResult(invitation, newPasswordUrl, done));
    });
}

function addLooking(user: CliCommand, run: CommandRun): void {
  user
    .leaf('list', 'List users, newest first.', ['user list', 'user list --name ada --limit 20', 'user list --json'])
    .option('--name <text>', 'only users whose name, user name or address contains this')
    .addOption(new Option('--state <state>', 'only users in this state').choices(['active', 'disabled']))
    .option(...UNUSED_SINCE)
    .option(...LIMIT)
    .option('--after <user>', 'only users after this one, the last of the previous list')
    .acts(run, async ({ accounts }, { limit, after, ...asked }: UserListOptions) => {
      const filter = filterOf(asked, run.context.now());
      const isFiltered = after !== undefined || Object.keys(filter).length > 0;
      return longList(run, listedAccounts(accounts.list(filter, after ?? null), isFiltered), limit);
    });
  user
    .leaf('show <user>', 'Show one user, by ID, by PROVIDER:SUBJECT, or by an email address that was set here.', [
      'user show ada@example.com',
      'user show product:4711',
    ])
    .acts(run, async ({ accounts, links }, user: string) => {
      const account = await accounts.show(user);
      const use = (await accounts.uses([account])).get(account.id) ?? NO_USE;
      const json = shownUserJson({ account, use }, await links.identitiesOf(account));
      const signsIn = json.identities.map(({ provider, subject }) => `at ${provider} as ${subject}`);
      return { json, text: userCard(json, { signsIn }) };
    });
}

function addStopping(user: CliCommand, run: CommandRun): void {
  user
    .leaf('disable <user>', 'Block a user until "user enable": sign-in, and all apps that act for them.', [
      'user disable ada@example.com',
    ])
    .acts(run, async ({ accounts, operator }, user: string) => {
      const account = await accounts.disable(user, operator);
      return userActResult(
        account,
        `${accountLabel(account)} is disabled; "user enable" restores everything except the sessions.`,
      );
    });
  user
    .leaf('enable <user>', 'Let a disabled user sign in again.', ['user enable ada@example.com'])
    .acts(run, async ({ accounts, operator }, user: string) => {
      const account = await accounts.enable(user, operator);
      return userActResult(account, `${accountLabel(account)} is active again, and so are the apps that they allowed.`);
    });
  user
    .leaf('end-sessions <user>', 'Sign a user out everywhere; the password and the grants stay.', [
      'user end-sessions ada@example.com',
    ])
    .acts(run, async ({ accounts, operator }, user: string) => {
      const account = await accounts.endSessions(user, operator);
      return userActResult(
        account,
        `All sessions of ${accountLabel(account)} are ended; the apps that they allowed keep working.`,
      );
    });
  user
    .leaf('revoke-grants <user>', 'End all grants of a user.', ['user revoke-grants ada@example.com'])
    .acts(run, async ({ accounts, grants, operator }, user: string) => {
      const shown = await accounts.show(user);
      const { id } = shown;
      const email = accountLabel(shown);
      await confirm(run, 'user revoke-grants', email, () => countedGrants(grants, { resourceOwnerId: id }));
      return userActResult(await accounts.revokeGrants({ id }, operator), `All grants of ${email} are ended.`);
    });
  user
    .leaf('delete <user>', 'Delete a user and all their grants.', ['user delete ada@example.com --yes'])
    .acts(run, async ({ accounts, grants, operator }, user: string) => {
      const shown = await accounts.show(user);
      const { id } = shown;
      const email = accountLabel(shown);
      await confirm(run, 'user delete', email, () => countedGrants(grants, { resourceOwnerId: id }));
      const account = await accounts.delete({ id }, operator);
      return { json: { ...userJson(account), status: 'deleted' }, text: [`${email} is deleted.`] };
    });
}

async function addUser(
  { accounts, operator, newPasswordUrl }: Installation,
  options: AddOptions,
  run: CommandRun,
): Promise<CommandResult> {
  const { email, name, username = null } = options;
  const person = { email, name, username };
  if (options.invite)
    return warned(
      accounts,
      invitationResult(await accounts.addInvited(person, operator), newPasswordUrl, `${name} is added, and invited.`),
    );
  await accounts.refuseNew(person);
  const given = await newPassword(run.context, options.passwordStdin ?? false);
  const mustChangePassword = given.made || (options.mustChange ?? false);
  const account = await accounts.add({ ...person, password: given.password, mustChangePassword }, operator);
  return warned(accounts, withPassword(account, given, `${account.name} is added.`));
}

/** The result, with a warning where nobody can sign in with a password. */
function warned({ takesPasswords }: Installation['accounts'], result: CommandResult): CommandResult {
  return takesPasswords ? result : { ...result, note: LEFT_OUT };
}

const LEFT_OUT =
  'VALETKEY_SIGN_IN_METHODS does not list password, so nobody can sign in with one. Add it there, or link this account with "user link".';
