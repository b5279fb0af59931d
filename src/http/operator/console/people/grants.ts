/** The page of one grant. */
import { accountLabel } from '../../../../accounts/people/account.ts';
import { findGrantLife, type GrantLife } from '../../../../oauth/connected-apps/grant-life.ts';
import { isForDevice } from '../../../../oauth/grants/device-grant.ts';
import { grantStatus } from '../../../../oauth/grants/grant.ts';
import { personFieldsOf } from '../../../../oauth/grants/person-fields.ts';
import { scopeNames } from '../../../../oauth/grants/scope.ts';
import type { FoundGrant } from '../../../../oauth/protocol/grant-store.ts';
import { readPresentedBefore } from '../../../../oauth/protocol/presented-before.ts';
import { readMembers } from '../../../../oauth/trail/event-members.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import { GRANT_NOTICES, type GrantData, type GrantFacts } from '../../../../pages/operator/people/grant-data.ts';
import { grantPage } from '../../../../pages/operator/people/grant-page.ts';
import { permissionsGranted } from '../../../browser/authorize/permissions-on-pages.ts';
import type { Service } from '../../../service/service.ts';
import { doneIn } from '../asked-list-page.ts';
import type { ConsoleCall, ConsoleRoutes } from '../console-routes.ts';
import { shownEvent } from '../shown-event.ts';

/** Number of a grant's last events on the page. */
const LAST_EVENTS = 30;

/** Adds the page. */
export function addGrants(routes: ConsoleRoutes, service: Service): void {
  const { store, appActivity } = service.operatorApi;

  const { change } = routes.thing<keyof typeof GRANT_NOTICES>('/grants/:id', 'grants.show', show);
  change('end', 'grants.revoke', 'ended', ({ id, actor }) => service.grants.revoke(id, actor));

  async function show({ id, context, query, may }: ConsoleCall, problem: ActProblem | null) {
    const life = await findGrantLife(store, id);
    if (!life) return null;
    const { found, events, ending, isCut } = life;
    const parties = partiesOf(life);
    const given = events.find(({ action }) => action.startsWith('consent_')) ?? null;
    return grantPage(context, {
      id: life.id,
      isCut,
      problem,
      ...parties,
      status: found ? grantStatus(found.grant, found.standing, service.now()) : 'gone',
      row: found && (await factsOf(found)),
      events: events.slice(-LAST_EVENTS).map(shownEvent),
      hasMore: events.length > LAST_EVENTS,
      given: given && shownEvent(given),
      ending: ending && shownEvent(ending),
      refusals: parties.app ? await appActivity.failuresOfGrant(parties.app.id, life.id) : [],
      before: readPresentedBefore(readMembers(ending?.detail ?? null)),
      mayEnd: may('grants.revoke'),
      done: doneIn(query, GRANT_NOTICES),
    }) satisfies ConsolePage;
  }

  async function factsOf({ grant, client, standing }: FoundGrant): Promise<GrantFacts> {
    const presentation = await store.findPresentation(grant.id);
    const { resource, signedInAt, grantedAt, generation, rotatedAt, expiresAt, absoluteExpiresAt, revokedAt } = grant;
    return {
      resource,
      signedInAt,
      grantedAt,
      generation,
      rotatedAt,
      expiresAt,
      absoluteExpiresAt,
      revokedAt,
      permissions: permissionsGranted(await service.scopes.listScopes(), client, scopeNames(grant.scope), 'en'),
      personFields: personFieldsOf(grant),
      leftOut: scopeNames(grant.leftOut),
      redirectUri: isForDevice(grant) ? null : grant.redirectUri,
      provider: grant.providerId,
      presentedFrom: presentation?.source ?? null,
      lastUsedAt: grant.lastUsedAt,
      appPaused: standing.clientPaused,
      personDisabled: standing.resourceOwnerDisabled,
    };
  }
}

/** Returns the app and the person; of a deleted row, those in its first event. */
function partiesOf({ found, events }: GrantLife): Pick<GrantData, 'app' | 'person'> {
  if (!found) {
    const [first = null, ...others] = events.map(shownEvent);
    // The deletion keeps the app's name.
    const named = others.find(({ about }) => about?.id === first?.about?.id && about?.name !== null);
    return { app: named?.about ?? first?.about ?? null, person: first?.person ?? null };
  }
  const { client, resourceOwner } = found;
  return {
    app: { kind: 'app', id: client.id, name: client.name, isDeleted: false },
    person: { kind: 'person', id: resourceOwner.id, name: accountLabel(resourceOwner), isDeleted: false },
  };
}
