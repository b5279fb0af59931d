/**
 * Checkpoints off the event loop: a thread with its own connection copies the write-ahead log into the database file,
 * since the copy waits for the disk twice. SQLite restarts the log with the first commit that finds all of it copied.
 * Under load that may never happen by itself, since some page is always new.
 */
import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { type FailureHandlers, type PassResult, preparePass } from './checkpoint.ts';

/**
 * Number of changed rows between two checkpoints. A checkpoint copies a frequently changed row once: a smaller number
 * copies more in all, a larger one makes the log longer than necessary.
 */
const ROWS_BETWEEN = 4000;
/**
 * Number of changed rows after an incomplete checkpoint: a reader still uses old pages, or the file cannot be written.
 */
const ROWS_BEFORE_ANOTHER_TRY = 500;
/**
 * Length from which the log must restart (32 MB): after the thread copied all, the event loop copies the commits since.
 */
const LONG_LOG_PAGES = 8000;
/** Length from which a log that cannot restart is reported (128 MB). */
const TOO_LONG_LOG_PAGES = 32_768;

/** The dependencies of `Checkpoints`. */
export type CheckpointsParts = FailureHandlers & {
  readonly database: DatabaseSync;
  /** The database file; and a function that throws if the path no longer names the opened file. */
  readonly path: string;
  readonly requireInPlace: () => void;
};

/** The checkpoints of an open database. The thread starts with the first checkpoint: an idle service has none. */
export class Checkpoints {
  readonly #parts: CheckpointsParts;
  readonly #changes;
  readonly #pass: () => PassResult;
  /** Total of changed rows at which the next checkpoint is due. */
  #dueAt = ROWS_BETWEEN;
  #thread: Worker | null = null;
  #isRunning = false;
  /** The sentence reported since the last complete copy. */
  #reported: string | null = null;
  #hasReportedThread = false;

  constructor(parts: CheckpointsParts) {
    this.#parts = parts;
    this.#changes = parts.database.prepare('SELECT total_changes()');
    this.#changes.setReturnArrays(true);
    this.#pass = preparePass(parts.database);
  }

  /** Begins a checkpoint if enough rows changed. Called after commits. */
  committed(): void {
    if (this.#isRunning || this.#changed() < this.#dueAt || !this.#isInPlace()) return;
    this.#isRunning = true;
    this.#thread ??= this.#begin();
    if (this.#thread) this.#thread.postMessage('checkpoint');
    else this.#copyHere();
  }

  /**
   * Ends the thread, after the checkpoint in progress, and copies the rest. SQLite would copy the rest when it closes
   * the database, but hide a failure. A process that changed nothing leaves the log to others. Nothing may be committed
   * afterwards.
   */
  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread) {
      thread.postMessage('end');
      await new Promise((resolve) => thread.once('exit', resolve));
    }
    if (this.#changed() > 0) this.#copyHere();
  }

  /** Checked before a copy: the log must not be copied into another file at the same path, or over other content. */
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

  /** Starts the thread. If that fails, for lack of file descriptors for example, the next checkpoint tries again. */
  #begin(): Worker | null {
    try {
      return this.#watched(newThread(this.#parts.path));
    } catch (error) {
      this.#reportThread(error as Error);
      return null;
    }
  }

  #watched(thread: Worker): Worker {
    thread.on('message', (result: PassResult | Error) => {
      if (result instanceof Error) this.#fail(result);
      else this.#done(result);
    });
    // The thread could not start, or ran out of memory; `exit` follows. A failure of the disk arrives as a message.
    thread.on('error', (error) => this.#reportThread(error));
    thread.on('messageerror', (error) => this.#fail(error));
    return thread.once('exit', () => {
      this.#thread = null;
      if (this.#isRunning) this.#copyHere();
    });
  }

  #reportThread({ message }: Error): void {
    if (this.#hasReportedThread) return;
    this.#hasReportedThread = true;
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

  /** Reports once why the log grows, until a complete copy. */
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

  /** No data is lost: the log still has every commit, and the next process that opens the database copies it. */
  #fail(error: Error): void {
    this.#isRunning = false;
    this.#parts.onFailure(error);
  }
}

function newThread(workerData: string): Worker {
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  // Loaded here, since most processes never need it.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  // The npm package contains compiled files, with another extension.
  const file = `checkpoint-thread${extname(import.meta.filename)}`;
  return new Worker(new URL(file, import.meta.url), { workerData, execArgv });
}
