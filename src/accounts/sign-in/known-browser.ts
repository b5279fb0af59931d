/**
 * Browsers that signed in to an account before. Each keeps a mark for the account. The mark gives no right, but passwords from
 * these browsers have a separate queue: a flood of strangers does not delay them.
 */
import { type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { currentKey, type Keyring, mac } from '../../oauth/keys/keyring.ts';
import type { Throttle } from '../guessing/throttle.ts';
import type { Account } from '../people/account.ts';

/** Lifetime of a mark (s). */
export const KNOWN_BROWSER_LIFETIME = 365 * 24 * 3600;

/** Maximum number of accounts that a browser is known to; the one that signed in longest ago goes. */
const MAX_MARKS = 5;

/** A mark consists of its creation time (ms), random bytes, and the MAC of both with the account and its password's stamp. */
const TIME_BYTES = 6;
const RANDOM_BYTES = 16;
const MAC_BYTES = 16;
const MARK = /^[A-Za-z0-9_-]{51}$/;

type Stamped = Pick<Account, 'id' | 'passwordSetAt'>;

/** Replaces an unknown account, so that the computation and its time are the same. */
const NO_ACCOUNT: Stamped = { id: '', passwordSetAt: 0 };

/** The limits of a known browser: both are counted before a password is checked. */
export type KnownBrowserLimits = {
  /** Tries at an account by all browsers that know it, right ones too: a shared cookie is no way around other limits. */
  readonly knownBrowsers: Throttle;
  /** Wrong passwords under one mark, counted for as long as the mark is valid. */
  readonly knownBrowserFailures: Throttle;
};

/** A known browser in the queue: its mark, and the mark's account. */
export type KnownBrowser = { readonly mark: string; readonly accountId: string };

/** Makes and reads marks, and counts the tries under them. Times in ms since the epoch. */
export class KnownBrowsers {
  readonly #keyring: Keyring;
  readonly #limits: KnownBrowserLimits;

  constructor(keyring: Keyring, limits: KnownBrowserLimits) {
    this.#keyring = keyring;
    this.#limits = limits;
  }

  /**
   * Admits a browser to the queue by its marks, and counts its try as wrong until `succeed` or `refund`. Null for a stranger:
   * a browser without a mark for the account, with too many wrong passwords under its mark, or with too many tries.
   */
  admit(marks: string | null, account: Stamped | null, now: number): KnownBrowser | null {
    const mark = this.#find(marks, account ?? NO_ACCOUNT, now);
    if (mark === undefined || account === null) return null;
    const { knownBrowsers, knownBrowserFailures } = this.#limits;
    if (knownBrowserFailures.wait([mark], now) > 0 || knownBrowsers.wait([account.id], now) > 0) return null;
    knownBrowserFailures.count([mark], now);
    knownBrowsers.count([account.id], now);
    return { mark, accountId: account.id };
  }

  /** The password was right: the try was no wrong one, but stays a try. */
  succeed({ mark }: KnownBrowser, now: number): void {
    this.#limits.knownBrowserFailures.refund([mark], now);
  }

  /** Nothing was decided. */
  refund({ mark, accountId }: KnownBrowser, now: number): void {
    this.#limits.knownBrowserFailures.refund([mark], now);
    this.#limits.knownBrowsers.refund([accountId], now);
  }

  /** The marks for a browser after its sign-in: a new one for this account, then those that it sent for other accounts. */
  renew(marks: string | null, account: Stamped, now: number): string {
    const known = this.#find(marks, account, now);
    const others = split(marks).filter((mark) => mark !== known);
    return [this.#make(account, now), ...others].slice(0, MAX_MARKS).join('.');
  }

  #make(account: Stamped, now: number): string {
    const time = Buffer.alloc(TIME_BYTES);
    time.writeUIntBE(now, 0, TIME_BYTES);
    const head = Buffer.concat([time, randomBytes(RANDOM_BYTES)]);
    const key = currentKey(this.#keyring, 'known-browser');
    return Buffer.concat([head, macOf(key, account, head)]).toString('base64url');
  }

  #find(marks: string | null, account: Stamped, now: number): string | undefined {
    const keys = this.#keyring.keyIds.map((id) => this.#keyring.key(id, 'known-browser') as KeyObject);
    return split(marks).find((mark) => {
      const bytes = Buffer.from(mark, 'base64url');
      const head = bytes.subarray(0, TIME_BYTES + RANDOM_BYTES);
      const shown = bytes.subarray(TIME_BYTES + RANDOM_BYTES);
      const isOurs = keys.some((key) => timingSafeEqual(macOf(key, account, head), shown));
      return isOurs && now - head.readUIntBE(0, TIME_BYTES) < KNOWN_BROWSER_LIFETIME * 1000;
    });
  }
}

function split(marks: string | null): string[] {
  return (marks ?? '').split('.', MAX_MARKS).filter((mark) => MARK.test(mark));
}

function macOf(key: KeyObject, { id, passwordSetAt }: Stamped, head: Buffer): Buffer {
  return mac(key, JSON.stringify([id, passwordSetAt, head.toString('base64url')])).subarray(0, MAC_BYTES);
}
