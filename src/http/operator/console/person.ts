/** The page of one person, and the acts on it. */
import type { Account } from '../../../accounts/people/account.ts';
import { subjectOf } from '../../../accounts/people/identity-provider.ts';
import { sessionExpiresAt } from '../../../accounts/people/session.ts';
import { type ConnectedApp, pageOfApps } from '../../../oauth/connected-apps/connected-apps.ts';
import { OperatorError } from '../../../oauth/error.ts';
import { fieldsThere } from '../../../oauth/grants/person-fields.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import { ChangedSince } from '../../../oauth/trail/request-conditions.ts';
import type { Act } from '../../../operator/access/rights.ts';
import { grantsToEnd } from '../../../operator/blast-radius.ts';
import { actsOfUserChanges, readUserChanges } from '../../../operator/fields/user-fields.ts';
import { invitationUrl, userJson } from '../../../operator/json/user.ts';
import { findShownUser, type ShownUser } from '../../../operator/shown-user.ts';
import type { Html } from '../../../pages/html.ts';
import type { ActProblem } from '../../../pages/operator/act.ts';
import type { TypedPerson } from '../../../pages/operator/people/people-page.ts';
import { PERSON_NOTICES, type ShownConnection, type ShownPerson } from '../../../pages/operator/people/person-data.ts';
import { personPage } from '../../../pages/operator/people/person-page.ts';
import { permissionsGranted } from '../../browser/permissions.ts';
import type { Service } from '../../service.ts';
import { etagOf } from '../api/etag.ts';
import { doneIn } from './asked-page.ts';
import type { ConsoleCall, ConsoleRoutes, Onward } from './console-routes.ts';
import { shownEvent } from './investigation/shown-event.ts';
import { invitationPage, personHref, typedPerson } from './people.ts';

/** Number of connections on the page, each with a form: 50 would take more than 50 KB. */
const CONNECTIONS = 20;
/** Number of events on the page. */
const LAST_EVENTS = 10;

const GONE = 'the person was deleted meanwhile';
const CHANGED = 'The person was changed meanwhile. Check the page, and save again.';

