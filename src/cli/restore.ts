/** `database restore`. */
import { OperatorError } from '../oauth/error.ts';
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';
import type { Restored } from './context.ts';
import { YES, type YesOption } from './option.ts';
import { confirm } from './terminal-input.ts';
import { isoTime, readableTime } from './time.ts';

type Options = YesOption & { keepTokens?: boolean; withoutAudit?: boolean };

/** Adds the command that restores. */
export function addRestore(database: CliCommand, run: CommandRun): void {
  database
    .leaf(
      'restore [file]',
      'Put a backup in the place of the database, or without a file take the one that is there as restored (pg_restore): what was revoked since must not come back, so that every grant, code and session in it ends. Stop the service first.',
      ['database restore /backup/valetkey.db', 'database restore'],
    )
    .option(
      '--keep-tokens',
      'let grants go on: then what was revoked or replaced since must be known, or told to be of no matter',
    )
    .option('--without-audit', 'keep tokens though nobody knows what was revoked since the backup')
    .option(...YES)
    .action(async (file: string | undefined, { keepTokens = false, withoutAudit = false, yes = false }: Options) => {
      if (keepTokens && !withoutAudit) throw new OperatorError(UNKNOWN_SINCE);
      await confirm(run.context, question(file, keepTokens), yes);
      const restored = await run.context.database.restore({ file: file ?? null, keepTokens });
      run.print({ json: restoredJson(restored), text: restoredText(restored), note: NEXT });
    });
}

const UNKNOWN_SINCE =
  'with --keep-tokens, grants that were revoked since the backup would go on: give --without-audit if none was, or leave --keep-tokens out, which ends all';

function question(file: string | undefined, keepTokens: boolean): string {
  const what =
    file === undefined
      ? 'Take the database as an older one that was put in place'
      : `Put ${file} in the place of the database`;
  return `${what}? ${keepTokens ? 'Every code and session in it ends, and its grants go on' : 'Every grant, code and session in it ends'}.`;
}

const NEXT =
  'Next: start the service. What was paused, disabled, deleted or rotated since the backup is as it was then: "audit list" of the database before says what.';

function restoredJson({ madeAt, keptGrants, kept }: Restored) {
  return { made_at: isoTime(madeAt), kept_grants: keptGrants, kept_database: kept };
}

function restoredText({ madeAt, keptGrants, kept }: Restored): string[] {
  return [
    `The database is restored${madeAt === null ? '' : `, as it was at ${readableTime(madeAt)}`}.`,
    keptGrants
      ? 'Grants go on; codes, sessions and invitations ended.'
      : 'All grants, codes, sessions and invitations ended.',
    ...(kept === null ? [] : [`The database before it is kept in ${kept}.`]),
  ];
}
