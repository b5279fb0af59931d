/** An event of the audit trail as `audit export` writes it: the form that collectors and `database restore` read. */
import type { ChainedAuditEvent } from '../oauth/audit-chain.ts';

/** The fields, in the order of the columns of CSV. Times are ISO 8601 in UTC, bytes hexadecimal digits. */
export type ExportedEvent = {
  readonly sequence: number;
  readonly at: string;
  readonly action: string;
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly source: string | null;
  readonly request_id: string | null;
  readonly client_id: string | null;
  readonly user_id: string | null;
  readonly grant_id: string | null;
  readonly detail: string | null;
  /** What grants gave that were ended one by one. */
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
