/** `database`: brings the database up to date, checks it, and moves to another one. */
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import type { CheckResult, CopyOutcome } from '../command/context.ts';
import { ProgressLine } from '../command/progress.ts';
import { type Column, table } from '../output/table.ts';
import { addBackup } from './backup.ts';
import { addRestore } from './restore.ts';

/** Adds the commands about the database. */
export function addDatabaseCommands(program: CliCommand, run: CommandRun): void {
  const database = program.group('database', 'The database: bring it up to date, check it, move to another one.');
  database
    .leaf('migrate', 'Bring the database up to date with this version.', ['database migrate'])
    .action(async () => {
      const { applied } = await run.context.database.migrate();
      const text = applied.length === 0 ? ['The database is up to date.'] : applied.map((name) => `applied ${name}`);
      run.print({ json: { applied }, text });
    });
  database
    .leaf('check', 'Check the database, and that it matches the keys; exits 1 if something is wrong.', [
      'database check',
      'database check --json',
    ])
    .action(async () => {
      const results = await run.context.database.check();
      const wrong = results.filter(({ ok }) => !ok).length;
      run.print({
        json: results.map(({ name, ok, detail, isWarning = false }) => ({ name, ok, warning: isWarning, detail })),
        text: table(CHECKS, results, run.width),
        ...(wrong > 0 ? { note: `valetkey: ${wrong} of ${results.length} checks failed`, exitCode: 1 } : {}),
      });
    });
  database
    .leaf(
      'adopt-settings',
      "Record this instance's address of the pages and its lifetimes as those of the installation. Set the same on every instance.",
      ['database adopt-settings'],
    )
    .action(async () => {
      const changed = await run.context.database.adoptSettings();
      const rows = changed.map(({ variable, recorded, own }) => `${variable}: ${recorded} became ${own}`);
      run.print({
        json: changed.map(({ variable, recorded, own }) => ({ variable, before: recorded, now: own })),
        text: rows.length === 0 ? ['The recorded settings are the same already.'] : rows,
      });
    });
  addCopy(database, run);
  addBackup(database, run);
  addRestore(database, run);
}

const CHECKS: readonly Column<CheckResult>[] = [
  { heading: 'Result', value: ({ ok, isWarning = false }) => (ok ? (isWarning ? 'warning' : 'ok') : 'WRONG') },
  { heading: 'Check', value: ({ name }) => name },
  { heading: 'Found', value: ({ detail }) => detail },
];

function addCopy(database: CliCommand, run: CommandRun): void {
  database
    .leaf(
      'copy <from> <to>',
      'Copy an installation from SQLite to PostgreSQL or back. All issued tokens stay valid. Stop the service first; if the copy is interrupted, run it again.',
      ['database copy sqlite:data/valetkey.db postgres://valetkey@db.example/valetkey'],
    )
    .action(async (from: string, to: string) => {
      const progress = new ProgressLine(run.context);
      const report = run.json ? () => {} : progress.show.bind(progress);
      const outcome = await run.context.database.copy(from, to, report).finally(() => progress.end());
      run.print(copied(outcome, run.width));
    });
}

const COPIED: readonly Column<NonNullable<CopyOutcome['tables']>[number]>[] = [
  { heading: 'Table', value: (each) => each.table },
  { heading: 'Rows', value: ({ rows }) => String(rows) },
];

function copied({ from, to, tables }: CopyOutcome, width: number): CommandResult {
  const json = { from, to, copied: tables !== null, tables: tables ?? [] };
  if (tables === null)
    return {
      json,
      text: [
        `${to} holds this installation already, from an earlier copy: nothing was copied.`,
        `Later changes in ${from} are not in it.`,
      ],
    };
  const text = [
    ...table(COPIED, tables, width),
    '',
    `All rows are copied, and identical in ${from} and ${to}.`,
    'Next: set VALETKEY_DATABASE_URL to the new database, start the service, and move the old database away.',
  ];
  return { json, text };
}
