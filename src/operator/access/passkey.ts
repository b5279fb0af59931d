/** Passkeys of operators (WebAuthn credentials). */

/** A passkey as it is stored. Times in ms. */
export type Passkey = {
  /** Credential id (base64url). */
  readonly id: string;
  readonly operatorId: string;
  /** Name for people. */
  readonly name: string;
  /** Public key (COSE). */
  readonly publicKey: Buffer;
  /** Signature counter; one that goes back is refused, unless both are 0. */
  readonly counter: number;
  readonly transports: readonly string[];
  /** True if the authenticator says that it is copied to other devices. */
  readonly isBackedUp: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  /** When its counter did not go on for the first time, so that it may have been copied; null if it always did. */
  readonly suspectedAt: number | null;
};

/** Maximum number of passkeys of an operator. */
export const MAX_PASSKEYS = 20;

/** A verified answer of a passkey that is stored. */
export type Assertion = {
  readonly passkeyId: string;
  /** The counter as it was read, and as the passkey says. */
  readonly before: number;
  readonly counter: number;
  readonly isBackedUp: boolean;
  readonly challenge: UsedChallenge;
};

/** A challenge that was answered: it works once. Its digest is kept until the challenge would have expired (ms). */
export type UsedChallenge = { readonly digest: Buffer; readonly expiresAt: number };
