import type { PageAccount } from './consent-page.ts';
import { hiddenFields } from './form.ts';
import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import { isolated } from './isolated.ts';
import { layout, type PageContext } from './layout.ts';
import { monogram } from './mark.ts';
import type { Messages } from './messages/messages.ts';
import { problemNotice } from './notice.ts';
import { type Permission, permissionList } from './permissions.ts';

/** One app that the person allowed; `since` and `lastUsed` are milliseconds since 1970, `lastUsed` is null before the first use. */
export type ConnectedApp = {
  clientId: string;
  appName: string;
  permissions: readonly Permission[];
  since: number;
  lastUsed: number | null;
};

/** What the connected-apps page shows. */
export type ConnectedAppsData = {
  account: PageAccount;
  apps: readonly ConnectedApp[];
  /** For the forms that take access back. */
  formToken: string;
  /** The name of the app whose access was taken back just now. */
  justRemoved: string | null;
  /** Whether one should have been removed by a form that was out of date. */
  isOutdated: boolean;
  signOutFormToken: string;
};

/** The page where a person sees which apps may use the account, and takes that back. */
export function connectedAppsPage(context: PageContext, data: ConnectedAppsData): Html {
  const texts = context.messages.connectedApps;
  const bar = html`<form method="post" action="/sign-out" class="session"><span>${texts.signedInAs(data.account.email)}</span>${hiddenFields(data.signOutFormToken)}<button class="quiet">${texts.signOut}</button></form>`;
  const removed =
    data.justRemoved !== null &&
    html`<div class="notice success" role="status">${icons.check}<div>${texts.removed(data.justRemoved)}</div></div>`;
  const title = data.isOutdated ? context.messages.layout.titleWithProblem(texts.title) : texts.title;
  const main = html`<h1>${texts.heading}</h1>
${data.apps.length > 0 && html`<p class="lead">${texts.lead(context.brand.productName)} ${texts.effect}</p>`}
${data.isOutdated && problemNotice(texts.outdated)}
${removed}
${data.apps.length > 0 ? appList(context.messages, data) : emptyState(context.messages)}`;
  return layout(context, { title, shape: 'column', bar }, main);
}

function appList(messages: Messages, { apps, formToken }: ConnectedAppsData): Html {
  return html`<ul class="apps">
${apps.map((app) => appCard(messages, app, formToken))}</ul>
<p class="fine">${messages.connectedApps.timeZone}</p>`;
}

function appCard(messages: Messages, app: ConnectedApp, formToken: string): Html {
  const texts = messages.connectedApps;
  const lastUsed = app.lastUsed === null ? texts.neverUsed : html`${texts.lastUsed} ${day(messages, app.lastUsed)}`;
  return html`<li class="app-card">
${monogram(app.appName, 'app')}
<div class="app-head"><h2>${isolated(app.appName)}</h2><p class="dates"><span>${texts.since} ${day(messages, app.since)}</span> <span>${lastUsed}</span></p></div>
<div class="app-access"><h3>${texts.can}</h3>
${permissionList(messages, app.permissions)}</div>
<form method="post" action="/account/apps/revoke">${hiddenFields(formToken)}<input type="hidden" name="client_id" value="${app.clientId}"><button class="secondary danger">${texts.remove(app.appName)}</button></form>
</li>
`;
}

function day(messages: Messages, time: number): Html {
  return html`<time datetime="${new Date(time).toISOString()}">${messages.day(time)}</time>`;
}

function emptyState({ connectedApps: { empty } }: Messages): Html {
  return html`<section class="empty">${icons.key}<h2>${empty.heading}</h2><p>${empty.text}</p></section>`;
}
