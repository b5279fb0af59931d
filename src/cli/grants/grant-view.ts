/** How grants are shown: in lists, and the whole life of one. */
import { accountLabel } from '../../accounts/people/account.ts';
import type { GrantLife } from '../../oauth/connected-apps/grant-life.ts';
import { isForDevice } from '../../oauth/grants/device-grant.ts';
import { MAX_GRANTS_OF_ONE_APP, USE_IS_NEWS_AFTER_MS } from '../../oauth/grants/grant.ts';
import type { FoundGrant, ListedGrant } from '../../oauth/protocol/grant-store.ts';
import type { NamedAuditEvent } from '../../oauth/trail/audit-store.ts';
import type { Members } from '../../oauth/trail/event-members.ts';
import {
  type FoundGrantJson,
  foundGrantJson,
  type GrantJson,
  grantJson,
  grantLifeJson,
} from '../../operator/json/grant.ts';
import type { CommandResult } from '../command/command-run.ts';
import { type Column, card, type Field, table } from '../output/table.ts';
import { exactTime, readableTime, timeOrNever } from '../output/time.ts';
import { byWhom, eventLines, shownEvent, withId } from '../trail/audit-view.ts';

/** A grant, with the display name of its user, and the temporary obstacles to its use. */
type ShownGrant = GrantJson & { readonly user: string; readonly held: readonly string[] };

function withStanding<Json extends GrantJson>(
  json: Json,
  { standing, resourceOwner }: Pick<ListedGrant, 'standing' | 'resourceOwner'>,
): Json & ShownGrant {
  const paused = standing.clientPaused ? ['app paused'] : [];
  const disabled = standing.resourceOwnerDisabled ? ['user disabled'] : [];
  return { ...json, user: accountLabel(resourceOwner), held: [...paused, ...disabled] };
}

/** Many grants. `now` in ms. */
export function listedGrants(listed: readonly ListedGrant[], now: number, width: number): CommandResult {
  const none = 'No grants: one is made whenever a user allows an app. "valetkey demo" shows how.';
  const grants = listed.map((one) => grantJson(one, now));
  const rows = listed.map((one, at) => withStanding(grants[at] as GrantJson, one));
  return { json: grants, text: rows.length === 0 ? [none] : table(COLUMNS, rows, width) };
}

/** A grant that can still be ended, in a question; null once it has ended. `now` in ms. */
export function liveGrant({ found }: GrantLife, now: number): string | null {
  if (!found) return null;
  const { id, client_name, user, status } = withStanding(foundGrantJson(found, now), found);
  return status === 'revoked' ? null : `grant ${id} of ${user} for ${client_name}`;
}

/** The whole life of one grant. `now` in ms. */
export function shownGrant(life: GrantLife, now: number, width: number): CommandResult {
  const { id, found, events, ending } = life;
  const rows = found ? lifeOf(found, now) : lostLife(id, events);
  const revoked = found?.grant.revokedAt ? `${exactTime(found.grant.revokedAt)} (${found.grant.revocationReason})` : '';
  const ended: Field = ['Ended', ending ? endingText(ending) : revoked];
  return {
    json: grantLifeJson(life, now),
    text: [...card([...rows, ended]), '', 'What happened:', '', ...eventLines(events, width)],
  };
}

function lifeOf(found: FoundGrant, now: number): Field[] {
  const grant = withStanding(foundGrantJson(found, now), found);
  const isOver = grant.status === 'revoked' || grant.status === 'expired';
  return [
    ['Grant', grant.id],
    ['Status', statusText(grant)],
    ['App', withId(grant.client_name, grant.client_id)],
    ['User', withId(grant.user, grant.user_id)],
    ['Scope', grant.scope === '' ? 'none' : grant.scope],
    ['Resource', `${grant.resource ?? ''}${grant.resource_is_default ? ' (the default of the app)' : ''}`],
    ['Sent to', isForDevice(found.grant) ? 'a device' : grant.redirect_uri],
    ['Signed in', signedInText(grant)],
    ['Allowed', exactTime(grant.granted_at)],
    ['Redeemed', redeemedText(grant, found.grant.rotatedAt)],
    ['Refreshed', refreshedText(grant)],
    ['Last used', lastUsedText(grant)],
    ['Ends', isOver ? '' : endText(grant)],
    ['Expired', grant.status === 'expired' ? exactTime(grant.expires_at) : ''],
  ];
}

