/**
 * Group commit: writes that arrive together share one transaction and one sync, each with its own guard and answer.
 *
 * Nothing is answered before it is on disk. A commit writes to the WAL without waiting for the disk; then the WAL is
 * synced off the event loop, one sync at a time, and only a sync that began after a commit settles it. Meanwhile
 * further writes may commit and wait for the next sync, and reads go on:
 *
 * - A write's answer, whether its guard held or not, waits for the sync after its commit. Syncs cover the whole file,
 *   so that whatever its guard saw is on disk as well.
 * - A read's answer waits if a commit that is not settled yet touched one of the rows it rests on. The connection is
 *   ours alone and a statement runs at once, so what a read saw is what commits up to then had left; other processes
 *   sync inside their commits, before anybody can see them. No other read waits.
 *
 * A failed sync proves nothing about what is on disk, and a second one that succeeds neither (the kernel may have
 * dropped the pages): the queue then stops for good, and so does the process. So it does when the files are no longer in
 * their place: that is looked at after each sync, so that no write is answered that began after they were moved.
 */
import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../../oauth/store.ts';
import { asStoreError, hasStopped, outcomeUnknown, primaryCode, resultCode, SQLITE } from './errors.ts';

/** What the queue works with. */
export type WriteQueueParts = {
  readonly database: DatabaseSync;
  /** Waits until everything that was committed before the call is on disk; null where nothing ever is (in memory). */
  readonly sync: (() => Promise<void>) | null;
  /** Throws when what is committed is in files that nobody will find. */
  readonly requireInPlace?: () => void;
  /** Whether a commit that changed anything has synced by itself (`synchronous=FULL`). */
  readonly commitSyncs: boolean;
  /** Called after commits; what they wrote is synced, or will be. */
  readonly onCommit?: () => void;
  /** Called once, when writing stopped for good. */
  readonly onFailure: (error: Error) => void;
  /** How long another process may hold the lock, in ms. */
  readonly lockTimeout?: number;
};

/** So many writes share a commit at most, which bounds how long it keeps the event loop. */
const MOST_PER_COMMIT = 256;
/** More writes than this do not wait: the disk is far behind. */
const MOST_QUEUED = 20_000;
const LOCK_TIMEOUT_MS = 5000;
const LOCK_RETRY_MS = 10;

type Write = {
  readonly touches: readonly string[];
  readonly run: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
};

/** What was committed and is not known to be on disk yet: all that the same sync settles. */
class Unsettled {
  readonly writes: Write[] = [];
  readonly values: unknown[] = [];
  readonly settled = Promise.withResolvers<void>();
  #touched: Set<string> | null = null;

  constructor() {
    this.settled.promise.catch(() => {}); // Nobody needs to be waiting.
  }

