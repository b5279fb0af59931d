/**
 * A fair queue for a scarce resource, by share (a network, an account). Shares are served round robin, however many requests
 * wait in each.
 */
import { randomInt } from 'node:crypto';

/**
 * A waiting request was refused: the queue was full, the wait timed out, the client hung up, or the service stops. Nothing was
 * decided.
 */
export class TurnedAway extends Error {
  override readonly name = 'TurnedAway';

  constructor() {
    super('turned away before it was its turn');
  }
}

/** A waiting request, which proceeds or is refused. */
export type Waiter = { goOn(): void; turnAway(error: TurnedAway): void };

/** Maximum number of shares whose last service is remembered. */
const MAX_TURNS = 500;

/** The waiting requests, by share. The caller must bound it. */
export class FairLine<W extends Waiter> {
  /** In the order of service; no share is empty. */
  readonly #shares = new Map<string, W[]>();
  #size = 0;
  /** The sequence number of each share's last service; the latest at the end. */
  readonly #turns = new Map<string, number>();
  #lastTurn = 0;

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /** How many of a share wait. */
  sizeOf(share: string): number {
    return this.#shares.get(share)?.length ?? 0;
  }

  /** Appends a request to its share; a share that was empty is served last. */
  add(share: string, waiter: W): void {
    const waiting = this.#shares.get(share);
    if (waiting) waiting.push(waiter);
    else this.#shares.set(share, [waiter]);
    this.#size += 1;
  }

  /** Removes and returns the oldest request of the next share; undefined if the queue is empty. */
  next(): W | undefined {
    const [first] = this.#shares;
    if (!first) return undefined;
    const [share, waiting] = first;
    this.#shares.delete(share);
    const waiter = waiting.shift();
    if (waiting.length > 0) this.#shares.set(share, waiting);
    this.#size -= 1;
    this.#noteTurn(share);
    return waiter;
  }

  /** Removes a request that no longer waits; returns true if it was in the queue. */
  remove(share: string, waiter: W): boolean {
    const waiting = this.#shares.get(share) ?? [];
    const at = waiting.indexOf(waiter);
    if (at < 0) return false;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#shares.delete(share);
    this.#size -= 1;
    return true;
  }

  /**
   * Removes the newest request of the fullest share. Among equally full shares, it is the most recently served one, else a
   * random one. So repeated requests of a flood cannot keep out a first request.
   */
  loseOne(): W | undefined {
    const fullest = most([...this.#shares.keys()], (share) => this.sizeOf(share));
    const share = drawByLot(most(fullest, (each) => this.#turns.get(each) ?? 0));
    const waiter = share === undefined ? undefined : this.#shares.get(share)?.at(-1);
    if (share !== undefined && waiter) this.remove(share, waiter);
    return waiter;
  }

  #noteTurn(share: string): void {
    this.#turns.delete(share);
    this.#lastTurn += 1;
    this.#turns.set(share, this.#lastTurn);
    if (this.#turns.size <= MAX_TURNS) return;
    const [oldest] = this.#turns.keys();
    this.#turns.delete(oldest as string);
  }
}

/** Those with the highest number. */
export function most<T>(all: readonly T[], numberOf: (one: T) => number): readonly T[] {
  let found: T[] = [];
  let highest: number = Number.NEGATIVE_INFINITY;
  for (const one of all) {
    const number = numberOf(one);
    if (number > highest) [found, highest] = [[one], number];
    else if (number === highest) found.push(one);
  }
  return found;
}

/** One of them, drawn by lot; undefined of none. */
export function drawByLot<T>(all: readonly T[]): T | undefined {
  return all.length === 0 ? undefined : all[randomInt(all.length)];
}
