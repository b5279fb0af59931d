/**
 * Access tokens that were used before. What was proven of one holds for good: its text, the keys and the seed of its grant
 * never change. What a check found holds as long as nothing changes that it rests on, which the store knows.
 */
import type { CheckedToken } from './access-token.ts';
import { type Credential, readCredential, readProven, SECRET_CHARACTERS } from './credential.ts';

/** With so many, usually some 14 MB, all are forgotten: to find out everything about one anew takes some microseconds. */
const MOST = 16_384;

/** A token that was proven. */
class KnownToken {
  readonly text: string;
  #checked: CheckedToken | null = null;
  #version = -1;
  /** No `#` field, as in `CachedGrant`: there V8 would put a new number each time. */
  private from = Number.NaN;
  private until = Number.NaN;

  constructor(text: string) {
    this.text = text;
  }

  /** What a check would find; null when it has to be made. `version` is the store's, `now` in ms. */
  checked(version: number | null, now: number): CheckedToken | null {
    return version === this.#version && now >= this.from && now < this.until ? this.#checked : null;
  }

  /**
   * Keeps what a check found, for the version that the store had before it searched, from and until a time (ms); for no
   * version, nothing.
   */
  keep(checked: CheckedToken, version: number | null, from: number, until: number): void {
    if (version === null) return;
    this.#version = version;
    this.from = from;
    this.until = until;
    // Of what was found only the resource owner ever changes; the older object has its answer already.
    if (this.#checked?.resourceOwner !== checked.resourceOwner) this.#checked = checked;
  }
}

/** The tokens of one instance that are known. */
export class KnownTokens {
  readonly #prefix: string;
  /** By the part of their text that is no secret: to find one takes as long whatever its secret is. */
  readonly #tokens = new Map<string, KnownToken>();

  /** `prefix` is the brand in every credential. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The token of exactly this text, or null. */
  find(text: string): KnownToken | null {
    const token = this.#tokens.get(text.slice(0, -SECRET_CHARACTERS));
    return token && hasSecretOf(token.text, text) ? token : null;
  }

  /** What a token says of itself, or null, as `readCredential` answers. `known` is what was found of its text. */
  read(text: string, known: KnownToken | null): Credential | null {
    return known ? readProven(this.#prefix, 'at', known.text) : readCredential(this.#prefix, 'at', text);
  }

  /** Remembers a token that was found to be good. */
  remember(text: string): KnownToken {
    if (this.#tokens.size >= MOST) this.#tokens.clear();
    // A text of its own: a part of another keeps all of that in memory, here the head of a request.
    const token = new KnownToken(Buffer.from(text, 'latin1').toString('latin1'));
    this.#tokens.set(token.text.slice(0, -SECRET_CHARACTERS), token);
    return token;
  }
}

/** Whether the secret ends of two texts, equal up to there, are the same; in constant time. */
function hasSecretOf(one: string, other: string): boolean {
  let difference = 0;
  for (let at = one.length - SECRET_CHARACTERS; at < one.length; at += 1)
    difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
