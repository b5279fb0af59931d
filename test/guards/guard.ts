/** Guards of the source that a test must miss when they are gone: what one is, and how it is taken out of a file. */

/** One guard. Taking it out leaves a program that runs, and is wrong in one way. */
export type Guard = {
  /** What it holds, in a few words. */
  readonly holds: string;
  /**
   * File with the guard, and its text there, which occurs once. Names and short expressions: line breaks do not matter.
   * The text changes with a rename. A mark in the source would not, but would be a comment beside each of 600 conditions
   * that no reader of the code needs. Instead one quick test names the guards that are out of date, each with the file
   * that it moved to, or the closest line.
   */
  readonly file: string;
  readonly text: string;
  /** What stands there without it. */
  readonly without: string;
  /** The test files that are expected to notice. */
  readonly tests: readonly string[];
  /** Why no test notices, where that is known. */
  readonly survives?: string;
};

/** What a table says of one guard: what it holds, the text, what stands there without it, and why it survives, if it does. */
export type GuardRow = readonly [holds: string, text: string, without: string, survives?: string];

/** The guards of one file, which the same tests are expected to notice. */
export function guardsIn(file: string, tests: readonly string[], rows: readonly GuardRow[]): Guard[] {
  return rows.map(([holds, text, without, survives]) => {
    return { holds, file, text, without, tests, ...(survives === undefined ? {} : { survives }) };
  });
}

/** A file without one of its guards. Throws when the guard is not there once: then the table is out of date. */
export function takeOut({ file, text, without }: Guard, source: string): string {
  const places = placesOf(text, source);
  if (places !== 1)
    throw new Error(`${file} holds this ${places} times, and not once:\n${text}\n${closest(text, source)}`);
  return source.replace(patternOf(text), () => without);
}

/** How often a text stands in a source, whatever its line breaks. */
export const placesOf = (text: string, source: string): number => [...source.matchAll(patternOf(text))].length;

const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .trim()
      .replace(/[^\w\s]/g, '\\$&')
      .replace(/\s+/g, '\\s+'),
    'g',
  );

/** The line of a source that has most of the words of a text: what the guard may be called now. */
function closest(text: string, source: string): string {
  const words = new Set(text.match(/\w+/g));
  const likeness = (line: string) =>
    (line.match(/\w+/g) ?? []).reduce((sum, word) => sum + (words.has(word) ? 2 : -1), 0);
  const line = source.split('\n').reduce((best, each) => (likeness(each) > likeness(best) ? each : best), '');
  return `The closest line: ${line.trim()}`;
}
