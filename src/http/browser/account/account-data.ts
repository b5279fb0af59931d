/** The data of the account page: connected apps in short, sessions, and the last events in the words of their user. */
import { type Account, hasPassword } from '../../../accounts/people/account.ts';
import { sessionDigest } from '../../../accounts/people/session.ts';
import { groupByApp } from '../../../oauth/connected-apps/connected-apps.ts';
import type { NamedAuditEvent } from '../../../oauth/trail/audit-store.ts';
import type { AccountPageData, ActivityKind } from '../../../pages/account-page.ts';
import type { Service } from '../../service.ts';
import type { SignedIn } from '../browser-session.ts';

const DAY_MS = 86_400_000;
/** Maximum number of named apps, of events that are read, and of events that are shown. */
const [NAMED, READ, SHOWN] = [8, 100, 20];

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
): Promise<Pick<AccountPageData, 'hasPassword' | 'appCount' | 'recentApps' | 'sessions' | 'activity'>> {
  const now = service.now();
  const apps = groupByApp(await service.grants.connectedApps(account.id), new Set()).toSorted(
    (one, other) => other.usedAt - one.usedAt,
  );
  const recent = apps.filter(({ usedAt }) => now - usedAt <= 30 * DAY_MS);
  const { productName } = service.brand;
  const live = await service.accounts.listSessions(account);
  const own = sessionDigest(sessionToken);
  return {
    hasPassword: service.accounts.takesPasswords && hasPassword(account),
    appCount: apps.length,
    recentApps: recent.slice(0, NAMED).map(({ clientName }) => clientName),
    sessions: await Promise.all(
      live.map(async ({ createdAt, providerId, digest }) => ({
        since: createdAt,
        at: (providerId === null ? null : await service.providers.find(providerId))?.name ?? productName,
        isThis: digest.equals(own),
      })),
    ),
    activity: await activityOf(service, account, now),
  };
}

async function activityOf({ audit }: Service, { id }: Account, now: number): Promise<AccountPageData['activity']> {
  const filter = { resourceOwnerId: id, since: now - 90 * DAY_MS, limit: READ };
  const events = await audit.listNamedAuditEvents(filter);
  return events
    .flatMap(({ action, at, clientName }) => {
      const kind = KINDS[action];
      return kind === undefined ? [] : [{ kind, name: clientName, at }];
    })
    .slice(0, SHOWN);
}
