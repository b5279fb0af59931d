/**
 * Loaded before the program (`--import`): kills the process at a step. KILLED_AT is a regular expression of the statement
 * or of the call, KILLED_WHEN says whether that is to have happened: a statement has, once it is committed.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import pg from 'pg';

const at = new RegExp(process.env['KILLED_AT'] ?? '$.');
const isAfter = process.env['KILLED_WHEN'] === 'after';
/** Whether a transaction is open, and whether the statement was run in it. */
let [isOpen, isRun] = [false, false];

function end(): never {
  process.kill(process.pid, 'SIGKILL');
  for (;;); // Nothing more happens until the signal is there.
}

function begins(sql: string): void {
  if (/^\s*BEGIN/.test(sql)) isOpen = true;
  if (/^\s*COMMIT/.test(sql) && isRun && !isAfter) end();
  if (at.test(sql) && !isOpen && !isAfter) end();
}

function ended(sql: string): void {
  isRun ||= at.test(sql);
  if (/^\s*(COMMIT|ROLLBACK|END)/.test(sql)) isOpen = false;
  if (isRun && !isOpen && isAfter) end();
}

const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql) {
  begins(sql);
  exec.call(this, sql);
  ended(sql);
};
const { run } = StatementSync.prototype;
StatementSync.prototype.run = function (this: StatementSync, ...values: Parameters<typeof run>) {
  begins(this.sourceSQL);
  const result = run.apply(this, values);
  ended(this.sourceSQL);
  return result;
} as typeof run;

type Answered = (error: Error | null, result: unknown) => void;
type Ask = (asked: string | { text: string }, ...more: unknown[]) => unknown;
const client = pg.Client.prototype as unknown as { query: Ask };
const { query } = client;
/** Statements are asked with a callback behind their values, or for a promise. */
client.query = function (asked, ...more) {
  const sql = typeof asked === 'string' ? asked : asked.text;
  begins(sql);
  const told = more.at(-1);
  if (typeof told === 'function') {
    const answered: Answered = (error, result) => {
      if (!error) ended(sql);
      (told as Answered)(error, result);
    };
    return query.call(this, asked, ...more.slice(0, -1), answered);
  }
  return (query.call(this, asked, ...more) as Promise<unknown>).then((result) => {
    ended(sql);
    return result;
  });
};

/** Calls that change files: each is told of by its name and the names of its files. */
for (const call of ['renameSync', 'linkSync', 'writeFileSync', 'rmSync'] as const) {
  const original = fs[call] as (...given: unknown[]) => void;
  fs[call] = ((...given: unknown[]) => {
    const files = given.filter((one) => typeof one === 'string').map((path) => basename(path));
    const isIt = at.test(`${call.replace('Sync', '')} ${files.join(' ')}`);
    if (isIt && !isAfter) end();
    original(...given);
    if (isIt) end();
  }) as never;
}
syncBuiltinESMExports();
