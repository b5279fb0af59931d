/** The page of one person, and the acts on it. */
import { openInvitationAt } from '../../../../accounts/passwords/invitation.ts';
import type { Account } from '../../../../accounts/people/account.ts';
import { type Identity, subjectOf } from '../../../../accounts/people/identity-provider.ts';
import { sessionExpiresAt } from '../../../../accounts/people/session.ts';
import type { LastSignIn } from '../../../../accounts/people/store.ts';
import { OperatorError } from '../../../../oauth/error.ts';
import { parseGrantId } from '../../../../oauth/grants/grant.ts';
import type { Parameters } from '../../../../oauth/parameters.ts';
import type { Actor } from '../../../../oauth/trail/audit.ts';
import { actsOf, readSettings } from '../../../../operator/fields/setting.ts';
import { USER_SETTINGS } from '../../../../operator/fields/user-fields.ts';
import { invitationUrl, userJson } from '../../../../operator/json/user.ts';
import { grantsToEndSoon } from '../../../../operator/lists/blast-radius.ts';
import { findLastEvent } from '../../../../operator/lists/event-pages.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import { invitationPage } from '../../../../pages/operator/people/invitation-page.ts';
import type { TypedPerson } from '../../../../pages/operator/people/people-page.ts';
import { PERSON_NOTICES, type PersonData, type ShownPerson } from '../../../../pages/operator/people/person-data.ts';
import { personPage } from '../../../../pages/operator/people/person-page.ts';
import type { Service } from '../../../service/service.ts';
import { etagOf } from '../../api/etag.ts';
import { doneIn } from '../asked-list-page.ts';
import { asShown, type ConsoleCall, type ConsoleRoutes, type Onward } from '../console-routes.ts';
import { shownOf, typedOver } from '../form-values.ts';
import { shownEvent } from '../shown-event.ts';
import { personHref, typedPerson } from './people.ts';
import { grantsOf } from './person-grants.ts';

/** Number of events on the page. */
const LAST_EVENTS = 10;

const GONE = 'the person was deleted meanwhile';
const CAME_BACK = 'Meanwhile the person signed in, allowed an app or was changed. Check the page, then try again.';
const CHANGED = 'The person was changed meanwhile. Check the page, then try again.';

