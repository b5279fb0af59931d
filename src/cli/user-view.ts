/** How users are shown, to programs and to people. A password and an invitation's address are shown only once. */
import type { Account } from '../accounts/people/account.ts';
import { type ListedAccount, NO_USE } from '../accounts/people/account-list.ts';
import type { AccountUse } from '../accounts/people/store.ts';
import type { NewInvitation } from '../accounts/sign-in/accounts.ts';
import type { CommandResult } from './command-run.ts';
import type { LongList } from './long-list.ts';
import type { NewPassword } from './password-input.ts';
import { type Column, card, type Field, fitted } from './table.ts';
import { isoTime, readableTime, timeOrNever } from './time.ts';

/** The result after a password was set. The password is shown only if it was made here, and only now. */
export function withPassword(account: Account, { password, made }: NewPassword, sentence: string): CommandResult {
  const json = { ...accountJson(account), password: made ? password : null };
  if (!made) return { json, text: [sentence, '', ...accountCard(account)] };
  const once = 'The password is shown this once: hand it over in a safe way. It must be changed at the first sign-in.';
  return { json, text: [sentence, '', ...accountCard(account, { password }), '', once] };
}

/** The result after somebody was invited. The address is shown only now. */
export function invited({ account, token }: NewInvitation, newPasswordUrl: string, sentence: string): CommandResult {
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

/** A user after an act, in a sentence. */
export function said(account: Account, sentence: string): CommandResult {
  return { json: accountJson(account), text: [sentence] };
}

/** Many users, after a filter or without one. */
export function listedAccounts(
  pages: AsyncIterable<readonly ListedAccount[]>,
  isFiltered: boolean,
  width: number,
): LongList<ListedAccount> {
  const none = isFiltered
    ? 'No user is so.'
    : 'No users yet. Add one: valetkey user add --email ada@example.com --name "Ada Lovelace"';
  return {
    pages,
    json: ({ account, use }) => ({ ...accountJson(account), ...useJson(use) }),
    lines: (rows) => (rows.length === 0 ? [none] : fitted(COLUMNS, rows, width).lines),
    id: ({ account }) => account.id,
  };
}

const COLUMNS: readonly Column<ListedAccount>[] = [
  { heading: 'ID', value: ({ account }) => account.id },
  { heading: 'E-mail', value: ({ account }) => shownEmail(account), shrinksTo: 10 },
  { heading: 'Name', value: ({ account }) => account.name ?? '', shrinksTo: 8 },
  { heading: 'Status', value: ({ account }) => account.status + (account.isOperator ? ', operator' : '') },
  { heading: 'Last sign-in', value: ({ use }) => timeOrNever(use.lastSignInAt) },
  { heading: 'Apps last used', value: ({ use }) => timeOrNever(use.appsLastUsedAt), mayBeLeft: true },
  { heading: 'Added', value: ({ account }) => readableTime(account.createdAt), mayBeLeft: true },
];

function usedFields({ lastSignInAt, appsLastUsedAt }: AccountUse): Field[] {
  return [
    ['Last sign-in', timeOrNever(lastSignInAt)],
    ['Apps last used', timeOrNever(appsLastUsedAt)],
  ];
}

/** When a user came last, for programs. */
export function useJson({ lastSignInAt, appsLastUsedAt }: AccountUse = NO_USE) {
  return { last_sign_in_at: isoTime(lastSignInAt), apps_last_used_at: isoTime(appsLastUsedAt) };
}

/** One user, for programs. */
export function accountJson(account: Account) {
  return {
    id: account.id,
    email: account.email,
    email_verified: account.emailVerified,
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

function shownEmail({ email, emailVerified }: Account): string {
  return email === null ? '' : email + (emailVerified ? '' : ' (not verified)');
}

/** One user, for people. */
export function accountCard(
  account: Account,
  { password = '', signsIn = [], use }: { password?: string; signsIn?: readonly string[]; use?: AccountUse } = {},
): string[] {
  return card([
    ['ID', account.id],
    ['E-mail', shownEmail(account)],
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
