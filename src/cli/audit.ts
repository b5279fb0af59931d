/** `audit`: who changed what somebody may do, and when. */
import { InvalidArgumentError } from 'commander';
import { AUDIT_ACTIONS, type AuditAction, type RecordedAuditEvent } from '../oauth/audit.ts';
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';
import type { Installation } from './context.ts';
import { DEFAULT_LIMIT, readLimit, whereItEnds } from './option.ts';
import { table } from './table.ts';
import { isoTime, readableTime } from './time.ts';

type ListOptions = { client?: string; user?: string; action?: AuditAction; limit: number };

/** Adds the commands about the audit trail. */
export function addAuditCommands(program: CliCommand, run: CommandRun): void {
  program
    .group('audit', 'The audit trail: who changed what somebody may do.')
    .leaf('list', 'List what happened, newest first.', [
      'audit list --limit 20',
      'audit list --client app_6qm1v0t4y8d3k2xz --action refresh_reuse',
      'audit list --user ada@example.com --json',
    ])
    .option('--client <id>', 'only what concerns this app, or this resource server')
    .option('--user <id or e-mail>', 'only what concerns this user')
    .option('--action <name>', 'only this kind of act, such as client_updated', readAction)
    .option('--limit <number>', 'at most so many', readLimit, DEFAULT_LIMIT)
    .action((options: ListOptions) => run.withInstallation((installation) => list(installation, options, run.width)));
}

async function list(installation: Installation, options: ListOptions, width: number) {
  const { client, user, action, limit } = options;
  const events = await installation.audit.listAuditEvents({
    limit,
    ...(client === undefined ? {} : { clientId: client }),
    ...(user === undefined ? {} : { resourceOwnerId: await accountId(installation, user) }),
    ...(action === undefined ? {} : { action }),
  });
  return {
    json: events.map(eventJson),
    text: events.length === 0 ? nothing(options) : table(HEADINGS, events.map(eventRow), width),
    ...whereItEnds(events, limit),
  };
}

/** Does not check that the id exists: what was deleted has events too. */
function nothing({ client, user }: ListOptions): string[] {
  const lists = [client && '"client list" or "resource-server list"', user && '"user list"'].filter(Boolean);
  const hint = lists.length > 0 ? [`If there should be something, compare the id with ${lists.join(' and ')}.`] : [];
  return ['Nothing of this kind happened yet.', ...hint];
}

function readAction(text: string): AuditAction {
  const action = AUDIT_ACTIONS.find((name) => name === text);
  if (!action) throw new InvalidArgumentError(`give one of ${AUDIT_ACTIONS.join(', ')}`);
  return action;
}

/** An id is taken as it is: the trail has events of deleted accounts too. */
async function accountId({ accounts }: Installation, idOrEmail: string): Promise<string> {
  return idOrEmail.includes('@') ? (await accounts.show(idOrEmail)).id : idOrEmail;
}

function eventJson(event: RecordedAuditEvent) {
  return {
    sequence: event.sequence,
    at: isoTime(event.at),
    action: event.action,
    actor_kind: event.actor.kind,
    actor_id: event.actor.id,
    source: event.actor.source,
    request_id: event.actor.requestId,
    client_id: event.clientId,
    user_id: event.resourceOwnerId,
    grant_id: event.grantId,
    detail: event.detail,
  };
}

const HEADINGS = ['#', 'Time', 'Action', 'By', 'From', 'App or API', 'User', 'Grant', 'Detail'];

function eventRow(event: RecordedAuditEvent): string[] {
  return [
    String(event.sequence),
    readableTime(event.at),
    event.action,
    `${event.actor.kind} ${event.actor.id}`,
    event.actor.source ?? '',
    event.clientId ?? '',
    event.resourceOwnerId ?? '',
    event.grantId ?? '',
    event.detail ?? '',
  ];
}
