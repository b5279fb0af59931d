/** The audit trail: records every act that changes access, in one transaction with its effect. */
import type { GrantedAccess } from '../grants/granted-access.ts';
import type { RequestConditions } from './request-conditions.ts';

/** The acts, by name. */
export const AUDIT_ACTIONS = [
  'consent_allowed',
  'consent_denied',
  'consent_remembered',
  'consent_skipped',
  'grant_revoked',
  'code_replay',
  'refresh_reuse',
  'refresh_conflict',
  'too_many_grants',
  'all_grants_revoked',
  'client_registered',
  'client_updated',
  'client_document_refreshed',
  'client_keys_refreshed',
  'client_secret_rotated',
  'client_secret_retired',
  'client_paused',
  'client_resumed',
  'client_grants_revoked',
  'client_deleted',
  'hand_over_made',
  'hand_over_fetched',
  'hand_over_ended',
  'resource_server_registered',
  'resource_server_updated',
  'resource_server_secret_rotated',
  'resource_server_secret_retired',
  'resource_server_deleted',
  'scope_defined',
  'scope_deleted',
  'sign_in',
  'sign_out',
  'wrong_sign_ins',
  'user_added',
  'user_imported',
  'user_updated',
  'user_password_set',
  'user_invited',
  'password_set_by_invitation',
  'password_changed',
  'user_disabled',
  'user_enabled',
  'user_sessions_ended',
  'user_grants_revoked',
  'user_deleted',
  'user_linked',
  'identity_provider_registered',
  'identity_provider_updated',
  'identity_provider_secret_rotated',
  'identity_provider_secret_retired',
  'identity_provider_paused',
  'identity_provider_resumed',
  'identity_provider_deleted',
  'identity_provider_all_ended',
  'sign_in_refused',
  'sign_in_request_conflict',
  'root_key_used',
  'root_key_retired',
  'audit_checkpoint',
  'audit_shortened',
  'database_backed_up',
  'database_restored',
  'operator_added',
  'operator_updated',
  'operator_disabled',
  'operator_enabled',
  'operator_deleted',
  'operator_reset',
  'operator_sign_in_address_made',
  'operator_passkey_added',
  'operator_passkey_removed',
  'operator_signed_in',
  'operator_confirmed',
  'operator_signed_out',
  'operator_sessions_ended',
  'operator_key_added',
  'operator_key_ended',
  'operator_refused',
] as const;

/** The acts that are incidents: somebody may have a credential of somebody else, or tries to get it. */
export const INCIDENTS = ['code_replay', 'refresh_reuse', 'wrong_sign_ins'] as const satisfies readonly AuditAction[];

/** Numbers of incidents. */
export type IncidentCounts = Readonly<Record<(typeof INCIDENTS)[number], number>>;

/** One of the acts. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The actor, with source and request; `source` is an address, or null for a command. */
export type Actor = {
  readonly kind: 'user' | 'client' | 'operator' | 'visitor' | 'provider' | 'service';
  readonly id: string;
  readonly source: string | null;
  readonly requestId: string | null;
  /**
   * The access that an operator of API or console had when the request began. A store records an event of this actor only
   * while it holds, and otherwise writes nothing and throws `AccessEnded`. Absent for everyone else; it is not recorded.
   */
  readonly standing?: { readonly operatorId: string; readonly epoch: number };
  /** Conditions of the operator's request, which the write checks; not recorded. */
  readonly conditions?: RequestConditions;
};

/** The operator's access ended while the request was under way: nothing was written. */
export class AccessEnded extends Error {
  override readonly name = 'AccessEnded';

  constructor() {
    super('your access changed meanwhile, and nothing was done: sign in again, or use another key, and try again');
  }
}

/** The resource owner as an actor, from where and in which request. */
export function userActor(id: string, origin: { readonly source: string; readonly requestId: string }): Actor {
  return { kind: 'user', id, ...origin };
}

/** One row of the trail; `at` in ms since the epoch. It never holds a credential, a secret or a password. */
export type AuditEvent = {
  readonly at: number;
  readonly action: AuditAction;
  readonly actor: Actor;
  /** A client's id, a resource server's, a provider's, or an operator's. */
  readonly clientId: string | null;
  readonly resourceOwnerId: string | null;
  /** The grant's id as text. */
  readonly grantId: string | null;
  /** The change in a few words, or null. */
  readonly detail: string | null;
};

/** An event as it is stored: with its place in the order of all events. */
export type RecordedAuditEvent = AuditEvent & {
  readonly sequence: number;
  /**
   * The access that grants gave which an act ended one by one; null for all other acts. The store writes it, because it sees
   * the rows.
   */
  readonly endedAccess: readonly GrantedAccess[] | null;
};

/** Makes an event; ids that do not concern it are null. */
export function auditEvent(
  action: AuditAction,
  actor: Actor,
  at: number,
  about: { clientId?: string; resourceOwnerId?: string; grantId?: string; detail?: string },
): AuditEvent {
  return {
    at,
    action,
    actor,
    clientId: about.clientId ?? null,
    resourceOwnerId: about.resourceOwnerId ?? null,
    grantId: about.grantId ?? null,
    detail: about.detail ?? null,
  };
}
