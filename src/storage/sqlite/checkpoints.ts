/**
 * Checkpoints off the event loop: a thread with its own connection copies the write-ahead log into the database file,
 * since the copy waits for the disk twice. SQLite reuses the log from its start with the first commit that finds all of
 * it copied. Under load that may never happen by itself, since some page is always new.
 */
import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { type FailureHandlers, type PassResult, preparePass } from './checkpoint.ts';

/**
 * Number of changed rows between two checkpoints. A row that changes often is copied once in a checkpoint: with a
 * smaller number more is copied in all, with a larger one the log is longer than it has to be.
 */
const ROWS_BETWEEN = 4000;
/** The same after a checkpoint that could not copy all: a reader still uses old pages, or the file cannot be written. */
const ROWS_BEFORE_ANOTHER_TRY = 500;
/** From this length (32 MB) the log must begin anew: if the thread copied all, the rest since is copied on the event loop. */
const LONG_LOG_PAGES = 8000;
/** From this length (128 MB), a log that cannot begin anew is reported. */
const TOO_LONG_LOG_PAGES = 32_768;

/** What checkpoints need. */
export type CheckpointsParts = FailureHandlers & {
  readonly database: DatabaseSync;
  /** The database file; and a function that throws if it is no longer the file that was opened. */
  readonly path: string;
  readonly requireInPlace: () => void;
};

/** The checkpoints of an open database. The thread starts with the first one: an idle service has none. */
export class Checkpoints {
  readonly #parts: CheckpointsParts;
  readonly #changes;
  readonly #pass: () => PassResult;
  /** Total of changed rows at which the next checkpoint is due. */
  #dueAt = ROWS_BETWEEN;
  #thread: Worker | null = null;
  #isRunning = false;
  /** The sentence that was reported since all was copied last. */
  #reported: string | null = null;
  #hasToldOfThread = false;

  constructor(parts: CheckpointsParts) {
    this.#parts = parts;
    this.#changes = parts.database.prepare('SELECT total_changes()');
    this.#changes.setReturnArrays(true);
    this.#pass = preparePass(parts.database);
  }

  /** Begins a checkpoint if there is enough to copy. Called after commits. */
  committed(): void {
    if (this.#isRunning || this.#changed() < this.#dueAt || !this.#isInPlace()) return;
    this.#isRunning = true;
    this.#thread ??= this.#begin();
    if (this.#thread) this.#thread.postMessage('checkpoint');
    else this.#copyHere();
  }

  /**
   * Ends the thread, after the checkpoint under way, and copies the rest. SQLite would do that when it closes the
   * database, but hide a failure. A process that changed nothing leaves it to others. Nothing may be committed any
   * more.
   */
  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread) {
      thread.postMessage('end');
      await new Promise((resolve) => thread.once('exit', resolve));
    }
    if (this.#changed() > 0) this.#copyHere();
  }

  /** Checked first: the log must not be copied into another file that has the name now, or over other content. */
  #isInPlace(): boolean {
    try {
      this.#parts.requireInPlace();
      return true;
    } catch (error) {
      this.#fail(error as Error);
      return false;
    }
  }

  #changed(): number {
    return (this.#changes.get() as unknown as [number])[0];
  }

  /** If the thread cannot start, as when no file descriptor is left, the next checkpoint tries again. */
  #begin(): Worker | null {
    try {
      return this.#watched(newThread(this.#parts.path));
    } catch (error) {
      this.#tellOfThread(error as Error);
      return null;
    }
  }

  #watched(thread: Worker): Worker {
    thread.on('message', (result: PassResult | Error) => {
      if (result instanceof Error) this.#fail(result);
      else this.#done(result);
    });
    // The thread could not start, or had no memory left; `exit` follows. A failure of the disk comes as a message.
    thread.on('error', (error) => this.#tellOfThread(error));
    thread.on('messageerror', (error) => this.#fail(error));
    return thread.once('exit', () => {
      this.#thread = null;
      if (this.#isRunning) this.#copyHere();
    });
  }

  #tellOfThread({ message }: Error): void {
    if (this.#hasToldOfThread) return;
    this.#hasToldOfThread = true;
    this.#parts.report(
      `requests wait while the log of the database is copied, since its thread does not work (${message})`,
    );
  }

  #copyHere(): void {
    let passed: PassResult;
    try {
      passed = this.#pass();
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    this.#next(passed);
  }

  #done(passed: PassResult): void {
    if (passed.left === 0 && passed.pages >= LONG_LOG_PAGES) this.#copyHere();
    else this.#next(passed);
  }

  #next(passed: PassResult): void {
    this.#isRunning = false;
    this.#dueAt = this.#changed() + (passed.left === 0 ? ROWS_BETWEEN : ROWS_BEFORE_ANOTHER_TRY);
    this.#report(passed);
  }

  /** Says once why the log grows, until all is copied. */
  #report({ pages, left, failure }: PassResult): void {
    if (left === 0) this.#reported = null;
    const isRead = left > LONG_LOG_PAGES && pages > TOO_LONG_LOG_PAGES;
    const sentence = failure
      ? `what was written stays in the log of the database, since its file cannot be written (${failure.message})`
      : isRead &&
        'the log of the database grows: another program has been reading for long; wait for it (a backup), or end it';
    if (!sentence || sentence === this.#reported) return;
    this.#reported = sentence;
    this.#parts.report(sentence);
  }

  /** Nothing is lost: the log still has all of it, and the next process that opens the database copies it. */
  #fail(error: Error): void {
    this.#isRunning = false;
    this.#parts.onFailure(error);
  }
}

function newThread(workerData: string): Worker {
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  // Not imported: most processes never need it.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  // Compiled, as in the npm package, it has another extension.
  const file = `checkpoint-thread${extname(import.meta.filename)}`;
  return new Worker(new URL(file, import.meta.url), { workerData, execArgv });
}