  /** Adds a commit. */
  add(writes: readonly Write[], values: readonly unknown[]): void {
    this.writes.push(...writes);
    this.values.push(...values);
    if (this.#touched) for (const { touches } of writes) for (const row of touches) this.#touched.add(row);
  }

  /** Whether it touched one of some rows. One set for all would leave more behind: it grows old, and its tables do not. */
  touched(rows: readonly string[]): boolean {
    this.#touched ??= new Set(this.writes.flatMap(({ touches }) => touches));
    return rows.some((row) => this.#touched?.has(row));
  }

  settle(): void {
    this.settled.resolve();
    for (const [index, write] of this.writes.entries()) write.resolve(this.values[index] as never);
  }

  fail(error: Error): void {
    this.settled.reject(error);
    for (const write of this.writes) write.reject(error);
  }
}

/** The one way to write. See the head of this file for what it promises. */
export class WriteQueue {
  /** Called when writes were undone that had been run. */
  onUndone = () => {};
  readonly #parts: WriteQueueParts;
  readonly #statements;
  #queued: Write[] = [];
  #scheduled = false;
  #lockAwaitedSince: number | null = null;
  /** What no sync has begun for; what one is under way for, or has failed for. */
  #committed: Unsettled | null = null;
  #syncing: Unsettled | null = null;
  #stopped: Error | null = null;
  #closed = false;

  constructor(parts: WriteQueueParts) {
    this.#parts = parts;
    const prepare = (sql: string) => parts.database.prepare(sql);
    this.#statements = {
      begin: prepare('BEGIN IMMEDIATE'),
      commit: prepare('COMMIT'),
      rollback: prepare('ROLLBACK'),
      changes: prepare('SELECT total_changes() AS number'),
    };
  }

  /**
   * Runs a write in a transaction: all of it or, if it throws, nothing of it. Answers what it returned as soon as that
   * is on disk. `touches` names the rows that it may change. A write must be harmless to run again after a rollback.
   */
  write<T>(touches: readonly string[], run: () => T): Promise<T> {
    if (this.#stopped) return Promise.reject(hasStopped(this.#stopped));
    if (this.#closed) return Promise.reject(new StoreUnavailable('the database is closed'));
    if (this.#queued.length >= MOST_QUEUED)
      return Promise.reject(new StoreUnavailable('too many writes wait for the disk'));
    return new Promise((resolve, reject) => {
      this.#queued.push({ touches, run, resolve, reject });
      this.#schedule();
    });
  }

  /** The answer of a read that was made just now, as soon as the rows that it rests on (or all) are on disk. */
  onDisk<T>(rows: readonly string[] | 'all', answer: T): T | Promise<T> {
    const rests = (on: Unsettled | null) => on !== null && (rows === 'all' || on.touched(rows));
    const awaited = rests(this.#committed) ? this.#committed : rests(this.#syncing) ? this.#syncing : null;
    return awaited ? awaited.settled.promise.then(() => answer) : answer;
  }

  /** Waits until everything written so far is on disk, and accepts no more writes. */
  close(): Promise<void> {
    const last = this.write([], () => {});
    this.#closed = true;
    return last;
  }

  /** Stops if the files are no longer in their place, for when nobody writes. */
  look(): void {
    try {
      this.#parts.requireInPlace?.();
    } catch (error) {
      this.#stop(error as Error);
    }
  }

  /** Stops because of an error that concerns no single answer; if the files are no longer in their place, because of that. */
  fail(error: Error): void {
    this.look();
    this.#stop(error);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the input of this turn was read, so that all its writes share the commit.
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const work = [this.#queued.splice(0, MOST_PER_COMMIT)];
    for (let batch = work.pop(); batch; batch = work.pop()) {
      const outcome = this.#stopped ? { undone: hasStopped(this.#stopped) } : this.#attempt(batch);
      if (outcome === 'committed') continue;
      if (outcome === 'locked') {
        this.#queued.unshift(...batch, ...work.toReversed().flat());
        this.#awaitLock();
        return;
      }
      // Undone as a whole: each write tries again alone, so that it fails, if it does, for a reason of its own.
      const [only] = batch;
      if (batch.length === 1) only?.reject(asStoreError(outcome.undone));
      else work.push(...batch.map((write) => [write]).toReversed());
    }
    this.#lockAwaitedSince = null;
    if (this.#queued.length > 0) this.#schedule();
    void this.#syncCommitted();
    if (!this.#stopped) this.#parts.onCommit?.();
  }

  #attempt(batch: readonly Write[]): 'committed' | 'locked' | { undone: unknown } {
    const { begin, commit } = this.#statements;
    try {
      begin.run();
    } catch (error) {
      return primaryCode(error) === SQLITE.BUSY ? 'locked' : { undone: error };
    }
    const before = this.#totalChanges();
    let values: unknown[];
    try {
      values = batch.map((write) => write.run());
    } catch (error) {
      this.#rollBack();
      return { undone: error };
    }
    const synced = this.#parts.sync === null || (this.#parts.commitSyncs && this.#totalChanges() > before);
    try {
      commit.run();
    } catch (error) {
      return this.#afterFailedCommit(batch, error);
    }
    this.#keep(batch, values, synced);
    return 'committed';
  }

  /** Only `synchronous=FULL` asks, as its commits sync by themselves when they change anything. */
  #totalChanges(): number {
    return this.#parts.commitSyncs ? (this.#statements.changes.get()?.['number'] as number) : 0;
  }

  /**
   * A full disk, and any other write that failed, left the commit's last frame unwritten: recovery would not find it
   * either, so it is undone and may be tried again. After any other error (of a sync, say) nobody knows.
   */
  #afterFailedCommit(batch: readonly Write[], error: unknown): { undone: unknown } {
    const isUndone =
      this.#parts.database.isTransaction ||
      primaryCode(error) === SQLITE.FULL ||
      resultCode(error) === SQLITE.IOERR_WRITE;
    this.#rollBack();
    if (isUndone) return { undone: error };
    for (const write of batch) write.reject(outcomeUnknown(error));
    this.#stop(error as Error);
    return { undone: error };
  }

  /** SQLite has often rolled back by itself, as after a full disk. */
  #rollBack(): void {
    this.onUndone();
    if (!this.#parts.database.isTransaction) return;
    try {
      this.#statements.rollback.run();
    } catch (error) {
      this.#stop(error as Error);
    }
  }

  #awaitLock(): void {
    const now = performance.now();
    this.#lockAwaitedSince ??= now;
    if (now - this.#lockAwaitedSince > (this.#parts.lockTimeout ?? LOCK_TIMEOUT_MS)) {
      this.#lockAwaitedSince = null;
      this.#rejectQueued(new StoreUnavailable('another process keeps the database locked'));
    } else {
      this.#scheduled = true;
      setTimeout(() => this.#flush(), LOCK_RETRY_MS);
    }
    void this.#syncCommitted();
  }

  #keep(writes: readonly Write[], values: readonly unknown[], synced: boolean): void {
    const commits = this.#committed ?? new Unsettled();
    commits.add(writes, values);
    if (!synced || this.#committed || this.#syncing) {
      this.#committed = commits;
      return;
    }
    this.look();
    if (this.#stopped) commits.fail(outcomeUnknown(this.#stopped));
    else commits.settle();
  }

  async #syncCommitted(): Promise<void> {
    if (this.#syncing) return;
    while (this.#committed && !this.#stopped) {
      this.#syncing = this.#committed;
      this.#committed = null;
      try {
        await this.#parts.sync?.();
        this.#parts.requireInPlace?.();
      } catch (error) {
        // It stays: what a read sees of its rows will never be known to be on disk.
        this.#syncing.fail(outcomeUnknown(error));
        return this.#stop(error as Error);
      }
      if (this.#stopped) return this.#syncing.fail(outcomeUnknown(this.#stopped));
      this.#syncing.settle();
      this.#syncing = null;
    }
  }

  #stop(error: Error): void {
    if (this.#stopped) return;
    this.#stopped = error;
    this.#committed?.fail(outcomeUnknown(error));
    this.#rejectQueued(hasStopped(error));
    this.#parts.onFailure(error);
  }

  #rejectQueued(error: StoreUnavailable): void {
    for (const write of this.#queued.splice(0)) write.reject(error);
  }
}
