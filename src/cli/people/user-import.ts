/** `user import`: imports users from a file, and reports the outcome of each line. */
import type { ImportReport } from '../../accounts/import/user-import.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import { piecesOf } from '../input/file-pieces.ts';
import { type Column, card, table } from '../output/table.ts';

type ImportOptions = { dryRun?: boolean; status?: boolean };

/** Number of hashes that a processor wraps in a minute, roughly. */
const WRAPPED_A_MINUTE = 3000;

/** Adds the command to those about users. */
export function addImportCommand(user: CliCommand, run: CommandRun): void {
  user
    .leaf(
      'import [file]',
      'Import users from another system with their password hashes, as JSON lines or CSV. If it is interrupted, run it again. Exits 1 if a line was refused.',
      ['user import people.csv --dry-run', 'user import people.jsonl', 'user import --status'],
    )
    .option('--dry-run', 'show what would happen to each line, and change nothing')
    .option('--status', 'show the number of imported hashes, and how many cannot be used yet')
    .action(
      async (file: string | undefined, { dryRun = false, status = false }: ImportOptions, command: CliCommand) => {
        if ((file === undefined) !== status) command.error('name a file, or give --status');
        await run.withInstallation(
          async ({ imports, operator }) => {
            if (file === undefined) return statusOf(await imports.status());
            const report = await imports.run(
              piecesOf(file, 'importing', 'JSON lines or CSV', run),
              { dryRun },
              operator,
            );
            return reported(report, dryRun, run.width);
          },
          { mayCreate: file !== undefined && !dryRun },
        );
      },
    );
}

function reported(report: ImportReport, dryRun: boolean, width: number): CommandResult {
  const { imported, skipped, refused, left, hashes } = report;
  const json = {
    dry_run: dryRun,
    imported,
    skipped,
    refused,
    hashes: hashes.map((each) => ({ function: each.function, hashes: each.hashes, waiting: each.wait })),
    lines: left,
  };
  // A second import of the same file skips all its people: they are not listed.
  const shown = dryRun ? left : left.filter(({ outcome }) => outcome === 'refused');
  const text = [
    ...(shown.length === 0 ? [] : [...table(COLUMNS, shown, width), '']),
    ...card([
      [dryRun ? 'Would be imported' : 'Imported', String(imported)],
      ['Skipped', skipped === 0 ? '' : `${skipped} (already here)`],
      ['Refused', refused === 0 ? '' : String(refused)],
      [
        'Password hashes',
        hashes.map((each) => `${each.hashes} of ${each.function}${each.wait ? '' : ', usable at once'}`),
      ],
    ]),
    ...hints(report, dryRun),
  ];
  return { json, text, exitCode: refused === 0 ? 0 : 1 };
}

const COLUMNS: readonly Column<ImportReport['left'][number]>[] = [
  { heading: 'Line', value: ({ line }) => String(line) },
  { heading: 'Outcome', value: ({ outcome }) => outcome },
  { heading: 'Reason', value: ({ reason }) => reason },
];

function hints({ hashes, readsOnly72 }: ImportReport, dryRun: boolean): string[] {
  const waiting = hashes.filter(({ wait }) => wait).reduce((sum, each) => sum + each.hashes, 0);
  const lines: string[] = [];
  if (waiting > 0 && !dryRun)
    lines.push(
      `The running service wraps ${waiting} of them in its own hash (about ${minutes(waiting)}). Their users can sign in`,
      'only after that: "user import --status" shows the progress.',
    );
  if (readsOnly72)
    lines.push('bcrypt reads only the first 72 bytes of a password. Only these count until the first sign-in.');
  return lines.length === 0 ? [] : ['', ...lines];
}

function minutes(waiting: number): string {
  return `${Math.ceil(waiting / WRAPPED_A_MINUTE)} min of one processor`;
}

function statusOf({ foreign, unwrapped }: { readonly foreign: number; readonly unwrapped: number }): CommandResult {
  const json = { imported_hashes: foreign, wrapped: foreign - unwrapped, waiting: unwrapped };
  if (foreign === 0) return { json, text: ["Every password has Valetkey's own hash."] };
  const waiting = unwrapped === 0 ? '0' : `${unwrapped}, about ${minutes(unwrapped)} while the service runs`;
  const text = [
    ...card([
      ['Imported hashes', String(foreign)],
      ['Usable for sign-in', String(foreign - unwrapped)],
      ['Waiting', waiting],
    ]),
    '',
    "Valetkey replaces each imported hash at its user's next sign-in. Until none is left, every sign-in takes as long as the slowest of them.",
  ];
  return { json, text };
}
