/** `user`: adds, shows, changes and deletes the accounts of the people who allow apps. */
import { type Account, accountLabel, callName } from '../accounts/account.ts';
import type { NewInvitation } from '../accounts/accounts.ts';
import { subjectOf } from '../accounts/identity-provider.ts';
import type { AboutAccount } from '../accounts/new-account.ts';
import type { AccountUse } from '../accounts/store.ts';
import type { CliCommand } from './command.ts';
import type { CommandResult, CommandRun } from './command-run.ts';
import type { Installation } from './context.ts';
import { countedGrants } from './ended-grants.ts';
import { DEFAULT_LIMIT, readLimit, whereItEnds, YES, type YesOption } from './option.ts';
import { type NewPassword, newPassword } from './password-input.ts';
import { type Column, card, type Field, fitted } from './table.ts';
import { confirm } from './terminal-input.ts';
import { isoTime, readableTime } from './time.ts';
import { addImportCommand } from './user-import.ts';
import { addLinkCommand } from './user-link.ts';

type UpdateOptions = { email?: string; name?: string; username?: string | false };
type PasswordOptions = { passwordStdin?: boolean; mustChange?: boolean };
type AddOptions = PasswordOptions & {
  email: string;
  name: string;
  username?: string;
  operator?: boolean;
  invite?: boolean;
};

const PASSWORD_STDIN = [
  '--password-stdin',
  'read the password from standard input; without it, it is asked for at a terminal, else made',
] as const;

const MUST_CHANGE = [
  '--must-change',
  'the user must choose another password at the first sign-in, as with one that is made here',
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
  user
    .leaf('add', 'Add a user.', [
      'user add --email ada@example.com --name "Ada Lovelace" --invite',
      'user add --email ada@example.com --name "Ada Lovelace" --username ada --password-stdin < password.txt',
    ])
    .requiredOption('--email <address>', 'the e-mail address to sign in with')
    .requiredOption('--name <name>', 'the name that apps are told')
    .option('--username <name>', 'a short name that apps are told: lower-case letters, digits, . _ -')
    .option('--operator', 'the user may operate this installation')
    .option('--invite', 'no password: print a one-time address where the user sets one that no operator knows')
    .option(...PASSWORD_STDIN)
    .option(...MUST_CHANGE)
    .action((options: AddOptions, command: CliCommand) => {
      if (options.invite && (options.passwordStdin || options.mustChange))
        command.error('--invite is without a password: leave out --password-stdin and --must-change');
      return run.withInstallation((installation) => add(installation, options, run), { mayCreate: true });
    });
  user
    .leaf('update <user>', 'Change the e-mail address or the names of a user; sessions and grants stay.', [
      'user update ada@example.com --email ada@lovelace.example',
      'user update ada@example.com --no-username',
    ])
    .option('--email <address>', 'the e-mail address to sign in with')
    .option('--name <name>', 'the name that apps are told')
    .option('--username <name>', 'a short name that apps are told')
    .option('--no-username', 'no short name')
    .action((user: string, options: UpdateOptions, command: CliCommand) => {
      const changes = changesIn(options);
      if (Object.keys(changes).length === 0) command.error('say what to change');
      return run.withInstallation(async ({ accounts, operator }) => {
        const account = await accounts.update(user, changes, operator);
        return { json: accountJson(account), text: [`${callName(account)} is updated.`, '', ...accountCard(account)] };
      });
    });
  user
    .leaf('set-password <user>', 'Set the password of a user, and end all their sessions.', [
      'user set-password ada@example.com',
      'user set-password ada@example.com --password-stdin < password.txt',
    ])
    .option(...PASSWORD_STDIN)
    .option(...MUST_CHANGE)
    .action((user: string, { passwordStdin = false, mustChange = false }: PasswordOptions) =>
      run.withInstallation(async ({ accounts, operator }) => {
        const { id } = await accounts.show(user);
        const given = await newPassword(run.context, passwordStdin);
        const account = await accounts.setPassword(id, given.password, operator, given.made || mustChange);
        return withPassword(
          account,
          given,
          `The password of ${accountLabel(account)} is set, and all their sessions are ended.`,
        );
      }),
    );
  user
    .leaf('invite <user>', 'Print a one-time address where a user sets a password, the first one or another.', [
      'user invite ada@example.com',
    ])
    .action((user: string) =>
      run.withInstallation(async ({ accounts, operator, newPasswordUrl }) => {
        const invitation = await accounts.invite(user, operator);
        return invited(invitation, newPasswordUrl, `${accountLabel(invitation.account)} is invited to set a password.`);
      }),
    );
}