/** Returns the trail's facts on a grant whose row is gone. */
function lostLife(id: string, [first]: readonly NamedAuditEvent[]): Field[] {
  if (!first) return [['Grant', id]];
  const allowed = shownEvent(first);
  return [
    ['Grant', id],
    ['Status', 'deleted: rows are removed a day after their end'],
    ['App', withId(allowed.client_name, allowed.client_id)],
    ['User', withId(allowed.user, allowed.user_id)],
    ['Scope', scopesIn(allowed.members)],
    ['Allowed', exactTime(allowed.at)],
  ];
}

function scopesIn(members: Members | null): string {
  const scopes = members?.['scopes'];
  return Array.isArray(scopes) ? scopes.join(' ') : '';
}

/** The time and place of the user's sign-in, and their subject at the identity provider. */
function signedInText({ signed_in_at: at, provider_id: provider, external_id: subject }: FoundGrantJson): string {
  if (provider === null) return `${exactTime(at)}, with a password here`;
  return `${exactTime(at)}, at ${provider}${subject === null ? '' : ` as ${subject}`}`;
}

/** Only the latest rotation (ms) has a time; the first one is the redemption. */
function redeemedText({ redeemed, refreshes }: FoundGrantJson, rotatedAt: number): string {
  if (!redeemed) return 'not yet';
  return refreshes === 0 ? exactTime(rotatedAt) : 'yes';
}

function refreshedText({ redeemed, refreshes, last_refreshed_at: at }: FoundGrantJson): string {
  if (at === null) return redeemed ? 'never' : '';
  return `${refreshes === 1 ? 'once' : `${refreshes} times, the last`} at ${exactTime(at)}`;
}

/** Uses of one token are noted once in ten minutes. */
function lastUsedText({ redeemed, last_token_used_at: at }: FoundGrantJson): string {
  if (at === null) return redeemed ? 'never: no API has checked a token of this grant' : '';
  return `${exactTime(at)}, or up to ${USE_IS_NEWS_AFTER_MS / 60_000} minutes later`;
}

function endText({ redeemed, expires_at: end, expires_at_the_latest: latest }: FoundGrantJson): string {
  if (!redeemed) return `${exactTime(end)}, unless its code is exchanged before`;
  if (end === latest) return exactTime(end);
  return `${exactTime(end)}, unless it is refreshed before; ${exactTime(latest)} at the latest`;
}

function endingText(named: NamedAuditEvent): string {
  const ending = shownEvent(named);
  const { at, action, source, detail } = ending;
  const from = source === null ? '' : ` from ${source}`;
  return `${exactTime(at)} by ${byWhom(ending)}${from}: ${ENDINGS[action] ?? action}${detail === null ? '' : ` (${detail})`}`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  grant_revoked: 'the grant was revoked',
  code_replay: 'its code was presented a second time',
  refresh_reuse: 'a refresh token was presented that had been replaced long before',
  refresh_conflict:
    'a refresh token from another copy of the database was presented, so that two parties hold this access',
  database_restored: 'the database was restored before its code was exchanged',
  too_many_grants: `the user allowed this app again, and ${MAX_GRANTS_OF_ONE_APP} grants are the limit`,
  all_grants_revoked: 'all grants of the installation were ended',
  client_grants_revoked: 'all grants of the app were ended',
  user_grants_revoked: 'all grants of the user were ended',
  client_deleted: 'the app was deleted',
  user_deleted: 'the user was deleted',
};

const COLUMNS: readonly Column<ShownGrant>[] = [
  { heading: 'ID', value: ({ id }) => id },
  { heading: 'App', value: (grant) => grant.client_name },
  { heading: 'User', value: ({ user }) => user },
  { heading: 'Scope', value: ({ scope }) => scope },
  { heading: 'Status', value: statusText },
  { heading: 'Granted', value: (grant) => readableTime(grant.granted_at) },
  { heading: 'Last used', value: (grant) => timeOrNever(grant.last_used_at) },
  { heading: 'Expires', value: (grant) => readableTime(grant.expires_at) },
  { heading: 'Signed in at', value: (grant) => grant.provider_id ?? '' },
];

function statusText({ status, held }: ShownGrant): string {
  return held.length === 0 ? status : `${status} (${held.join(', ')})`;
}
