/**
 * Checkpoints beside the event loop: what commits left in the write-ahead log is copied into the database file by a thread
 * with a connection of its own, since the copy waits for the disk twice. The log begins anew with the first commit that finds
 * all of it copied: under load there may always be a page or two that is not.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { type Passed, preparePass, type Told } from './checkpoint.ts';

/**
 * After so many changed rows. A row that changes often is copied once: with fewer there is more to copy in all, with more
 * the log is longer than it has to be.
 */
const ROWS_BETWEEN = 4000;
/** The same after a checkpoint that could not copy all, because somebody read from before, or the file cannot be written. */
const ROWS_BEFORE_ANOTHER_TRY = 500;
/** A log of so many pages (32 MB) has to begin anew: if the thread left nothing, what came since is copied here. */
const LONG = 8000;
/** A log of so many pages (128 MB) that cannot begin anew is something to look at. */
const TOO_LONG = 32_768;

/** What checkpoints work with. */
export type CheckpointsParts = Told & {
  readonly database: DatabaseSync;
  /** The database file, and what throws when it is no longer what was opened. */
  readonly path: string;
  readonly requireInPlace: () => void;
};

/** The checkpoints of an open database. The thread begins with the first of them: a service that is idle has none. */
export class Checkpoints {
  readonly #parts: CheckpointsParts;
  readonly #changes;
  readonly #pass: () => Passed;
  /** At how many changed rows, since the database was opened, there is enough to copy. */
  #dueAt = ROWS_BETWEEN;
  #thread: Worker | null = null;
  #isRunning = false;
  /** What was reported since all was copied last. */
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
   * Ends the thread, after the checkpoint under way, and copies the rest: SQLite would do it while it closes the database, and say
   * nothing of what failed. Whoever changed nothing leaves it to the others. Nothing may be committed any more.
   */
  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread) {
      thread.postMessage('end');
      await new Promise((resolve) => thread.once('exit', resolve));
    }
    if (this.#changed() > 0) this.#copyHere();
  }

  /** Or the log would be copied into whatever has the name now, or over what the file was overwritten by. */
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

  /** A thread that cannot begin, as where no file descriptor is left, is tried again the next time. */
  #begin(): Worker | null {
    try {
      return this.#watched(newThread(this.#parts.path));
    } catch (error) {
      this.#tellOfThread(error as Error);
      return null;
    }
  }

  #watched(thread: Worker): Worker {
    thread.on('message', (answer: Passed | Error) => {
      if (answer instanceof Error) this.#fail(answer);
      else this.#done(answer);
    });
    // A failure of the disk is an answer. This is none: it could not begin, or had no memory left, and `exit` follows.
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
    let passed: Passed;
    try {
      passed = this.#pass();
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    this.#next(passed);
  }

  #done(passed: Passed): void {
    if (passed.left === 0 && passed.pages >= LONG) this.#copyHere();
    else this.#next(passed);
  }

  #next(passed: Passed): void {
    this.#isRunning = false;
    this.#dueAt = this.#changed() + (passed.left === 0 ? ROWS_BETWEEN : ROWS_BEFORE_ANOTHER_TRY);
    this.#report(passed);
  }

  /** Says once why the log grows, until all is copied. */
  #report({ pages, left, failure }: Passed): void {
    if (left === 0) this.#reported = null;
    const isRead = left > LONG && pages > TOO_LONG;
    const sentence = failure
      ? `what was written stays in the log of the database, since its file cannot be written (${failure.message})`
      : isRead &&
        'the log of the database grows: another program has been reading for long; wait for it (a backup), or end it';
    if (!sentence || sentence === this.#reported) return;
    this.#reported = sentence;
    this.#parts.report(sentence);
  }

  /** The log has all of it, for whoever opens the database when nobody has it open any more. */
  #fail(error: Error): void {
    this.#isRunning = false;
    this.#parts.onFailure(error);
  }
}

function newThread(workerData: string): Worker {
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  // Not imported: most processes never need it.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  return new Worker(new URL('checkpoint-thread.ts', import.meta.url), { workerData, execArgv });
}