function addLooking(user: CliCommand, run: CommandRun): void {
  user
    .leaf('list', 'List users, newest first.', ['user list', 'user list --limit 20 --json'])
    .option('--limit <number>', 'at most so many', readLimit, DEFAULT_LIMIT)
    .action(({ limit }: { limit: number }) =>
      run.withInstallation(async ({ accounts }) => {
        const some = await accounts.list(limit);
        return listed(some, await accounts.uses(some), limit, run.width);
      }),
    );
  user
    .leaf('show <user>', 'Show one user, named by id or e-mail address.', ['user show ada@example.com'])
    .action((user: string) =>
      run.withInstallation(async ({ accounts, links }) => {
        const account = await accounts.show(user);
        const identities = (await links.identitiesOf(account)).map((identity) => ({
          provider: identity.providerId,
          subject: subjectOf(identity),
        }));
        const use = (await accounts.uses([account])).get(account.id);
        const signsIn = identities.map(({ provider, subject }) => `at ${provider} as ${subject}`);
        return {
          json: { ...accountJson(account), ...useJson(use), identities },
          text: accountCard(account, { signsIn, use: use ?? NO_USE }),
        };
      }),
    );
}

function addStopping(user: CliCommand, run: CommandRun): void {
  user
    .leaf('disable <user>', 'Refuse everything of a user while it lasts: sign-in, and what apps do for them.', [
      'user disable ada@example.com',
    ])
    .action((user: string) =>
      run.withInstallation(async ({ accounts, operator }) => {
        const account = await accounts.disable(user, operator);
        return said(account, `${accountLabel(account)} is disabled; "user enable" brings back all but the sessions.`);
      }),
    );
  user
    .leaf('enable <user>', 'Let a disabled user sign in again.', ['user enable ada@example.com'])
    .action((user: string) =>
      run.withInstallation(async ({ accounts, operator }) => {
        const account = await accounts.enable(user, operator);
        return said(account, `${accountLabel(account)} is active again, and so are the apps that they allowed.`);
      }),
    );
  user
    .leaf('end-sessions <user>', 'Sign a user out everywhere; the password and the grants stay.', [
      'user end-sessions ada@example.com',
    ])
    .action((user: string) =>
      run.withInstallation(async ({ accounts, operator }) => {
        const account = await accounts.endSessions(user, operator);
        return said(account, `All sessions of ${accountLabel(account)} are ended; the apps that they allowed go on.`);
      }),
    );
  user
    .leaf('revoke-grants <user>', 'End everything that a user allowed any app to do.', [
      'user revoke-grants ada@example.com',
    ])
    .option(...YES)
    .action((user: string, { yes = false }: YesOption) =>
      run.withInstallation(async ({ accounts, grants, operator }) => {
        const shown = await accounts.show(user);
        const [{ id }, email] = [shown, accountLabel(shown)];
        const question = async () =>
          `End what ${email} allowed, ${await countedGrants(grants, { resourceOwnerId: id })}? This cannot be undone.`;
        await confirm(run.context, question, yes);
        return said(await accounts.revokeGrants(id, operator), `Everything that ${email} allowed is ended.`);
      }),
    );
  user
    .leaf('delete <user>', 'Delete a user, with everything that they allowed.', ['user delete ada@example.com --yes'])
    .option(...YES)
    .action((user: string, { yes = false }: YesOption) =>
      run.withInstallation(async ({ accounts, grants, operator }) => {
        const shown = await accounts.show(user);
        const [{ id }, email] = [shown, accountLabel(shown)];
        const question = async () =>
          `Delete ${email}, with ${await countedGrants(grants, { resourceOwnerId: id })}? This cannot be undone.`;
        await confirm(run.context, question, yes);
        const account = await accounts.delete(id, operator);
        return { json: { ...accountJson(account), status: 'deleted' }, text: [`${email} is deleted.`] };
      }),
    );
}

async function add(
  { accounts, operator, newPasswordUrl }: Installation,
  options: AddOptions,
  run: CommandRun,
): Promise<CommandResult> {
  const { email, name, username = null, operator: isOperator = false } = options;
  const person = { email, name, username, isOperator };
  if (options.invite)
    return invited(await accounts.addInvited(person, operator), newPasswordUrl, `${name} is added, and invited.`);
  await accounts.refuseNew(person);
  const given = await newPassword(run.context, options.passwordStdin ?? false);
  const mustChangePassword = given.made || (options.mustChange ?? false);
  const account = await accounts.add({ ...person, password: given.password, mustChangePassword }, operator);
  return withPassword(account, given, `${account.name} is added.`);
}

