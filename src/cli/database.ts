/** `database`: bringing the store up to date, and looking whether it is sound. */
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';
import { table } from './table.ts';

/** Adds the commands about the database. */
export function addDatabaseCommands(program: CliCommand, run: CommandRun): void {
  const database = program.group('database', 'The database: bring it up to date, check it.');
  database
    .leaf('migrate', 'Bring the database up to date with this version.', ['database migrate'])
    .action(async () => {
      const { applied } = await run.context.database.migrate();
      const text = applied.length === 0 ? ['The database is up to date.'] : applied.map((name) => `applied ${name}`);
      run.print({ json: { applied }, text });
    });
  database
    .leaf('check', 'Check that the database is sound and fits the keys; exits 1 if something is wrong.', [
      'database check',
      'database check --json',
    ])
    .action(async () => {
      const results = await run.context.database.check();
      const rows = results.map(({ name, ok, detail }) => [ok ? 'ok' : 'WRONG', name, detail]);
      const wrong = results.filter(({ ok }) => !ok).length;
      run.print({
        json: results,
        text: table(['Result', 'Check', 'Found'], rows, run.width),
        ...(wrong > 0
          ? { note: `valetkey: ${wrong} of ${results.length} checks found something wrong`, exitCode: 1 }
          : {}),
      });
    });
}
