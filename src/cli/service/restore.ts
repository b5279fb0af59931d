/** `database restore`. */
import { OperatorError } from '../../oauth/error.ts';
import type { Revived } from '../../oauth/installation/since-backup.ts';
import { rootKeyName } from '../../oauth/keys/root-key.ts';
import type { ReadTrail } from '../../operator/installation/backups.ts';
import { isoTime } from '../../operator/json/time.ts';
import { type CliCommand, WrongUse } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import type { Restored } from '../command/context.ts';
import { confirm } from '../input/confirm.ts';
import { numberWithUnit } from '../output/number-with-unit.ts';
import { readableTime } from '../output/time.ts';
import { CHECKPOINT, checkpointsIn } from '../trail/read-checkpoints.ts';

type Options = {
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
      'Replace the database with a backup. Without a file, treat the current database as a restored backup (pg_restore). Every grant, code and session in it ends, so that nothing revoked since the backup comes back. Stop the service first.',
      ['database restore /backup/valetkey.db', 'database restore'],
    )
    .option('--keep-tokens', 'keep the grants; needs --audit or --without-audit')
    .option(
      '--audit <file>',
      'the newer audit trail, from "audit export": it is verified, and grants that ended since the backup end again',
    )
    .option(...CHECKPOINT)
    .option('--accept-trail', 'use the trail even if its verification fails')
    .option(
      '--end-revived',
      'withdraw again what the trail records as withdrawn: pause apps, disable users and operators, remove passwords and passkeys',
    )
    .option('--without-audit', 'keep the grants without a trail: grants revoked since the backup work again')
    .action((file: string | undefined, options: Options) => restore(file, options, run));
}

async function restore(file: string | undefined, options: Options, run: CommandRun): Promise<void> {
  const { keepTokens = false, audit = null, withoutAudit = false, endRevived = false } = options;
  const { checkpoint = [], acceptTrail = false } = options;
  if (keepTokens && audit === null && !withoutAudit) throw new OperatorError(UNKNOWN_SINCE);
  if (audit === null && (endRevived || acceptTrail || checkpoint.length > 0))
    throw new WrongUse('--end-revived, --checkpoint and --accept-trail need --audit, the newer trail');
  const checkpoints = await checkpointsIn(checkpoint, run);
  const asked = { file: file ?? null, keepTokens, audit, checkpoints, acceptTrail, endRevived };
  const restored = await run.context.database.restore(asked, () =>
    confirm(run, 'database restore', actOn(file), whatEnds(keepTokens)),
  );
  run.print({ json: restoredJson(restored), text: restoredText(restored), note: notes(restored, checkpoints) });
}

const UNKNOWN_SINCE =
  '--keep-tokens would keep grants that were revoked since the backup: give the newer trail with --audit (from "audit export"), or --without-audit if none was revoked';

function actOn(file: string | undefined): string {
  return file === undefined ? 'Treat the current database as a restored backup' : `Replace the database with ${file}`;
}

function whatEnds(keepTokens: boolean): string {
  return keepTokens
    ? 'Every code and session in it ends, and its grants stay'
    : 'Every grant, code and session in it ends';
}

const UNTOLD =
  'Everything paused, disabled, deleted, retired or changed since the backup is as it was then. --audit lists these changes, and --end-revived repeats the withdrawals.';
const END_UNKNOWN =
  'The end of the trail may be missing. To check, give --checkpoint with a checkpoint that was kept elsewhere, such as in the log of the service.';
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
    ...(kept === null ? [] : [`The previous database is kept in ${kept}.`]),
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
  return `The restored database issues with root key ${rootKeyName(keyId)}, not with the newer ${rootKeyName(newer)}. Start the service, then run "keys rotate".`;
}

function endedText(keptGrants: boolean, hasTrail: boolean): string {
  if (!keptGrants) return 'All grants, codes, sessions and invitations ended.';
  const but = hasTrail ? ', except those that ended since by the newer trail ("grant list" shows the rest)' : '';
  return `Grants are kept${but}; codes, sessions and invitations ended.`;
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
      ? 'passed its verification'
      : `failed its verification in ${numberWithUnit(wrong, 'place')}, and was used all the same`;
  return `The newer trail ${found}: ${numberWithUnit(events, 'event')} since the backup${until}.`;
}

const REVIVED =
  'These work again, although they were withdrawn after the backup. The same command with --end-revived withdraws them again:';
const ENDED = 'These were withdrawn after the backup, and are withdrawn again:';
const KEYS =
  'These root keys work again, although they were retired after the backup. Start the service, run "keys rotate" if one of them is current, and a day and a minute later run:';
const KINDS: Readonly<Record<Revived['kind'], string>> = {
  client: 'app',
  resource_server: 'resource server',
  identity_provider: 'identity provider',
  user: 'user',
  operator: 'operator',
  root_key: 'root key',
};
const WORDS: Readonly<Record<Revived['what'], string>> = {
  itself: 'was deleted, and exists again',
  activity: 'was paused or disabled, and is active',
  secret: 'a retired secret works again',
  password: 'the earlier password works again',
  passkeys: 'the earlier passkeys work again',
  settings: 'a removed setting is back, such as a redirect URI',
};
const WORDS_OF_OPERATORS: { readonly [what in Revived['what']]?: string } = {
  secret: 'the keys that ended work again, if there were any',
  settings: 'has the earlier, higher role',
};

function wordsOf({ kind, what }: Revived): string {
  return (kind === 'operator' && WORDS_OF_OPERATORS[what]) || WORDS[what];
}

function endingWords({ kind, what }: Revived): string {
  if (kind === 'user') return what === 'password' ? 'has no password: "user invite"' : 'is disabled';
  if (kind === 'operator')
    return what === 'passkeys' ? 'has no passkey: "operator reset"' : 'is disabled, without keys';
  return kind === 'resource_server' ? 'has no secret: "resource-server rotate-secret"' : 'is paused';
}
