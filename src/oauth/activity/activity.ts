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

/**
 * The parts of `Activity`. `now` returns ms; `later` calls a function after some ms, and returns a function that cancels the
 * call.
 */
export type ActivityParts = {
  readonly store: Pick<ActivityStore, 'addActivity'>;
  readonly now: () => number;
  readonly later: (act: () => void, ms: number) => () => void;
  /** Called with a sentence for the operator when counts are lost. */
  readonly report: (sentence: string) => void;
};

/**
 * A refused request that names an app. `isProven`: its credentials, or the app's own grant or device code, prove that it came
 * from the app. The name of a public client proves nothing. `grantId` is the id, as text, of one of its grants, or null.
 */
export type RefusedRequest = {
  readonly endpoint: FailedEndpoint;
  readonly origin: { readonly source: string; readonly requestId: string };
  readonly isProven: boolean;
  readonly grantId: string | null;
};

/** Maximum number of failures of all apps that wait to be written. Further ones are only counted. */
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

  /** Counts an event of a registered app. */
  count(clientId: string, counter: Counter): void {
    this.#of(clientId).tally[counter] += 1;
  }

  /** Counts a refusal for a registered app that did not authenticate. */
  refusedUnproven(clientId: string, refusal: Refusal): void {
    const counter = counterOf(refusal.code);
    if (counter) this.count(clientId, counter);
  }

  /** Counts a refusal for a registered app, and records it if the app authenticated. Returns the refusal. */
  answered<Answer>(clientId: string, answer: Answer | Refusal, request: RefusedRequest): Answer | Refusal {
    if (!(answer instanceof Refusal)) return answer;
    const counter = counterOf(answer.code);
    if (!counter) return answer;
    this.count(clientId, counter);
    if (request.isProven && this.#mayRecord(clientId)) this.#record(clientId, answer, request);
    return answer;
  }

  /** Writes the counts. Counts that cannot be written now are written later. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes the remaining counts, and stops the timer. */
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
    failures.push({
      clientId,
      at: this.#parts.now(),
      requestId,
      endpoint,
      error: refusal.code,
      reason: refusal.recorded,
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

  /**
   * Writes one app after another, so that the writes never occupy the whole database. Apps that cannot be written now stay in
   * memory.
   */
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

  /** Adds the counts made in the meantime. */
  #putBack(clientId: string, { at, tally, failures }: Counting): void {
    const since = this.#of(clientId);
    for (const counter of COUNTERS) tally[counter] += since.tally[counter];
    const all = [...failures, ...since.failures].slice(-FAILURES_KEPT);
    this.#waiting += all.length - since.failures.length;
    this.#counting.set(clientId, { at, tally, failures: all });
  }
}
