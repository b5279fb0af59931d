/** The port to the store of accounts and sessions. Rules are as for the protocol's port (`oauth/store.ts`). */
import type { AuditEvent } from '../oauth/audit.ts';
import type { Account, StoredPassword } from './account.ts';
import type { Session } from './session.ts';

/** Accounts and sessions. When a verb returns, its effect is on disk. */
export type AccountStore = {
  findAccount(id: string): Promise<Account | null>;
  /** By the key that `emailKey` makes. */
  findAccountByEmail(emailKey: string): Promise<Account | null>;
  /** Whether there is one, without a list of what may be millions. */
  hasAccounts(): Promise<boolean>;
  /** Newest first, at most `limit`. */
  listAccounts(limit: number): Promise<Account[]>;
  /** Records how many wrong sign-ins an account had in an hour. */
  recordWrongSignIns(event: AuditEvent): Promise<void>;
  /** Adds an account; returns which of its names somebody has already, or null when it was added. */
  addAccount(account: Account, emailKey: string, event: AuditEvent): Promise<'email' | 'username' | null>;
  /** Changes e-mail address, name and user name; returns what kept it from that, or null when it is so. */
  updateAccount(account: Account, emailKey: string, event: AuditEvent): Promise<'email' | 'username' | 'gone' | null>;
  /** Sets a password, at the time of the event, and ends all sessions of the account; false when it is gone. */
  setPassword(id: string, password: StoredPassword, event: AuditEvent): Promise<boolean>;
  /**
   * Changes the password of an active account from the one that was `verified`, at the time of the event, and ends all of its
   * sessions but the new one; false when another password was set or the account disabled meanwhile.
   */
  changePassword(
    verified: StoredPassword,
    password: StoredPassword,
    session: Session,
    event: AuditEvent,
  ): Promise<boolean>;
  /** Replaces the hash of an unchanged password, unless the password was changed meanwhile. */
  rehashPassword(id: string, from: StoredPassword, to: StoredPassword): Promise<void>;
  /** Disables (and ends all sessions) or enables; false when the account is gone or was so already. */
  setAccountStatus(id: string, status: Account['status'], event: AuditEvent): Promise<boolean>;
  /**
   * Ends all sessions of an account; false when the account is gone. A session that is being added meanwhile was there before
   * and is ended, or begins after it and stays.
   */
  endAccountSessions(id: string, event: AuditEvent): Promise<boolean>;
  /** Ends every grant of a resource owner by raising the epoch; false when the account is gone. */
  revokeAccountGrants(id: string, event: AuditEvent): Promise<boolean>;
  /** Deletes an account with its sessions and grants; false when it is gone. */
  deleteAccount(id: string, event: AuditEvent): Promise<boolean>;
  /**
   * Adds a session for an account that is active and whose password is still the one that was `verified`, and ends the
   * session it replaces (its digest), if any; false otherwise: a password set or an account disabled meanwhile wins.
   */
  addSession(session: Session, verified: StoredPassword, replaces: Buffer | null, event: AuditEvent): Promise<boolean>;
  /** A session with its account, whatever state either is in; null when it is not there. */
  findSession(digest: Buffer): Promise<{ session: Session; account: Account } | null>;
  /** Notes that a session was seen at `at` (ms). */
  touchSession(digest: Buffer, at: number): Promise<void>;
  /** Ends a session; false when it is gone. */
  endSession(digest: Buffer, event: AuditEvent): Promise<boolean>;
};
