/** A slot that runs one piece of work at a time, with a fair queue by share. */
import { FairLine, TurnedAway, type Waiter } from './fair-line.ts';

/** Maximum numbers of waiting requests: of one share, and in total. */
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
   * Runs the work when the queue reaches it. Throws `TurnedAway` if too many of the share wait, if too many wait in total (the
   * queue chooses the refused request), or if `signal` is aborted while it waits.
   */
  async run<T>(share: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#turn(share, signal);
    try {
      return await work();
    } finally {
      // The next waiting request takes the slot in the same step, so that a new request cannot overtake it.
      this.#isTaken = false;
      this.#advance();
    }
  }

  /** Refuses all waiting requests and all later ones that would have to wait, because the service stops. */
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
