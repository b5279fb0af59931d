/**
 * Acts after a backup, according to the newer audit trail: the access that ended, and the things that a restore
 * revives.
 */
import { type Actor, type AuditAction, type AuditEvent, auditEvent } from '../trail/audit.ts';
import { changesIn, type DetailOf, type Members, textIn } from '../trail/event-members.ts';

/** The fields that are read of an event. */
export type ActSince = Pick<AuditEvent, 'action' | 'clientId' | 'resourceOwnerId' | 'grantId'> & {
  readonly members: Members | null;
};

/** The grants that ended: everybody's, clients', resource owners', a user's for a client, and single ones. */
export type EndedSince = {
  readonly all: boolean;
  readonly clientIds: readonly string[];
  readonly resourceOwnerIds: readonly string[];
  readonly pairs: readonly {
    readonly clientId: string;
    readonly resourceOwnerId: string;
    readonly butForDevices: boolean;
  }[];
  /** As text. */
  readonly grantIds: readonly string[];
};

/**
 * Something that works again in an older database. A restore takes it away once more: a client or provider is paused, and so
 * on. A root key (its id is its name) is left alone, because passwords of the backup may be sealed with it; it is retired
 * again like any other key.
 */
export type Revived = {
  readonly kind: 'client' | 'resource_server' | 'identity_provider' | 'user' | 'operator' | 'root_key';
  readonly id: string;
  readonly what: RevivedThing;
};

/** The revived part. */
export type RevivedThing = 'itself' | 'activity' | 'secret' | 'password' | 'passkeys' | 'settings';

/** The grants that ended since. Those that were also allowed since are not in the backup, and are left out. */
export function endedSince(acts: readonly ActSince[]): EndedSince {
  const of = (action: string) => acts.filter((act) => act.action === action);
  const ids = (field: 'clientId' | 'resourceOwnerId', ...actions: readonly string[]) => [
    ...new Set(actions.flatMap(of).flatMap((act) => act[field] ?? [])),
  ];
  const allowed = new Set(ALLOWED.flatMap(of).flatMap(({ grantId }) => grantId ?? []));
  const pairs = of('grant_revoked').flatMap(({ grantId, clientId, resourceOwnerId, members }) =>
    grantId === null && clientId !== null && resourceOwnerId !== null
      ? [{ clientId, resourceOwnerId, butForDevices: members?.['but_for_devices'] === true }]
      : [],
  );
  return {
    all: of('all_grants_revoked').length > 0,
    clientIds: ids('clientId', 'client_grants_revoked', 'client_deleted'),
    resourceOwnerIds: ids('resourceOwnerId', 'user_grants_revoked', 'user_deleted'),
    pairs,
    grantIds: [...new Set(ONE_BY_ONE.flatMap(of).flatMap(({ grantId }) => grantId ?? []))].filter(
      (id) => !allowed.has(id),
    ),
  };
}

const ALLOWED = ['consent_allowed', 'consent_remembered', 'consent_skipped'];
const ONE_BY_ONE = ['grant_revoked', 'code_replay', 'refresh_reuse', 'refresh_conflict', 'too_many_grants'];

/**
 * The events of what a restore ended and took away. The trail of the restored database needs them, because the same backup
 * may be restored again. `at` in ms.
 */
export function endedEvents(ended: EndedSince, revived: readonly Revived[], actor: Actor, at: number): AuditEvent[] {
  const told = (action: RestoreAction, about: Parameters<typeof auditEvent>[3]) =>
    auditEvent(action, actor, at, about, { by_restore: true });
  return [
    ...ended.clientIds.map((clientId) => told('client_grants_revoked', { clientId })),
    ...ended.resourceOwnerIds.map((resourceOwnerId) => told('user_grants_revoked', { resourceOwnerId })),
    ...ended.pairs.map(({ butForDevices, ...pair }) =>
      auditEvent('grant_revoked', actor, at, pair, {
        by_restore: true,
        all_of_app: true,
        but_for_devices: butForDevices || undefined,
      }),
    ),
    ...ended.grantIds.map((grantId) => told('grant_revoked', { grantId })),
    ...revived.flatMap(({ kind, id, what }) => {
      const action = SIGN_IN_TAKEN_AWAY[what] ?? TAKEN_AWAY[kind];
      return action === null ? [] : told(action, kind === 'user' ? { resourceOwnerId: id } : { clientId: id });
    }),
  ];
}

