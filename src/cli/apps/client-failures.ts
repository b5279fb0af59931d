/** `client failures`: the refused requests of an app; and their lines in `client show`. */
import { FAILURES_KEPT } from '../../oauth/activity/app-failure.ts';
import type { FoundActivity } from '../../operator/apps/app-activity.ts';
import { activityJson, type FailureJson, lastDayJson, type TallyJson } from '../../operator/json/activity.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import { type Moment, readLimit, readMoment, timeOf } from '../input/shared-options.ts';
import { type Column, table } from '../output/table.ts';
import { exactDay, exactTime, readableTime } from '../output/time.ts';
import type { MoreOfClient } from './client-view.ts';

type Options = { since: Moment; limit: number };

/** Adds the command. */
export function addFailures(client: CliCommand, run: CommandRun): void {
  client
    .leaf(
      'failures <app>',
      'Show the refused requests of an app, newest first. Those of the last ten seconds may be missing.',
      ['client failures app_6qm1v0t4y8d3k2xz', 'client failures "Acme Mail" --since 1h'],
    )
    .option(
      '--since <time>',
      'only failures since then: 24h ago by default, or a time such as 2026-11-24; counts begin with its hour or day',
      readMoment,
      readMoment('24h'),
    )
    .option('--limit <number>', 'the maximum number of failures', readLimit, FAILURES_KEPT)
    .acts(run, async ({ clients, appActivity }, app: string, { since, limit }: Options) => {
      const { id, name } = await clients.show(app);
      return failuresResult(id, name, await appActivity.find(id, timeOf(since, run.context.now()), limit), run.width);
    });
}

/** Returns the activity of the last 24 hours, for `client show`. */
export function lastDay(found: FoundActivity): MoreOfClient {
  const json = lastDayJson(found);
  const { last_24_hours: tally, last_failure: last } = json;
  return {
    json,
    fields: [
      ['Last 24 hours', countsLine(tally)],
      ['Last failure', last === null ? '' : `${exactTime(last.at)}, ${last.error}: ${last.reason}`],
    ],
  };
}

function failuresResult(id: string, name: string, found: FoundActivity, width: number): CommandResult {
  const json = activityJson(id, found);
  const { counted_since: since, tally, failures } = json;
  return {
    json,
    text: [
      `${name}: ${countsLine(tally)} since ${readableTime(since)} (counted by the ${found.span}).`,
      ...(failures.length === 0 ? [] : ['', ...table(COLUMNS, failures, width)]),
      ...(failures.length === 0 && tally.failures > 0 ? ['', UNPROVEN] : []),
    ],
  };
}

const COLUMNS: readonly Column<FailureJson>[] = [
  { heading: 'Time (UTC)', value: ({ at }) => exactDay(at) },
  { heading: 'Error', value: ({ error }) => error },
  { heading: 'Reason', value: ({ reason }) => reason },
  { heading: 'Endpoint', value: ({ endpoint }) => endpoint },
  { heading: 'Network', value: ({ network }) => network },
  { heading: 'Grant', value: ({ grant_id: grant }) => grant ?? '' },
  { heading: 'Request', value: ({ request_id: request }) => request },
];

/** Only authenticated requests have failures with reasons. */
const UNPROVEN =
  'No reason is recorded: these requests did not authenticate as the app, came before the time that you asked for, or are more than 30 days old. The log has a line for each, with this client ID.';

/** The numbers in words, such as `3 failures (invalid_grant 2, limited 1); refreshes 5`. */
function countsLine({
  failures,
  invalid_client,
  invalid_grant,
  invalid_request,
  limited,
  other,
  ...worked
}: TallyJson) {
  const causes = countsText({ invalid_client, invalid_grant, invalid_request, limited, other });
  const failed = `${failures === 0 ? 'no' : failures} ${failures === 1 ? 'failure' : 'failures'}`;
  return `${failed}${causes === '' ? '' : ` (${causes})`}; ${countsText(worked) || 'nothing else'}`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ');
}
