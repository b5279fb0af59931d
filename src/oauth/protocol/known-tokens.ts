/**
 * Access tokens that were used before. That a token is genuine stays true: its text, the keys and the seed of its grant
 * never change. What its last check found stays true until something that it rests on changes, which changes the version of
 * the store.
 */

import { type Credential, readCredential, readProven, SECRET_CHARACTERS } from '../keys/credential.ts';
import type { CheckedToken, Period } from './access-token.ts';

/** Maximum number of known tokens, some 14 MB. With more, all are forgotten: to check a token anew takes microseconds. */
const MAX_KNOWN = 16_384;

/** What a check found, for one version of the store and a period. */
type FoundCheck = { readonly checked: CheckedToken; readonly version: number; readonly period: Period };

/** An access token as it was presented. */
class PresentedToken {
  readonly text: string;
  readonly #prefix: string;
  /** What its text says, until it is known to be genuine. */
  readonly #unproven: Credential | null;
  #last: FoundCheck | null = null;

  constructor(prefix: string, text: string, unproven: Credential | null) {
    this.#prefix = prefix;
    this.text = text;
    this.#unproven = unproven;
  }

  get isKnown(): boolean {
    return this.#unproven === null;
  }

  /** What it says of itself; it is proven if the token is known. */
  get credential(): Credential {
    return this.#unproven ?? readProven(this.#prefix, 'at', this.text);
  }

  /** What a check at `now` (ms) would find, or null when it has to be made. `version` is the store's. */
  checked(version: number | null, now: number): CheckedToken | null {
    if (!this.#last || this.#last.version !== version) return null;
    const { checked, period } = this.#last;
    return now >= period.from && now < period.until ? checked : null;
  }

  /** Keeps what a check found. `version` is the one that the store had before the check's search; without one nothing is kept. */
  keep(checked: CheckedToken, version: number | null, period: Period): void {
    if (version !== null) this.#last = { checked, version, period };
  }
}

/** The known tokens of one instance. */
export class KnownTokens {
  readonly #prefix: string;
  /** By the part of their text that is no secret, so that the time of a search tells nothing about the secret. */
  readonly #tokens = new Map<string, PresentedToken>();

  /** `prefix` is the brand in every credential. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Reads an access token; null when this service cannot have made it. A token that is not known is not proven. */
  read(text: string): PresentedToken | null {
    const known = this.#tokens.get(text.slice(0, -SECRET_CHARACTERS));
    if (known && hasSecretOf(known.text, text)) return known;
    const unproven = readCredential(this.#prefix, 'at', text);
    return unproven && new PresentedToken(this.#prefix, text, unproven);
  }

  /** Makes a token known, which was found to be good. Returns the known one. */
  remember(token: PresentedToken): PresentedToken {
    if (token.isKnown) return token;
    if (this.#tokens.size >= MAX_KNOWN) this.#tokens.clear();
    // A copy: a substring keeps the whole text that it was cut from in memory, here the head of a request.
    const text = Buffer.from(token.text, 'latin1').toString('latin1');
    const known = new PresentedToken(this.#prefix, text, null);
    this.#tokens.set(text.slice(0, -SECRET_CHARACTERS), known);
    return known;
  }
}

/** Whether the secret ends of two texts, equal up to there, are the same; in constant time. */
function hasSecretOf(one: string, other: string): boolean {
  let difference = 0;
  for (let at = one.length - SECRET_CHARACTERS; at < one.length; at += 1)
    difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
