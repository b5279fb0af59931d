// The thread of `checkpoints.ts`: copies the log of a database into its file on each `checkpoint` message.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type PassResult, preparePass } from './checkpoint.ts';

/** Maximum number of consecutive passes. Each copies the commits made during the previous one, and is shorter. */
const MAX_PASSES = 8;

const database = new DatabaseSync(workerData as string, { defensive: true });
// With NORMAL, a pass syncs the log before it copies, and syncs the database file before it records the copied part.
database.exec('PRAGMA synchronous = NORMAL');
const pass = preparePass(database);

parentPort?.on('message', (order: 'checkpoint' | 'end') => {
  if (order === 'checkpoint') return parentPort?.postMessage(checkpoint());
  database.close();
  parentPort?.close();
});

/** Returns the result of the last pass, or the error after which the file's content is unknown. */
function checkpoint(): PassResult | Error {
  try {
    let passed = pass();
    for (let count = 1, pages = 0; count < MAX_PASSES && passed.pages !== pages; count += 1) {
      pages = passed.pages;
      passed = pass();
    }
    return passed;
  } catch (error) {
    // Not thrown: an error that ends the thread may arrive before its messages, as if the thread had never started.
    return error as Error;
  }
}
