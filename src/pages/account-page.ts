/** The home of a signed-in user: connected apps, where the user is signed in, and what happened of late. */
import { type AccountFrame, accountLayout } from './account-layout.ts';
import { hiddenFields } from './form.ts';
import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import { isolated } from './isolated.ts';
import type { PageContext } from './layout.ts';
import type { Messages } from './messages/messages.ts';
import { problemNotice } from './notice.ts';

/** An act on the account that its user understands. */
export type ActivityKind = keyof Messages['account']['events'];

/** Data of the account page; times are milliseconds since 1970. */
export type AccountPageData = AccountFrame & {
  /** Number of connected apps, and the names of those that were used or allowed in the last 30 days, the last one first. */
  appCount: number;
  recentApps: readonly string[];
  /** The browsers where the user is signed in: since when, and the place of the sign-in. */
  sessions: readonly { since: number; at: string; isThis: boolean }[];
  /** Acts of the last 90 days, the newest first; `name` is the app's or the product's. */
  activity: readonly { kind: ActivityKind; name: string | null; at: number }[];
  everywhereFormToken: string;
  /** True if nobody was signed out, since the form was out of date. */
  isOutdated: boolean;
};

/** Number of sessions that stand at once; the others are folded. */
const AT_ONCE = 5;

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

function apps({ messages, paths }: PageContext, { appCount, recentApps }: AccountPageData): Html {
  const { account: texts } = messages;
  return html`<section class="panel"><h2>${messages.connectedApps.title}</h2>
<p>${texts.apps(appCount)}</p>
${recentApps.length > 0 && html`<p class="fine">${texts.recentApps}</p>\n<ul class="names">${recentApps.map((app) => html`<li>${isolated(app, 60)}</li>`)}</ul>`}
<p><a class="button secondary" href="${paths.apps}">${texts.seeApps}</a></p></section>`;
}

function security({ messages, paths }: PageContext, data: AccountPageData): Html {
  const { account: texts } = messages;
  const lines = data.sessions.map(
    ({ since, at, isThis }) =>
      html`<li>${icons.lock}<span>${texts.session(moment(messages, since), at)}</span>${isThis && html`<span class="effect">${texts.thisBrowser}</span>`}</li>`,
  );
  const more = lines.slice(AT_ONCE);
  return html`<section class="panel"><h2>${texts.security}</h2>
<ul class="sessions">${lines.slice(0, AT_ONCE)}</ul>
${more.length > 0 && html`<details class="more"><summary>${messages.connectedApps.morePermissions(more.length)}</summary><ul class="sessions">${more}</ul></details>`}
<form method="post" action="${paths.signOutEverywhere}">${hiddenFields(data.everywhereFormToken)}<button class="secondary danger">${texts.signOutEverywhere}</button></form>
<p class="fine">${texts.appsStay}</p>
${data.hasPassword && html`<p><a href="${paths.password}">${texts.password}</a></p>`}</section>`;
}

function activity(messages: Messages, { activity }: AccountPageData): Html {
  const { account: texts } = messages;
  const lines = activity.map(
    ({ kind, name, at }) => html`<div><dt>${moment(messages, at)}</dt><dd>${texts.events[kind](name)}</dd></div>\n`,
  );
  return html`<section class="panel"><h2>${texts.activity}</h2>
${lines.length === 0 ? html`<p>${texts.noActivity}</p>` : html`<dl class="rows">\n${lines}</dl>`}</section>`;
}

function moment({ minute }: Messages, time: number): Html {
  return html`<time datetime="${new Date(time).toISOString()}">${minute(time)}</time>`;
}
