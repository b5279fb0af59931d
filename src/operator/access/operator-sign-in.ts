/** Enrollment, sign-in and confirmation of operators in the console, by passkey or one-time address. */
import { hash } from 'node:crypto';
import { isAheadOfClock } from '../../oauth/grants/clock-steps.ts';
import { widestNetworkOf } from '../../oauth/guessing/networks.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { nameProblem } from '../../oauth/readable-text.ts';
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../../oauth/trail/audit.ts';
import type { DetailArgument } from '../../oauth/trail/event-members.ts';
import type { OperatorOrigin } from './access.ts';
import type { OneTimeAddress } from './one-time-address.ts';
import type { Operator } from './operator.ts';
import {
  isLiveOperatorSession,
  newOperatorSession,
  newOperatorToken,
  type OperatorSession,
  operatorTokenDigest,
} from './operator-session.ts';
import type { OperatorStore } from './operator-store.ts';
import type { Assertion, Passkey } from './passkey.ts';
import {
  type ChallengeBinding,
  confirmBinding,
  firstBinding,
  makeChallenge,
  readChallenge,
  signInBinding,
} from './passkey-challenge.ts';
import { type Access, type Act, sessionText } from './rights.ts';
import { DEAD, ofChallenge, ofError, SECOND, type SignInRefusal, whyNotAdded, wrong } from './sign-in-refusal.ts';
import {
  answeringPasskey,
  type CeremonyOptions,
  creationOptions,
  goesOn,
  isCreation,
  type RelyingParty,
  requestOptions,
  verifyAssertion,
  verifyCreation,
} from './webauthn.ts';

/** The parts of `OperatorSignIn`. `now` returns ms. */
export type OperatorSignInParts = {
  readonly store: OperatorStore;
  readonly keyring: Keyring;
  readonly rp: RelyingParty;
  readonly now: () => number;
};

/**
 * The browser that asks: the secret of its cookie, its name in a few words, and the token of the session that it has, which
 * may have ended, or be another operator's. A sign-in ends that session.
 */
export type AskingBrowser = OperatorOrigin & {
  readonly secret: string;
  readonly browser: string;
  readonly earlier: string | null;
};

/** The access of a session, which alone may confirm and enroll. */
export type SessionAccess = Access & { readonly by: Extract<Access['by'], { kind: 'session' }> };

/** The result of a sign-in, with the token of the new session. */
export type SignInOutcome =
  | { readonly kind: 'signed_in'; readonly token: string; readonly operator: Operator }
  | SignInRefusal;

const HOUR_MS = 3_600_000;
/** Why an answer was refused that its passkey did sign. */
const COPIED = 'its counter did not go on, so it may have been copied';
const REPEATED = 'the answer was used before, or the session ended meanwhile';

/** Signs operators in. */
export class OperatorSignIn {
  readonly #parts: OperatorSignInParts;

  constructor(parts: OperatorSignInParts) {
    this.#parts = parts;
  }

  /** Returns the operator of a one-time address that still works, or null. Uses nothing. */
  async operatorOfAddress(token: string, purpose: OneTimeAddress['purpose']): Promise<Operator | null> {
    const found = await this.#parts.store.findOneTimeAddress(operatorTokenDigest(token));
    if (found === null || found.address.purpose !== purpose || found.operator.status !== 'active') return null;
    const { createdAt, expiresAt } = found.address;
    const now = this.#parts.now();
    return expiresAt > now && !isAheadOfClock(createdAt, 0, now) ? found.operator : null;
  }

  /** Returns the options to make a passkey, at a one-time address (`enroll`) or in a session (`add`). */
  async creation(operator: Operator, purpose: 'enroll' | 'add', secret: string): Promise<CeremonyOptions> {
    const { store, keyring, rp, now } = this.#parts;
    const challenge = makeChallenge(keyring, { browser: secret, purpose, operatorId: operator.id }, now());
    return creationOptions(rp, operator, await store.listPasskeys(operator.id), challenge);
  }

