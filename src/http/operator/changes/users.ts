/** `POST`, `PATCH` and `DELETE` of users, and the end of a grant. */
import type { Account } from '../../../accounts/people/account.ts';
import { grantStatus, parseGrantId } from '../../../oauth/grants/grant.ts';
import type { FoundGrant } from '../../../oauth/protocol/grant-store.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import { actsOf, readSettings, requiredMembers } from '../../../operator/fields/setting.ts';
import { readNewUser, USER_SETTINGS } from '../../../operator/fields/user-fields.ts';
import { invitedJson, userJson } from '../../../operator/json/user.ts';
import { grantsToEnd } from '../../../operator/lists/blast-radius.ts';
import type { Service } from '../../service/service.ts';
import { notFound } from '../api/api-error.ts';
import { findOne, nounsOf } from '../api/nouns.ts';
import { type Route, route } from '../api/route.ts';
import { newSettings, patchedSettings } from '../api/setting-schemas.ts';
import { bodyOf, Changes, isDryRun, takesNothing, wouldEnd } from './change.ts';
import { changing, deletedSchema } from './described-changes.ts';
import {
  CHANGED_USER,
  GRANTS_TO_END,
  INVITED_USER,
  REVOKED_GRANT,
  SESSIONS_TO_END,
  SIGN_INS_TO_END,
  USER_TO_END,
} from './schemas.ts';

const ADD = changing('users', 'inviteNewUser', 'Add a user, who sets a password at a one-time address', {
  schema: INVITED_USER,
  status: 201,
  hasId: false,
  takesKey: true,
  body: { members: newSettings(USER_SETTINGS), required: requiredMembers(USER_SETTINGS) },
});
const UPDATE = changing('users', 'updateUser', 'Change the names or the address of a user (merge patch, RFC 7396)', {
  schema: CHANGED_USER,
  hasTag: true,
  patch: patchedSettings(USER_SETTINGS),
});
const INVITE = changing('users', 'inviteUser', 'Make a one-time address at which a user sets a password', {
  schema: INVITED_USER,
  status: 201,
  takesKey: true,
});
const DISABLE = changing('users', 'disableUser', 'Refuse everything of a user until it is enabled; sessions end', {
  schema: CHANGED_USER,
  hasTag: true,
  wouldEnd: SIGN_INS_TO_END,
});
const ENABLE = changing('users', 'enableUser', 'Let a disabled user sign in again', {
  schema: CHANGED_USER,
  hasTag: true,
});
const END_SESSIONS = changing('users', 'endSessionsUser', 'Sign a user out everywhere', {
  schema: CHANGED_USER,
  hasTag: true,
  wouldEnd: SESSIONS_TO_END,
});
const REVOKE_GRANTS = changing('users', 'revokeGrantsUser', 'End every grant of a user', {
  schema: CHANGED_USER,
  hasTag: true,
  wouldEnd: GRANTS_TO_END,
});
const DELETE = changing('users', 'deleteUser', 'Delete a user, with sessions and grants', {
  schema: deletedSchema(CHANGED_USER),
  takesIfMatch: true,
  wouldEnd: USER_TO_END,
});
const REVOKE = changing('grants', 'revokeGrant', 'End a grant: every token of it is refused from now on', {
  schema: REVOKED_GRANT,
  wouldEnd: GRANTS_TO_END,
});

