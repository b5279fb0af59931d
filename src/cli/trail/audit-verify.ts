/** `audit verify`: verifies the audit trail. */

import type { VerifiedTrail } from '../../operator/trail/audit-trail.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { ProgressLine } from '../command/progress.ts';
import { numberWithUnit } from '../output/number-with-unit.ts';
import { CHECKPOINT, checkpointsIn } from './read-checkpoints.ts';

/** Adds the command. */
export function addAuditVerify(audit: CliCommand, run: CommandRun): void {
  audit
    .leaf(
      'verify',
      'Verify that no event was changed, added, moved or removed; exits 1 if one was. Only a checkpoint that was kept elsewhere can show that the end is missing.',
      ['audit verify', 'audit verify --checkpoint /var/log/valetkey.log'],
    )
    .option(...CHECKPOINT)
    .acts(run, (installation, { checkpoint = [] }: { checkpoint?: string[] }) => verify(installation, checkpoint, run));
}

async function verify({ auditTrail }: Installation, given: readonly string[], run: CommandRun): Promise<CommandResult> {
  const checkpoints = await checkpointsIn(given, run);
  const progress = new ProgressLine(run.context);
  const report = (rows: number, of: number) => {
    if (!run.json && of > MIN_PROGRESS_EVENTS) progress.show({ step: 'verifying', rows, of, unit: 'events' });
  };
  const found = await auditTrail.verify(checkpoints, report).finally(() => progress.end());
  return verified(found);
}

/** Minimum number of events for which progress is shown. */
const MIN_PROGRESS_EVENTS = 50_000;

function verified(found: VerifiedTrail) {
  const { state, seen, leftOver, chains, checkpoints, covered, uncovered, uncompared, wrong, problems } = found;
  const { checkpoint, publicKey } = found;
  const json = {
    ok: wrong === 0,
    events: seen,
    events_left_over: leftOver,
    last_event: state.upTo,
    chains,
    checkpoints,
    checkpoints_not_compared: uncompared,
    covered: covered && { event: covered.upTo, at: new Date(covered.at).toISOString() },
    events_not_covered: uncovered,
    wrong,
    problems: problems.map(({ event, sentence }) => ({ event, problem: sentence })),
    checkpoint,
    checkpoint_public_key: publicKey,
  };
  const what = `${numberWithUnit(seen, 'event')} in ${numberWithUnit(chains, 'chain')}, compared with ${numberWithUnit(checkpoints, 'checkpoint')}`;
  if (wrong > 0)
    return {
      json,
      text: [
        ...problems.map(({ sentence }) => `WRONG  ${sentence}`),
        ...more(wrong - problems.length),
        what,
        ...limits(found),
      ],
      note: 'valetkey: the audit trail failed its verification: keep a copy of the database, and compare it with your exports',
      exitCode: 1,
    };
  const kept = checkpoint === null ? [] : ['', 'Keep this checkpoint elsewhere, for later verifications:', checkpoint];
  return { json, text: [`The audit trail is intact: ${what}.`, ...limits(found), ...kept] };
}

/** The limits of the verification, a line each. */
function limits({ covered, seen, uncovered, leftOver, uncompared }: VerifiedTrail): string[] {
  const since = covered
    ? `the newest checkpoint in the trail is of ${new Date(covered.at).toISOString()} and covers events up to ${covered.upTo}`
    : 'there is no checkpoint in the trail';
  return [
    ...(seen === 0
      ? []
      : [
          `Not covered: ${numberWithUnit(uncovered, 'event')}, of which the last could be missing unnoticed; ${since}.`,
        ]),
    ...(uncompared === 0
      ? []
      : [`Not compared: ${numberWithUnit(uncompared, 'checkpoint')} from before the oldest retained event.`]),
    ...(leftOver === 0
      ? []
      : [
          `Not verified: ${numberWithUnit(leftOver, 'event')} past the retention, about to be deleted; they prove nothing.`,
        ]),
  ];
}

function more(number: number): string[] {
  return number > 0 ? [`… and ${number} more`] : [];
}
