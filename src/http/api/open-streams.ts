/**
 * The open streams of one audience in one process, and how listeners share their limit. While there are few listeners, each can
 * have a fixed number of streams; if there are more, each can have an equal share. A listener with less than its share
 * takes a stream from the one that has most.
 */

/**
 * Maximum number of streams of one listener and in all; `always` is what each can have, while they are few. The log calls a
 * listener, its streams and what shares them by these names.
 */
export type StreamLimits = {
  readonly ofOne: number;
  readonly inAll: number;
  readonly always: number;
  readonly listener: string;
  readonly streams: string;
  readonly sharers: string;
};

/** The limit that is reached: `isOfOne` if it is that of one listener; `detail` has the remedy, for the log. */
export type LimitReached = { readonly isOfOne: boolean; readonly detail: string };

/** The streams that are open, within the limits. */
export class OpenStreams<Stream extends { readonly listenerId: string }> implements Iterable<Stream> {
  readonly #limits: StreamLimits;
  /** By listener, oldest first; none is empty. */
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

  /** Why a listener can have no further stream now; null when it can. */
  refusal(listenerId: string): LimitReached | null {
    const { ofOne, inAll, listener, streams, sharers } = this.#limits;
    const has = this.#taken.get(listenerId)?.size ?? 0;
    if (has >= ofOne) {
      const detail = `${listener} has ${ofOne} ${streams} at most: let ${sharers} share one, or run another instance`;
      return { isOfOne: true, detail };
    }
    if (this.#size < inAll || has < this.#share(listenerId)) return null;
    const detail = `all ${inAll} ${streams} are taken, and ${listener} has its share: let ${sharers} share one, or run another instance`;
    return { isOfOne: false, detail };
  }

  /** Adds a stream, which must not be refused. Returns the stream that makes room for it; the caller must end that. */
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

  /** How many streams a listener can always have, beside the others that have any. */
  #share(listenerId: string): number {
    const sharing = this.#taken.size + (this.#taken.has(listenerId) ? 0 : 1);
    return Math.min(this.#limits.always, Math.floor(this.#limits.inAll / sharing));
  }

  /** Who has most has more than its share, since the limit is reached and somebody has less. */
  #newestOfMost(): Stream | null {
    const [most] = [...this.#taken.values()].sort((one, other) => other.size - one.size);
    return [...(most ?? [])].at(-1) ?? null;
  }
}
