/** Accounts. */

import { type Account, emailKey, isUnwrapped, type StoredPassword } from '../../../accounts/people/account.ts';
import { functionRank } from '../../../accounts/people/foreign-function.ts';
import type {
  AccountListStore,
  AccountStore,
  ExternalSignInStore,
  ForeignPasswordStore,
  IdentityProviderStore,
  IdentityStore,
  SessionStore,
} from '../../../accounts/people/store.ts';
import type { ProviderProof } from '../../../oauth/clients/provider-proof.ts';
import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import {
  type Act,
  findRow,
  isAny,
  listRows,
  type RestsOn,
  type Runner,
  type Statement,
} from '../../statements/shared-operations.ts';
import { nullable, type Stored, Table } from '../../statements/table.ts';
import { stillProven } from '../registrations/identity-providers.ts';

/**
 * Columns stored beside an account for searches: the key of its email, and the rank and wrapping of a foreign password.
 */
export type AccountSearchKeys = {
  readonly emailKey: string | null;
  readonly foreignRank: number | null;
  readonly isUnwrapped: boolean;
};

/** A stored account. */
export const STORED_ACCOUNT = Table.of<Account & AccountSearchKeys>('account', {
  id: 'text',
  epoch: 'integer',
  status: 'text',
  email: nullable('text'),
  emailKey: nullable('text'),
  emailVerified: 'boolean',
  emailSetHere: 'boolean',
  username: nullable('text'),
  name: nullable('text'),
  avatarUrl: nullable('text'),
  password: nullable('json'),
  foreignRank: nullable('integer'),
  isUnwrapped: 'boolean',
  passwordSetAt: nullable('time'),
  mustChangePassword: 'boolean',
  invitation: nullable('json'),
  createdAt: 'time',
});

/** An account without its search columns. */
export const ACCOUNT = STORED_ACCOUNT.without('emailKey', 'foreignRank', 'isUnwrapped');

/** Returns a password as a parameter; equal passwords are equal texts. */
export function storedPassword(password: StoredPassword): Stored {
  return ACCOUNT.stored('password', password);
}

/** Returns an account's values in column order. */
export function storedAccount(account: Account, key: string | null): Stored[] {
  return STORED_ACCOUNT.values({ ...account, emailKey: key, ...foreignKeys(account.password) });
}

function foreignKeys(password: StoredPassword | null): Pick<AccountSearchKeys, 'foreignRank' | 'isUnwrapped'> {
  if (password === null || !('foreign' in password)) return { foreignRank: null, isUnwrapped: false };
  return { foreignRank: functionRank(password.foreign), isUnwrapped: isUnwrapped(password) };
}

/** Assignments that accompany a new password: it is not foreign, and it ends an invitation. */
export const NEW_PASSWORD = 'foreign_rank = NULL, is_unwrapped = FALSE, invitation = NULL';

const SELECT = `SELECT ${ACCOUNT.names} FROM account`;
/** An email or a username must be unique only among accounts that have a password or an invitation to set one. */
const HAS_NAMES = (account: string) => `(${account}.password IS NOT NULL OR ${account}.invitation IS NOT NULL)`;
/** Accounts whose email was set here come first: anybody may have created more of the others than the limit. */
const BY_EMAIL = `
  ${SELECT} WHERE email_key = $1
  ORDER BY CASE WHEN email_set_here OR ${HAS_NAMES('account')} THEN 0 ELSE 1 END, created_at, id LIMIT $2`;
const INSERT = `${STORED_ACCOUNT.insertion} ON CONFLICT DO NOTHING`;
/** One search for each name: with both in one condition SQLite would scan all accounts. */
const TAKEN = `
  SELECT 'email' AS taken FROM account WHERE email_key = $1 AND ${HAS_NAMES('account')} AND id <> $3
  UNION ALL SELECT 'username' FROM account WHERE username = $2 AND ${HAS_NAMES('account')} AND id <> $3
  ORDER BY taken LIMIT 1`;
const IS_FREE = (emailKey: string, username: string) => `
  NOT EXISTS (SELECT 1 FROM account AS other
    WHERE other.email_key = ${emailKey} AND ${HAS_NAMES('other')} AND other.id <> $1)
  AND NOT EXISTS (SELECT 1 FROM account AS other
    WHERE other.username = ${username} AND ${HAS_NAMES('other')} AND other.id <> $1)`;