function changesIn({ email, name, username }: UpdateOptions): Partial<AboutAccount> {
  return {
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name }),
    ...(username === undefined ? {} : { username: username === false ? null : username }),
  };
}

/** The result after a password was set. The password is shown only if it was made here, and only now. */
function withPassword(account: Account, { password, made }: NewPassword, sentence: string): CommandResult {
  const json = { ...accountJson(account), password: made ? password : null };
  if (!made) return { json, text: [sentence, '', ...accountCard(account)] };
  const once = 'The password is shown this once: hand it over in a safe way. It must be changed at the first sign-in.';
  return { json, text: [sentence, '', ...accountCard(account, { password }), '', once] };
}

/** The result after somebody was invited. The address is shown only now. */
function invited({ account, token }: NewInvitation, newPasswordUrl: string, sentence: string): CommandResult {
  const address = `${newPasswordUrl}?${new URLSearchParams({ token })}`;
  return {
    json: { ...accountJson(account), invitation_url: address },
    text: [
      sentence,
      '',
      ...accountCard(account),
      '',
      `  ${address}`,
      '',
      'The address is shown this once, and works once: hand it over in a safe way. A newer one ends it.',
    ],
  };
}

function said(account: Account, sentence: string): CommandResult {
  return { json: accountJson(account), text: [sentence] };
}

function listed(
  accounts: readonly Account[],
  uses: ReadonlyMap<string, AccountUse>,
  limit: number,
  width: number,
): CommandResult {
  const rows = accounts.map((account) => ({ account, use: uses.get(account.id) ?? NO_USE }));
  const none = 'No users yet. Add one: valetkey user add --email ada@example.com --name "Ada Lovelace"';
  return {
    json: rows.map(({ account, use }) => ({ ...accountJson(account), ...useJson(use) })),
    text: rows.length === 0 ? [none] : fitted(COLUMNS, rows, width).lines,
    ...whereItEnds(accounts, limit),
  };
}

const NO_USE: AccountUse = { lastSignInAt: null, appsLastUsedAt: null };

const COLUMNS: readonly Column<{ account: Account; use: AccountUse }>[] = [
  { heading: 'ID', value: ({ account }) => account.id },
  { heading: 'E-mail', value: ({ account }) => account.email ?? '', shrinksTo: 10 },
  { heading: 'Name', value: ({ account }) => account.name ?? '', shrinksTo: 8 },
  { heading: 'Status', value: ({ account }) => account.status + (account.isOperator ? ', operator' : '') },
  { heading: 'Last sign-in', value: ({ use }) => readableUse(use.lastSignInAt) },
  { heading: 'Apps last used', value: ({ use }) => readableUse(use.appsLastUsedAt), mayBeLeft: true },
  { heading: 'Added', value: ({ account }) => readableTime(account.createdAt), mayBeLeft: true },
];

function usedFields({ lastSignInAt, appsLastUsedAt }: AccountUse): Field[] {
  return [
    ['Last sign-in', readableUse(lastSignInAt)],
    ['Apps last used', readableUse(appsLastUsedAt)],
  ];
}

function readableUse(at: number | null): string {
  return at === null ? 'never' : readableTime(at);
}

function useJson({ lastSignInAt, appsLastUsedAt }: AccountUse = NO_USE) {
  return { last_sign_in_at: isoTime(lastSignInAt), apps_last_used_at: isoTime(appsLastUsedAt) };
}

function accountJson(account: Account) {
  return {
    id: account.id,
    email: account.email,
    username: account.username,
    name: account.name,
    avatar_url: account.avatarUrl,
    operator: account.isOperator,
    status: account.status,
    has_password: account.password !== null,
    must_change_password: account.mustChangePassword,
    invited_until: account.invitation && isoTime(account.invitation.expiresAt),
    created_at: isoTime(account.createdAt),
  };
}

function accountCard(
  account: Account,
  { password = '', signsIn = [], use }: { password?: string; signsIn?: readonly string[]; use?: AccountUse } = {},
): string[] {
  return card([
    ['ID', account.id],
    ['E-mail', account.email ?? ''],
    ['Password', password],
    ['To change', account.mustChangePassword ? 'at the first sign-in' : ''],
    ['Invited', account.invitation ? `until ${readableTime(account.invitation.expiresAt)}` : ''],
    ['Name', account.name ?? ''],
    ['User name', account.username ?? ''],
    ['Picture', account.avatarUrl ?? ''],
    ['Status', account.status],
    ['Operator', account.isOperator ? 'yes' : 'no'],
    ['Signs in', signsIn],
    ...(use ? usedFields(use) : []),
    ['Added', readableTime(account.createdAt)],
  ]);
}
