/** Checkpoints of the audit trail that were kept elsewhere, as commands are given them. */

import { OperatorError } from '../../oauth/error.ts';
import { type Checkpoint, findCheckpoints } from '../../oauth/trail/audit-checkpoint.ts';
import type { CommandRun } from '../command/command-run.ts';
import { piecesOf } from '../input/file-pieces.ts';

/** The option, whose values are texts or files. */
export const CHECKPOINT = [
  '--checkpoint <text or file>',
  'a checkpoint, or a file with checkpoints, such as the log of the service; repeatable',
  (text: string, before: string[] = []) => [...before, text],
] as const;

/** Overlap of two pieces of a file (characters): longer than any checkpoint, since one may begin in the first and end in the second. */
const OVERLAP = 512;

/** All checkpoints in what was given. Throws `OperatorError` for a file that holds none. */
export async function checkpointsIn(given: readonly string[], run: CommandRun): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = [];
  for (const one of given) checkpoints.push(...(await checkpointsOf(one, run)));
  return checkpoints;
}

/** The checkpoints in a text, or in a file. */
async function checkpointsOf(given: string, run: CommandRun): Promise<Checkpoint[]> {
  const found = new Map(findCheckpoints(given).map((checkpoint) => [checkpoint.text, checkpoint]));
  if (found.size > 0) return [...found.values()];
  let before = '';
  for await (const piece of piecesOf(given, 'reading', 'checkpoints', run)) {
    const text = before + piece.toString('latin1');
    for (const checkpoint of findCheckpoints(text)) found.set(checkpoint.text, checkpoint);
    before = `…${text.slice(-OVERLAP)}`; // Not the beginning of a text.
  }
  if (found.size === 0) throw new OperatorError(`there is no checkpoint in ${given}: "audit verify" prints one`);
  return [...found.values()];
}
