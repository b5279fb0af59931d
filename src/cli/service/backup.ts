/** `database backup` and `database note-backup`. */
import type { BackupAsked, BackupMade } from '../../backup/backup.ts';
import { isoTime } from '../../operator/json/time.ts';
import { type CliCommand, WrongUse } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import { readLimit } from '../input/shared-options.ts';
import { readableTime } from '../output/time.ts';

/** Growth of the write-ahead log at which the command warns (bytes): while a backup is made, the log cannot be shortened. */
const LONG_LOG = 256 * 2 ** 20;

type BackupOptions = { replace?: boolean; into?: string; keep?: number; passphraseFile?: string };

/** Adds the commands that make backups. */
export function addBackup(database: CliCommand, run: CommandRun): void {
  database
    .leaf('backup [file]', 'Make a backup of a SQLite database while the service runs, and check it.', [
      'database backup /backup/valetkey.db',
      'database backup --into /backup --keep 14',
      'database backup --into /backup --keep 14 --passphrase-file /etc/valetkey/backup-passphrase',
    ])
    .option('--replace', 'replace an existing file of this name, once the new one is complete')
    .option('--into <folder>', 'write it to this folder, under a new name')
    .option('--keep <number>', 'the number of backups to keep in the folder: older ones are removed', readLimit)
    .option('--passphrase-file <path>', 'encrypt it under the passphrase in this file, for "gpg --decrypt"')
    .action(async (file: string | undefined, options: BackupOptions) => {
      let isTold = false;
      const made = await run.context.database.backUp(asked(file, options), (grown) => {
        if (grown > LONG_LOG && !isTold) run.context.stderr.write(`${longLog(grown)}\n`);
        isTold ||= grown > LONG_LOG;
      });
      run.print({ json: backupJson(made), text: backupText(made), note: KEYS_APART });
    });
  database
    .leaf('note-backup', 'Record that a backup was made by other means, such as pg_dump; "audit list" shows it.', [
      'database note-backup',
    ])
    .action(async () => {
      const at = await run.context.database.noteBackup();
      run.print({
        json: { backed_up_at: isoTime(at) },
        text: [`Recorded a backup that was made at ${readableTime(at)}.`],
      });
    });
}

/** Reads the options: either a file or a folder must be named. */
function asked(file: string | undefined, { replace = false, into, keep, ...rest }: BackupOptions): BackupAsked {
  const passphraseFile = rest.passphraseFile ?? null;
  if ((file === undefined) === (into === undefined)) throw new WrongUse('name a file, or a folder with --into');
  if (into === undefined) {
    if (keep !== undefined) throw new WrongUse('--keep is for the backups of a folder: give --into');
    return { to: { file: file as string }, replace, passphraseFile };
  }
  if (keep === undefined) throw new WrongUse('--into needs --keep, the number of backups to keep, such as --keep 14');
  return { to: { folder: into, keep }, replace, passphraseFile };
}

const KEYS_APART =
  'The backup does not include the root keys. Back the keys file up apart from it: anybody with both can act for every user.';

function longLog(bytes: number): string {
  return `valetkey: the write-ahead log grew by ${megabytes(bytes)} during the backup: make sure that the disk has room, or back up at a quieter hour`;
}

function backupJson({ file, bytes, sha256, madeAt, logGrowth, seconds, isEncrypted, removed }: BackupMade) {
  const own = { file, bytes, sha256, encrypted: isEncrypted, made_at: isoTime(madeAt) };
  return { ...own, log_growth_bytes: logGrowth, seconds, removed };
}

function backupText({ file, bytes, sha256, logGrowth, seconds, isEncrypted, removed }: BackupMade): string[] {
  return [
    `The backup is in ${file}: ${megabytes(bytes)}, checked${isEncrypted ? ' and encrypted' : ''}, in ${seconds.toFixed(1)} s.`,
    `SHA-256 ${sha256}`,
    ...(logGrowth > 0 ? [`The write-ahead log grew by ${megabytes(logGrowth)} meanwhile.`] : []),
    ...removed.map((older) => `Removed ${older}.`),
  ];
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
