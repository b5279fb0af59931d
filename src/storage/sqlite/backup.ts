/** Backups of a SQLite database in use, made by another process than the one that serves it. */
import { statSync } from 'node:fs';
import { backup, type DatabaseSync } from 'node:sqlite';
import { check } from '../opening/check.ts';
import type { BackupCopy } from '../opening/opened-storage.ts';
import type { OpeningOptions } from '../opening/opening.ts';
import type { Finding } from '../schema/check-finding.ts';
import { ownChecks } from './check.ts';
import { configure, connect, type Pragmas } from './file/connection.ts';
import { makeFile } from './file/database-file.ts';
import { plainDatabase } from './plain-database.ts';

/**
 * More pages than a database can have (2^32 - 2), within SQLite's limit for a step: one step reads one state, and never
 * restarts, however much is written meanwhile. It runs on a thread.
 */
const ALL_PAGES = 2 ** 31 - 1;

/** Time between two measurements of the log's size (ms). */
const LOOK_EVERY_MS = 200;

/** Makes the copy a single file, with nothing left in a log. */
const ONE_FILE: Pragmas = [['journal_mode', 'delete']];

/**
 * Copies the database at `path` to a new file with mode 0600, marks it as a backup made at `madeAt` (ms), and checks
 * it. `grows` receives the log's growth in bytes, repeatedly: the log cannot restart while the copy reads it.
 */
export async function backUp(
  path: string,
  to: string,
  madeAt: number,
  options: Pick<OpeningOptions, 'keyring' | 'settings'>,
  grows: (bytes: number) => void,
): Promise<BackupCopy> {
  makeFile(to);
  const source = connect(path);
  const before = logSize(path);
  let logGrowth = 0;
  const look = () => {
    logGrowth = Math.max(logGrowth, logSize(path) - before);
    grows(logGrowth);
  };
  const looking = setInterval(look, LOOK_EVERY_MS);
  try {
    await backup(source, to, { rate: ALL_PAGES });
    look();
  } finally {
    clearInterval(looking);
    source.close();
  }
  return { logGrowth, findings: await markAndCheck(to, madeAt, options) };
}

async function markAndCheck(
  path: string,
  madeAt: number,
  options: Pick<OpeningOptions, 'keyring' | 'settings'>,
): Promise<Finding[]> {
  const copy = connect(path);
  try {
    configure(copy, ONE_FILE);
    mark(copy, madeAt);
    return await check(plainDatabase(copy), options, ownChecks(copy, ONE_FILE));
  } finally {
    copy.close();
  }
}

/** Marks the copy as a backup, which is not served until it is restored. */
function mark(copy: DatabaseSync, madeAt: number): void {
  copy.prepare('UPDATE installation SET is_backup = 1, backed_up_at = ?').run(madeAt);
}

function logSize(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
