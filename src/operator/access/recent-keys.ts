/** Keys that were right a short time ago: wrong keys from their network do not keep them out (decision 0041). */

/** How long a key is remembered after its last use (ms). */
const REMEMBERED_MS = 3_600_000;
/** Maximum number of remembered keys. */
const MAX_KEYS = 10_000;

/** The digests of such keys, in memory. Each use is checked against the database as any other. */
export class RecentKeys {
  /** Times of the last use (ms), least recently used first. */
  readonly #usedAt = new Map<string, number>();

  /** Returns true if the key was right within the last hour. */
  has(digest: Buffer, now: number): boolean {
    const usedAt = this.#usedAt.get(digest.toString('base64url'));
    return usedAt !== undefined && now - usedAt < REMEMBERED_MS;
  }

  /** Remembers a key that was right just now; the least recently used one makes room. */
  add(digest: Buffer, now: number): void {
    const text = digest.toString('base64url');
    this.#usedAt.delete(text);
    this.#usedAt.set(text, now);
    const [oldest] = this.#usedAt.keys();
    if (this.#usedAt.size > MAX_KEYS && oldest !== undefined) this.#usedAt.delete(oldest);
  }

  /** Forgets a key that is wrong now. */
  delete(digest: Buffer): void {
    this.#usedAt.delete(digest.toString('base64url'));
  }
}
