/** An open database of either kind, as the wiring sees it. */
import type { SharedCounters } from '../../accounts/guessing/throttle.ts';
import type { KeyUse } from '../../oauth/installation/root-key-store.ts';
import type { Distribution } from '../../process/distribution.ts';
import type { Fault } from '../../process/installation-error.ts';
import type { Finding } from '../schema/check-finding.ts';
import type { WholeStore } from '../tables/whole-store.ts';
import type { Difference } from './installation-settings.ts';

/** The installation that a database holds. */
export type OpenInstallation = {
  /** Id of the installation, in hexadecimal. */
  readonly id: string;
  /** True if opening the database founded the installation. */
  readonly isNew: boolean;
  /** Settings of this process that differ from the record. */
  readonly differences: readonly Difference[];
  /** The root key to issue with, and the retired keys, with which nothing is read. */
  readonly currentKeyId: number;
  readonly retiredKeyIds: readonly number[];
  /** Id that sealed values are bound to, replaced by a restore; and the time of the last restore (ms), or null. */
  readonly history: Buffer;
  readonly restoredAt: number | null;
};

/** The id of this instance of the service, and the ids of the running ones, as the database knows them. */
export type Instances = { readonly ownId: string; listRunning(): Promise<readonly string[]> };

/** A connection pool: connections open and in use, and requests that wait for a connection. */
export type PoolFigures = {
  readonly purpose: string;
  readonly open: number;
  readonly busy: number;
  readonly waiting: number;
  /** Connections that were lost since the process began. */
  readonly lost: number;
};

/** Counters of the clean-up since the process began: rows read and deleted, finished rounds, and failures. */
export type CleanUpFigures = {
  readonly seen: number;
  readonly deleted: number;
  readonly rounds: number;
  readonly failures: number;
  /** Lag of the clean-up's clock behind the wall clock (ms). */
  readonly behind: number;
};

/** Counters of a store since it was opened, and its present state. */
export type StoreFigures = {
  /** Number of requests that shared one commit or statement, by the kind of request. */
  readonly groups: Readonly<Record<string, Distribution>>;
  /** Durations of the file syncs by this process (s); null if a server does the syncs. */
  readonly syncs: Distribution | null;
  /** Writes that wait for their commit. */
  readonly queued: number;
  /** Length of the write-ahead log (bytes); null if this process has none. */
  readonly walBytes: number | null;
  readonly pools: readonly PoolFigures[];
  readonly cleanUp: CleanUpFigures;
};
/** Result of a backup: growth of the write-ahead log meanwhile (bytes), and the findings in the copy. */
export type BackupCopy = { readonly logGrowth: number; readonly findings: readonly Finding[] };

/** An open database. */
export type Storage = {
  readonly store: WholeStore;
  readonly cleanUp: {
    /** Deletes dead rows repeatedly until `stop`; `report` receives sentences for the log. */
    start(report: (sentence: string) => void): void;
    stop(): void;
    /** Returns the time up to which dead rows may be deleted (ms), which no jump of the clock moves ahead. */
    time(): Promise<number>;
  };
  /** Counters of guesses that all instances share; null if there is only one instance. */
  readonly counters: SharedCounters | null;
  /** Names of the migrations that opening the database applied. */
  readonly applied: readonly string[];
  readonly installation: OpenInstallation;
  readonly instances: Instances;
  /** Signs that other users or programs can reach the stored data. */
  readonly exposures: readonly Fault[];
  /** Records the settings of this process as the shared settings. */
  adoptSettings(): Promise<void>;
  /** Counts the uses of each root key at a time (ms); takes long on a large database. */
  countKeyUses(liveAt: number): Promise<readonly KeyUse[]>;
  /** Returns the counters and the present state, without a query. */
  figures(): StoreFigures;
  /** Runs all checks, which takes long on a large database, or only the quick ones. */
  check(how?: 'quick'): Promise<readonly Finding[]>;
  /**
   * Returns the size of the database, of its write-ahead log if that is a local file, and the free space on its disk
   * (bytes).
   */
  sizes(): Promise<{ readonly database: number; readonly log: number | null; readonly free: number | null }>;
  /**
   * Copies the database to a new file while it is served, and checks the copy; null if the database server has its own
   * backups. `madeAt` in ms; `grows` receives the log's growth (bytes) repeatedly.
   */
  readonly backUp: ((to: string, madeAt: number, grows: (bytes: number) => void) => Promise<BackupCopy>) | null;
  /** Writes what is queued and closes the database. */
  close(): Promise<void>;
};
