/**
 * A line of those who wait for something scarce, by share (a network, an account). Shares have their turn one after the
 * other, however many wait in each.
 */
import { randomInt } from 'node:crypto';

/**
 * Somebody who waits, or would have to, is turned away: too many wait, it took too long, they hung up, or the service stops.
 * Nothing was decided.
 */
export class TurnedAway extends Error {
  override readonly name = 'TurnedAway';

  constructor() {
    super('turned away before it was its turn');
  }
}

/** Somebody who waits: goes on, or is turned away. */
export type Waiter = { goOn(): void; turnAway(error: TurnedAway): void };

/** Maximum number of shares whose last turn is remembered. */
const MAX_TURNS = 500;

/** Those who wait, by share. Its user keeps it bounded. */
export class FairLine<W extends Waiter> {
  /** In the order in which it is their turn; no share is empty. */
  readonly #shares = new Map<string, W[]>();
  #size = 0;
  /** The last turn of each share, as a number; the latest at the end. */
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

  /** Puts somebody at the end of their share; a share that had nobody is the last to have its turn. */
  add(share: string, waiter: W): void {
    const waiting = this.#shares.get(share);
    if (waiting) waiting.push(waiter);
    else this.#shares.set(share, [waiter]);
    this.#size += 1;
  }

  /** Takes out the one whose turn it is: of the next share, who came first. Undefined when nobody waits. */
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

  /** Takes out somebody who no longer waits; returns whether they did. */
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
   * Takes out who came last of the fullest share. Of equally full shares it is the one that had its turn last, else one by
   * lot. So a crowd whose shares come again and again cannot keep out somebody who comes for the first time.
   */
  loseOne(): W | undefined {
    const fullest = most([...this.#shares.keys()], (share) => this.sizeOf(share));
    const share = drawn(most(fullest, (each) => this.#turns.get(each) ?? 0));
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
  let [found, highest]: [T[], number] = [[], Number.NEGATIVE_INFINITY];
  for (const one of all) {
    const number = numberOf(one);
    if (number > highest) [found, highest] = [[one], number];
    else if (number === highest) found.push(one);
  }
  return found;
}

/** One of them, drawn by lot; undefined of none. */
export function drawn<T>(all: readonly T[]): T | undefined {
  return all.length === 0 ? undefined : all[randomInt(all.length)];
}
