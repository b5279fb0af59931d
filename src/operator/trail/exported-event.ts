/** An event of the audit trail as `audit export` writes it: the form that collectors and `database restore` read. */

import type { ActSince } from '../../oauth/installation/since-backup.ts';
import { type ChainedAuditEvent, rowText, type TrailRow } from '../../oauth/trail/audit-chain.ts';
import { readMembers } from '../../oauth/trail/event-members.ts';

/** The fields, in the order of the columns of CSV. Times are ISO 8601 in UTC, bytes hexadecimal digits. */
export type ExportedEvent = {
  readonly sequence: number;
  readonly at: string;
  readonly action: string;
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly source: string | null;
  readonly request_id: string | null;
  /** The ID of the operator's key, or kind and begin of the session; null for everybody else. */
  readonly actor_by: string | null;
  readonly client_id: string | null;
  readonly user_id: string | null;
  readonly grant_id: string | null;
  /** The JSON of the members exactly as it is stored: its MAC covers it. */
  readonly detail: string | null;
  /** The access that grants gave which the act ended one by one. */
  readonly ended_access: readonly { readonly resource: string | null; readonly scope: string }[] | null;
  readonly chain_id: string;
  readonly chain_number: number;
  readonly chain_mac: string;
};

/** An event as it is exported. */
export function exportedEvent(event: ChainedAuditEvent): ExportedEvent {
  const { sequence, at, action, actor, chain } = event;
  return {
    sequence,
    at: new Date(at).toISOString(),
    action,
    actor_kind: actor.kind,
    actor_id: actor.id,
    source: actor.source,
    request_id: actor.requestId,
    actor_by: actor.by,
    client_id: event.clientId,
    user_id: event.resourceOwnerId,
    grant_id: event.grantId,
    detail: event.detail,
    ended_access: event.endedAccess,
    chain_id: chain.id,
    chain_number: chain.number,
    chain_mac: chain.mac.toString('hex'),
  };
}

/** A parsed event: its row in the trail, whose MAC can be verified, and its act. */
export type ReadEvent = { readonly row: TrailRow; readonly act: ActSince };

/** Reads a line of `audit export`; null when it is not an event. */
export function readExportedEvent(line: string): ReadEvent | null {
  const event = parsed(line);
  if (event === null) return null;
  const { sequence, action, detail, client_id: clientId, user_id: resourceOwnerId, grant_id: grantId } = event;
  const at = Date.parse(event.at);
  const access = event.ended_access && JSON.stringify(event.ended_access);
  const chain = { id: event.chain_id, number: event.chain_number, mac: Buffer.from(event.chain_mac, 'hex') };
  const who = [event.actor_kind, event.actor_id, event.source, event.request_id, event.actor_by];
  const whom = [clientId, resourceOwnerId, grantId];
  const text = rowText([sequence, at, action, ...who, ...whom, detail, access, chain.id, chain.number]);
  const row = { sequence, at, action, detail, chain, text };
  return {
    row,
    act: { action: action as ActSince['action'], clientId, resourceOwnerId, grantId, members: readMembers(detail) },
  };
}

function parsed(line: string): ExportedEvent | null {
  try {
    const event = JSON.parse(line) as ExportedEvent | null;
    const numbers = [event?.sequence, event?.chain_number];
    const texts = [event?.action, event?.at, event?.chain_id, event?.chain_mac];
    const isEvent = numbers.every(Number.isInteger) && texts.every((text) => typeof text === 'string');
    return isEvent ? event : null;
  } catch {
    return null;
  }
}
