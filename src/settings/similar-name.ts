/** Finds the known name that a misspelled one probably means. */

/** Changed letters up to which two names count as one. */
const MAX_CHANGES = 2;

/** Returns the known name that is spelled like another, apart from underscores; null if none is. */
export function similarName(name: string, known: readonly string[]): string | null {
  const distances = known.map((each) => ({ each, changes: changesBetween(letters(name), letters(each)) }));
  const [closest] = distances.toSorted((one, other) => one.changes - other.changes);
  return closest && closest.changes <= MAX_CHANGES ? closest.each : null;
}

function letters(name: string): string {
  return name.toUpperCase().replaceAll('_', '');
}

/** Returns the number of inserted, removed and replaced letters (Levenshtein distance). */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, theirs] of [...other].entries()) {
      const replaced = (row[at] as number) + (letter === theirs ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] as number) + 1, (next[at] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}
