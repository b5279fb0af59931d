/** `audit`: lists, verifies and exports the audit trail. */
import { InvalidArgumentError } from 'commander';
import { OperatorError } from '../../oauth/error.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../../oauth/trail/audit.ts';
import { eventJson } from '../../operator/json/event.ts';
import type { CliCommand } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import type { Installation } from '../command/context.ts';
import { DEFAULT_LIMIT, type Moment, readLimit, readMoment, timeOf, whereItEnds } from '../input/shared-options.ts';
import { addAuditExport } from './audit-export.ts';
import { addAuditVerify } from './audit-verify.ts';
import { eventCard, eventLines } from './audit-view.ts';

type ListOptions = {
  since?: Moment;
  client?: string;
  user?: string;
  key?: string;
  action?: AuditAction;
  limit: number;
};

/** Adds the commands about the audit trail. */
export function addAuditCommands(program: CliCommand, run: CommandRun): void {
  const audit = program.group('audit', 'The audit trail: every change of access, and who made it.');
  audit
    .leaf('list', 'List events, newest first.', [
      'audit list --since 2h',
      'audit list --client app_6qm1v0t4y8d3k2xz --action refresh_reuse',
      'audit list --user ada@example.com --json',
      'audit list --key opk_6qm1v0t4y8d3k2xz',
    ])
    .option('--since <time>', 'only events since then: 2h or 7d ago, or a time such as 2026-11-24T09:30', readMoment)
    .option('--client <app>', 'only events about this app (ID or name), resource server or identity provider')
    .option('--user <user>', 'only events about this user, named as in "user show"')
    .option('--key <key>', 'only acts with this key of an operator: its ID, as in "operator key list"')
    .option('--action <name>', 'only events with this action, such as client_updated', readAction)
    .option('--limit <number>', 'the maximum number of events', readLimit, DEFAULT_LIMIT)
    .acts(run, (installation, options: ListOptions) => list(installation, options, run));
  audit
    .leaf('show <number>', 'Show one event in full, by its number in "audit list".', ['audit show 1042'])
    .acts(run, (installation, number: string) => show(installation, number));
  addAuditVerify(audit, run);
  addAuditExport(audit, run);
}

async function list(installation: Installation, options: ListOptions, run: CommandRun) {
  const { since, client, user, key, action, limit } = options;
  const events = await installation.audit.listNamedAuditEvents({
    limit,
    ...(since === undefined ? {} : { since: timeOf(since, run.context.now()) }),
    ...(client === undefined ? {} : { clientId: (await installation.clients.find(client))?.id ?? client }),
    ...(user === undefined ? {} : { resourceOwnerId: await accountId(installation, user) }),
    ...(key === undefined ? {} : { actorBy: key }),
    ...(action === undefined ? {} : { action }),
  });
  return {
    json: events.map(eventJson),
    text: events.length === 0 ? nothing(options) : eventLines(events, run.width),
    ...whereItEnds(events, limit),
  };
}

async function show({ audit }: Installation, number: string) {
  const sequence = /^[1-9][0-9]{0,14}$/.test(number) ? Number(number) : 0;
  const [event] = await audit.listNamedAuditEvents({ sequence, limit: 1 });
  if (!event) throw new OperatorError(`there is no event ${JSON.stringify(number)}: "audit list" shows the numbers`);
  return { json: eventJson(event), text: eventCard(event) };
}

/** Does not check that the id exists: what was deleted has events too. */
function nothing({ since, client, user }: ListOptions): string[] {
  const lists = [client && '"client list" or "resource-server list"', user && '"user list"'].filter(Boolean);
  const hint = lists.length > 0 ? [`If you expected events, compare the ID with ${lists.join(' and ')}.`] : [];
  return [since === undefined ? 'No such events yet.' : 'No such events since then.', ...hint];
}

function readAction(text: string): AuditAction {
  const action = AUDIT_ACTIONS.find((name) => name === text);
  if (!action) throw new InvalidArgumentError(`give one of ${AUDIT_ACTIONS.join(', ')}`);
  return action;
}

/** An unknown id is accepted: the trail has events of deleted accounts too. */
async function accountId({ accounts }: Installation, name: string): Promise<string> {
  return /[@:]/.test(name) ? (await accounts.show(name)).id : name;
}
