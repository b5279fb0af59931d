/** The lines of a file that a command was given. */
import { createReadStream, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { InstallationError } from './installation-error.ts';

/** Reads a file line by line. `what` is what should be there; throws an `InstallationError` at once if there is no file. */
export function linesOf(path: string, what: string): AsyncIterable<string> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new InstallationError({ problem: `there is no ${what} at ${path}`, remedy: 'check the path' });
  return readLines(path);
}

/** Opens the file when the first line is asked for: lines that are read before that are lost. */
async function* readLines(path: string): AsyncIterable<string> {
  yield* createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
}
