/**
 * Group commit: concurrent writes share one transaction and one sync; each keeps its own guard and result.
 *
 * No result is returned before it is on disk. A commit writes to the WAL without waiting for the disk. Then a thread syncs
 * the WAL, one sync at a time. A sync settles the commits made before it began. Meanwhile further writes may commit and
 * wait for the next sync, and reads continue:
 *
 * - The result of a write waits for the sync after its commit, whether its guard held or not. A sync covers the whole
 *   file, so everything that the guard read is on disk as well.
 * - The result of a read waits if an unsettled commit touched one of the rows that it used. No other read waits.
 *   Nothing else can be unsynced: other processes sync inside their commits, before their changes are visible.
 *
 * After a failed sync the state on disk is unknown, even if a second sync succeeds, since the kernel may have dropped
 * the pages. So the queue stops for good, and the process ends. The same happens if the files are no longer in place.
 * The check follows each sync, so that no write is confirmed that began after the files were moved.
 */
import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../../../oauth/store.ts';
import { Distribution, DURATIONS, GROUP_SIZES } from '../../../process/distribution.ts';
import { asStoreError, hasStopped, outcomeUnknown, primaryCode, resultCode, SQLITE } from '../file/errors.ts';

/** The dependencies of the queue. */
export type WriteQueueParts = {
  readonly database: DatabaseSync;
  /** Waits until every earlier commit is on disk; null for a database in memory. */
  readonly sync: (() => Promise<void>) | null;
  /** Throws if the database files are no longer in place. */
  readonly requireInPlace?: () => void;
  /** True if SQLite syncs within each commit that changes anything (`synchronous=FULL`). */
  readonly commitSyncs: boolean;
  /** Called after commits, synced or not. */
  readonly onCommit?: () => void;
  /** Called once, when the queue stops for good. */
  readonly onFailure: (error: Error) => void;
  /** Timeout for a lock that another process holds (ms). */
  readonly lockTimeout?: number;
};

/** Maximum number of writes in a commit, which blocks the event loop. */
const MAX_PER_COMMIT = 256;
/** Maximum number of queued writes; beyond it the disk is far behind, and further writes are refused. */
const MAX_QUEUED = 20_000;
const LOCK_TIMEOUT_MS = 5000;
const LOCK_RETRY_MS = 10;

type Write = {
  readonly touches: readonly string[];
  readonly run: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
};

/** Commits not known to be on disk yet; one sync settles them together. */
class Unsettled {
  readonly writes: Write[] = [];
  readonly values: unknown[] = [];
  readonly settled = Promise.withResolvers<void>();
  readonly #touched = new Set<string>();

  constructor() {
    this.settled.promise.catch(() => {}); // Often nothing awaits the promise.
  }

  /** Adds a commit. */
  add(writes: readonly Write[], values: readonly unknown[]): void {
    this.writes.push(...writes);
    this.values.push(...values);
    for (const { touches } of writes) for (const row of touches) this.#touched.add(row);
  }

  /** Returns true if a commit touched one of these rows. */
  touched(rows: readonly string[]): boolean {
    return rows.some((row) => this.#touched.has(row));
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

/** The only way to write. The head of this file states its guarantees. */
export class WriteQueue {
  /** Number of writes in each commit, and duration of each sync (s). */
  readonly groups = new Distribution(GROUP_SIZES);
  readonly syncs = new Distribution(DURATIONS);
  readonly #parts: WriteQueueParts;
  readonly #statements;
  #queued: Write[] = [];
  #scheduled = false;
  #lockAwaitedSince: number | null = null;
  /** Commits that wait for the next sync; and those of the sync in progress, or of the failed one. */
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
   * Runs a write in a transaction, which is rolled back if it throws. Resolves with the write's result once that is on
   * disk. `touches` names the rows that it may change. A write must be safe to run again after a rollback.
   */
  write<T>(touches: readonly string[], run: () => T): Promise<T> {
    if (this.#stopped) return Promise.reject(hasStopped(this.#stopped));
    if (this.#closed) return Promise.reject(new StoreUnavailable('the database is closed'));
    if (this.#queued.length >= MAX_QUEUED)
      return Promise.reject(new StoreUnavailable('too many writes wait for the disk'));
    return new Promise((resolve, reject) => {
      this.#queued.push({ touches, run, resolve, reject });
      this.#schedule();
    });
  }

  /** Number of writes that wait for their commit. */
  get queued(): number {
    return this.#queued.length;
  }

  /** Returns the result of a read made just now, once the rows that it used (or all rows) are on disk. */
  onDisk<T>(rows: readonly string[] | 'all', result: T): T | Promise<T> {
    const rests = (on: Unsettled | null) => on !== null && (rows === 'all' || on.touched(rows));
    const awaited = rests(this.#committed) ? this.#committed : rests(this.#syncing) ? this.#syncing : null;
    return awaited ? awaited.settled.promise.then(() => result) : result;
  }

  /** Waits until every earlier write is on disk, and accepts no more writes. */
  async close(): Promise<void> {
    // A command that only read must be able to end while another process holds the write lock.
    const isIdle = this.#queued.length === 0 && this.#stopped === null && !this.#closed;
    const last = isIdle ? this.onDisk('all', undefined) : this.write([], () => {});
    this.#closed = true;
    await last;
  }

  /** Stops the queue if the files are no longer in place. Also called at intervals, for times without writes. */
  checkFiles(): void {
    try {
      this.#parts.requireInPlace?.();
    } catch (error) {
      this.#stop(error as Error);
    }
  }

  /** Stops because of an error not caused by one write; if the files are no longer in place, that is the reason. */
  fail(error: Error): void {
    this.checkFiles();
    this.#stop(error);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After this turn's input is read, so that all its writes share the commit.
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const work = [this.#queued.splice(0, MAX_PER_COMMIT)];
    for (let batch = work.pop(); batch; batch = work.pop()) {
      const outcome = this.#stopped ? { undone: hasStopped(this.#stopped) } : this.#attempt(batch);
      if (outcome === 'committed') continue;
      if (outcome === 'locked') {
        this.#queued.unshift(...batch, ...work.toReversed().flat());
        this.#awaitLock();
        return;
      }
      // The batch was rolled back: each write is retried alone, so that only the faulty one fails.
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
    this.groups.note(batch.length);
    this.#keep(batch, values, synced);
    return 'committed';
  }

  /** Returns 0 unless `synchronous=FULL`, whose commits sync by themselves if they change anything. */
  #totalChanges(): number {
    return this.#parts.commitSyncs ? (this.#statements.changes.get()?.['number'] as number) : 0;
  }

  /**
   * If a write to the file failed, as on a full disk, the commit's last frame is missing. Recovery would not find the
   * commit either, so it is undone and may be retried. After any other error, such as a failed sync, the outcome is
   * unknown.
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

  /** No-op if SQLite has already rolled back, as after a full disk. */
  #rollBack(): void {
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
    this.checkFiles();
    if (this.#stopped) commits.fail(outcomeUnknown(this.#stopped));
    else commits.settle();
  }

  async #syncCommitted(): Promise<void> {
    if (this.#syncing) return;
    while (this.#committed && !this.#stopped) {
      this.#syncing = this.#committed;
      this.#committed = null;
      const since = performance.now();
      try {
        await this.#parts.sync?.();
        this.syncs.note((performance.now() - since) / 1000);
        this.#parts.requireInPlace?.();
      } catch (error) {
        // `#syncing` stays set: whether these rows are on disk stays unknown, so reads of them fail too.
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