/** Adds the page. */
export function addPerson(routes: ConsoleRoutes, service: Service): void {
  const { accounts, grants, operatorApi } = service;
  const { store } = operatorApi;

  const { act, change } = routes.thing<keyof typeof PERSON_NOTICES>('/people/:id', 'users.show', show);

  endsOfApp('end-grant', 'grant-ended', async ({ id }, { form, actor }) => {
    const grant = form.get('grant') ?? '';
    const found = await store.findGrant(parseGrantId(grant) ?? Buffer.alloc(16));
    if (found?.grant.resourceOwnerId !== id) throw new OperatorError('This grant is not there any more.');
    await grants.revoke(grant, actor);
    return found.grant.clientId;
  });
  endsOfApp('end-app', 'app-ended', async ({ id }, { form, actor }) => {
    const app = form.get('client') ?? '';
    const ended = await grants.disconnect(id, app, actor);
    if (ended === 0) throw new OperatorError('This app has no grant any more.');
    return app;
  });
  change('revoke-grants', 'users.revoke-grants', 'all-ended', async ({ id, actor }) =>
    accounts.revokeGrants(await find(id), actor),
  );
  change('end-sessions', 'users.end-sessions', 'signed-out', async ({ id, actor }) =>
    accounts.endSessions(await find(id), actor),
  );
  change('disable', 'users.disable', 'disabled', async ({ id, actor }) => accounts.disable(await find(id), actor));
  change('enable', 'users.enable', 'enabled', (call) => unchanged(call, (...shown) => accounts.enable(...shown)));
  const save = (call: ConsoleCall) => unchanged(call, (...shown) => update(call, ...shown));
  change('update', 'users.update', 'updated', save, { keepsTyped: true });
  act('invite', 'users.invite', async (call) => {
    const { context } = call;
    const made = await unchanged(call, async (one, actor) => {
      return { ...(await accounts.invite(one, actor)), ended: openInvitationAt(one.invitation, service.now()) };
    });
    const url = invitationUrl(operatorApi.newPasswordUrl, made.token);
    return invitationPage(context, made.account, url, made.ended);
  });
  act('delete', 'users.delete', async (call) => {
    call.requires('users.revoke-grants');
    await unchanged(call, (...shown) => accounts.delete(...shown), timeOfPage(call.form));
    return { location: '/people?done=deleted' };
  });

  /** An act that ends grants of one app, whose id `run` returns. */
  function endsOfApp(
    path: string,
    notice: keyof typeof PERSON_NOTICES,
    run: (account: Account, call: ConsoleCall) => Promise<string>,
  ): void {
    act(path, 'grants.revoke', async (call) => {
      const app = await run(await find(call.id), call);
      return { location: listHref(personHref(call.id), { done: notice, app }) };
    });
  }

  /** By the exact id: the registry would also take an address. */
  async function find(id: string): Promise<Account> {
    const account = await store.findAccount(id);
    if (!account) throw new OperatorError(GONE);
    return account;
  }

  async function sessionsOf(id: string) {
    return (await store.listSessions(id)).filter((session) => sessionExpiresAt(session) > service.now());
  }

  /**
   * Runs an act on the person as the page showed them; its write asks again if they are still the same. For what gives access
   * or cannot be undone: an act that only ends access never waits for another look. With `seenAt` (ms), also if they have not
   * signed in or allowed an app since.
   */
  async function unchanged<Done>(
    call: ConsoleCall,
    run: (account: Account, actor: Actor) => Promise<Done>,
    seenAt?: number,
  ): Promise<Done> {
    const { id, form, actor } = call;
    const account = await find(id);
    if (form.get('tag') !== etagOf(userJson(account))) throw new OperatorError(whyChanged(call, account), 'tag');
    const row = { noun: 'user', row: account, ...(seenAt !== undefined && { seenAt }) } as const;
    const problem = new OperatorError(seenAt === undefined ? CHANGED : CAME_BACK, 'tag');
    return asShown(actor, row, problem, (asked) => run(account, asked));
  }

  /** A second press finds the link of the first one: only the first answer had it. */
  function whyChanged({ form, context }: ConsoleCall, account: Account): string {
    const at = openInvitationAt(account.invitation, service.now());
    if (at === null || form.get('tag') !== etagOf(userJson({ ...account, invitation: null }))) return CHANGED;
    return `Meanwhile a link to set a password was made, at ${context.messages.minute(at)}. Only one answer showed it. If it is lost, make another one.`;
  }

  /** Saves what the form changes of the person that it showed. */
  async function update({ form, requires }: ConsoleCall, account: Account, actor: Actor): Promise<void> {
    const was = aboutNow(account);
    const typed = typedPerson(form);
    const members = Object.fromEntries(
      FIELDS.filter((name) => typed[name] !== was[name]).map((name) => [name, typed[name] || null]),
    );
    const changes = readSettings(USER_SETTINGS, members);
    for (const further of actsOf(USER_SETTINGS, changes, 'changing')) requires(further);
    if (Object.keys(changes).length > 0) await accounts.update(account, changes, actor);
  }

  async function show(call: ConsoleCall, problem: ActProblem | null): Promise<ConsolePage | Onward | null> {
    const { id, context, query, form, may } = call;
    // Before the first read: whatever is not on the page began later.
    const at = service.now();
    const account = await store.findAccount(id);
    if (!account) return null;
    const [page, identities, signIns, sessions, events, ended, disabling] = await Promise.all([
      grantsOf(service, account, query),
      store.listIdentities(id),
      store.findLastSignIns([id]),
      sessionsOf(id),
      store.listNamedAuditEvents({ resourceOwnerId: id, limit: LAST_EVENTS }),
      grantsToEndSoon({ grants, lists: operatorApi.lists }, { resourceOwnerId: id }),
      account.status === 'disabled' ? findLastEvent(store, { resourceOwnerId: id, action: 'user_disabled' }) : null,
    ]);
    if (page === null) return { location: personHref(id) };
    return personPage(context, {
      ended,
      problem,
      at,
      person: shownPerson(account, identities, signIns.get(id) ?? 'never', service.now()),
      grants: page,
      sessions: sessions.map(({ createdAt, lastSeenAt, providerId }) => ({
        createdAt,
        lastSeenAt,
        provider: providerId,
      })),
      events: events.map(shownEvent),
      disabling: disabling && shownEvent(disabling),
      rights: {
        endGrants: may('grants.revoke'),
        support: may('users.disable'),
        invite: accounts.takesPasswords && may('users.invite'),
        update: may('users.update'),
        delete: may('users.delete'),
      },
      form: changeForm(account, form, problem),
      tag: etagOf(userJson(account)),
      done: doneIn(query, PERSON_NOTICES),
      endedApp: (await service.clients.findClient(query.get('app') ?? ''))?.name ?? null,
    });
  }
}

/** Returns the time of the page (ms) that a form was on. Throws `OperatorError` without one. */
function timeOfPage(form: Parameters): number {
  const at = form.get('at') ?? '';
  if (!/^\d{1,15}$/.test(at)) throw new OperatorError(CHANGED, 'tag');
  return Number(at);
}

const FIELDS = ['email', 'name', 'username'] as const;

function aboutNow({ email, name, username }: Account): TypedPerson {
  return { email: email ?? '', name: name ?? '', username: username ?? '' };
}

/** Returns the form that changes a person: its values as they are now, or as typed into the refused form. */
function changeForm(account: Account, form: Parameters, problem: ActProblem | null): PersonData['form'] {
  const present = aboutNow(account);
  const shown = form.get('shown');
  const fresh = { typed: present, shown: shownOf(present), tag: etagOf(userJson(account)), isOpen: false };
  if (problem === null || shown === undefined) return fresh;
  const typed = typedPerson(form);
  return problem.field === 'tag'
    ? { ...fresh, typed: typedOver(present, typed, shown), isOpen: true }
    : { typed, shown, tag: form.get('tag') ?? '', isOpen: true };
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
