/**
 * The places for streams of one audience in one process, and how listeners share them. One can have a number of places as
 * long as they are few; if there are more, each can have an equal share. A listener with less takes a place from the one
 * that has most.
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
export type NoPlace = { readonly isOfOne: boolean; readonly detail: string };

/** The streams that are open. */
export class StreamPlaces<Stream extends { readonly listenerId: string }> implements Iterable<Stream> {
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
  refusal(listenerId: string): NoPlace | null {
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

  /** Takes a place, which there must be. Returns the stream that lost its own by this; the caller must end it. */
  take(stream: Stream): Stream | null {
    const { listenerId } = stream;
    const loser = this.#size < this.#limits.inAll ? null : this.#newestOfMost();
    if (loser) this.free(loser);
    const streams = this.#taken.get(listenerId) ?? new Set();
    this.#taken.set(listenerId, streams.add(stream));
    this.#size += 1;
    return loser;
  }

  /** Gives back the place of a stream, if it has one. */
  free(stream: Stream): void {
    const streams = this.#taken.get(stream.listenerId);
    if (!streams?.delete(stream)) return;
    this.#size -= 1;
    if (streams.size === 0) this.#taken.delete(stream.listenerId);
  }

  /** Gives back all places. */
  clear(): void {
    this.#taken.clear();
    this.#size = 0;
  }

  /** How many streams a listener can always have, beside the others that have any. */
  #share(listenerId: string): number {
    const sharing = this.#taken.size + (this.#taken.has(listenerId) ? 0 : 1);
    return Math.min(this.#limits.always, Math.floor(this.#limits.inAll / sharing));
  }

  /** Who has most has more than the share, since all places are taken and somebody has less. */
  #newestOfMost(): Stream | null {
    const [most] = [...this.#taken.values()].sort((one, other) => other.size - one.size);
    return [...(most ?? [])].at(-1) ?? null;
  }
}
