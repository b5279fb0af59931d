/** How users are shown, to programs and to people. A password and an invitation's address are shown only once. */
import type { Account } from '../../accounts/people/account.ts';
import type { ListedAccount } from '../../accounts/people/account-list.ts';
import type { NewInvitation } from '../../accounts/sign-in/accounts.ts';
import { invitedJson, type UsedUserJson, type UserJson, usedUserJson, userJson } from '../../operator/json/user.ts';
import type { CommandResult } from '../command/command-run.ts';
import type { LongList } from '../input/list-options.ts';
import type { NewPassword } from '../input/password-input.ts';
import { type Column, card, type Field } from '../output/table.ts';
import { readableTime, timeOrNever } from '../output/time.ts';

/** The result after a password was set. The password is shown only if it was made here, and only now. */
export function withPassword(account: Account, { password, made }: NewPassword, sentence: string): CommandResult {
  const json = { ...userJson(account), password: made ? password : null };
  if (!made) return { json, text: [sentence, '', ...userCard(json)] };
  const once = 'Hand the password over in a safe way: it is shown only once. It must be changed at the first sign-in.';
  return { json, text: [sentence, '', ...userCard(json, { password }), '', once] };
}

/** The result after somebody was invited. The address is shown only now. */
export function invitationResult(
  { account, token }: NewInvitation,
  newPasswordUrl: string,
  sentence: string,
): CommandResult {
  const json = invitedJson(account, newPasswordUrl, token);
  return {
    json,
    text: [
      sentence,
      '',
      ...userCard(json),
      '',
      `  ${json.invitation_url}`,
      '',
      'Hand the link over in a safe way: it is shown only once, and works only once. A newer link replaces it.',
    ],
  };
}

/** A user after an act, in a sentence. */
export function userActResult(account: Account, sentence: string): CommandResult {
  return { json: userJson(account), text: [sentence] };
}

/** Many users, after a filter or without one. */
export function listedAccounts(
  pages: AsyncIterable<readonly ListedAccount[]>,
  isFiltered: boolean,
): LongList<ListedAccount, UsedUserJson> {
  const none = isFiltered
    ? 'No user matches.'
    : 'No users yet. Add one: valetkey user add --email ada@example.com --name "Ada Lovelace"';
  return { pages, json: usedUserJson, none, columns: COLUMNS, id: ({ account }) => account.id };
}

const COLUMNS: readonly Column<UsedUserJson>[] = [
  { heading: 'ID', value: (user) => user.id },
  { heading: 'Email', value: shownEmail, shrinksTo: 10 },
  { heading: 'Name', value: (user) => user.name ?? '', shrinksTo: 8 },
  { heading: 'Status', value: (user) => user.status },
  { heading: 'Last sign-in', value: (user) => timeOrNever(user.last_sign_in_at) },
  { heading: 'Apps last used', value: (user) => timeOrNever(user.apps_last_used_at), mayBeLeft: true },
  { heading: 'Added', value: (user) => readableTime(user.created_at), mayBeLeft: true },
];

function shownEmail({ email, email_verified: isVerified }: UserJson): string {
  return email === null ? '' : email + (isVerified ? '' : ' (not verified)');
}

function usedFields(user: UsedUserJson): Field[] {
  return [
    ['Last sign-in', timeOrNever(user.last_sign_in_at)],
    ['Apps last used', timeOrNever(user.apps_last_used_at)],
  ];
}

/** One user, for people; the last uses where they are known. */
export function userCard(
  user: UserJson & Partial<UsedUserJson>,
  { password = '', signsIn = [] }: { password?: string; signsIn?: readonly string[] } = {},
): string[] {
  return card([
    ['ID', user.id],
    ['Email', shownEmail(user)],
    ['Password', password],
    ['To change', user.must_change_password ? 'at the first sign-in' : ''],
    ['Invited', user.invited_until ? `until ${readableTime(user.invited_until)}` : ''],
    ['Name', user.name ?? ''],
    ['User name', user.username ?? ''],
    ['Picture', user.avatar_url ?? ''],
    ['Status', user.status],
    ['Signs in', signsIn],
    ...(user.last_sign_in_at === undefined ? [] : usedFields(user as UsedUserJson)),
    ['Added', readableTime(user.created_at)],
  ]);
}
