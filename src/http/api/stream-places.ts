/**
 * The places for streams of revocations in one process, and how resource servers share them. There are 1,000 places, of
 * which one resource server may take 250. Up to 62 resource servers can always have 16 each; if there are more, each
 * can have an equal share. A resource server with less takes a place from the one that has most.
 */

/** Maximum number of streams of one resource server and in all; `always` is what each can have, while they are few. */
export type StreamLimits = { readonly ofOne: number; readonly inAll: number; readonly always: number };

const LIMITS: StreamLimits = { ofOne: 250, inAll: 1000, always: 16 };

/** The limit that is reached: `isOfOne` if it is that of one resource server; `detail` has the remedy, for the log. */
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

  /** Takes a place, which there must be. Returns the stream that lost its own by this; the caller must end it. */
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

  /** Who has most has more than the share, since all places are taken and somebody has less. */
  #newestOfMost(): Stream | null {
    const [most] = [...this.#taken.values()].sort((one, other) => other.size - one.size);
    return [...(most ?? [])].at(-1) ?? null;
  }
}
