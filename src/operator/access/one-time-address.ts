/** One-time addresses, which commands print: where an operator enrolls a passkey, or signs in for an hour without one. */

/** A one-time address as it is stored, by the digest of its token. Times in ms. */
export type OneTimeAddress = {
  readonly digest: Buffer;
  readonly operatorId: string;
  readonly purpose: 'enroll' | 'sign-in';
  readonly createdAt: number;
  readonly expiresAt: number;
};

/** Lifetimes of one-time addresses (ms). */
export const ADDRESS_LIFETIMES = { enroll: 24 * 3600 * 1000, 'sign-in': 5 * 60 * 1000 } as const;

/** Returns the text of a one-time address, from the console's URL without a slash at the end. */
export function addressText(operatorUrl: string, purpose: OneTimeAddress['purpose'], token: string): string {
  return `${operatorUrl}/${purpose}?token=${token}`;
}