  /** Enrolls the first passkey at a one-time address, which is then used, and signs its operator in. */
  async enroll(token: string, answer: string, name: string, browser: AskingBrowser): Promise<SignInOutcome> {
    const operator = await this.operatorOfAddress(token, 'enroll');
    if (!operator) return DEAD;
    const binding: ChallengeBinding = { browser: browser.secret, purpose: 'enroll', operatorId: operator.id };
    return this.#withNewPasskey(answer, name, binding, async (passkey, challenge) => {
      const begun = this.#begin(operator, passkey.id, browser);
      const event = this.#event('operator_passkey_added', operator, begun.session, browser, {
        passkey: passkey.name,
        enrolled: true,
      });
      const digest = operatorTokenDigest(token);
      const earlier = await this.#earlierOf(browser);
      const isDone = await this.#parts.store.enrollByAddress(passkey, begun.session, digest, challenge, event);
      if (!isDone) return (await whyNotAdded(this.#parts.store, passkey)) ?? DEAD;
      await this.#endEarlier(earlier, begun.session, browser);
      return { kind: 'signed_in', token: begun.token, operator };
    });
  }

  /** Adds a passkey to the operator of a session. */
  async addPasskey(
    { operator, by }: SessionAccess,
    answer: string,
    name: string,
    browser: AskingBrowser,
  ): Promise<{ readonly kind: 'added'; readonly name: string } | SignInRefusal> {
    const binding: ChallengeBinding = { browser: browser.secret, purpose: 'add', operatorId: operator.id };
    return this.#withNewPasskey(answer, name, binding, async (passkey, challenge) => {
      const event = this.#event('operator_passkey_added', operator, by, browser, { passkey: passkey.name });
      const isDone = await this.#parts.store.addPasskey(passkey, by.digest, challenge, event);
      if (isDone) return { kind: 'added', name: passkey.name };
      return (await whyNotAdded(this.#parts.store, passkey)) ?? wrong(REPEATED);
    });
  }

  /** Returns the options to sign in with any passkey. */
  signInOptions(secret: string): Promise<CeremonyOptions> {
    const { keyring, rp, now } = this.#parts;
    return requestOptions(rp, [], makeChallenge(keyring, signInBinding(secret), now()));
  }

  /** Signs in the operator whose passkey answered. */
  async signIn(answer: string, browser: AskingBrowser): Promise<SignInOutcome> {
    const earlier = await this.#earlierOf(browser);
    return this.#byPasskey(answer, signInBinding(browser.secret), browser, { earlier, action: 'operator_signed_in' });
  }

  /** Returns the options to confirm an act with a passkey of the session's operator, or to make the first one if there is none. */
  async confirmOptions({ operator, by }: SessionAccess, act: Act, secret: string): Promise<CeremonyOptions> {
    const { store, keyring, rp, now } = this.#parts;
    const passkeys = await store.listPasskeys(operator.id);
    if (passkeys.length === 0) {
      const binding = firstBinding(operator, by.digest, act, secret);
      return creationOptions(rp, operator, [], makeChallenge(keyring, binding, now()));
    }
    return requestOptions(rp, passkeys, makeChallenge(keyring, confirmBinding(operator, secret), now()));
  }

  /**
   * Confirms that the session's operator is present, for an act. The session goes on under a new token. An answer that makes the
   * operator's first passkey, which gets the name, confirms too: it verified its user.
   */
  async confirm(
    { operator, by }: SessionAccess,
    { act, answer, name }: { readonly act: Act; readonly answer: string; readonly name: string },
    browser: AskingBrowser,
  ): Promise<SignInOutcome> {
    const found = await this.#parts.store.findOperatorSession(by.digest);
    if (!found || !isLiveOperatorSession(found.session, this.#parts.now())) return wrong('the session ended meanwhile');
    if (isCreation(answer)) {
      const binding = firstBinding(operator, by.digest, act, browser.secret);
      return this.#withFirstPasskey(answer, name, binding, operator, found.session, browser);
    }
    return this.#byPasskey(answer, confirmBinding(operator, browser.secret), browser, {
      earlier: found.session,
      action: 'operator_confirmed',
      beginning: found.session,
    });
  }

  /** Signs in at a one-time address, which is then used. */
  async useAddress(token: string, browser: AskingBrowser): Promise<SignInOutcome> {
    const operator = await this.operatorOfAddress(token, 'sign-in');
    if (!operator) return DEAD;
    const { token: sessionToken, session } = this.#begin(operator, null, browser);
    const event = this.#event('operator_signed_in', operator, session, browser, { one_time_address: true });
    const earlier = await this.#earlierOf(browser);
    const isDone = await this.#parts.store.beginSessionByAddress(session, operatorTokenDigest(token), event);
    if (!isDone) return DEAD;
    await this.#endEarlier(earlier, session, browser);
    return { kind: 'signed_in', token: sessionToken, operator };
  }

  /** Ends the session of an access. */
  async signOut({ operator, by }: SessionAccess, origin: OperatorOrigin): Promise<void> {
    const event = this.#event('operator_signed_out', operator, by, origin);
    await this.#parts.store.endOperatorSession(by.digest, operator.id, event);
  }

  /**
   * Removes a passkey of the session's operator, but not the only one, and what it gave: the sessions that it began or last
   * confirmed, and the presence of the others.
   */
  async removePasskey(
    { operator, by }: SessionAccess,
    id: string,
    origin: OperatorOrigin,
  ): Promise<'removed' | 'gone' | 'only'> {
    const { store } = this.#parts;
    const passkeys = await store.listPasskeys(operator.id);
    const passkey = passkeys.find((each) => each.id === id);
    if (!passkey) return 'gone';
    if (passkeys.length === 1) return 'only';
    const event = this.#event('operator_passkey_removed', operator, by, origin, { passkey: passkey.name });
    return (await store.removePasskey(id, operator.id, by.digest, event)) ? 'removed' : 'gone';
  }

  /** Ends another session of the session's operator (its digest); false if it is gone. */
  async endSession({ operator, by }: SessionAccess, digest: Buffer, origin: OperatorOrigin): Promise<boolean> {
    const event = this.#event('operator_sessions_ended', operator, by, origin, { one_session: true });
    return this.#parts.store.endOperatorSession(digest, operator.id, event);
  }

  async #byPasskey(
    answer: string,
    binding: ChallengeBinding,
    browser: AskingBrowser,
    how: {
      earlier: OperatorSession | null;
      action: 'operator_signed_in' | 'operator_confirmed';
      beginning?: OperatorSession;
    },
  ): Promise<SignInOutcome> {
    const { store, keyring, rp, now } = this.#parts;
    try {
      const found = await store.findPasskey(answeringPasskey(answer));
      if (!found) return wrong('the passkey is unknown');
      const { passkey, operator } = found;
      if (binding.operatorId !== '' && binding.operatorId !== operator.id) return wrong('the passkey is another’s');
      if (operator.status !== 'active') return wrong(`the operator ${operator.id} is disabled`);
      const asked = binding.operatorId === '' ? 'anyone' : 'one operator';
      const { challenge: answered, ...verified } = await verifyAssertion(rp, answer, passkey, asked);
      // Before the counter: a page that is loaded again much later sends an old answer, which is no copied passkey.
      const challenge = readChallenge(keyring, binding, answered, now());
      if (typeof challenge === 'string') return ofChallenge(challenge);
      const assertion = { passkeyId: passkey.id, before: passkey.counter, ...verified, challenge };
      if (!goesOn(passkey.counter, verified.counter)) return this.#suspect(passkey, assertion, operator, browser);
      const { token, session } = this.#begin(operator, passkey.id, browser, how.beginning);
      const event = this.#event(how.action, operator, session, browser, { passkey: passkey.name });
      const { earlier } = how;
      const isReplaced = earlier?.operatorId === operator.id && isLiveOperatorSession(earlier, now());
      const replaces = isReplaced ? earlier.digest : null;
      const isDone = await store.beginSessionByPasskey(session, assertion, replaces, event);
      // Another copy may have moved the counter meanwhile.
      if (!isDone) return this.#suspect(passkey, assertion, operator, browser);
      if (!isReplaced) await this.#endEarlier(earlier, session, browser);
      return { kind: 'signed_in', token, operator };
    } catch (error) {
      return ofError(error);
    }
  }

  async #earlierOf({ earlier }: AskingBrowser): Promise<OperatorSession | null> {
    if (earlier === null) return null;
    return (await this.#parts.store.findOperatorSession(operatorTokenDigest(earlier)))?.session ?? null;
  }

  /** Ends the session that a browser had, whoever's it was, if it is still there. */
  async #endEarlier(
    earlier: OperatorSession | null,
    begun: OperatorSession,
    { source, requestId }: OperatorOrigin,
  ): Promise<void> {
    if (!earlier) return;
    const { digest, operatorId: clientId } = earlier;
    const { store, now } = this.#parts;
    // Without standing: this sign-in is done, and whatever ends its operator's access must not keep the old session.
    const actor: Actor = { kind: 'operator', id: begun.operatorId, source, requestId, by: sessionText(begun) };
    const detail = { one_session: true, by_sign_in: true } as const;
    const event = auditEvent('operator_sessions_ended', actor, now(), { clientId }, detail);
    await store.endOperatorSession(digest, clientId, event);
  }

  /**
   * Refuses an answer that its passkey did sign. A counter that did not go on takes back what the passkey gave. An answer that
   * comes again does nothing, and is recorded at most once an hour for each passkey.
   */
  async #suspect(
    { id, name }: Passkey,
    assertion: Assertion,
    operator: Operator,
    { source, requestId }: OperatorOrigin,
  ): Promise<SignInRefusal> {
    const { store, now } = this.#parts;
    const actor: Actor = { kind: 'operator', id: operator.id, source, requestId };
    const refused = (reason: string) =>
      auditEvent('operator_refused', actor, now(), { clientId: operator.id }, { passkey: name, reason });
    if (await store.suspectPasskey(assertion, operator.id, now(), refused(COPIED))) return wrong(COPIED);
    const hour = Math.floor(now() / HOUR_MS);
    const digest = hash('sha256', JSON.stringify(['passkey', id, hour]), 'buffer');
    await store.recordOperatorRefused({ digest, expiresAt: (hour + 1) * HOUR_MS }, refused(REPEATED));
    return wrong(REPEATED);
  }

  async #withFirstPasskey(
    answer: string,
    name: string,
    binding: ChallengeBinding,
    operator: Operator,
    beginning: OperatorSession,
    browser: AskingBrowser,
  ): Promise<SignInOutcome> {
    const { store } = this.#parts;
    const hasPasskey = async () => (await store.listPasskeys(operator.id)).length > 0;
    // Before the challenge: that of another tab was for the session as it was before the first passkey.
    if (await hasPasskey()) return SECOND;
    return this.#withNewPasskey(answer, name, binding, async (passkey, challenge) => {
      const { token, session } = this.#begin(operator, passkey.id, browser, beginning);
      const detail = { passkey: passkey.name, confirmed: true } as const;
      const event = this.#event('operator_passkey_added', operator, beginning, browser, detail);
      if (await store.enrollInSession(passkey, session, beginning.digest, challenge, event))
        return { kind: 'signed_in', token, operator };
      return (await whyNotAdded(store, passkey)) ?? ((await hasPasskey()) ? SECOND : wrong(REPEATED));
    });
  }

  async #withNewPasskey<T>(
    answer: string,
    name: string,
    binding: ChallengeBinding,
    add: (passkey: Passkey, challenge: { digest: Buffer; expiresAt: number }) => Promise<T>,
  ): Promise<T | SignInRefusal> {
    const { keyring, rp, now } = this.#parts;
    const problem = nameProblem(name, 'label', 'the name of a passkey');
    if (problem) return { kind: 'name', detail: problem };
    try {
      const { passkey, challenge: answered } = await verifyCreation(rp, answer);
      const challenge = readChallenge(keyring, binding, answered, now());
      if (typeof challenge === 'string') return ofChallenge(challenge);
      return await add(
        { ...passkey, operatorId: binding.operatorId, name, createdAt: now(), lastUsedAt: null, suspectedAt: null },
        challenge,
      );
    } catch (error) {
      return ofError(error);
    }
  }

  #begin(
    { id: operatorId }: Operator,
    passkeyId: string | null,
    { source, browser }: AskingBrowser,
    beginning?: OperatorSession,
  ): { token: string; session: OperatorSession } {
    const token = newOperatorToken();
    const begun = { operatorId, passkeyId, source: widestNetworkOf(source), browser };
    return { token, session: newOperatorSession(token, begun, this.#parts.now(), beginning) };
  }

  #event<Action extends AuditAction>(
    action: Action,
    { id, epoch }: Operator,
    session: Pick<OperatorSession, 'how' | 'createdAt'>,
    { source, requestId }: OperatorOrigin,
    ...detail: DetailArgument<Action>
  ): AuditEvent {
    const means = { by: sessionText(session), standing: { operatorId: id, epoch } };
    const actor: Actor = { kind: 'operator', id, source, requestId, ...means };
    return auditEvent(action, actor, this.#parts.now(), { clientId: id }, ...detail);
  }
}
