/** The page of one person. */
import { openInvitationAt } from '../../../../accounts/passwords/invitation.ts';
import type { Account } from '../../../../accounts/people/account.ts';
import { type Identity, subjectOf } from '../../../../accounts/people/identity-provider.ts';
import { type Session, sessionExpiresAt } from '../../../../accounts/people/session.ts';
import type { LastSignIn } from '../../../../accounts/people/store.ts';
import { grantsToEndSoon } from '../../../../operator/lists/blast-radius.ts';
import { findLastEvent } from '../../../../operator/lists/event-pages.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import {
  PERSON_NOTICES,
  type PersonRights,
  type PersonSession,
  type ShownPerson,
} from '../../../../pages/operator/people/person-data.ts';
import { personPage } from '../../../../pages/operator/people/person-page.ts';
import type { Service } from '../../../service/service.ts';
import { doneIn } from '../asked-list-page.ts';
import type { ConsoleCall, ConsoleRoutes, Onward } from '../console-routes.ts';
import { shownEvent } from '../shown-event.ts';
import { personHref } from './people.ts';
import { addPersonActs } from './person-acts.ts';
import { changeForm, personTag } from './person-form.ts';
import { grantsOf } from './person-grants.ts';

/** Number of events on the page. */
const LAST_EVENTS = 10;

/** Adds the page, and the acts on it. */
export function addPerson(routes: ConsoleRoutes, service: Service): void {
  const acts = routes.thing<keyof typeof PERSON_NOTICES>('/people/:id', 'users.show', (call, problem) =>
    show(service, call, problem),
  );
  addPersonActs(acts, service);
}

/** Returns the page after a refusal, or as it is; null if there is no such person. */
async function show(
  service: Service,
  call: ConsoleCall,
  problem: ActProblem | null,
): Promise<ConsolePage | Onward | null> {
  const { id, query } = call;
  // Before the first read: whatever is not on the page began later.
  const at = service.now();
  const account = await service.operatorApi.store.findAccount(id);
  if (!account) return null;
  const { grants, identities, lastSignIn, sessions, events, ended, disabling } = await findRest(service, call, account);
  if (grants === null) return { location: personHref(id) };
  const endedApp = await service.clients.findClient(query.get('app') ?? '');
  return personPage(call.context, {
    ended,
    problem,
    at,
    person: shownPerson(account, identities, lastSignIn, service.now()),
    grants,
    sessions: shownSessions(sessions, service.now()),
    events: events.map(shownEvent),
    disabling: disabling && shownEvent(disabling),
    rights: rightsOf(call, service),
    form: changeForm(account, call.form, problem),
    tag: personTag(account),
    done: doneIn(query, PERSON_NOTICES),
    endedApp: endedApp?.name ?? null,
  });
}

/** Reads what the page shows beside the account; `grants` is null if the query has no cursor of ours. */
async function findRest(service: Service, { query }: ConsoleCall, account: Account) {
  const { store, lists } = service.operatorApi;
  const { id } = account;
  const isDisabled = account.status === 'disabled';
  const [grants, identities, signIns, sessions, events, ended, disabling] = await Promise.all([
    grantsOf(service, account, query),
    store.listIdentities(id),
    store.findLastSignIns([id]),
    store.listSessions(id),
    store.listNamedAuditEvents({ resourceOwnerId: id, limit: LAST_EVENTS }),
    grantsToEndSoon({ grants: service.grants, lists }, { resourceOwnerId: id }),
    isDisabled ? findLastEvent(store, { resourceOwnerId: id, action: 'user_disabled' }) : null,
  ]);
  return { grants, identities, lastSignIn: signIns.get(id) ?? 'never', sessions, events, ended, disabling };
}

function rightsOf({ may }: ConsoleCall, { accounts }: Service): PersonRights {
  return {
    endGrants: may('grants.revoke'),
    support: may('users.disable'),
    invite: accounts.takesPasswords && may('users.invite'),
    update: may('users.update'),
    delete: may('users.delete'),
  };
}

function shownSessions(sessions: readonly Session[], now: number): PersonSession[] {
  const live = sessions.filter((session) => sessionExpiresAt(session) > now);
  return live.map(({ createdAt, lastSeenAt, providerId }) => ({ createdAt, lastSeenAt, provider: providerId }));
}

function shownPerson(
  account: Account,
  identities: readonly Identity[],
  lastSignIn: LastSignIn,
  now: number,
): ShownPerson {
  const { password, invitation } = account;
  const at = openInvitationAt(invitation, now);
  return {
    ...account,
    lastSignIn,
    hasPassword: password !== null,
    invitation: at === null || !invitation ? null : { at, until: invitation.expiresAt },
    identities: identities.map((identity) => ({ provider: identity.providerId, subject: subjectOf(identity) })),
  };
}
