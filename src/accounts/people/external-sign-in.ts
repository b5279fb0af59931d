/** A sign-in elsewhere, on its way back: what a provider's server said, until the browser shows the ticket. */
import type { Profile } from './profile.ts';

/** A provider's statement about one sign-in request, which the nonce names. Times in ms since the epoch. */
export type ExternalSignIn = {
  /** 16 bytes. */
  readonly nonce: Buffer;
  readonly providerId: string;
  /** The signed-in identity; null if the user refused. */
  readonly identityId: string | null;
  /** The provider's statement of the person. It counts when the ticket is taken. */
  readonly profile: Profile;
  /** The digest of the cookie that the browser got with the request. */
  readonly browser: Buffer;
  /** The path and query that the browser goes on to. */
  readonly continueTo: string;
  readonly requestedAt: number;
  /** True if only a sign-in after the request counts; `maxAge` is the maximum age of the sign-in in seconds, or null. */
  readonly demandsLogin: boolean;
  readonly maxAge: number | null;
  /** When the person signed in at the provider, and how, as far as that said it. */
  readonly authTime: number | null;
  readonly amr: readonly string[];
  /** The digest of the ticket. */
  readonly ticket: Buffer;
  readonly ticketExpiresAt: number;
  /** When the browser showed the ticket, or the ticket was ended; null before. */
  readonly takenAt: number | null;
  /** When the request ends: until then it stays bound to this person. */
  readonly expiresAt: number;
};
