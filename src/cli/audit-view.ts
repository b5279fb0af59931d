/** How events of the audit trail are shown: many with a line each, whatever the width is, and one in full. */
import { accountLabel } from '../accounts/people/account.ts';
import type { NamedAuditEvent } from '../oauth/trail/audit-store.ts';
import { type Column, card, fitted } from './table.ts';
import { exactDay, exactTime, isoTime } from './time.ts';

/** An event for programs. */
export function eventJson(event: NamedAuditEvent) {
  return {
    sequence: event.sequence,
    at: isoTime(event.at),
    action: event.action,
    actor_kind: event.actor.kind,
    actor_id: event.actor.id,
    source: event.actor.source,
    request_id: event.actor.requestId,
    client_id: event.clientId,
    client_name: event.clientName,
    user_id: event.resourceOwnerId,
    user_email: event.resourceOwner?.email ?? null,
    grant_id: event.grantId,
    detail: event.detail,
  };
}

/** One event in full. */
export function eventCard(event: NamedAuditEvent): string[] {
  const { sequence, at, action, actor, clientId, clientName, resourceOwnerId, resourceOwner, grantId, detail } = event;
  return card([
    ['Number', String(sequence)],
    ['Time', exactTime(at)],
    ['Action', action],
    ['By', byWhom(event)],
    ['From', actor.source ?? (actor.kind === 'operator' ? 'a command' : '')],
    ['Request', actor.requestId ?? ''],
    ['App or API', clientId === null ? '' : withId(clientName, clientId)],
    ['User', resourceOwnerId === null ? '' : withId(labelOf(resourceOwner), resourceOwnerId)],
    ['Grant', grantId ?? ''],
    ['Detail', detail ?? ''],
  ]);
}

/** Who acted, with a name where there is one: `user ada@example.com`, `app Acme Mail`. */
export function byWhom({ actor, clientId, clientName, resourceOwnerId, resourceOwner }: NamedAuditEvent): string {
  const { kind, id } = actor;
  if (kind === 'user') return `user ${(id === resourceOwnerId && labelOf(resourceOwner)) || id}`;
  if (kind === 'client') return `app ${(id === clientId && clientName) || id}`;
  return `${kind} ${id}`.trim();
}

/** A name with the id behind it, or the id alone. */
export function withId(name: string | null, id: string): string {
  return name === null || name === id ? id : `${name} (${id})`;
}

/**
 * A line for each event, whatever the width is. Where it is too narrow for ids, names stand in the lines, and below them
 * what their ids are.
 */
export function eventLines(events: readonly NamedAuditEvent[], width: number): string[] {
  const { lines, left } = fitted(COLUMNS, events, width);
  if (!left.includes('App ID') && !left.includes('User ID')) return lines;
  const ids = new Map(events.flatMap(namesOf));
  const named = [...ids].slice(0, MAX_NAMED).map(([id, name]): [string, string] => [name, id]);
  const more = ids.size > MAX_NAMED ? [`… and ${ids.size - MAX_NAMED} more`] : [];
  const [newest] = events as [NamedAuditEvent];
  return [...lines, '', ...card(named), ...more, `All of one event: "audit show ${newest.sequence}"`];
}

/** Maximum number of names whose ids are told below the lines, so that the lines stay in sight. */
const MAX_NAMED = 8;

/** Most important first: where not all fit, the last are left out. */
const COLUMNS: readonly Column<NamedAuditEvent>[] = [
  { heading: '#', value: ({ sequence }) => String(sequence) },
  { heading: 'Time (UTC)', value: ({ at }) => exactDay(at) },
  { heading: 'Action', value: ({ action }) => action, shrinksTo: 20 },
  { heading: 'By', value: ({ actor }) => shortActor(actor), shrinksTo: 8 },
  { heading: 'App or API', value: (event) => event.clientName ?? event.clientId ?? '', shrinksTo: 8 },
  { heading: 'User', value: (event) => labelOf(event.resourceOwner) ?? event.resourceOwnerId ?? '', shrinksTo: 8 },
  { heading: 'App ID', value: ({ clientId }) => clientId ?? '', mayBeLeft: true },
  { heading: 'User ID', value: ({ resourceOwnerId }) => resourceOwnerId ?? '', mayBeLeft: true },
  { heading: 'Grant', value: ({ grantId }) => grantId ?? '', mayBeLeft: true },
  { heading: 'Detail', value: ({ detail }) => detail ?? '', mayBeLeft: true },
];

/** The kind of an actor and its source. Another column has the name, but for operators and providers, whose name stands here. */
function shortActor({ kind, id, source }: NamedAuditEvent['actor']): string {
  const who = kind === 'client' ? 'app' : kind === 'operator' || kind === 'provider' ? `${kind} ${id}` : kind;
  return source === null ? who : `${who} ${source}`;
}

function namesOf({ clientId, clientName, resourceOwnerId, resourceOwner }: NamedAuditEvent): [string, string][] {
  const names: [string | null, string | null][] = [
    [clientId, clientName],
    [resourceOwnerId, labelOf(resourceOwner)],
  ];
  return names.filter((pair): pair is [string, string] => pair.every((one) => one !== null));
}

function labelOf(resourceOwner: NamedAuditEvent['resourceOwner']): string | null {
  return resourceOwner && accountLabel(resourceOwner);
}
