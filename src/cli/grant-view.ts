/** How grants are shown: in lists, and the whole life of one. */
import { accountLabel } from '../accounts/people/account.ts';
import type { GrantLife } from '../oauth/connected-apps/grant-life.ts';
import { isForDevice } from '../oauth/grants/device-grant.ts';
import {
  type Grant,
  grantIdText,
  grantStatus,
  lastUse,
  MAX_GRANTS_OF_ONE_APP,
  USE_IS_NEWS_AFTER_MS,
} from '../oauth/grants/grant.ts';
import type { FoundGrant, ListedGrant } from '../oauth/protocol/grant-store.ts';
import type { NamedAuditEvent } from '../oauth/trail/audit-store.ts';
import { byWhom, eventJson, eventLines, withId } from './audit-view.ts';
import type { CommandResult } from './command-run.ts';
import { card, type Field, table } from './table.ts';
import { exactTime, isoTime, readableTime, timeOrNever } from './time.ts';

/** Many grants. `now` in ms. */
export function listedGrants(listed: readonly ListedGrant[], now: number, width: number): CommandResult {
  const none = 'No grants: one is made whenever a user allows an app. "valetkey demo" shows how.';
  const rows = listed.map((one) => grantRow(one, now));
  return {
    json: listed.map((one) => grantJson(one, now)),
    text: rows.length === 0 ? [none] : table(HEADINGS, rows, width),
  };
}

/** The whole life of one grant. `now` in ms. */
export function shownGrant({ id, found, events, ending }: GrantLife, now: number, width: number): CommandResult {
  const rows = found ? lifeOf(found, now) : lostLife(id, events);
  const revoked = found?.grant.revokedAt ? `${exactTime(found.grant.revokedAt)} (${found.grant.revocationReason})` : '';
  const ended: Field = ['Ended', ending ? endingText(ending) : revoked];
  return {
    json: {
      ...(found ? grantJson({ ...found, clientName: found.client.name }, now) : { id, status: 'gone' }),
      ...(found ? detailsJson(found.grant) : {}),
      ended: ending && eventJson(ending),
      events: events.map(eventJson),
    },
    text: [...card([...rows, ended]), '', 'What happened:', '', ...eventLines(events, width)],
  };
}

function lifeOf({ grant, standing, resourceOwner, client }: FoundGrant, now: number): Field[] {
  const status = grantStatus(grant, standing, now);
  const isOver = status === 'revoked' || status === 'expired';
  return [
    ['Grant', grantIdText(grant.id)],
    ['Status', statusText({ grant, standing }, now)],
    ['App', withId(client.name, grant.clientId)],
    ['User', withId(accountLabel(resourceOwner), grant.resourceOwnerId)],
    ['Scope', grant.scope === '' ? 'none' : grant.scope],
    ['Resource', resourceLine(grant)],
    ['Sent to', isForDevice(grant) ? 'a device' : grant.redirectUri],
    ['Signed in', signedInText(grant)],
    ['Allowed', exactTime(grant.grantedAt)],
    ['Redeemed', redeemedText(grant)],
    ['Refreshed', refreshedText(grant)],
    ['Last used', lastUsedText(grant)],
    ['Ends', isOver ? '' : endText(grant)],
    ['Expired', status === 'expired' ? exactTime(grant.expiresAt) : ''],
  ];
}

function resourceLine({ resource, resourceIsDefault }: Grant): string {
  return `${resource ?? ''}${resourceIsDefault ? ' (the default of the app)' : ''}`;
}

/** What the trail says of a grant whose row is gone. */
function lostLife(id: string, [first]: readonly NamedAuditEvent[]): Field[] {
  if (!first) return [['Grant', id]];
  const { clientId, clientName, resourceOwnerId, resourceOwner, at, detail } = first;
  return [
    ['Grant', id],
    ['Status', 'gone: rows are cleared a day after their end'],
    ['App', clientId === null ? '' : withId(clientName, clientId)],
    ['User', resourceOwnerId === null ? '' : withId(resourceOwner && accountLabel(resourceOwner), resourceOwnerId)],
    ['Scope', detail ?? ''],
    ['Allowed', exactTime(at)],
  ];
}

/** When and where the person who allowed it had signed in, and what the identity provider calls them there. */
function signedInText({ signedInAt, providerId, externalId }: Grant): string {
  if (providerId === null) return `${exactTime(signedInAt)}, with a password here`;
  return `${exactTime(signedInAt)}, at ${providerId}${externalId === null ? '' : ` as ${externalId}`}`;
}