const PROFILE = ACCOUNT.pick('email', 'emailVerified', 'emailSetHere', 'username', 'name', 'avatarUrl');
/** Of two concurrent changes, the second one is a no-op, and its caller reads the account again. */
const UPDATE = `
  UPDATE account SET email = $2, email_key = $3, email_verified = $4, email_set_here = $5, username = $6, name = $7,
    avatar_url = $8, invitation = CASE WHEN email_key = $3 THEN invitation END
  WHERE id = $1 AND (NOT ${HAS_NAMES('account')} OR ${IS_FREE('$3', '$6')}) AND ${PROFILE.unchanged(9)}`;
/** An account that received a password meanwhile needs its email. */
const UPDATE_BY_OPERATOR = `${UPDATE} AND (password IS NULL OR $3 IS NOT NULL)`;
/** An account that received a password or an invitation meanwhile keeps its email. */
const UPDATE_BY_PROVIDER = `${UPDATE} AND (NOT ${HAS_NAMES('account')} OR email IS NOT DISTINCT FROM $2)`;
const SET_PASSWORD = `
  UPDATE account SET password = $2, ${NEW_PASSWORD}, password_set_at = $3, must_change_password = $4
  WHERE id = $1 AND email_key IS NOT NULL AND ${IS_FREE('account.email_key', 'account.username')}`;
const INVITE = `
  UPDATE account SET invitation = $2
  WHERE id = $1 AND status = 'active' AND email_key = $3 AND ${IS_FREE('account.email_key', 'account.username')}`;
const USE_INVITATION = `
  UPDATE account SET password = $2, ${NEW_PASSWORD}, password_set_at = $3, must_change_password = FALSE
  WHERE id = $1 AND invitation = $4`;
const REHASH = `
  UPDATE account SET password = $3, foreign_rank = $4, is_unwrapped = $5 WHERE id = $1 AND password = $2`;
const SET_STATUS = 'UPDATE account SET status = $2, invitation = NULL WHERE id = $1 AND status <> $2';
/** Changes no value: requires the account to exist, and locks its row as every other change does. */
const LOCK = 'UPDATE account SET status = status WHERE id = $1';
const RAISE_EPOCH = 'UPDATE account SET epoch = epoch + 1 WHERE id = $1';
const DELETE = 'DELETE FROM account WHERE id = $1';
const KEEP_EPOCH = `
  INSERT INTO former_account (id, epoch) SELECT id, epoch FROM account WHERE id = $1
  ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch`;
/** Keyed by subject, so that an identity that is deleted repeatedly has one row. */
const KEEP_IDENTITIES = `
  INSERT INTO former_identity (id, provider_id, account_id, created_at, ended_at)
  SELECT id, provider_id, account_id, created_at, $2 FROM identity WHERE account_id = $1
  ON CONFLICT (id) DO UPDATE SET provider_id = excluded.provider_id, account_id = excluded.account_id,
    created_at = excluded.created_at, ended_at = excluded.ended_at`;

const END_SESSIONS = 'DELETE FROM session WHERE account_id = $1';
/** Ends the user's open tickets, so that an earlier statement of the provider begins no session. */
const END_TICKETS = `
  UPDATE external_sign_in SET taken_at = $2
  WHERE taken_at IS NULL AND identity_id IN (SELECT id FROM identity WHERE account_id = $1)`;

/**
 * Returns the statements that end all sessions of an account, and the pending external sign-ins that could begin
 * another, at a time (ms). The account's row must be locked.
 */
export function endingSessions(id: string, at: number): Statement[] {
  return [
    { sql: END_SESSIONS, values: [id] },
    { sql: END_TICKETS, values: [id, at] },
  ];
}

/** Returns the act that changes an account's profile, unless the profile is no longer as `before`. */
export function accountUpdate(
  by: 'operator' | 'provider',
  account: Account,
  before: Account,
  key: string | null,
  event: AuditEvent,
): Act {
  const { id } = account;
  const [email, ...others] = PROFILE.values(account) as [Stored, ...Stored[]];
  const values = [id, email, key, ...others, ...PROFILE.values(before)];
  const sql = by === 'operator' ? UPDATE_BY_OPERATOR : UPDATE_BY_PROVIDER;
  return { touches: [id], event, first: { sql, values } };
}