/** Adds the page. */
export function addPerson(routes: ConsoleRoutes, service: Service): void {
  const { accounts, grants, operatorApi } = service;
  const { store } = operatorApi;

  routes.page('/people/:id', 'users.show', (call) => show(call, null));

  act('end-connection', 'grants.revoke', 'connection-ended', async ({ id }, { form, actor }) => {
    const isWaiting = form.has('waiting');
    const taken = { clientId: form.get('client') ?? '', grantId: form.get('grant') ?? '', isWaiting };
    if ((await grants.takeBack(id, taken, actor)) === null)
      throw new OperatorError('This connection is not there any more.');
  });
  act('revoke-grants', 'users.revoke-grants', 'all-ended', ({ id }, { actor }) => accounts.revokeGrants(id, actor));
  act('end-sessions', 'users.end-sessions', 'signed-out', ({ id }, { actor }) => accounts.endSessions(id, actor));
  act('disable', 'users.disable', 'disabled', ({ id }, { actor }) => accounts.disable(id, actor));
  act('enable', 'users.enable', 'enabled', ({ id }, { actor }) => accounts.enable(id, actor));
  act('update', 'users.update', 'updated', update);
  routes.act(
    '/people/:id/invite',
    'users.invite',
    async (call) => {
      const { account, token } = await accounts.invite((await find(call.id)).id, call.actor);
      return invitationPage(call.context, call.operator, account, invitationUrl(operatorApi.newPasswordUrl, token));
    },
    show,
  );
  routes.act(
    '/people/:id/delete',
    'users.delete',
    async ({ id, actor, requires }) => {
      requires('users.revoke-grants');
      await accounts.delete((await find(id)).id, actor);
      return { location: '/people?done=deleted' };
    },
    show,
  );

  /** An act that leads back to the page. */
  function act(
    path: string,
    name: Act,
    notice: keyof typeof PERSON_NOTICES,
    run: (account: Account, call: ConsoleCall) => Promise<unknown>,
  ): void {
    const runIt = async (call: ConsoleCall): Promise<Onward> => {
      await run(await find(call.id), call);
      return { location: `${personHref(call.id)}?done=${notice}` };
    };
    routes.act(`/people/:id/${path}`, name, runIt, show);
  }

  /** By the exact id: the registry would also take an address. */
  async function find(id: string): Promise<Account> {
    const account = await store.findAccount(id);
    if (!account) throw new OperatorError(GONE);
    return account;
  }

  /** Saves what the form changes of the person that it showed; the write asks again if that is still the same. */
  async function update(account: Account, { form, actor, requires }: ConsoleCall): Promise<void> {
    if (form.get('tag') !== etagOf(userJson(account))) throw new OperatorError(CHANGED);
    const [was, typed] = [aboutNow(account), typedPerson(form)];
    const members = Object.fromEntries(
      FIELDS.filter((name) => typed[name] !== was[name]).map((name) => [name, typed[name] || null]),
    );
    const changes = readUserChanges(members);
    for (const further of actsOfUserChanges(changes)) requires(further);
    if (Object.keys(changes).length === 0) return;
    const conditions = { unchanged: { noun: 'user', row: account } } as const;
    try {
      await accounts.update(account.id, changes, { ...actor, conditions } satisfies Actor);
    } catch (error) {
      throw error instanceof ChangedSince ? new OperatorError(CHANGED) : error;
    }
  }

  async function show(call: ConsoleCall, problem: ActProblem | null): Promise<Html | null> {
    const { id, context, operator, query, form, may } = call;
    const user = await findShownUser(store, id);
    if (!user) return null;
    const { account } = user;
    const [apps, sessions, events, ended, operators] = await Promise.all([
      grants.connectedApps(id),
      store.listSessions(id),
      store.listNamedAuditEvents({ resourceOwnerId: id, limit: LAST_EVENTS }),
      grantsToEnd(grants, { resourceOwnerId: id }),
      service.operators.registry.list(),
    ]);
    const { apps: connected, ...page } = pageOfApps(apps, query.get('after') ?? null, CONNECTIONS);
    const live = sessions.filter((session) => sessionExpiresAt(session) > service.now());
    return personPage(context, {
      ...{ operator, ended, problem },
      person: shownPerson(user, service.now()),
      connections: { ...page, shown: await Promise.all(connected.map((each) => shownConnection(each, account))) },
      sessions: live.map(({ createdAt, lastSeenAt, providerId }) => ({ createdAt, lastSeenAt, provider: providerId })),
      events: events.map((event) => shownEvent(event, operators)),
      rights: {
        endConnection: may('grants.revoke'),
        support: may('users.disable'),
        invite: accounts.takesPasswords && may('users.invite'),
        update: may('users.update'),
        delete: may('users.delete'),
      },
      form: {
        typed: problem !== null && form.has('tag') ? typedPerson(form) : aboutNow(account),
        tag: etagOf(userJson(account)),
      },
      done: doneIn(query, PERSON_NOTICES),
    });
  }

  async function shownConnection(connected: ConnectedApp, account: Account): Promise<ShownConnection> {
    const { clientId, clientName, scope, personFields, ...shown } = connected;
    const client = await service.clients.findClient(clientId);
    return {
      ...{ ...shown, clientId, appName: clientName },
      permissions: await permissionsGranted(service, client, scope, 'en'),
      person: fieldsThere(personFields, account),
    };
  }
}

const FIELDS = ['email', 'name', 'username'] as const;

function aboutNow({ email, name, username }: Account): TypedPerson {
  return { email: email ?? '', name: name ?? '', username: username ?? '' };
}

function shownPerson({ account, use, identities }: ShownUser, now: number): ShownPerson {
  const { password, invitation } = account;
  return {
    ...account,
    ...use,
    hasPassword: password !== null,
    invitedUntil: invitation && invitation.expiresAt > now ? invitation.expiresAt : null,
    identities: identities.map((identity) => ({ provider: identity.providerId, subject: subjectOf(identity) })),
  };
}
