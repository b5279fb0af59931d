/** The acts on the page of one person. */
import { openInvitationAt } from '../../../../accounts/passwords/invitation.ts';
import type { Account } from '../../../../accounts/people/account.ts';
import { OperatorError } from '../../../../oauth/error.ts';
import { parseGrantId } from '../../../../oauth/grants/grant.ts';
import type { Parameters } from '../../../../oauth/parameters.ts';
import type { Actor } from '../../../../oauth/trail/audit.ts';
import { actsOf } from '../../../../operator/fields/setting.ts';
import { USER_SETTINGS } from '../../../../operator/fields/user-fields.ts';
import { invitationUrl } from '../../../../operator/json/user.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import { invitationPage } from '../../../../pages/operator/people/invitation-page.ts';
import type { PERSON_NOTICES } from '../../../../pages/operator/people/person-data.ts';
import type { Service } from '../../../service/service.ts';
import { asShown, type ConsoleCall, type ThingActs } from '../console-routes.ts';
import { personHref } from './people.ts';
import { changesIn, personTag } from './person-form.ts';

type PersonNotice = keyof typeof PERSON_NOTICES;

const GONE = 'the person was deleted meanwhile';
const CAME_BACK = 'Meanwhile the person signed in, allowed an app or was changed. Check the page, then try again.';
const CHANGED = 'The person was changed meanwhile. Check the page, then try again.';

/** Adds the acts. */
export function addPersonActs(acts: ThingActs<PersonNotice>, service: Service): void {
  addEndingsOfApps(acts, service);
  addEndings(acts, service);
  addChanges(acts, service);
}

/** Acts that end grants of one app, and name it on the page afterwards. */
function addEndingsOfApps({ act }: ThingActs<PersonNotice>, { grants, operatorApi: { store } }: Service): void {
  const add = (path: string, notice: PersonNotice, end: (account: Account, call: ConsoleCall) => Promise<string>) =>
    act(path, 'grants.revoke', async (call) => {
      const app = await end(await find(store, call.id), call);
      return { location: listHref(personHref(call.id), { done: notice, app }) };
    });
  add('end-grant', 'grant-ended', async ({ id }, { form, actor }) => {
    const grant = form.get('grant') ?? '';
    const found = await store.findGrant(parseGrantId(grant) ?? Buffer.alloc(16));
    if (found?.grant.resourceOwnerId !== id) throw new OperatorError('This grant is not there any more.');
    await grants.revoke(grant, actor);
    return found.grant.clientId;
  });
  add('end-app', 'app-ended', async ({ id }, { form, actor }) => {
    const app = form.get('client') ?? '';
    const ended = await grants.disconnect(id, app, actor);
    if (ended === 0) throw new OperatorError('This app has no grant any more.');
    return app;
  });
}

/** Acts that only end access: they never wait for another look at the page. */
function addEndings({ change }: ThingActs<PersonNotice>, { accounts, operatorApi: { store } }: Service): void {
  change('revoke-grants', 'users.revoke-grants', 'all-ended', async ({ id, actor }) =>
    accounts.revokeGrants(await find(store, id), actor),
  );
  change('end-sessions', 'users.end-sessions', 'signed-out', async ({ id, actor }) =>
    accounts.endSessions(await find(store, id), actor),
  );
  change('disable', 'users.disable', 'disabled', async ({ id, actor }) =>
    accounts.disable(await find(store, id), actor),
  );
}

/** Acts that give access or cannot be undone: they ask for the person as the page showed them. */
function addChanges({ act, change }: ThingActs<PersonNotice>, service: Service): void {
  const { accounts } = service;
  change('enable', 'users.enable', 'enabled', (call) =>
    unchanged(service, call, (...shown) => accounts.enable(...shown)),
  );
  const save = (call: ConsoleCall) => unchanged(service, call, (...shown) => update(service, call, ...shown));
  change('update', 'users.update', 'updated', save, { keepsTyped: true });
  act('invite', 'users.invite', (call) => invite(service, call));
  act('delete', 'users.delete', async (call) => {
    call.requires('users.revoke-grants');
    await unchanged(service, call, (...shown) => accounts.delete(...shown), timeOfPage(call.form));
    return { location: '/people?done=deleted' };
  });
}

async function invite(service: Service, call: ConsoleCall): Promise<ConsolePage> {
  const { account, token, ended } = await unchanged(service, call, async (shown, actor) => {
    const made = await service.accounts.invite(shown, actor);
    return { ...made, ended: openInvitationAt(shown.invitation, service.now()) };
  });
  const url = invitationUrl(service.operatorApi.newPasswordUrl, token);
  return invitationPage(call.context, account, url, ended);
}

/** Saves what the form changes of the person that it showed. */
async function update({ accounts }: Service, call: ConsoleCall, account: Account, actor: Actor): Promise<void> {
  const changes = changesIn(call.form, account);
  for (const further of actsOf(USER_SETTINGS, changes, 'changing')) call.requires(further);
  if (Object.keys(changes).length > 0) await accounts.update(account, changes, actor);
}

/**
 * Runs an act on the person as the page showed them; its write asks again if they are still the same. With `seenAt` (ms), also
 * if they have not signed in or allowed an app since.
 */
async function unchanged<Done>(
  service: Service,
  call: ConsoleCall,
  run: (account: Account, actor: Actor) => Promise<Done>,
  seenAt?: number,
): Promise<Done> {
  const account = await find(service.operatorApi.store, call.id);
  if (call.form.get('tag') !== personTag(account))
    throw new OperatorError(whyChanged(call, account, service.now()), 'tag');
  const row = { noun: 'user', row: account, ...(seenAt !== undefined && { seenAt }) } as const;
  const problem = new OperatorError(seenAt === undefined ? CHANGED : CAME_BACK, 'tag');
  return asShown(call.actor, row, problem, (asked) => run(account, asked));
}

/** A second press finds the link of the first one: only the first answer had it. */
function whyChanged({ form, context }: ConsoleCall, account: Account, now: number): string {
  const at = openInvitationAt(account.invitation, now);
  if (at === null || form.get('tag') !== personTag({ ...account, invitation: null })) return CHANGED;
  return `Meanwhile a link to set a password was made, at ${context.messages.minute(at)}. Only one answer showed it. If it is lost, make another one.`;
}

/** By the exact id: the registry would also take an address. */
async function find(store: Service['operatorApi']['store'], id: string): Promise<Account> {
  const account = await store.findAccount(id);
  if (!account) throw new OperatorError(GONE);
  return account;
}

/** Returns the time of the page (ms) that a form was on. Throws `OperatorError` without one. */
function timeOfPage(form: Parameters): number {
  const at = form.get('at') ?? '';
  if (!/^\d{1,15}$/.test(at)) throw new OperatorError(CHANGED, 'tag');
  return Number(at);
}