/** Implements the port for accounts, without their lists and sessions. */
export function accountStore(
  runner: Runner,
): Omit<
  AccountStore,
  keyof (SessionStore &
    IdentityStore &
    ExternalSignInStore &
    ForeignPasswordStore &
    IdentityProviderStore &
    AccountListStore)
> {
  const one = (where: string, value: string, restsOn: RestsOn) =>
    findRow(runner, ACCOUNT, { sql: `${SELECT} WHERE ${where} = $1`, values: [value] }, restsOn);
  const taken = async ({ id, username }: Pick<Account, 'id' | 'username'>, emailKey: string | null) => {
    const [row] = await runner.select({ sql: TAKEN, values: [emailKey, username, id] }, 'all');
    return row ? (row[0] as 'email' | 'username') : null;
  };
  const whyNot = async (id: string) => {
    const account = await one('id', id, [id]);
    return (account && (await taken(account, account.email && emailKey(account.email)))) ?? 'gone';
  };
  /**
   * The account's row first: in PostgreSQL an addition of a session locks it, so this waits, and then finds the
   * session.
   */
  const change = (
    id: string,
    event: AuditEvent,
    sql: string,
    values: readonly Stored[],
    rest: Statement[] = [],
    proof?: ProviderProof,
  ) => {
    const demands = proof ? [stillProven(proof)] : [];
    return runner.act({ touches: [id], event, demands, first: { sql, values: [id, ...values] }, rest });
  };

  return {
    findAccount: (id) => one('id', id, [id]),
    // Takes equally long whether found or not: the duration of a sign-in must not reveal known emails (ASVS 6.3.8).
    findPasswordAccount: (emailKey) => one('password IS NOT NULL AND email_key', emailKey, 'all'),
    listAccountsByEmail: (emailKey, limit) => listRows(runner, ACCOUNT, BY_EMAIL, [emailKey, limit]),
    hasAccounts: () => isAny(runner, 'SELECT 1 FROM account LIMIT 1'),
    recordSignInEvent: (event) => runner.record(event),
    findTaken: (username, emailKey) => taken({ id: '', username }, emailKey),
    async addAccount(account, emailKey, event) {
      const first = { sql: INSERT, values: storedAccount(account, emailKey) };
      if (await runner.act({ touches: [account.id], event, first })) return null;
      const name = await taken(account, emailKey);
      if (!name) throw new Error('there is an account with this id already, or was one with its names');
      return name;
    },
    async updateAccount(account, expected, emailKey, event) {
      if (await runner.act(accountUpdate('operator', account, expected, emailKey, event))) return null;
      return (await taken(account, emailKey)) ?? 'gone';
    },
    async setPassword(id, password, mustChange, event) {
      const values = [storedPassword(password), event.at, mustChange];
      return (await change(id, event, SET_PASSWORD, values, endingSessions(id, event.at))) ? null : whyNot(id);
    },
    async invite(id, emailKey, invitation, event) {
      const values = [ACCOUNT.stored('invitation', invitation), emailKey];
      return (await change(id, event, INVITE, values)) ? null : whyNot(id);
    },
    useInvitation(id, invitation, password, event) {
      const values = [storedPassword(password), event.at, ACCOUNT.stored('invitation', invitation)];
      return change(id, event, USE_INVITATION, values, endingSessions(id, event.at));
    },
    rehashPassword(id, from, to) {
      const { foreignRank, isUnwrapped } = foreignKeys(to);
      const values = [id, storedPassword(from), storedPassword(to), foreignRank, isUnwrapped];
      return runner.change([id], { sql: REHASH, values });
    },
    setAccountStatus: (id, status, event, proof) =>
      change(id, event, SET_STATUS, [status], status === 'disabled' ? endingSessions(id, event.at) : [], proof),
    endAccountSessions: (id, event, proof) => change(id, event, LOCK, [], endingSessions(id, event.at), proof),
    revokeAccountGrants: (id, event) => change(id, event, RAISE_EPOCH, []),
    // A foreign key deletes the account's identities with it.
    deleteAccount(id, event, mayComeAgain = false, proof) {
      const kept = { sql: KEEP_IDENTITIES, values: [id, event.at] };
      const epoch = mayComeAgain ? [{ sql: KEEP_EPOCH, values: [id] }] : [];
      const rest = [...epoch, kept, ...endingSessions(id, event.at), { sql: DELETE, values: [id] }];
      return change(id, event, LOCK, [], rest, proof);
    },
  };
}
