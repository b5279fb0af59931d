/** The page of one grant. */
import { accountLabel } from '../../../../accounts/people/account.ts';
import { findGrantLife, type GrantLife } from '../../../../oauth/connected-apps/grant-life.ts';
import { isForDevice } from '../../../../oauth/grants/device-grant.ts';
import { grantStatus, lastUse } from '../../../../oauth/grants/grant.ts';
import { personFieldsOf } from '../../../../oauth/grants/person-fields.ts';
import { scopeNames } from '../../../../oauth/grants/scope.ts';
import type { FoundGrant } from '../../../../oauth/protocol/grant-store.ts';
import type { NamedAuditEvent } from '../../../../oauth/trail/audit-store.ts';
import type { Html } from '../../../../pages/html.ts';
import type { ActProblem } from '../../../../pages/operator/act.ts';
import {
  GRANT_NOTICES,
  type GrantData,
  type GrantEvent,
  type GrantFacts,
  grantPage,
} from '../../../../pages/operator/people/grant-page.ts';
import { permissionsGranted } from '../../../browser/permissions.ts';
import type { Service } from '../../../service.ts';
import { doneIn } from '../asked-page.ts';
import type { ConsoleCall, ConsoleRoutes } from '../console-routes.ts';

/** Number of a grant's last events on the page. */
const LAST_EVENTS = 30;

/** Adds the page. */
export function addGrants(routes: ConsoleRoutes, service: Service): void {
  const { store } = service.operatorApi;

  routes.page('/grants/:id', 'grants.show', (call) => show(call, null));

  routes.act(
    '/grants/:id/end',
    'grants.revoke',
    async ({ id, actor }) => {
      await service.grants.revoke(id, actor);
      return { location: `/grants/${encodeURIComponent(id)}?done=ended` };
    },
    show,
  );

  async function show({ id, context, operator, query, may }: ConsoleCall, problem: ActProblem | null) {
    const life = await findGrantLife(store, id);
    if (!life) return null;
    const { found, events, ending } = life;
    const given = events.find(({ action }) => action.startsWith('consent_')) ?? null;
    return grantPage(context, {
      ...{ operator, id: life.id, problem, ...partiesOf(life) },
      status: found ? grantStatus(found.grant, found.standing, service.now()) : 'gone',
      row: found && (await factsOf(found)),
      events: events.slice(-LAST_EVENTS).map(shownEvent),
      hasMore: events.length > LAST_EVENTS,
      given: given && shownEvent(given),
      ending: ending && shownEvent(ending),
      mayEnd: may('grants.revoke'),
      done: doneIn(query, GRANT_NOTICES),
    }) satisfies Html;
  }

  async function factsOf({ grant, client, standing }: FoundGrant): Promise<GrantFacts> {
    const presentation = await store.findPresentation(grant.id);
    const { resource, signedInAt, grantedAt, generation, rotatedAt, expiresAt, absoluteExpiresAt, revokedAt } = grant;
    return {
      ...{ resource, signedInAt, grantedAt, generation, rotatedAt, expiresAt, absoluteExpiresAt, revokedAt },
      permissions: await permissionsGranted(service, client, scopeNames(grant.scope), 'en'),
      personFields: personFieldsOf(grant),
      leftOut: scopeNames(grant.leftOut),
      redirectUri: isForDevice(grant) ? null : grant.redirectUri,
      provider: grant.providerId,
      presentedFrom: presentation?.source ?? null,
      lastUsedAt: lastUse(grant),
      appPaused: standing.clientPaused,
      personDisabled: standing.resourceOwnerDisabled,
    };
  }
}

/** Returns the app and the person; of a deleted row, those in its first event. */
function partiesOf({ found, events }: GrantLife): Pick<GrantData, 'app' | 'person'> {
  if (found) {
    const { client, resourceOwner } = found;
    return { app: client, person: { id: resourceOwner.id, name: accountLabel(resourceOwner) } };
  }
  const [first] = events;
  const { clientId = null, clientName = null, resourceOwnerId = null, resourceOwner = null } = first ?? {};
  return {
    app: clientId === null ? null : { id: clientId, name: clientName ?? clientId },
    person:
      resourceOwnerId === null
        ? null
        : { id: resourceOwnerId, name: resourceOwner ? accountLabel(resourceOwner) : resourceOwnerId },
  };
}

/** Returns an event; the actor is the app or the person of the event, or named by kind and ID. */
function shownEvent(event: NamedAuditEvent): GrantEvent {
  const { sequence, at, action, actor, detail, clientId, clientName, resourceOwner } = event;
  const { kind, id, source } = actor;
  const isPerson = kind === 'user' && resourceOwner?.id === id;
  const name = isPerson ? accountLabel(resourceOwner) : kind === 'client' && clientId === id ? clientName : null;
  return { sequence, at, action, by: name ?? `${kind} ${id ?? ''}`.trim(), source, detail };
}
