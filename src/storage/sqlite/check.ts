/** What `database check` looks at in SQLite alone: the settings of the connection, every page and every reference. */
import type { DatabaseSync } from 'node:sqlite';
import type { OwnChecks } from '../check.ts';
import { type Pragmas, wrongPragmas } from './connection.ts';

/** The checks of a database whose connection must have these settings. */
export function ownChecks(database: DatabaseSync, pragmas: Pragmas): OwnChecks {
  const told = (pragma: string) => {
    const rows = database.prepare(`PRAGMA ${pragma}`).all();
    return rows.map((row) => Object.values(row).join(' '));
  };
  return {
    settings: async () => wrongPragmas(database, pragmas),
    integrity: async () => told('integrity_check').filter((text) => text !== 'ok'),
    references: async () => told('foreign_key_check'),
  };
}
