/** The doctor's findings: one line each, with the remedy. */
import type { Fault } from '../process/installation-error.ts';

/** `warning` may be intended, or becomes wrong one day; `wrong` harms now. */
export type Verdict = 'ok' | 'warning' | 'wrong';

/** The result of one check. `remedy` is null if there is nothing to do. */
export type Finding = {
  readonly area: string;
  readonly name: string;
  readonly verdict: Verdict;
  readonly detail: string;
  readonly remedy: string | null;
};

/** The findings of one area, one after another. */
export class Findings {
  readonly all: Finding[] = [];
  readonly #area: string;

  constructor(area: string) {
    this.#area = area;
  }

  good(name: string, detail: string): void {
    this.all.push({ area: this.#area, name, verdict: 'ok', detail, remedy: null });
  }

  warn(name: string, detail: string, remedy: string | null): void {
    this.all.push({ area: this.#area, name, verdict: 'warning', detail, remedy });
  }

  wrong(name: string, detail: string, remedy: string | null): void {
    this.all.push({ area: this.#area, name, verdict: 'wrong', detail, remedy });
  }

  /** Adds a wrong finding for each fault. */
  faults(name: string, faults: readonly Fault[]): void {
    for (const { problem, remedy } of faults) this.wrong(name, problem, remedy);
  }
}
