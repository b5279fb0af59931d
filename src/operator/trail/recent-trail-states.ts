/** The states of the audit trail after each of its last events, with which its own checkpoints are compared. */
import type { TrailState } from '../../oauth/trail/audit-checkpoint.ts';

/**
 * Number of recent events of which the state of the trail is kept. A recorded checkpoint of an older event is not compared;
 * the next one covers it.
 */
const RECENT = 65_536;

/** The state of the trail after each of its last events. */
export class RecentStates {
  #young = new Map<number, TrailState>();
  #old = new Map<number, TrailState>();
  /** The first event that is still known. */
  since: number;

  /** `since` is the first event that is known. */
  constructor(since: number) {
    this.since = since;
  }

  /** Adds the state after the next event. */
  add(state: TrailState): void {
    if (this.#young.size === RECENT) {
      this.#old = this.#young;
      this.#young = new Map();
      this.since = this.#old.keys().next().value as number;
    }
    this.#young.set(state.upTo, state);
  }

  /** The state after an event; null when it is not known any more, or there is no such event. */
  find(upTo: number): TrailState | null {
    return this.#young.get(upTo) ?? this.#old.get(upTo) ?? null;
  }
}
