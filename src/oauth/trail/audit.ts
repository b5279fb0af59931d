/** The audit trail: records every act that changes access, in one transaction with its effect. */
import type { GrantedAccess } from '../grants/granted-access.ts';
import { type DetailArgument, type DetailOf, EVENT_MEMBERS } from './event-members.ts';
import type { RequestConditions } from './request-conditions.ts';

/** One of the acts. */
export type AuditAction = keyof typeof EVENT_MEMBERS;

/** The acts, by name. */
export const AUDIT_ACTIONS = Object.keys(EVENT_MEMBERS) as readonly AuditAction[];

/** The acts that are incidents: somebody may have a credential of somebody else, or tries to get it. */
export const INCIDENTS = ['code_replay', 'refresh_reuse', 'wrong_sign_ins'] as const satisfies readonly AuditAction[];

/** Numbers of incidents. */
export type IncidentCounts = Readonly<Record<(typeof INCIDENTS)[number], number>>;

/** The actor, with source and request; `source` is an address, or null for a command. */
export type Actor = {
  readonly kind: 'user' | 'client' | 'operator' | 'visitor' | 'provider' | 'service';
  readonly id: string;
  readonly source: string | null;
  readonly requestId: string | null;
  /** The means of an operator of API or console: the ID of the key, or kind and begin of the session. */
  readonly by?: string | null;
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
  readonly detail: DetailOf<AuditAction> | null;
};

/** An event as it is stored: with its place in the order of all events. */
export type RecordedAuditEvent = Omit<AuditEvent, 'actor' | 'detail'> & {
  readonly sequence: number;
  readonly actor: Required<Omit<Actor, 'standing' | 'conditions'>>;
  /** The text of the detail as it is stored. */
  readonly detail: string | null;
  /**
   * The access that grants gave which an act ended one by one; null for all other acts. The store writes it, because it sees
   * the rows.
   */
  readonly endedAccess: readonly GrantedAccess[] | null;
};

/** Makes an event; ids that do not concern it are null. */
export function auditEvent<Action extends AuditAction>(
  action: Action,
  actor: Actor,
  at: number,
  about: { readonly clientId?: string; readonly resourceOwnerId?: string; readonly grantId?: string },
  ...[detail]: DetailArgument<Action>
): AuditEvent {
  return {
    at,
    action,
    actor,
    clientId: about.clientId ?? null,
    resourceOwnerId: about.resourceOwnerId ?? null,
    grantId: about.grantId ?? null,
    detail: detail ?? null,
  };
}
