/** The size of reads, counted where the drivers of both stores hand rows over. */
import { StatementSync } from 'node:sqlite';
import pg from 'pg';

type Query = (this: pg.Client, asked: unknown, ...more: unknown[]) => unknown;

/** Returns the largest number of rows that one statement returned while something ran, and its text. */
export async function largestRead(run: () => Promise<unknown>): Promise<{ rows: number; sql: string }> {
  let largest = { rows: 0, sql: '' };
  const note = (sql: string, rows: number) => {
    if (rows > largest.rows) largest = { rows, sql };
  };
  const { all } = StatementSync.prototype;
  const query = pg.Client.prototype.query as Query;
  StatementSync.prototype.all = function (this: StatementSync, ...values: never[]) {
    const rows = all.apply(this, values as never);
    note(this.sourceSQL, rows.length);
    return rows;
  };
  pg.Client.prototype.query = function (this: pg.Client, asked: unknown, ...more: unknown[]) {
    const answer = more.at(-1);
    if (typeof answer !== 'function') return query.call(this, asked, ...more);
    const noted = (error: unknown, result?: pg.QueryResult) => {
      note(typeof asked === 'string' ? asked : String((asked as { text: string }).text), result?.rows?.length ?? 0);
      answer(error, result);
    };
    return query.call(this, asked, ...more.slice(0, -1), noted);
  } as never;
  try {
    await run();
  } finally {
    StatementSync.prototype.all = all;
    pg.Client.prototype.query = query as never;
  }
  return largest;
}
