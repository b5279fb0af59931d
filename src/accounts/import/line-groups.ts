/** Groups the lines of a file of people, so that the writes of a group share their waits for the disk. */

/** Maximum number of lines in a group. */
const MAX_LINES = 500;

/** Groups lines in their order. No two lines of a group have a name in common: of two that have, the first must be written before the second. */
export async function* groupsOf<Line>(
  lines: AsyncIterable<Line>,
  namesOf: (line: Line) => readonly string[],
): AsyncGenerator<Line[]> {
  let group: Line[] = [];
  let taken = new Set<string>();
  for await (const line of lines) {
    const names = namesOf(line);
    if (group.length === MAX_LINES || names.some((name) => taken.has(name))) {
      yield group;
      group = [];
      taken = new Set();
    }
    group.push(line);
    for (const name of names) taken.add(name);
  }
  yield group;
}
