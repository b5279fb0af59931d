/** What a store offers to the copy from one to the other. */
import type { StoredTable } from './tables/all.ts';

/** A value of a row, as both stores tell it alike: bytes and UUIDs as hexadecimal digits in lower case, booleans as 0 or 1. */
export type CopiedValue = string | number | null;

/** A row: its values in the order of the columns. */
export type CopiedRow = readonly CopiedValue[];

/** A database that takes part. */
export type CopySide = {
  /** What people know it by; never with a password. */
  readonly place: string;
  /** A table with all columns that its schema has, in their order, but for those that only this store has. */
  wholeTable(name: string): Promise<StoredTable>;
  /** The rows after a key (from the first when it is null), in the order of their keys, at most so many. */
  read(table: StoredTable, after: CopiedValue, limit: number): Promise<CopiedRow[]>;
  close(): Promise<void>;
};

/** The database that is copied; nobody can change it while it is open. */
export type CopySource = CopySide & {
  count(table: StoredTable): Promise<number>;
  /** The last place in the audit trail that was taken. */
  lastAuditSequence(): Promise<number>;
};

/** The database that becomes the copy. */
export type CopyTarget = CopySide & {
  /** Whether the copy was finished before. */
  readonly isDone: boolean;
  /** Adds rows; one whose key is there stays as it is. */
  write(table: StoredTable, rows: readonly CopiedRow[]): Promise<void>;
  empty(table: StoredTable): Promise<void>;
  /**
   * Writes what makes it whole, has the audit trail go on after a place, and takes the mark away, in one transaction; then
   * all of the copy is on disk.
   */
  finish(lastAuditSequence: number, writeLast: () => Promise<void>): Promise<void>;
};

/** What both sides hold of a table: `sha256` is over all rows in the order of their keys, in hexadecimal. */
export type CopiedSummary = { readonly table: string; readonly rows: number; readonly sha256: string };
