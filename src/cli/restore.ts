/** `database restore`. */
import { OperatorError } from '../oauth/error.ts';
import type { Revived } from '../oauth/installation/since-backup.ts';
import { rootKeyName } from '../oauth/keys/root-key.ts';
import type { ReadTrail } from '../operator/backups.ts';
import { isoTime } from '../operator/json/time.ts';
import { CHECKPOINT, checkpointsIn } from './checkpoints.ts';
import { type CliCommand, WrongUse } from './command.ts';
import type { CommandRun } from './command-run.ts';
import type { Restored } from './context.ts';
import { counted } from './counted.ts';
import { YES, type YesOption } from './option.ts';
import { confirm } from './terminal-input.ts';
import { readableTime } from './time.ts';

type Options = YesOption & {
  keepTokens?: boolean;
  audit?: string;
  checkpoint?: string[];
  acceptTrail?: boolean;
  withoutAudit?: boolean;
  endRevived?: boolean;
};

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
    .option(
      '--audit <file>',
      'the newer audit trail, as "audit export" printed it: it is verified, and grants that ended since the backup end',
    )
    .option(...CHECKPOINT)
    .option('--accept-trail', 'take the trail although it is not what was recorded')
    .option(
      '--end-revived',
      'take away again what the trail says was taken away: pause apps, disable people, remove passwords',
    )
    .option('--without-audit', 'keep tokens though nobody knows what was revoked since the backup')
    .option(...YES)
    .action((file: string | undefined, options: Options) => restore(file, options, run));
}

async function restore(file: string | undefined, options: Options, run: CommandRun): Promise<void> {
  const { keepTokens = false, audit = null, withoutAudit = false, endRevived = false, yes = false } = options;
  const { checkpoint = [], acceptTrail = false } = options;
  if (keepTokens && audit === null && !withoutAudit) throw new OperatorError(UNKNOWN_SINCE);
  if (audit === null && (endRevived || acceptTrail || checkpoint.length > 0))
    throw new WrongUse('--end-revived, --checkpoint and --accept-trail need --audit, the newer trail');
  const checkpoints = await checkpointsIn(checkpoint, run);
  await confirm(run.context, question(file, keepTokens), yes);
  const asked = { file: file ?? null, keepTokens, audit, checkpoints, acceptTrail, endRevived };
  const restored = await run.context.database.restore(asked);
  run.print({ json: restoredJson(restored), text: restoredText(restored), note: notes(restored, checkpoints) });
}

const UNKNOWN_SINCE =
  'with --keep-tokens, grants that were revoked since the backup would go on: give the newer trail with --audit ("audit export" of the database before), or --without-audit if none was revoked';

function question(file: string | undefined, keepTokens: boolean): string {
  const what =
    file === undefined
      ? 'Take the database as an older one that was put in place'
      : `Put ${file} in the place of the database`;
  return `${what}? ${keepTokens ? 'Every code and session in it ends, and its grants go on' : 'Every grant, code and session in it ends'}.`;
}

const UNTOLD =
  'What was paused, disabled, deleted, retired or changed since the backup is as it was then: --audit lists it, and --end-revived takes it away again.';
const END_UNKNOWN =
  'Whether the end of the trail was cut off only a checkpoint tells that was kept elsewhere, such as in the log of the service: --checkpoint.';
const NEXT = 'Next: start the service.';

function notes({ trail }: Restored, checkpoints: readonly unknown[]): string[] {
  if (trail === null) return [UNTOLD, NEXT];
  return checkpoints.length === 0 ? [END_UNKNOWN, NEXT] : [NEXT];
}

function restoredJson({ madeAt, keptGrants, kept, revived, hasEndedRevived, earlierKey, trail }: Restored) {
  const read = trail && { events: trail.events, last_at: trail.lastAt && isoTime(trail.lastAt), wrong: trail.wrong };
  const things = revived.map((one) => ({ ...one, ended: hasEndedRevived && canEnd(one) }));
  const keys = earlierKey && { issues_with: rootKeyName(earlierKey.keyId), unused: rootKeyName(earlierKey.newer) };
  const made = { made_at: isoTime(madeAt), kept_grants: keptGrants, kept_database: kept };
  return { ...made, root_keys: keys, trail: read, revived: things };
}

function restoredText(restored: Restored): string[] {
  const { madeAt, keptGrants, kept, revived, hasEndedRevived, earlierKey, trail } = restored;
  return [
    `The database is restored${madeAt === null ? '' : `, as it was at ${readableTime(madeAt)}`}.`,
    endedText(keptGrants, trail !== null),
    ...(trail === null ? [] : [trailText(trail)]),
    ...(kept === null ? [] : [`What was there before is kept in ${kept}.`]),
    ...(earlierKey === null ? [] : [earlierKeyText(earlierKey)]),
    ...listed(revived.filter(canEnd), hasEndedRevived ? ENDED : REVIVED, hasEndedRevived ? endingWords : wordsOf),
    ...listed(
      revived.filter((one) => !canEnd(one)),
      KEYS,
      (one) => `"keys retire ${one.id}"`,
    ),
  ];
}

function earlierKeyText({ keyId, newer }: NonNullable<Restored['earlierKey']>): string {
  return `It issues with root key ${rootKeyName(keyId)}, as it did then, and no more with ${rootKeyName(newer)}, if that had taken over since: start the service, and "keys rotate".`;
}

function endedText(keptGrants: boolean, hasTrail: boolean): string {
  if (!keptGrants) return 'All grants, codes, sessions and invitations ended.';
  const but = hasTrail ? ', but for those that ended since by the newer trail ("grant list" shows them)' : '';
  return `Grants go on${but}; codes, sessions and invitations ended.`;
}

/** A root key may be needed to read what is in the backup. */
function canEnd({ kind }: Revived): boolean {
  return kind !== 'root_key';
}

function listed(revived: readonly Revived[], title: string, words: (one: Revived) => string): string[] {
  if (revived.length === 0) return [];
  return ['', title, ...revived.map((one) => `  ${KINDS[one.kind]} ${one.id}: ${words(one)}`)];
}

function trailText({ events, lastAt, wrong }: ReadTrail): string {
  const until = lastAt === null ? '' : `, up to ${readableTime(lastAt)}`;
  const found =
    wrong === 0
      ? 'is as it was recorded'
      : `is not what was recorded in ${counted(wrong, 'place')}, and was taken all the same`;
  return `The newer trail ${found}: ${counted(events, 'event')} since the backup${until}.`;
}

const REVIVED = 'What was taken away since the backup works again; the same command with --end-revived ends it:';
const ENDED = 'What was taken away since the backup is taken away again:';
const KEYS =
  'Root keys that were retired since the backup are good again. Start the service, "keys rotate" if one is current, and a day and a minute later:';
const KINDS: Readonly<Record<Revived['kind'], string>> = {
  client: 'app',
  resource_server: 'resource server',
  identity_provider: 'identity provider',
  user: 'user',
  root_key: 'root key',
};
const WORDS: Readonly<Record<Revived['what'], string>> = {
  itself: 'was deleted, and is there again',
  activity: 'was paused or disabled, and is active',
  secret: 'a secret that was retired is good again',
  password: 'the password is the one before',
  settings: 'something that was removed from its settings is there again, such as a redirect URI',
};

function wordsOf({ what }: Revived): string {
  return WORDS[what];
}

function endingWords({ kind, what }: Revived): string {
  if (kind === 'user') return what === 'password' ? 'has no password: "user invite"' : 'is disabled';
  return kind === 'resource_server' ? 'has no secret: "resource-server rotate-secret"' : 'is paused';
}