/** Returns the routes that change users. */
export function changingUsers(service: Service): Route[] {
  const { accounts, grants, operatorApi } = service;
  const { newPasswordUrl } = operatorApi;
  const changes = new Changes(service);
  const { user: noun } = nounsOf(service);
  const one = (
    path: string,
    act: Route['act'],
    operation: Route['operation'],
    run: (account: Account, actor: Actor) => Promise<Account>,
    ends?: (account: Account) => Promise<object>,
  ): Route =>
    route('POST', `/users/:id/${path}`, act, operation, (call) =>
      changes.on(noun, call, async (account, actor) => {
        if (!ends) takesNothing(call);
        else if (isDryRun(call)) return wouldEnd(await ends(account));
        return userJson(await run(account, actor));
      }),
    );
  const itsSessions = async (account: Account) => ({ grants: 0, sessions: await accounts.countSessions(account) });
  const itsInvitation = ({ invitation }: Account) => ({
    invitations: invitation && invitation.expiresAt > service.now() ? 1 : 0,
  });
  const itsGrants = ({ id }: Account) => grantsToEnd(grants, { resourceOwnerId: id });
  return [
    route('POST', '/users', 'users.invite', ADD, (call) => {
      const person = readNewUser(bodyOf(call));
      const add = async (actor: Actor) => {
        const { account, token } = await accounts.addInvited(person, actor);
        return invitedJson(account, newPasswordUrl, token);
      };
      return changes.make(call, add, async (id) => invitedJson(await accounts.show({ id }), newPasswordUrl, null));
    }),
    {
      ...route('PATCH', '/users/:id', 'users.update', UPDATE, (call) => {
        const about = readSettings(USER_SETTINGS, bodyOf(call));
        return changes.on(noun, call, async (account, actor) =>
          userJson(Object.keys(about).length === 0 ? account : await accounts.update(account, about, actor)),
        );
      }),
      also: (members) => actsOf(USER_SETTINGS, readSettings(USER_SETTINGS, members), 'changing'),
    },
    route('POST', '/users/:id/invite', 'users.invite', INVITE, async (call) => {
      takesNothing(call);
      const { id } = await findOne(noun, call.id);
      const invite = async (actor: Actor) => {
        const { account, token } = await accounts.invite({ id }, actor);
        return invitedJson(account, newPasswordUrl, token);
      };
      return changes.make(call, invite, async (made) =>
        invitedJson(await accounts.show({ id: made }), newPasswordUrl, null),
      );
    }),
    one(
      'disable',
      'users.disable',
      DISABLE,
      (account, actor) => accounts.disable(account, actor),
      async (account) => ({ ...(await itsSessions(account)), ...itsInvitation(account) }),
    ),
    one('enable', 'users.enable', ENABLE, (account, actor) => accounts.enable(account, actor)),
    one(
      'end-sessions',
      'users.end-sessions',
      END_SESSIONS,
      (account, actor) => accounts.endSessions(account, actor),
      itsSessions,
    ),
    one(
      'revoke-grants',
      'users.revoke-grants',
      REVOKE_GRANTS,
      (account, actor) => accounts.revokeGrants(account, actor),
      itsGrants,
    ),
    {
      ...route('DELETE', '/users/:id', 'users.delete', DELETE, (call) =>
        changes.on(noun, call, async (account, actor) =>
          isDryRun(call)
            ? wouldEnd({ ...(await itsSessions(account)), ...itsInvitation(account), ...(await itsGrants(account)) })
            : { ...userJson(await accounts.delete(account, actor)), status: 'deleted' },
        ),
      ),
      also: () => ['users.revoke-grants'],
    },
  ];
}

/** The states in which ending a grant ends something. */
const LIVE: readonly string[] = ['issued', 'active'];

/** Returns the route that ends a grant. */
export function endingGrants(service: Service): Route[] {
  const { grants, operatorApi } = service;
  const changes = new Changes(service);
  const find = async (text: string): Promise<FoundGrant> => {
    const id = parseGrantId(text);
    const found = id && (await operatorApi.store.findGrant(id));
    if (!found) throw notFound('grant');
    return found;
  };
  return [
    route('POST', '/grants/:id/revoke', 'grants.revoke', REVOKE, async (call) => {
      const isDry = isDryRun(call);
      const { grant, standing } = await find(call.id);
      const number = LIVE.includes(grantStatus(grant, standing, service.now())) ? 1 : 0;
      if (isDry) return wouldEnd({ grants: number, users: number, apps: number, more: false });
      await grants.revoke(call.id, changes.actor(call));
      return { id: call.id.toLowerCase(), status: 'revoked' };
    }),
  ];
}