/** The acts that a restore may do. */
type RestoreAction = {
  [Action in AuditAction]: 'by_restore' extends keyof DetailOf<Action> ? Action : never;
}[AuditAction];

/** The act that a restore does to what came back to life. */
const TAKEN_AWAY: Readonly<Record<Revived['kind'], RestoreAction | null>> = {
  client: 'client_paused',
  identity_provider: 'identity_provider_paused',
  resource_server: 'resource_server_secret_retired',
  user: 'user_disabled',
  operator: 'operator_disabled',
  root_key: null,
};

/** The same of what somebody signs in with, without which its owner stays active. */
const SIGN_IN_TAKEN_AWAY: { readonly [what in RevivedThing]?: RestoreAction } = {
  password: 'user_password_set',
  passkeys: 'operator_passkey_removed',
};

/** The things that each act took away, by the act's name. The acts of `GAVE_BACK` give activity back later. */
const TOOK: Readonly<Record<string, readonly [Revived['kind'], ...RevivedThing[]]>> = {
  client_deleted: ['client', 'itself'],
  client_paused: ['client', 'activity'],
  client_secret_retired: ['client', 'secret'],
  client_updated: ['client', 'settings'],
  client_document_refreshed: ['client', 'settings'],
  client_keys_refreshed: ['client', 'settings'],
  resource_server_deleted: ['resource_server', 'itself'],
  resource_server_secret_retired: ['resource_server', 'secret'],
  resource_server_updated: ['resource_server', 'settings'],
  identity_provider_deleted: ['identity_provider', 'itself'],
  identity_provider_paused: ['identity_provider', 'activity'],
  identity_provider_secret_retired: ['identity_provider', 'secret'],
  identity_provider_updated: ['identity_provider', 'settings'],
  user_deleted: ['user', 'itself'],
  user_disabled: ['user', 'activity'],
  user_password_set: ['user', 'password'],
  password_changed: ['user', 'password'],
  password_set_by_invitation: ['user', 'password'],
  operator_deleted: ['operator', 'itself'],
  operator_disabled: ['operator', 'activity', 'secret'], // Its keys end, and enabling brings none back.
  operator_updated: ['operator', 'settings'],
  operator_key_ended: ['operator', 'secret'],
  operator_reset: ['operator', 'passkeys'],
  operator_passkey_removed: ['operator', 'passkeys'],
  root_key_retired: ['root_key', 'itself'],
};
const GAVE_BACK: Readonly<Record<string, Revived['kind']>> = {
  client_resumed: 'client',
  identity_provider_resumed: 'identity_provider',
  user_enabled: 'user',
  operator_enabled: 'operator',
};

/** Returns the revived things, each once, in the order in which they were taken away. */
export function revivedSince(acts: readonly ActSince[]): Revived[] {
  const revived = new Map<string, Revived>();
  for (const act of acts) {
    const { action } = act;
    const [kind, ...things] = TOOK[action] ?? [];
    const id = idOf(kind ?? GAVE_BACK[action], act);
    if (id === null) continue;
    const back = GAVE_BACK[action];
    if (back) revived.delete(`${back} ${id} activity`);
    for (const what of things)
      if (kind && (what !== 'settings' || isLess(kind, act))) revived.set(`${kind} ${id} ${what}`, { kind, id, what });
  }
  return [...revived.values()];
}

/** A change of settings counts only if entries were removed (redirect URIs, scopes, keys, rights), or a role became lower. */
function isLess(kind: Revived['kind'], { members }: ActSince): boolean {
  return changesIn(members).some(({ name, removed: [before], added: [after] }) =>
    kind === 'operator'
      ? name === 'role' && after !== undefined && (before === 'admin' || (before === 'support' && after === 'read'))
      : before !== undefined,
  );
}

function idOf(kind: Revived['kind'] | undefined, { clientId, resourceOwnerId, members }: ActSince): string | null {
  if (kind === 'root_key') return textIn(members, 'root_key');
  return kind === 'user' ? resourceOwnerId : clientId;
}
