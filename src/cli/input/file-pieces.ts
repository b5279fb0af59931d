/** A file that a command reads piece by piece, with the progress of its reading. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { OperatorError } from '../../oauth/error.ts';
import type { CommandRun } from '../command/command-run.ts';
import { ProgressLine } from '../command/progress.ts';

/** Minimum size of a file whose progress is shown (bytes); a pipe has no size. */
const MIN_PROGRESS_BYTES = 500_000;

/**
 * The pieces of a file. `step` names the work for the progress line, `content` the expected content for the error. Throws
 * `OperatorError`.
 */
export async function* piecesOf(
  path: string,
  step: string,
  content: string,
  { context, json }: CommandRun,
): AsyncGenerator<Buffer> {
  const progress = new ProgressLine(context);
  try {
    const { size } = await stat(path);
    let read = 0;
    for await (const piece of createReadStream(path)) {
      yield piece as Buffer;
      read += (piece as Buffer).length;
      if (!json && size > MIN_PROGRESS_BYTES)
        progress.show({ step, rows: kilobytes(read), of: kilobytes(size), unit: 'kB' });
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code ? new OperatorError(`${path} cannot be read (${code}): name a file with ${content}`) : error;
  } finally {
    progress.end();
  }
}

function kilobytes(bytes: number): number {
  return Math.ceil(bytes / 1000);
}
