/** The home of a signed-in user: connected apps, where the user is signed in, and what happened of late. */
import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import { isolated } from '../html/isolated-text.ts';
import type { PageContext } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import type { Messages } from '../messages/messages.ts';
import { type AccountFrame, accountLayout } from './account-layout.ts';

/** An act on the account that its user understands. */
export type ActivityKind = keyof Messages['account']['events'];

/** Data of the account page; times are milliseconds since 1970. */
export type AccountPageData = AccountFrame & {
  /** Number of connected apps. */
  appCount: number;
  /** Apps that were used or allowed in the last 30 days, the last one first; and the number of further ones. */
  recentApps: readonly { clientId: string; name: string }[];
  moreRecentApps: number;
  /** The browsers where the user is signed in: since when, and the place of the sign-in. */
  sessions: readonly { since: number; at: string; isThis: boolean }[];
  /** Acts of the last 90 days, the newest first; `name` is the app's or the product's. */
  activity: readonly { kind: ActivityKind; name: string | null; at: number }[];
  everywhereFormToken: string;
  /** True if nobody was signed out, since the form was out of date. */
  isOutdated: boolean;
};

/** Number of sessions and of acts that are shown at once; the others are folded. */
const SESSIONS_AT_ONCE = 5;
const ACTS_AT_ONCE = 20;

/** The page at `/account`. */
export function accountPage(context: PageContext, data: AccountPageData): Html {
  const { messages } = context;
  const { account: texts } = messages;
  const { name } = data.account;
  const title = data.isOutdated ? messages.layout.titleWithProblem(texts.home) : texts.home;
  return accountLayout(
    context,
    data,
    { title, current: 'account' },
    html`<h1>${name === null ? texts.at(data.account.at) : texts.greeting(name)}</h1>
${data.isOutdated && problemNotice(texts.outdated)}
${apps(context, data)}
${security(context, data)}
${activity(messages, data)}
<p class="fine">${messages.connectedApps.timeZone}</p>`,
  );
}

function apps({ messages, paths }: PageContext, { appCount, recentApps, moreRecentApps }: AccountPageData): Html {
  const { account: texts } = messages;
  const links = recentApps.map(
    ({ clientId, name }) =>
      html`<li><a href="${paths.apps}?app=${encodeURIComponent(clientId)}">${isolated(name, 60)}</a></li>`,
  );
  const more = moreRecentApps > 0 && html`<li>${messages.connectedApps.morePermissions(moreRecentApps)}</li>`;
  return html`<section class="panel"><h2>${messages.connectedApps.title}</h2>
<p>${texts.apps(appCount)}</p>
${links.length > 0 && html`<p class="fine">${texts.recentApps}</p>\n<ul class="names">${links}${more}</ul>`}
<p><a class="button secondary" href="${paths.apps}">${texts.seeApps}</a></p></section>`;
}

function security({ messages, paths }: PageContext, data: AccountPageData): Html {
  const { account: texts } = messages;
  const lines = data.sessions.map(
    ({ since, at, isThis }) =>
      html`<li>${icons.lock}<span>${texts.session(moment(messages, since), at)}</span>${isThis && html`<span class="effect">${texts.thisBrowser}</span>`}</li>`,
  );
  const more = lines.slice(SESSIONS_AT_ONCE);
  return html`<section class="panel"><h2>${texts.security}</h2>
<ul class="sessions">${lines.slice(0, SESSIONS_AT_ONCE)}</ul>
${more.length > 0 && html`<details class="more"><summary>${messages.connectedApps.morePermissions(more.length)}</summary><ul class="sessions">${more}</ul></details>`}
<form method="post" action="${paths.signOutEverywhere}">${hiddenFields(data.everywhereFormToken)}<button class="secondary danger">${texts.signOutEverywhere}</button></form>
<p class="fine">${texts.appsStay}</p>
${data.hasPassword && html`<p><a href="${paths.password}">${texts.password}</a></p>`}</section>`;
}

function activity(messages: Messages, { activity }: AccountPageData): Html {
  const { account: texts } = messages;
  const rows = (acts: AccountPageData['activity']) =>
    html`<dl class="rows acts">\n${acts.map(
      ({ kind, name, at }) => html`<div><dt>${moment(messages, at)}</dt><dd>${texts.events[kind](name)}</dd></div>\n`,
    )}</dl>`;
  const older = activity.slice(ACTS_AT_ONCE);
  return html`<section class="panel"><h2>${texts.activity}</h2>
${activity.length === 0 ? html`<p>${texts.noActivity}</p>` : rows(activity.slice(0, ACTS_AT_ONCE))}
${older.length > 0 && html`<details class="more"><summary>${messages.connectedApps.morePermissions(older.length)}</summary>${rows(older)}</details>`}</section>`;
}

function moment({ minute }: Messages, time: number): Html {
  return html`<time datetime="${new Date(time).toISOString()}">${minute(time)}</time>`;
}
