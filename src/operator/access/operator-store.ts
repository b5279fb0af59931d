/** The port to operators, their passkeys, sessions, keys and one-time addresses. Rules are as for every port (`oauth/store.ts`). */
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { OneTimeAddress } from './one-time-address.ts';
import type { Operator } from './operator.ts';
import type { OperatorKey } from './operator-key.ts';
import type { OperatorSession } from './operator-session.ts';
import type { Assertion, Passkey, UsedChallenge } from './passkey.ts';

/** Why an operator was not changed: somebody else was faster, the name is taken, or nobody would be an admin. */
export type OperatorProblem = 'gone' | 'name' | 'last admin';

/**
 * A bound of a change: only a command may leave no active admin. The other admins' rows are locked, so that two admins
 * who demote each other at once do not both succeed.
 */
export type AdminBound = 'an admin stays' | 'no bound';

/** Operators, and all that belongs to one. Whatever takes access away raises the epoch. */
export type OperatorStore = OperatorSessionStore &
  OperatorKeyStore & {
    findOperator(id: string): Promise<Operator | null>;
    findOperatorByName(name: string): Promise<Operator | null>;
    /** All operators, oldest first. */
    listOperators(): Promise<Operator[]>;
    /** Adds an operator, with an address to enroll at (or none); false if the name is taken. */
    addOperator(operator: Operator, address: OneTimeAddress | null, event: AuditEvent): Promise<boolean>;
    /** Changes name and role of an operator that is as expected; the epoch is raised if the role is lower. */
    updateOperator(
      changed: Operator,
      expected: Operator,
      bound: AdminBound,
      event: AuditEvent,
    ): Promise<OperatorProblem | null>;
    /** Disables an active operator, and ends sessions, keys and one-time addresses. */
    disableOperator(id: string, bound: AdminBound, event: AuditEvent): Promise<OperatorProblem | null>;
    /** Enables a disabled operator; false if there is none. */
    enableOperator(id: string, event: AuditEvent): Promise<boolean>;
    /** Deletes an operator with all that belongs to it. */
    deleteOperator(id: string, bound: AdminBound, event: AuditEvent): Promise<OperatorProblem | null>;
    /** Ends passkeys, sessions and one-time addresses of an active operator, and adds an address to enroll at. */
    resetOperator(address: OneTimeAddress, event: AuditEvent): Promise<boolean>;
    /** Adds a one-time address of an active operator, in place of the earlier one for the purpose. */
    addOneTimeAddress(address: OneTimeAddress, event: AuditEvent): Promise<boolean>;
    /** Returns an address with its operator, whatever state either is in; null if it was used, or replaced. */
    findOneTimeAddress(digest: Buffer): Promise<{ address: OneTimeAddress; operator: Operator } | null>;
    /**
     * Records that an act was refused, once for each `once` (a digest of operator, act and hour, kept until `expiresAt`);
     * false if it was recorded before.
     */
    recordOperatorRefused(once: UsedChallenge, event: AuditEvent): Promise<boolean>;
  };

/** Passkeys and sessions. Each verb that begins a session ends the operator's sessions beyond the maximum. */
export type OperatorSessionStore = {
  /** Returns a passkey with its operator. */
  findPasskey(id: string): Promise<{ passkey: Passkey; operator: Operator } | null>;
  /** All passkeys of an operator, oldest first. */
  listPasskeys(operatorId: string): Promise<Passkey[]>;
  /**
   * Begins a session of an active operator whose passkey answered, and ends the one that it replaces (its digest), which must
   * be there. False if the challenge was used, the passkey is gone, or its counter moved meanwhile.
   */
  beginSessionByPasskey(
    session: OperatorSession,
    assertion: Assertion,
    replaces: Buffer | null,
    event: AuditEvent,
  ): Promise<boolean>;
  /** Begins a session of an active operator at a sign-in address, which ends; false if the address is gone or expired. */
  beginSessionByAddress(session: OperatorSession, address: Buffer, event: AuditEvent): Promise<boolean>;
  /**
   * Enrolls a passkey of an active operator at an address, which ends, and begins a session. False if the address is gone or
   * expired, the challenge was used, the passkey is enrolled already, or there are `MAX_PASSKEYS`.
   */
  enrollByAddress(
    passkey: Passkey,
    session: OperatorSession,
    address: Buffer,
    challenge: UsedChallenge,
    event: AuditEvent,
  ): Promise<boolean>;
  /**
   * Enrolls the first passkey of an active operator in a session that began at an address, which ends (its digest), and begins
   * another one. False if the session is gone, the challenge was used, the passkey is enrolled already, or there is one by now.
   */
  enrollInSession(
    passkey: Passkey,
    session: OperatorSession,
    replaces: Buffer,
    challenge: UsedChallenge,
    event: AuditEvent,
  ): Promise<boolean>;
  /** Adds a passkey in a session, which must be there; false as for `enrollByAddress`. */
  addPasskey(passkey: Passkey, session: Buffer, challenge: UsedChallenge, event: AuditEvent): Promise<boolean>;
  /**
   * Removes a passkey of an operator at a session (its digest); false if the passkey is gone. Ends the other sessions that the
   * passkey began or last confirmed, and those that began at an address, where a passkey is enrolled without one. Takes presence
   * from the remaining ones, and from the removing session if the passkey confirmed it.
   */
  removePasskey(id: string, operatorId: string, session: Buffer, event: AuditEvent): Promise<boolean>;
  /**
   * Marks a passkey of an active operator whose counter did not go on under a new challenge, at a time (ms), and uses the
   * challenge. Ends the sessions that the passkey began or last confirmed, and takes presence from the operator's others. False if
   * the challenge was used (the answer came again), the passkey is gone, or its counter did go on.
   */
  suspectPasskey(
    answer: Pick<Assertion, 'passkeyId' | 'counter' | 'challenge'>,
    operatorId: string,
    at: number,
    event: AuditEvent,
  ): Promise<boolean>;
  /** All passkeys that may have been copied, with their operators, the longest suspected first. */
  listSuspectedPasskeys(): Promise<{ passkey: Passkey; operator: Operator }[]>;
  /** Returns a session with its operator, whatever state either is in. */
  findOperatorSession(digest: Buffer): Promise<{ session: OperatorSession; operator: Operator } | null>;
  /** All sessions of an operator that are not deleted yet, newest first. */
  listOperatorSessions(operatorId: string): Promise<OperatorSession[]>;
  /** Notes that a session was seen at a time (ms). */
  touchOperatorSession(digest: Buffer, at: number): Promise<void>;
  /** Ends a session of an operator; false if it is gone. */
  endOperatorSession(digest: Buffer, operatorId: string, event: AuditEvent): Promise<boolean>;
  /** Ends all sessions and one-time addresses of an operator; false if the operator is gone. */
  endOperatorSessions(operatorId: string, event: AuditEvent): Promise<boolean>;
};

/** Keys. */
export type OperatorKeyStore = {
  /** Adds a key of an active operator; false if the operator is gone or disabled, or has `MAX_KEYS_OF_OPERATOR`. */
  addOperatorKey(key: OperatorKey, event: AuditEvent): Promise<boolean>;
  /** Returns a key with its operator, whatever state either is in. */
  findOperatorKey(digest: Buffer): Promise<{ key: OperatorKey; operator: Operator } | null>;
  /** All keys of an operator, oldest first. */
  listOperatorKeys(operatorId: string): Promise<OperatorKey[]>;
  /** Ends a key of an operator; false if it is gone. */
  endOperatorKey(id: string, operatorId: string, event: AuditEvent): Promise<boolean>;
};
