// The thread of `checkpoints.ts`: copies the log of a database into its file whenever it is told to.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type Passed, preparePass } from './checkpoint.ts';

/** What comes while a pass copies is left to the next, which is shorter. */
const MOST_PASSES = 8;

const database = new DatabaseSync(workerData as string, { defensive: true });
// A pass then syncs the log before it copies, and the database file before it says what was copied.
database.exec('PRAGMA synchronous = NORMAL');
const pass = preparePass(database);

parentPort?.on('message', (order: 'checkpoint' | 'end') => {
  if (order === 'checkpoint') return parentPort?.postMessage(checkpoint());
  database.close();
  parentPort?.close();
});

/** Answers what the last pass left, or why nobody knows what the file holds. */
function checkpoint(): Passed | Error {
  try {
    let passed = pass();
    for (let count = 1, pages = 0; count < MOST_PASSES && passed.pages !== pages; count += 1) {
      pages = passed.pages;
      passed = pass();
    }
    return passed;
  } catch (error) {
    // Not thrown: what ends a thread may arrive before what the thread said, as if it had never begun.
    return error as Error;
  }
}
