/**
 * Challenges for passkeys (WebAuthn L3 §13.4.3). A challenge is sealed to one browser, purpose and operator, and valid for 5
 * minutes. It carries its own proof, so an anonymous visitor stores nothing; a used one leaves a row.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isAheadOfClock } from '../../oauth/grants/clock-steps.ts';
import { currentKey, type Keyring, mac } from '../../oauth/keys/keyring.ts';
import type { Operator } from './operator.ts';
import type { UsedChallenge } from './passkey.ts';
import type { Act } from './rights.ts';

/** The binding of a challenge. `operatorId` is empty where any operator may answer. */
export type ChallengeBinding = {
  /** The secret of the browser's cookie. */
  readonly browser: string;
  readonly purpose: 'enroll' | 'add' | 'first' | 'sign-in' | 'confirm';
  readonly operatorId: string;
  /** The session and the act that it is for, if one alone. */
  readonly about?: readonly [session: string, act: string];
};

/** Returns the binding of a sign-in, which any operator may answer. */
export function signInBinding(secret: string): ChallengeBinding {
  return { browser: secret, purpose: 'sign-in', operatorId: '' };
}

/** Returns the binding of an operator's confirmation. */
export function confirmBinding({ id }: Operator, secret: string): ChallengeBinding {
  return { browser: secret, purpose: 'confirm', operatorId: id };
}

/** Returns the binding of the first passkey, which is made in a session (its digest) where an act asks for one. */
export function firstBinding({ id }: Operator, session: Buffer, act: Act, secret: string): ChallengeBinding {
  return { browser: secret, purpose: 'first', operatorId: id, about: [session.toString('base64url'), act] };
}

/** Lifetime of a challenge (ms). */
const CHALLENGE_LIFETIME_MS = 5 * 60 * 1000;

const RANDOM_BYTES = 16;
const TIME_BYTES = 6;
const HEAD_BYTES = RANDOM_BYTES + TIME_BYTES;

/** Makes a challenge at a time (ms). */
export function makeChallenge(keyring: Keyring, binding: ChallengeBinding, now: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  randomBytes(RANDOM_BYTES).copy(head);
  head.writeUIntBE(now, RANDOM_BYTES, TIME_BYTES);
  return Buffer.concat([head, proof(keyring, keyring.currentKeyId, binding, head)]);
}

/** Reads an answered challenge (base64url). `wrong`: it was not made for this binding. */
export function readChallenge(
  keyring: Keyring,
  binding: ChallengeBinding,
  challenge: string,
  now: number,
): UsedChallenge | 'expired' | 'wrong' {
  const bytes = Buffer.from(challenge, 'base64url');
  const head = bytes.subarray(0, HEAD_BYTES);
  const proven = bytes.subarray(HEAD_BYTES);
  // The decoder also takes other alphabets, so the bytes must encode to the same text.
  if (proven.length !== 32 || bytes.toString('base64url') !== challenge) return 'wrong';
  if (!keyring.keyIds.some((keyId) => timingSafeEqual(proof(keyring, keyId, binding, head), proven))) return 'wrong';
  const madeAt = head.readUIntBE(RANDOM_BYTES, TIME_BYTES);
  const expiresAt = madeAt + CHALLENGE_LIFETIME_MS;
  if (expiresAt <= now || isAheadOfClock(madeAt, 0, now)) return 'expired';
  return { digest: hash('sha256', bytes, 'buffer'), expiresAt };
}

/** In the present history alone, because a restore forgets which challenges were used. */
function proof(keyring: Keyring, keyId: number, binding: ChallengeBinding, head: Buffer) {
  const { browser, purpose, operatorId, about = [] } = binding;
  const key = keyring.key(keyId, 'passkey') ?? currentKey(keyring, 'passkey');
  return mac(
    key,
    head,
    JSON.stringify([browser, purpose, operatorId, keyring.history.toString('base64url'), ...about]),
  );
}
