/**
 * The places for streams of revocations in one process, and how resource servers share them. There are 1,000, of which one
 * resource server may take 250. Each of the first 62 that have streams can always have 16, and where there are more, each an
 * equal share of all: whoever has fewer takes the place of a stream of the one that has most.
 */

/** How many streams one resource server may have, all together, and each always while those are few enough. */
export type StreamLimits = { readonly ofOne: number; readonly inAll: number; readonly always: number };

const LIMITS: StreamLimits = { ofOne: 250, inAll: 1000, always: 16 };

/** The limit that leaves no place, in words for the log, with the remedy; `isOfOne`: it is that of one resource server. */
export type NoPlace = { readonly isOfOne: boolean; readonly detail: string };

/** The streams that are open. */
export class StreamPlaces<Stream extends { readonly resourceServerId: string }> implements Iterable<Stream> {
  readonly #limits: StreamLimits;
  /** By resource server, oldest first; none is empty. */
  readonly #taken = new Map<string, Set<Stream>>();
  #size = 0;

  constructor(limits: StreamLimits = LIMITS) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  *[Symbol.iterator](): Iterator<Stream> {
    for (const streams of this.#taken.values()) yield* streams;
  }

  /** Why a resource server can have no further stream now; null when it can. */
  refusal(resourceServerId: string): NoPlace | null {
    const { ofOne, inAll } = this.#limits;
    const has = this.#taken.get(resourceServerId)?.size ?? 0;
    if (has >= ofOne) {
      const detail = `a resource server has ${ofOne} streams of revocations at most: let processes of the API share one, or run another instance`;
      return { isOfOne: true, detail };
    }
    if (this.#size < inAll || has < this.#share(resourceServerId)) return null;
    const detail = `all ${inAll} streams of revocations are taken, and this resource server has its share: let processes of APIs share one, or run another instance`;
    return { isOfOne: false, detail };
  }

  /** Takes a place, which there must be; answers the stream that has lost its own by it, which must be ended. */
  take(stream: Stream): Stream | null {
    const { resourceServerId } = stream;
    const loser = this.#size < this.#limits.inAll ? null : this.#newestOfMost();
    if (loser) this.free(loser);
    const streams = this.#taken.get(resourceServerId) ?? new Set();
    this.#taken.set(resourceServerId, streams.add(stream));
    this.#size += 1;
    return loser;
  }

  /** Gives back the place of a stream, if it has one. */
  free(stream: Stream): void {
    const streams = this.#taken.get(stream.resourceServerId);
    if (!streams?.delete(stream)) return;
    this.#size -= 1;
    if (streams.size === 0) this.#taken.delete(stream.resourceServerId);
  }

  /** Gives back all places. */
  clear(): void {
    this.#taken.clear();
    this.#size = 0;
  }

  /** How many streams a resource server can always have, beside the others that have any. */
  #share(resourceServerId: string): number {
    const sharing = this.#taken.size + (this.#taken.has(resourceServerId) ? 0 : 1);
    return Math.min(this.#limits.always, Math.floor(this.#limits.inAll / sharing));
  }

  /** While all places are taken and somebody has fewer than the share, who has most has more than it. */
  #newestOfMost(): Stream | null {
    const [most] = [...this.#taken.values()].sort((one, other) => other.size - one.size);
    return [...(most ?? [])].at(-1) ?? null;
  }
}
