/**
 * The open streams of one audience in one process, within a limit that listeners share. While listeners are few, each
 * can always have a fixed number of streams; otherwise, an equal share. A listener below its share takes over a
 * stream of the listener with the most.
 */

/**
 * Maximum number of streams of one listener and in all. `always` is the number that each listener can have while
 * listeners are few. `listener`, `streams` and `sharers` are the words for log sentences.
 */
export type StreamLimits = {
  readonly ofOne: number;
  readonly inAll: number;
  readonly always: number;
  readonly listener: string;
  readonly streams: string;
  readonly sharers: string;
};

/** The limit that was reached: `isOfOne` if it is the listener's own. `detail` is a log sentence with the remedy. */
export type LimitReached = { readonly isOfOne: boolean; readonly detail: string };

/** The open streams, within the limits. */
export class OpenStreams<Stream extends { readonly listenerId: string }> implements Iterable<Stream> {
  readonly #limits: StreamLimits;
  /** By listener, oldest stream first; no set is empty. */
  readonly #taken = new Map<string, Set<Stream>>();
  #size = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  *[Symbol.iterator](): Iterator<Stream> {
    for (const streams of this.#taken.values()) yield* streams;
  }

  /** Returns the limit that keeps a listener from another stream now, or null. */
  refusal(listenerId: string): LimitReached | null {
    const { ofOne, inAll, listener, streams, sharers } = this.#limits;
    const has = this.#taken.get(listenerId)?.size ?? 0;
    if (has >= ofOne) {
      const detail = `${listener} has the maximum of ${ofOne} ${streams}: let ${sharers} share one, or run another instance`;
      return { isOfOne: true, detail };
    }
    if (this.#size < inAll || has < this.#share(listenerId)) return null;
    const detail = `all ${inAll} ${streams} are in use, and ${listener} has its share: let ${sharers} share one, or run another instance`;
    return { isOfOne: false, detail };
  }

  /**
   * Adds a stream, after `refusal` returned null. Returns the stream that makes room for it, which the caller must
   * end, or null.
   */
  add(stream: Stream): Stream | null {
    const { listenerId } = stream;
    const loser = this.#size < this.#limits.inAll ? null : this.#newestOfMost();
    if (loser) this.delete(loser);
    const streams = this.#taken.get(listenerId) ?? new Set();
    this.#taken.set(listenerId, streams.add(stream));
    this.#size += 1;
    return loser;
  }

  /** Removes a stream, if it is there. */
  delete(stream: Stream): void {
    const streams = this.#taken.get(stream.listenerId);
    if (!streams?.delete(stream)) return;
    this.#size -= 1;
    if (streams.size === 0) this.#taken.delete(stream.listenerId);
  }

  /** Removes all streams. */
  clear(): void {
    this.#taken.clear();
    this.#size = 0;
  }

  /** Returns the number of streams that a listener can always have, next to all other listeners with streams. */
  #share(listenerId: string): number {
    const sharing = this.#taken.size + (this.#taken.has(listenerId) ? 0 : 1);
    return Math.min(this.#limits.always, Math.floor(this.#limits.inAll / sharing));
  }

  /** The listener with the most exceeds its share: the limit is reached, and another listener is below its share. */
  #newestOfMost(): Stream | null {
    const [most] = [...this.#taken.values()].sort((one, other) => other.size - one.size);
    return [...(most ?? [])].at(-1) ?? null;
  }
}
