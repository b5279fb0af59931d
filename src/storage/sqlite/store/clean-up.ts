/**
 * The clean-up in SQLite. A dead row never becomes alive again, so any number of processes may scan at the same time.
 */
import { CleanUp } from '../../clean-up/clean-up.ts';
import type { KeptTime } from '../../clean-up/clean-up-time.ts';
import { DYING } from '../../clean-up/dead-rows.ts';
import { rowKey } from '../../statements/row-key.ts';
import type { Tables } from '../statements/prepared-statements.ts';
import { DIALECT } from '../statements/sqlite-dialect.ts';
import { assertionClearing } from './client-assertions.ts';

/** Number of rows that a step reads. Even with 10,000,000 grants a step blocks the event loop for less than 1 ms. */
export const WINDOW = 64;
/** Maximum number of rows that a step deletes. */
export const DELETIONS = 8;

/** Returns the clean-up of one database. Times in ms. */
export function cleanUpOf(tables: Tables, kept: KeptTime, now: () => number): CleanUp {
  return new CleanUp({
    walks: DYING,
    givenId: DIALECT.givenId,
    select: async (sql, values) => tables.rows({ sql, values }),
    remove(keys, sql, values) {
      const touches = keys.map((key) => (typeof key === 'string' ? key : rowKey(key)));
      return tables.write(touches, () => tables.change({ sql, values }));
    },
    window: WINDOW,
    deletions: DELETIONS,
    stepEvery: 30,
    busyStepEvery: 6,
    marksAtOnce: 64,
    clearMarks: assertionClearing(tables),
    keptTime: kept,
    now,
  });
}
