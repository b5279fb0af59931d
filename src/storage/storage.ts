/** What every kind of database is to whoever wires the program, once it is open. */
import type { AccountStore } from '../accounts/store.ts';
import type { SharedCounters } from '../accounts/throttle.ts';
import type { Store } from '../oauth/store.ts';

/** One thing that was looked at; `detail` says what is wrong, or what is right, in a few words. */
export type Finding = { readonly name: string; readonly ok: boolean; readonly detail: string };

/** An open database. */
export type Storage = {
  readonly store: Store & AccountStore;
  readonly cleanUp: {
    /** Clears away what is dead, again and again until `stop`; `report` gets a sentence for the log. */
    start(report: (sentence: string) => void): void;
    stop(): void;
  };
  /** Where guesses are counted for all instances; null where there is only one. */
  readonly counters: SharedCounters | null;
  /** The names of the migrations that opening it applied. */
  readonly applied: readonly string[];
  /** Everything that can be wrong with a database; takes long on a large one. */
  check(): readonly Finding[] | Promise<readonly Finding[]>;
  /** Writes what is still to be written and closes the database. */
  close(): Promise<void>;
};
