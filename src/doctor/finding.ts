/** The doctor's findings: one line each, with the remedy. */

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

  warn(name: string, detail: string, remedy: string): void {
    this.all.push({ area: this.#area, name, verdict: 'warning', detail, remedy });
  }

  wrong(name: string, detail: string, remedy: string | null): void {
    this.all.push({ area: this.#area, name, verdict: 'wrong', detail, remedy });
  }

  /** Adds a finding from an installation error's sentence, of the form "what is wrong: what to do". */
  addSentence(name: string, verdict: 'warning' | 'wrong', sentence: string): void {
    const parts = sentence.split(': ');
    // A variable's name alone says nothing yet.
    const ofDetail = parts.length > 2 && !parts[0]?.includes(' ') ? 2 : 1;
    const [detail, remedy] = [parts.slice(0, ofDetail), parts.slice(ofDetail)].map((some) => some.join(': '));
    this.all.push({ area: this.#area, name, verdict, detail: detail as string, remedy: remedy || null });
  }
}
