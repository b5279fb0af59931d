/** Guards of the source that a test must miss when they are gone: what one is, and how it is taken out of a file. */

/** One guard. Taking it out leaves a program that runs, and is wrong in one way. */
export type Guard = {
  /** What it holds, in a few words. */
  readonly holds: string;
  /** File that it stands in, and its text there, which occurs once. Names and short expressions: line breaks do not matter. */
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
  const place = new RegExp(
    text
      .trim()
      .replace(/[^\w\s]/g, '\\$&')
      .replace(/\s+/g, '\\s+'),
    'g',
  );
  const places = [...source.matchAll(place)].length;
  if (places !== 1) throw new Error(`${file} holds this ${places} times, and not once:\n${text}`);
  return source.replace(place, () => without);
}
