/** The output of audit events: lists with one line per event at any width, and one event in full. */
import { accountLabel } from '../../accounts/people/account.ts';
import type { NamedAuditEvent } from '../../oauth/trail/audit-store.ts';
import { type EventJson, eventJson } from '../../operator/json/event.ts';
import { type Column, card, fitToWidth } from '../output/table.ts';
import { exactDay, exactTime } from '../output/time.ts';

/** An event, with the display name of its user. */
export type ShownEvent = EventJson & { readonly user: string | null };

/** An event as it is shown to people. */
export function shownEvent(event: NamedAuditEvent): ShownEvent {
  return { ...eventJson(event), user: event.resourceOwner && accountLabel(event.resourceOwner) };
}

/** One event in full. */
export function eventCard(named: NamedAuditEvent): string[] {
  const event = shownEvent(named);
  return card([
    ['Number', String(event.sequence)],
    ['Time', exactTime(event.at)],
    ['Action', event.action],
    ['By', byWhom(event)],
    ['From', event.source ?? (event.actor_kind === 'operator' ? 'a command' : '')],
    ['With', event.actor_by ?? ''],
    ['Request', event.request_id ?? ''],
    ['App or API', withId(event.client_name, event.client_id)],
    ['User', withId(event.user, event.user_id)],
    ['Grant', event.grant_id ?? ''],
    ['Detail', event.detail ?? ''],
  ]);
}

/** Returns the actor, with a name if there is one: `user ada@example.com`, `app Acme Mail`. */
export function byWhom({ actor_kind: kind, actor_id: id, ...event }: ShownEvent): string {
  if (kind === 'user') return `user ${(id === event.user_id && event.user) || id}`;
  if (kind === 'client') return `app ${(id === event.client_id && event.client_name) || id}`;
  return `${kind} ${id}`.trim();
}

/** A name with the id behind it, or the id alone; empty without an id. */
export function withId(name: string | null, id: string | null): string {
  if (id === null) return '';
  return name === null || name === id ? id : `${name} (${id})`;
}

/**
 * One line per event, at any width. If the width is too small for ids, the lines have names, and a legend of the ids follows.
 */
export function eventLines(named: readonly NamedAuditEvent[], width: number): string[] {
  const events = named.map(shownEvent);
  const { lines, left } = fitToWidth(COLUMNS, events, width);
  if (!left.includes('App ID') && !left.includes('User ID')) return lines;
  const ids = new Map(events.flatMap(namesOf));
  const fields = [...ids].slice(0, MAX_NAMED).map(([id, name]): [string, string] => [name, id]);
  const more = ids.size > MAX_NAMED ? [`… and ${ids.size - MAX_NAMED} more`] : [];
  return [...lines, '', ...card(fields), ...more, `All of one event: "audit show ${events[0]?.sequence}"`];
}

/** Maximum number of names in the legend, so that the lines stay visible. */
const MAX_NAMED = 8;

/** Most important first: where not all fit, the last are left out. */
const COLUMNS: readonly Column<ShownEvent>[] = [
  { heading: '#', value: ({ sequence }) => String(sequence) },
  { heading: 'Time (UTC)', value: ({ at }) => exactDay(at) },
  { heading: 'Action', value: ({ action }) => action, shrinksTo: 20 },
  { heading: 'By', value: shortActor, shrinksTo: 8 },
  { heading: 'App or API', value: (event) => event.client_name ?? event.client_id ?? '', shrinksTo: 8 },
  { heading: 'User', value: (event) => event.user ?? event.user_id ?? '', shrinksTo: 8 },
  { heading: 'App ID', value: (event) => event.client_id ?? '', mayBeLeft: true },
  { heading: 'User ID', value: (event) => event.user_id ?? '', mayBeLeft: true },
  { heading: 'Grant', value: (event) => event.grant_id ?? '', mayBeLeft: true },
  { heading: 'Detail', value: ({ detail }) => detail ?? '', mayBeLeft: true },
];

/** The kind of an actor and its source. Another column has the name, but for operators and providers, whose name stands here. */
function shortActor({ actor_kind: kind, actor_id: id, source }: ShownEvent): string {
  const who = kind === 'client' ? 'app' : kind === 'operator' || kind === 'provider' ? `${kind} ${id}` : kind;
  return source === null ? who : `${who} ${source}`;
}

function namesOf(event: ShownEvent): [string, string][] {
  const names: [string | null, string | null][] = [
    [event.client_id, event.client_name],
    [event.user_id, event.user],
  ];
  return names.filter((pair): pair is [string, string] => pair.every((one) => one !== null));
}
