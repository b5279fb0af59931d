/**
 * The activity of apps in this process that is not written yet. Callers count for apps that they found, so that an unknown
 * id makes no row; a crash loses the last seconds.
 */
import { Refusal } from '../error.ts';
import { widestNetworkOf } from '../guessing/networks.ts';
import { OutcomeUnknown, StoreUnavailable } from '../store.ts';
import type { ActivityStore } from './activity-store.ts';
import { type AppFailure, FAILURES_KEPT, type FailedEndpoint, MAX_FAILURES_PER_SECOND } from './app-failure.ts';
import { COUNTERS, type Counter, counterOf, emptyTally } from './app-tally.ts';

/** Time between two writes (ms). */
const WRITE_EVERY_MS = 10_000;

/** The parts of `Activity`. `now` returns ms; `later` acts after some ms, and returns what takes that back. */
export type ActivityParts = {
  readonly store: Pick<ActivityStore, 'addActivity'>;
  readonly now: () => number;
  readonly later: (act: () => void, ms: number) => () => void;
  /** Gets a sentence for the operator when something is lost. */
  readonly report: (sentence: string) => void;
};

/**
 * A refused request that names an app. `isProven`: it came from the app, as its credentials prove, or a grant or device code of its
 * own; the name of a public client alone proves nothing. `grantId` is the id, as text, of one of its grants, or null.
 */
export type RefusedRequest = {
  readonly endpoint: FailedEndpoint;
  readonly origin: { readonly source: string; readonly requestId: string };
  readonly isProven: boolean;
  readonly grantId: string | null;
};

/** Maximum number of failures that wait to be written, of all apps. Beyond it they are counted only. */
const MAX_WAITING = 10_000;

/** An app since `at` (ms), the last write. */
type Counting = {
  readonly at: number;
  readonly tally: ReturnType<typeof emptyTally>;
  readonly failures: AppFailure[];
};

/** The activity of apps in one process. */
export class Activity {
  readonly #parts: ActivityParts;
  #counting = new Map<string, Counting>();
  #waiting = 0;
  #second = 0;
  /** Numbers of failures that were recorded in this second, by app. */
  readonly #recorded = new Map<string, number>();
  #stopTimer: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: ActivityParts) {
    this.#parts = parts;
  }

  /** Counts something of an app that is there. */
  count(clientId: string, counter: Counter): void {
    this.#of(clientId).tally[counter] += 1;
  }

  /** Counts a refusal for an app that is there and proved nothing. */
  refusedUnproven(clientId: string, refusal: Refusal): void {
    const counter = counterOf(refusal);
    if (counter) this.count(clientId, counter);
  }

  /** Counts a refusal for an app that is there, and records it if the app proved who it is. Returns what was answered. */
  answered<Answer>(clientId: string, answer: Answer | Refusal, request: RefusedRequest): Answer | Refusal {
    if (!(answer instanceof Refusal)) return answer;
    const counter = counterOf(answer);
    if (!counter) return answer;
    this.count(clientId, counter);
    if (request.isProven && this.#mayRecord(clientId)) this.#record(clientId, answer, request);
    return answer;
  }

  /** Writes what was counted. What cannot be written now is written later. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes the rest, and then no more by itself. */
  async close(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = () => {};
    await this.flush();
    if (this.#counting.size > 0) this.#reportLost([...this.#counting.keys()].join(', '), 'the database is away');
  }

  #record(clientId: string, refusal: Refusal, { endpoint, origin, grantId }: RefusedRequest): void {
    const { failures } = this.#of(clientId);
    if (failures.length === FAILURES_KEPT) failures.shift();
    else this.#waiting += 1;
    const { requestId, source } = origin;
    const told = { error: refusal.code, reason: refusal.reason?.text ?? refusal.description };
    failures.push({
      clientId,
      at: this.#parts.now(),
      requestId,
      endpoint,
      ...told,
      network: widestNetworkOf(source),
      grantId,
    });
  }

  #mayRecord(clientId: string): boolean {
    const second = Math.floor(this.#parts.now() / 1000);
    if (second !== this.#second) this.#recorded.clear();
    this.#second = second;
    const recorded = (this.#recorded.get(clientId) ?? 0) + 1;
    this.#recorded.set(clientId, recorded);
    return recorded <= MAX_FAILURES_PER_SECOND && this.#waiting < MAX_WAITING;
  }

  #of(clientId: string): Counting {
    const known = this.#counting.get(clientId);
    if (known) return known;
    const counting = { at: this.#parts.now(), tally: emptyTally(), failures: [] };
    this.#counting.set(clientId, counting);
    this.#stopTimer ??= this.#parts.later(() => this.#writeInTime(), WRITE_EVERY_MS);
    return counting;
  }

  #writeInTime(): void {
    this.#stopTimer = null;
    void this.flush();
  }

  /** One app after another, so that they never occupy the whole database; those that cannot be written now stay. */
  async #write(): Promise<void> {
    for (const [clientId, counting] of [...this.#counting]) {
      this.#counting.delete(clientId);
      this.#waiting -= counting.failures.length;
      try {
        await this.#parts.store.addActivity({ clientId, ...counting }, this.#parts.now());
      } catch (error) {
        if (error instanceof OutcomeUnknown) this.#reportLost(clientId, error.message, 'may not be');
        else if (error instanceof StoreUnavailable) return this.#putBack(clientId, counting);
        else this.#reportLost(clientId, (error as Error).message);
      }
    }
  }

  #reportLost(clients: string, why: string, verb = 'is not'): void {
    this.#parts.report(`what ${clients} did in the last seconds ${verb} counted: ${why}`);
  }

  /** Under what was counted meanwhile. */
  #putBack(clientId: string, { at, tally, failures }: Counting): void {
    const since = this.#of(clientId);
    for (const counter of COUNTERS) tally[counter] += since.tally[counter];
    const all = [...failures, ...since.failures].slice(-FAILURES_KEPT);
    this.#waiting += all.length - since.failures.length;
    this.#counting.set(clientId, { at, tally, failures: all });
  }
}
