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
import { type Permission, type PersonField, permissionList } from './permissions.ts';

/** One app, or what it has on one device or at one installation. Times are milliseconds since 1970; `lastUsed` is null before the first use. */
export type ConnectedApp = {
  clientId: string;
  /** Names, with the client, what its form takes back. */
  grantId: string;
  kind: 'app' | 'device' | 'installation';
  /** Whether it was allowed, and the app has not fetched it yet. */
  isWaiting: boolean;
  appName: string;
  profile: AppProfile;
  /** The hosts that it sends people to; none for a device. */
  hosts: readonly string[];
  permissions: readonly Permission[];
  /** What it gets of the person, as far as the account has it. */
  person: readonly PersonField[];
  since: number;
  lastUsed: number | null;
  /** When it ends by itself if the app does not use it, and when it does in any case. */
  endsUnused: number;
  ends: number;
};

/** The access that was taken back: something that waited, an app on one device or at one installation, or an app but for devices that are still listed. */
export type RemovedAccess = 'app' | 'appButDevices' | 'device' | 'installation' | 'waiting';

/** What the connected-apps page shows. */
export type ConnectedAppsData = {
  account: PageAccount;
  /** One page of them: lines `first` (from 1) and on of `total`. */
  apps: readonly ConnectedApp[];
  first: number;
  total: number;
  /** The cursors of this page and of the next one; null for the first page, and on the last one. */
  after: string | null;
  next: string | null;
  /** For the forms that take access back from one app, and for the one that does from all. */
  formToken: string;
  removeAllFormToken: string;
  /** What was taken back just now, and the name of its app. */
  justRemoved: { what: RemovedAccess; appName: string } | 'everything' | null;
  /** Whether one should have been removed by a form that was out of date. */
  isOutdated: boolean;
  signOutFormToken: string;
  /** Whether the person has a password here, and may change it. */
  hasPassword: boolean;
};

/** The page where a person sees which apps may use the account, and takes that back. */
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

/** The button is behind a question, so that nobody ends all by one press. */
function removeAll({ messages, paths }: PageContext, formToken: string): Html {
  const texts = messages.connectedApps.removeAll;
  return html`<details class="remove-all"><summary>${texts.open}</summary>
<form method="post" action="${paths.removeAllApps}">${hiddenFields(formToken)}<p>${texts.question}</p><button class="secondary danger">${texts.submit}</button></form>
</details>`;
}

/** When it began, in words: several lines of one app are told apart by that, to the second where minutes are equal. */
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
${permissionList(messages, app.permissions, app.person)}</div>
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
