/**
 * Decides which refused requests are logged as warnings. An operator who logs only warnings must hear of refusals,
 * and an attacker must not fill the log.
 */

/** Number of refusals of one kind from one source that each get a warning; after them, only one in a while does. */
const AT_ONCE = 10;
const THEN_EVERY_MS = 60_000;
/** Time without refusals after which a source gets warnings at once again (ms). */
const QUIET_MS = 3_600_000;
/** Maximum number of remembered pairs of source and kind. */
const MAX_REMEMBERED = 10_000;

type Warned = { left: number; at: number; silent: number };

/** The refusals of one server. */
export class RefusalWarnings {
  readonly #warned = new Map<string, Warned>();

  /** Returns the number of refusals since the last warning, if this refusal gets one; otherwise null. `now` in ms. */
  next(source: string, kind: string, now: number): number | null {
    const warned = this.#find(`${source} ${kind}`, now);
    if (warned.left === 0 && now - warned.at < THEN_EVERY_MS) {
      warned.silent += 1;
      return null;
    }
    const { silent } = warned;
    Object.assign(warned, { left: Math.max(0, warned.left - 1), at: now, silent: 0 });
    return silent;
  }

  #find(key: string, now: number): Warned {
    const known = this.#warned.get(key);
    if (known && now - known.at < QUIET_MS) return known;
    const [oldest] = this.#warned.size < MAX_REMEMBERED ? [] : this.#warned.keys();
    if (oldest !== undefined) this.#warned.delete(oldest);
    const begun = { left: AT_ONCE, at: now, silent: 0 };
    this.#warned.set(key, begun);
    return begun;
  }
}
