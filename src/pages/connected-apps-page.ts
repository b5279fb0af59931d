import { type AppProfile, appProfile } from './app-profile.ts';
import { hiddenFields } from './form.ts';
import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import { isolated, isolatedAddress } from './isolated.ts';
import { layout, type PageContext } from './layout.ts';
import { monogram } from './mark.ts';
import type { Messages } from './messages/messages.ts';
import { problemNotice } from './notice.ts';
import { accountName, type PageAccount } from './page-account.ts';
import { haveEffects, type Permission, type PersonField, permissionList } from './permissions.ts';

/**
 * One line of the page: an app, or its access on one device or in one installation. Times are milliseconds since
 * 1970; `lastUsed` is null before the first use.
 */
export type ConnectedApp = {
  clientId: string;
  /** With the client, names the access that the line's form removes. */
  grantId: string;
  kind: 'app' | 'device' | 'installation';
  /** True if it was allowed, and the app has not fetched it yet. */
  isWaiting: boolean;
  appName: string;
  profile: AppProfile;
  /** The redirect hosts; none for a device. */
  hosts: readonly string[];
  permissions: readonly Permission[];
  /** The profile fields that the app gets, as far as the account has them. */
  person: readonly PersonField[];
  since: number;
  lastUsed: number | null;
  /** End of the access if the app does not use it, and its end in any case. */
  endsUnused: number;
  ends: number;
};

/**
 * The removed access: a waiting grant, an app on one device or in one installation, or an app except for devices that
 * are still listed.
 */
export type RemovedAccess = 'app' | 'appButDevices' | 'device' | 'installation' | 'waiting';

/** Data of the connected-apps page. */
export type ConnectedAppsData = {
  account: PageAccount;
  /** One page of the list: lines from `first` (counted from 1), of `total`. */
  apps: readonly ConnectedApp[];
  first: number;
  total: number;
  /** The cursors of this page and the next; null for the first page, and for the page after the last. */
  after: string | null;
  next: string | null;
  /** Tokens for the forms that remove one app, and for the form that removes all. */
  formToken: string;
  removeAllFormToken: string;
  /** The access that was removed just now, with the app's name. */
  justRemoved: { what: RemovedAccess; appName: string } | 'everything' | null;
  /** True if nothing was removed, since the form was out of date. */
  isOutdated: boolean;
  signOutFormToken: string;
  /** True if the user has a password here and may change it. */
  hasPassword: boolean;
};

/** The page on which a user sees the connected apps, and removes them. */
export function connectedAppsPage(context: PageContext, data: ConnectedAppsData): Html {
  const { messages, brand, paths } = context;
  const texts = messages.connectedApps;
  const bar = html`<form method="post" action="${paths.signOut}" class="session"><span>${texts.signedInAs(signedInAs(messages, data.account))}</span>${hiddenFields(data.signOutFormToken)}<button class="quiet">${texts.signOut}</button></form>`;
  const removed =
    data.justRemoved !== null &&
    html`<div class="notice success" role="status">${icons.check}<div>${sayingRemoved(messages, data.justRemoved)}</div></div>`;
  const title = data.isOutdated ? messages.layout.titleWithProblem(texts.title) : texts.title;
  const main = html`<h1>${texts.heading}</h1>
${data.apps.length > 0 && html`<p class="lead">${texts.lead(brand.productName)} ${texts.effect}</p>`}
${data.isOutdated && problemNotice(texts.outdated)}
${removed}
${data.apps.length > 0 ? appList(context, data) : emptyState(messages)}
${otherPages(context, data)}
${data.total > 1 && removeAll(context, data.removeAllFormToken)}
${data.hasPassword && html`<p class="fine"><a href="${paths.password}">${messages.home.password}</a></p>`}`;
  return layout(context, { title, shape: 'column', bar }, main);
}

function signedInAs(messages: Messages, account: PageAccount): Html {
  return account.email === null ? accountName(messages, account) : isolatedAddress(account.email);
}

/** Links, so that it works without a script. */
function otherPages(
  { messages: { connectedApps: texts }, paths }: PageContext,
  { apps, first, total, after, next }: ConnectedAppsData,
): Html | false {
  if (apps.length === total) return false;
  return html`<nav class="pages" aria-label="${texts.pages.label}">
${after !== null && html`<a class="button secondary" href="${paths.apps}">${texts.pages.first}</a>`}
<span>${texts.pages.shown(first, first + apps.length - 1, total)}</span>
${next !== null && html`<a class="button secondary" href="${paths.apps}?after=${next}" rel="next">${texts.pages.next}</a>`}
</nav>`;
}