/** Only the latest rotation has a time; the first one is the redemption. */
function redeemedText({ generation, rotatedAt }: Grant): string {
  if (generation === 0) return 'not yet';
  return generation === 1 ? exactTime(rotatedAt) : 'yes';
}

function refreshedText({ generation, rotatedAt }: Grant): string {
  if (generation === 0) return '';
  const times = generation === 2 ? 'once' : `${generation - 1} times, the last`;
  return generation === 1 ? 'never' : `${times} at ${exactTime(rotatedAt)}`;
}

/** Uses of one token are noted once in ten minutes. */
function lastUsedText({ generation, lastUsedAt }: Grant): string {
  if (lastUsedAt === null) return generation === 0 ? '' : 'never: no API was shown a token of it';
  return `${exactTime(lastUsedAt)}, or up to ${USE_IS_NEWS_AFTER_MS / 60_000} minutes later`;
}

function endText({ generation, expiresAt, absoluteExpiresAt }: Grant): string {
  if (generation === 0) return `${exactTime(expiresAt)}, unless its code is exchanged before`;
  if (expiresAt === absoluteExpiresAt) return exactTime(expiresAt);
  return `${exactTime(expiresAt)}, unless it is refreshed before; ${exactTime(absoluteExpiresAt)} at the latest`;
}

function endingText(ending: NamedAuditEvent): string {
  const { at, action, actor, detail } = ending;
  const from = actor.source === null ? '' : ` from ${actor.source}`;
  return `${exactTime(at)} by ${byWhom(ending)}${from}: ${ENDINGS[action] ?? action}${detail === null ? '' : ` (${detail})`}`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  grant_revoked: 'it was taken back',
  code_replay: 'its code came a second time',
  refresh_reuse: 'a refresh token came that was replaced long before',
  refresh_conflict: 'a refresh token came of another history of this database, so that two hold this access',
  database_restored: 'the database was restored before its code was exchanged',
  too_many_grants: `the user has newer ones of this app, and ${MAX_GRANTS_OF_ONE_APP} is the limit`,
  all_grants_revoked: 'all grants of the installation were ended',
  client_grants_revoked: 'all grants of the app were ended',
  user_grants_revoked: 'all grants of the user were ended',
  client_deleted: 'the app was deleted',
  user_deleted: 'the user was deleted',
};

function grantJson({ grant, standing, clientName, resourceOwner }: ListedGrant, now: number) {
  return {
    id: grantIdText(grant.id),
    client_id: grant.clientId,
    client_name: clientName,
    user_id: grant.resourceOwnerId,
    user_email: resourceOwner.email,
    scope: grant.scope,
    status: grantStatus(grant, standing, now),
    provider_id: grant.providerId,
    signed_in_at: isoTime(grant.signedInAt),
    granted_at: isoTime(grant.grantedAt),
    last_used_at: isoTime(lastUse(grant)),
    expires_at: isoTime(grant.expiresAt),
  };
}

function detailsJson({
  redirectUri,
  resource,
  resourceIsDefault,
  generation,
  rotatedAt,
  absoluteExpiresAt,
  ...grant
}: Grant) {
  return {
    external_id: grant.externalId,
    redirect_uri: redirectUri,
    resource,
    resource_is_default: resourceIsDefault,
    redeemed: generation > 0,
    refreshes: Math.max(0, generation - 1),
    last_refreshed_at: generation > 1 ? isoTime(rotatedAt) : null,
    last_token_used_at: isoTime(grant.lastUsedAt),
    expires_at_the_latest: isoTime(absoluteExpiresAt),
    revoked_at: isoTime(grant.revokedAt),
    revocation_reason: grant.revocationReason,
  };
}

const HEADINGS = ['ID', 'App', 'User', 'Scope', 'Status', 'Granted', 'Last used', 'Expires', 'Signed in at'];

function grantRow({ grant, standing, clientName, resourceOwner }: ListedGrant, now: number): string[] {
  return [
    grantIdText(grant.id),
    clientName,
    accountLabel(resourceOwner),
    grant.scope,
    statusText({ grant, standing }, now),
    readableTime(grant.grantedAt),
    timeOrNever(lastUse(grant)),
    readableTime(grant.expiresAt),
    grant.providerId ?? '',
  ];
}

function statusText({ grant, standing }: Pick<ListedGrant, 'grant' | 'standing'>, now: number): string {
  const status = grantStatus(grant, standing, now);
  const held = [standing.clientPaused ? 'app paused' : '', standing.resourceOwnerDisabled ? 'user disabled' : ''];
  const why = held.filter((reason) => reason !== '').join(', ');
  return why === '' ? status : `${status} (${why})`;
}
