/** What every kind of database is to whoever wires the program, once it is open. */
import type { SharedCounters } from '../accounts/guessing/throttle.ts';
import type { KeyUse } from '../oauth/installation/root-key-store.ts';
import type { Distribution } from '../process/distribution.ts';
import type { Difference } from './installation-settings.ts';
import type { WholeStore } from './tables/alike.ts';

/** One thing that was looked at; `detail` says what is wrong, or what is right, in a few words. */
export type Finding = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** `true` if it is reported although it is no fault. */
  readonly isWarning?: boolean;
};

/** The installation that a database holds. */
export type OpenInstallation = {
  /** In hexadecimal. */
  readonly id: string;
  /** Whether opening the database began it. */
  readonly isNew: boolean;
  /** What this process is set to otherwise than the record. */
  readonly differences: readonly Difference[];
  /** The root key to issue with, and those with which nothing is read any more. */
  readonly currentKeyId: number;
  readonly retiredKeyIds: readonly number[];
  /** What is sealed is of one history, and a restore begins another; when that was last (ms), or null. */
  readonly history: Buffer;
  readonly restoredAt: number | null;
};

/** An instance of the service as the database tells it from others, and which of them run now, by their ids. */
export type Instances = { readonly ownId: string; listRunning(): Promise<readonly string[]> };

/** A pool of connections to a server: open, in use, and how many requests wait for one. */
export type PoolFigures = {
  readonly purpose: string;
  readonly open: number;
  readonly busy: number;
  readonly waiting: number;
  /** Connections that were lost since the process began. */
  readonly lost: number;
};

/** What the clean-up did since the process began: rows read and deleted, rounds that ended, and failures. */
export type CleanUpFigures = {
  readonly seen: number;
  readonly deleted: number;
  readonly rounds: number;
  readonly failures: number;
  /** By how much its own time is behind the clock (ms). */
  readonly behind: number;
};

/** What a store counted since it was opened, and how it stands now. */
export type StoreFigures = {
  /** How many requests of one kind shared a commit or a statement, by the kind. */
  readonly groups: Readonly<Record<string, Distribution>>;
  /** Syncs of a database file by this process (s); null where a server does that. */
  readonly syncs: Distribution | null;
  /** Writes that wait for their commit. */
  readonly queued: number;
  /** Length of the write-ahead log (bytes); null where there is none of this process. */
  readonly walBytes: number | null;
  readonly pools: readonly PoolFigures[];
  readonly cleanUp: CleanUpFigures;
};
/** How a copy went: by how many bytes the write-ahead log grew meanwhile, and what was found in the copy. */
export type BackupCopy = { readonly logGrowth: number; readonly findings: readonly Finding[] };

/** An open database. */
export type Storage = {
  readonly store: WholeStore;
  readonly cleanUp: {
    /** Clears away what is dead, again and again until `stop`; `report` gets a sentence for the log. */
    start(report: (sentence: string) => void): void;
    stop(): void;
    /** The time up to which what has died may be deleted (ms), which no jump of the clock moves ahead. */
    time(): Promise<number>;
  };
  /** Where guesses are counted for all instances; null where there is only one. */
  readonly counters: SharedCounters | null;
  /** The names of the migrations that opening it applied. */
  readonly applied: readonly string[];
  readonly installation: OpenInstallation;
  readonly instances: Instances;
  /** Who else can reach what is stored, as far as that shows: sentences with their remedies. */
  readonly exposures: readonly string[];
  /** Records the settings of this process as those that all have to agree on. */
  adoptSettings(): Promise<void>;
  /** What rests on each root key at a time (ms); takes long on a large database. */
  countKeyUses(liveAt: number): Promise<readonly KeyUse[]>;
  /** What it counted, and how it stands; asks nobody. */
  figures(): StoreFigures;
  /** Everything that can be wrong with a database, which takes long on a large one; or what is seen at once. */
  check(how?: 'quick'): Promise<readonly Finding[]>;
  /** How large it is (bytes), its write-ahead log where that is a file of this machine, and what is free on its disk. */
  sizes(): Promise<{ readonly database: number; readonly log: number | null; readonly free: number | null }>;
  /**
   * Copies the database to a file that is not there yet while it is served, and checks the copy; null where the database
   * server has its own ways. `madeAt` in ms; `grows` gets the bytes that the log grew by, again and again.
   */
  readonly backUp: ((to: string, madeAt: number, grows: (bytes: number) => void) => Promise<BackupCopy>) | null;
  /** Writes what is still to be written and closes the database. */
  close(): Promise<void>;
};
