/** Slows down guessing at secrets, without ever asking who owns what is guessed at (RFC 6749 §2.3.1, RFC 7662 §4). */
import { Refusal } from './error.ts';

/** Counts wrong guesses by key; seconds and ms. */
export type GuessThrottle = {
  /** Seconds to wait before another try for these keys, or 0. */
  wait(keys: readonly string[], now: number): number;
  /** Counts a wrong guess. */
  count(keys: readonly string[], now: number): void;
};

/** Lets somebody prove who they are, unless too many guesses with this key failed before. `now` in ms. */
export async function proveUnlessGuessing<Proven>(
  throttle: GuessThrottle,
  key: string,
  now: number,
  prove: () => Promise<Proven | Refusal>,
): Promise<Proven | Refusal> {
  const wait = throttle.wait([key], now);
  if (wait > 0)
    return new Refusal(
      'temporarily_unavailable',
      'too many failed attempts to authenticate this client: try again later',
      'throttled',
      wait,
    );
  const proven = await prove();
  if (proven instanceof Refusal) throttle.count([key], now);
  return proven;
}