function appList(context: PageContext, { apps, formToken, after }: ConnectedAppsData): Html {
  return html`<ul class="apps">
${apps.map((app) => appCard(context, app, beginning(context.messages, app, apps), { formToken, after }))}</ul>
<p class="fine">${context.messages.connectedApps.timeZone}</p>`;
}

function sayingRemoved(
  { connectedApps: texts }: Messages,
  removed: NonNullable<ConnectedAppsData['justRemoved']>,
): Html {
  return removed === 'everything' ? html`${texts.removedAll}` : texts.removed[removed.what](removed.appName);
}

/** The button is behind a question, so that a single press never ends all access. */
function removeAll({ messages, paths }: PageContext, formToken: string): Html {
  const texts = messages.connectedApps.removeAll;
  return html`<details class="remove-all"><summary>${texts.open}</summary>
<form method="post" action="${paths.removeAllApps}">${hiddenFields(formToken)}<p>${texts.question}</p><button class="secondary danger">${texts.submit}</button></form>
</details>`;
}

/** Returns the start in words, which tells an app's lines apart: to the second if minutes are equal. */
function beginning(messages: Messages, app: ConnectedApp, apps: readonly ConnectedApp[]): string {
  const { minute, second, day } = messages;
  if (app.kind === 'app' && !app.isWaiting) return day(app.since);
  const sameMinute = apps.filter(
    ({ clientId, kind, isWaiting, since }) =>
      clientId === app.clientId &&
      kind === app.kind &&
      isWaiting === app.isWaiting &&
      minute(since) === minute(app.since),
  );
  return (sameMinute.length > 1 ? second : minute)(app.since);
}

function appCard(
  context: PageContext,
  app: ConnectedApp,
  began: string,
  { formToken, after }: Pick<ConnectedAppsData, 'formToken' | 'after'>,
): Html {
  const { messages, paths } = context;
  const { isWaiting, appName, clientId, grantId } = app;
  const isDevice = app.kind === 'device';
  const texts = messages.connectedApps;
  return html`<li class="app-card">
${monogram(appName, 'app')}
<div class="app-head"><h2>${isolated(appName)}</h2>
${appProfile(context, app.profile, app.hosts)}
${(isDevice || isWaiting) && html`<p class="kinds">${isDevice && html`<span>${icons.device}${texts.onDevice}</span> `}${isWaiting && html`<span>${icons.clock}${texts.waiting}</span>`}</p>`}
${dates(messages, app, began)}</div>
<div class="app-access"><h3>${isWaiting ? texts.canOnceFetched : texts.can}</h3>
${permissionList(messages, app.permissions, app.person, haveEffects(app.permissions))}</div>
<form method="post" action="${paths.removeApp}">${hiddenFields(formToken)}<input type="hidden" name="client_id" value="${clientId}"><input type="hidden" name="${isWaiting ? 'waiting_id' : 'grant_id'}" value="${grantId}">${after !== null && html`<input type="hidden" name="after" value="${after}">`}<button class="secondary danger">${removal(messages, app, began)}</button></form>
</li>
`;
}

function dates(messages: Messages, app: ConnectedApp, beganAt: string): Html {
  const { isWaiting, since, lastUsed } = app;
  const texts = messages.connectedApps;
  const began = html`${isWaiting ? texts.allowed : texts.since} ${moment(since, () => beganAt)}`;
  const used = lastUsed === null ? texts.neverUsed : html`${texts.lastUsed} ${moment(lastUsed, messages.day)}`;
  return html`<p class="dates"><span>${began}</span> <span>${isWaiting ? texts.notFetched : used}</span>${!isWaiting && html` <span>${end(messages, app)}</span>`}</p>`;
}

function end({ connectedApps: texts, day }: Messages, { ends, endsUnused }: ConnectedApp): Html {
  if (endsUnused >= ends) return html`${texts.ends(moment(ends, day))}`;
  return texts.endsOrUnused(moment(ends, day), moment(endsUnused, day));
}

function removal(
  { connectedApps: { remove } }: Messages,
  { appName, kind, isWaiting }: ConnectedApp,
  began: string,
): Html {
  if (isWaiting) return remove.waiting(appName, began);
  return kind === 'app' ? remove.app(appName) : remove[kind](appName, began);
}

function moment(time: number, inWords: (time: number) => string): Html {
  return html`<time datetime="${new Date(time).toISOString()}">${inWords(time)}</time>`;
}

function emptyState({ connectedApps: { empty } }: Messages): Html {
  return html`<section class="empty">${icons.key}<h2>${empty.heading}</h2><p>${empty.text}</p></section>`;
}
