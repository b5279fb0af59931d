/** The checks of `database check` in SQLite alone: the connection's settings, every page and every reference. */
import { DatabaseSync } from 'node:sqlite';
import type { OwnChecks } from '../opening/check.ts';
import { type Finding, findingOf } from '../schema/check-finding.ts';
import { type Pragmas, wrongPragmas } from './file/connection.ts';
import { hasHeader } from './file/database-file.ts';
import { primaryCode, SQLITE } from './file/errors.ts';

const REMEDY = 'keep a copy of it with its -wal, look at the disk, and restore a backup with "database restore FILE"';

/**
 * Returns a report on a file whose opening or reading failed with this error; null unless the file is damaged. Never
 * throws: reports everything that is still readable.
 */
export function checkDamaged(path: string, error: unknown): Finding[] | null {
  const code = primaryCode(error) ?? primaryCode((error as Error).cause);
  const isDamage = code === SQLITE.CORRUPT || code === SQLITE.NOTADB || code === SQLITE.IOERR;
  // Reads the file only if SQLite has nothing open: closing a file drops this process's locks on it.
  if (code === undefined ? hasHeader(path) : !isDamage) return null;
  const opened = `${path} is damaged (${(error as Error).message})`;
  return [
    findingOf('opened', [{ problem: opened, remedy: REMEDY }]),
    findingOf('integrity', [{ problem: brokenPages(path), remedy: REMEDY }]),
  ];
}

function brokenPages(path: string): string {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const rows = database.prepare('PRAGMA integrity_check(10)').all();
      return rows.map((row) => String(Object.values(row)[0]).replaceAll(/\s+/g, ' ')).join('; ');
    } finally {
      database.close();
    }
  } catch (error) {
    return `no page can be read (${(error as Error).message})`;
  }
}

/** Returns the checks of a database whose connection must have these settings. */
export function ownChecks(database: DatabaseSync, pragmas: Pragmas): OwnChecks {
  const faults = (pragma: string) => {
    const rows = database.prepare(`PRAGMA ${pragma}`).all();
    return rows.map((row) => ({ problem: Object.values(row).join(' '), remedy: null }));
  };
  return {
    settings: async () => wrongPragmas(database, pragmas).map((problem) => ({ problem, remedy: null })),
    integrity: async () => faults('integrity_check').filter(({ problem }) => problem !== 'ok'),
    references: async () => faults('foreign_key_check'),
  };
}
