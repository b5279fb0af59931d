/**
 * Browsers that signed in to an account before. Each keeps a mark for it. The mark gives no right, but passwords from such
 * browsers are checked in a lane of their own: a crowd that makes strangers wait does not make these people wait.
 */
import { type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { currentKey, type Keyring, mac } from '../../oauth/keys/keyring.ts';
import type { Throttle } from '../guessing/throttle.ts';
import type { Account } from '../people/account.ts';

/** Lifetime of a mark (s). */
export const KNOWN_BROWSER_LIFETIME = 365 * 24 * 3600;

/** Maximum number of accounts that a browser is known to; the one that signed in longest ago goes. */
const MAX_MARKS = 5;

/** A mark is when it was made (ms), randomness, and the MAC of both with the account and its password's stamp. */
const TIME_BYTES = 6;
const RANDOM_BYTES = 16;
const MAC_BYTES = 16;
const MARK = /^[A-Za-z0-9_-]{51}$/;

type Stamped = Pick<Account, 'id' | 'passwordSetAt'>;

/** Stands for an account that does not exist, so that the same is computed in the same time. */
const NO_ACCOUNT: Stamped = { id: '', passwordSetAt: 0 };

/** The limits of a known browser: both are counted before a password is checked. */
export type KnownBrowserLimits = {
  /** Tries at an account by all browsers that know it, right ones too: a shared cookie is no way around other limits. */
  readonly knownBrowsers: Throttle;
  /** Wrong passwords with one mark; they are counted for as long as the mark is good. */
  readonly knownBrowserFailures: Throttle;
};

/** A browser that is let into the lane: the mark that it showed, and for which account. */
export type KnownBrowser = { readonly mark: string; readonly accountId: string };

/** Makes and reads marks, and counts what is tried with them. Times in ms since the epoch. */
export class KnownBrowsers {
  readonly #keyring: Keyring;
  readonly #limits: KnownBrowserLimits;

  constructor(keyring: Keyring, limits: KnownBrowserLimits) {
    this.#keyring = keyring;
    this.#limits = limits;
  }

  /**
   * Lets a browser into the lane by the marks that it sent, and counts its try as a wrong one until `succeed` or `refund`.
   * Null for a stranger: who has no mark for the account, was wrong too often with it, or tries too often.
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

  /** The marks for a browser that signed in: a new one for this account, and then those that it sent for others. */
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
