/** `database backup` and `database note-backup`. */
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';
import type { BackupMade } from './context.ts';
import { isoTime, readableTime } from './time.ts';

/** The log of the service may grow by so many bytes before that is said: what is written meanwhile stays in it. */
const LONG_LOG = 256 * 2 ** 20;

/** Adds the commands that make backups. */
export function addBackup(database: CliCommand, run: CommandRun): void {
  database
    .leaf('backup <file>', 'Make a backup of a SQLite database while the service runs, and check it.', [
      'database backup /backup/valetkey.db',
      'database backup /backup/valetkey.db --replace --json',
    ])
    .option('--replace', 'take the place of a file of this name, once the new one is whole')
    .action(async (file: string, { replace = false }: { replace?: boolean }) => {
      let isTold = false;
      const made = await run.context.database.backUp({ file, replace }, (grown) => {
        if (grown > LONG_LOG && !isTold) run.context.stderr.write(`${longLog(grown)}\n`);
        isTold ||= grown > LONG_LOG;
      });
      run.print({ json: backupJson(made), text: backupText(made), note: KEYS_APART });
    });
  database
    .leaf('note-backup', 'Note that a backup was made by other means, such as pg_dump; "audit list" shows it.', [
      'database note-backup',
    ])
    .action(async () => {
      const at = await run.context.database.noteBackup();
      run.print({
        json: { backed_up_at: isoTime(at) },
        text: [`Noted that a backup was made at ${readableTime(at)}.`],
      });
    });
}

const KEYS_APART =
  'The root keys are not in it: back the keys file up apart from it, since who has both can act for every user.';

function longLog(bytes: number): string {
  return `valetkey: the log of the database grew by ${megabytes(bytes)} while it is copied: the disk must have room for it, and a quieter hour makes it shorter`;
}

function backupJson({ file, bytes, sha256, madeAt, logGrowth, seconds }: BackupMade) {
  return { file, bytes, sha256, made_at: isoTime(madeAt), log_growth_bytes: logGrowth, seconds };
}

function backupText({ file, bytes, sha256, logGrowth, seconds }: BackupMade): string[] {
  return [
    `The backup is in ${file}: ${megabytes(bytes)}, checked, in ${seconds.toFixed(1)} s.`,
    `SHA-256 ${sha256}`,
    ...(logGrowth > 0 ? [`The log of the database grew by ${megabytes(logGrowth)} meanwhile.`] : []),
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
