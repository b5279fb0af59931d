/** A slot in which one piece of work runs at a time, while the others wait for their turn by share. */
import { FairLine, TurnedAway, type Waiter } from './fair-line.ts';

/** Maximum number of those who wait: of one share, and in all. */
export type SlotBounds = { readonly ofOneShare: number; readonly inAll: number };

/** A slot for work that waits by share. */
export class FairSlot {
  #bounds: SlotBounds;
  readonly #line = new FairLine<Waiter>();
  #isTaken = false;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /**
   * Runs the work when it is the share's turn. Throws `TurnedAway` when too many of the share wait, when too many wait in all
   * (the line chooses who is turned away), and when `signal` is aborted while it waits.
   */
  async run<T>(share: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#turn(share, signal);
    try {
      return await work();
    } finally {
      // The next in line takes the slot in the same step, so that nobody who comes now can take it before them.
      this.#isTaken = false;
      this.#advance();
    }
  }

  /** Turns away all who wait, and from then on all who would have to, as the service stops. */
  stop(): void {
    this.#bounds = { ...this.#bounds, inAll: 0 };
    this.#makeRoom();
  }

  #turn(share: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#line.sizeOf(share) >= this.#bounds.ofOneShare) return Promise.reject(new TurnedAway());
    return new Promise((goOn, turnAway) => {
      const waiter = { goOn, turnAway };
      this.#line.add(share, waiter);
      this.#advance();
      const leave = () => this.#line.remove(share, waiter) && turnAway(new TurnedAway());
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave);
      this.#makeRoom();
    });
  }

  #advance(): void {
    if (this.#isTaken) return;
    const next = this.#line.next();
    this.#isTaken = next !== undefined;
    next?.goOn();
  }

  #makeRoom(): void {
    while (this.#line.size > this.#bounds.inAll) this.#line.loseOne()?.turnAway(new TurnedAway());
  }
}
