/** The data of the account page: connected apps in short, sessions, and the last events in the words of their user. */
import { type Account, hasPassword } from '../../../accounts/people/account.ts';
import { sessionDigest } from '../../../accounts/people/session.ts';
import { groupByApp } from '../../../oauth/connected-apps/connected-apps.ts';
import type { NamedAuditEvent } from '../../../oauth/trail/audit-store.ts';
import type { AccountPageData, ActivityKind } from '../../../pages/account/account-page.ts';
import type { Service } from '../../service/service.ts';
import type { SignedIn } from '../session/browser-session.ts';

const DAY_MS = 86_400_000;
/** Maximum number of named apps. */
const NAMED_APPS = 8;
/** Maximum number of events that are read. */
const READ_EVENTS = 100;

/** Events that concern a user, with their kind on the page; other events are for the operator. */
const KINDS: Readonly<Partial<Record<NamedAuditEvent['action'], ActivityKind>>> = {
  sign_in: 'signedIn',
  sign_out: 'signedOut',
  consent_allowed: 'allowed',
  consent_denied: 'denied',
  grant_revoked: 'removed',
  password_changed: 'passwordChanged',
  password_set_by_invitation: 'passwordChanged',
  user_password_set: 'passwordChanged',
  user_sessions_ended: 'signedOutEverywhere',
  user_grants_revoked: 'allRemoved',
};

/** Returns the data of the account page, without its form tokens. */
export async function accountData(
  service: Service,
  { account, sessionToken }: SignedIn,
): Promise<
  Pick<AccountPageData, 'hasPassword' | 'appCount' | 'recentApps' | 'moreRecentApps' | 'sessions' | 'activity'>
> {
  const now = service.now();
  const apps = groupByApp(await service.grants.connectedApps(account.id), new Set()).toSorted(
    (one, other) => other.usedAt - one.usedAt,
  );
  const recent = apps.filter(({ usedAt }) => now - usedAt <= 30 * DAY_MS);
  const { productName } = service.brand;
  const own = sessionDigest(sessionToken);
  const live = await service.accounts.listSessions(account);
  const sessions = live
    .map((session) => ({ ...session, isThis: session.digest.equals(own) }))
    .toSorted((one, other) => Number(other.isThis) - Number(one.isThis));
  return {
    hasPassword: service.accounts.takesPasswords && hasPassword(account),
    appCount: apps.length,
    recentApps: recent.slice(0, NAMED_APPS).map(({ clientId, clientName }) => ({ clientId, name: clientName })),
    moreRecentApps: Math.max(0, recent.length - NAMED_APPS),
    sessions: await Promise.all(
      sessions.map(async ({ createdAt, providerId, isThis }) => ({
        since: createdAt,
        at: (providerId === null ? null : await service.providers.find(providerId))?.name ?? productName,
        isThis,
      })),
    ),
    activity: await activityOf(service, account, now),
  };
}

async function activityOf({ audit }: Service, { id }: Account, now: number): Promise<AccountPageData['activity']> {
  const filter = { resourceOwnerId: id, since: now - 90 * DAY_MS, limit: READ_EVENTS };
  const events = await audit.listNamedAuditEvents(filter);
  return events.flatMap(({ action, at, clientName }) => {
    const kind = KINDS[action];
    return kind === undefined ? [] : [{ kind, name: clientName, at }];
  });
}
