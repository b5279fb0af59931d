/** Slows down guessing at secrets, without ever asking who owns what is guessed at (RFC 6749 §2.3.1, RFC 7662 §4). */
import { Refusal } from './error.ts';

/** Counts wrong guesses by key; seconds and ms. */
export type GuessThrottle = {
  /** Seconds to wait before another try for these keys, or 0. */
  wait(keys: readonly string[], now: number): number;
  /** Counts a wrong guess. */
  count(keys: readonly string[], now: number): void;
};

/** The name under which guesses are counted for a source whose id nobody has: else each id that is made up would have its own. */
export const NOBODY = '';

/** Why nobody may try to prove who they are with this key, as too many guesses failed before; or null. `now` in ms. */
export function tooManyGuesses(throttle: GuessThrottle, key: string, now: number): Refusal | null {
  const wait = throttle.wait([key], now);
  return wait > 0
    ? new Refusal(
        'temporarily_unavailable',
        'too many failed attempts to authenticate this client: try again later',
        'throttled',
        wait,
      )
    : null;
}
