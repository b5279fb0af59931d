/**
 * The clock of the clean-up. It advances at most twice as fast as a steady clock, so that a clock that jumped ahead, or
 * that was wrong when the service started, deletes nothing alive: dead rows are kept for a day.
 */
import { listRows, type Runner } from '../statements/shared-operations.ts';
import { INSTALLATION } from '../tables/installation/installation.ts';

/** Storage for the time between two runs of the service (ms). Both methods throw `StoreUnavailable`. */
export type KeptTime = { read(): Promise<number>; keep(time: number): Promise<unknown> };

const KEPT = INSTALLATION.pick('cleanUpTime');

/** Returns storage for the time in the installation's row. */
export function keptTime(runner: Runner): KeptTime {
  return {
    async read() {
      const [row] = await listRows(runner, KEPT, `SELECT ${KEPT.names} FROM installation`);
      return (row as { cleanUpTime: number }).cleanUpTime;
    },
    keep: (time) => runner.change([], { sql: 'UPDATE installation SET clean_up_time = $1', values: [time] }),
  };
}

const PACE = 2;
/** Time between two writes of the time (ms). */
const KEEP_EVERY_MS = 600_000;
/** Minimum jump of the clock that is logged (ms). */
const MIN_REPORTED_JUMP_MS = 3_600_000;
/** Minimum lag of the kept time behind the clock at which a start logs it (ms): dead rows are kept for as long. */
const MIN_REPORTED_LAG_MS = 24 * 3_600_000;

/** The wall clock, and a clock that never jumps (ms). */
export type Clocks = { readonly now: () => number; readonly monotonic: () => number };

/** The clean-up clock of one process. */
export class CleanUpTime {
  readonly #kept: KeptTime;
  readonly #clocks: Clocks;
  #time = Number.NaN;
  /** Both clocks at the last `advance`, and the time that was kept last. */
  #seen = { now: 0, steady: 0, kept: 0 };

  constructor(kept: KeptTime, clocks: Clocks) {
    this.#kept = kept;
    this.#clocks = clocks;
  }

  /** Lag behind the wall clock (ms); 0 before the first `advance`. */
  get behind(): number {
    return Number.isNaN(this.#time) ? 0 : Math.max(0, this.#clocks.now() - this.#time);
  }

  /**
   * Advances the time, and returns it. `report` receives a sentence for the log if the clock jumped. Throws
   * `StoreUnavailable`.
   */
  async advance(report: (sentence: string) => void): Promise<number> {
    if (Number.isNaN(this.#time)) await this.#begin(report);
    const now = this.#clocks.now();
    const steady = this.#clocks.monotonic();
    const passed = steady - this.#seen.steady;
    const jump = now - this.#seen.now - passed;
    if (Math.abs(jump) > MIN_REPORTED_JUMP_MS) report(`the clock jumped by ${Math.round(jump / 1000)} s: ${FOLLOWS}`);
    this.#time = Math.min(now, this.#time + PACE * passed);
    this.#seen = { ...this.#seen, now, steady };
    const time = Math.floor(this.#time); // A steady clock has fractions; the store keeps whole ms.
    if (Math.abs(time - this.#seen.kept) < KEEP_EVERY_MS) return time;
    await this.#kept.keep(time);
    this.#seen.kept = time;
    return time;
  }

  async #begin(report: (sentence: string) => void): Promise<void> {
    const kept = await this.#kept.read();
    const now = this.#clocks.now();
    const steady = this.#clocks.monotonic();
    const lag = Math.round((now - kept) / 1000);
    if (now - kept > MIN_REPORTED_LAG_MS)
      report(`the clock is ${lag} s ahead of the clean-up, as after a jump or a stop that was as long: ${FOLLOWS}`);
    this.#time = kept;
    this.#seen = { now, steady, kept };
  }
}

const FOLLOWS = 'clean-up follows it at twice the pace of time and deletes nothing early; check the clock';
