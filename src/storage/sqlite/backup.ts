/** A copy of a SQLite database that is in use, made by another process than the one that serves it. */
import { statSync } from 'node:fs';
import { backup, type DatabaseSync } from 'node:sqlite';
import { check } from '../check.ts';
import type { OpeningOptions } from '../opening.ts';
import type { BackupCopy, Finding } from '../storage.ts';
import { ownChecks } from './check.ts';
import { configure, connect, type Pragmas } from './connection.ts';
import { makeFile } from './database-file.ts';
import { plain } from './plain-database.ts';

/**
 * More pages than a database can have (2^32 - 2), within what SQLite takes: one step, which reads one state and never begins
 * anew, however much is written meanwhile. It runs on a thread.
 */
const ALL_PAGES = 2 ** 31 - 1;

/** Time between two looks at the size of the log (ms). */
const LOOK_EVERY_MS = 200;

/** A copy is one file, so that nothing of it is left behind in a log. */
const ONE_FILE: Pragmas = [['journal_mode', 'delete']];

/**
 * Copies the database at `path` to a file that is not there yet, with mode 0600; marks it as a backup made at `madeAt` (ms),
 * and checks it. `grows` gets the growth of the log in bytes, again and again: the log cannot begin anew while it is read.
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
    return await check(plain(copy), options, ownChecks(copy, ONE_FILE));
  } finally {
    copy.close();
  }
}

/** What it says of itself keeps it from being served before it was restored. */
function mark(copy: DatabaseSync, madeAt: number): void {
  copy.prepare('UPDATE installation SET is_backup = 1, backed_up_at = ?').run(madeAt);
}

function logSize(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
