import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import type { PageContext } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import type { Messages } from '../messages/messages.ts';
import { type AccountFrame, accountLayout } from './account-layout.ts';
import { appCard, type CardForm, type ConnectedApp, cardBody, linkToApp } from './connected-app-card.ts';

/**
 * The removed access: a waiting grant, an app on one device or in one installation, or an app except for devices that
 * are still listed.
 */
export type RemovedAccess = 'app' | 'appButDevices' | 'device' | 'installation' | 'waiting';

/** Data of the connected-apps page. */
export type ConnectedAppsData = AccountFrame & {
  /** One page of the list; where one app is shown alone, that app with a page of its lines. */
  apps: readonly ConnectedApp[];
  /** Entries of this page (apps, or lines of the one app) begin at `first` (counted from 1), of `total`. */
  first: number;
  shown: number;
  total: number;
  /** Number of connected apps, found or not. */
  appCount: number;
  /** The client ID of the app that is shown alone; null for the list. */
  alone: string | null;
  /** The name to find apps by; an empty string finds all. */
  query: string;
  /** The cursors of this page and the next; null for the first page, and for the page after the last. */
  after: string | null;
  next: string | null;
  /** The present (ms since 1970). */
  now: number;
  /** Tokens for the forms that remove one app, and for the form that removes all. */
  formToken: string;
  removeAllFormToken: string;
  /** The access that was removed just now, with the app's name. */
  justRemoved: { what: RemovedAccess; appName: string } | 'everything' | null;
  /** True if nothing was removed, since the form was out of date. */
  isOutdated: boolean;
};

/** Number of apps from which on they are found by name. */
const FOUND_FROM = 11;

/** Bytes of what the cards of a page open: with it, the page stays below 50 KB. The rest is on pages of its own. */
const ROOM_BYTES = 30_000;

/** The page on which a user sees the connected apps, and removes them. */
export function connectedAppsPage(context: PageContext, data: ConnectedAppsData): Html {
  const { messages, brand, paths } = context;
  const texts = messages.connectedApps;
  const removed =
    data.justRemoved !== null &&
    html`<div class="notice success" role="status">${icons.check}<div>${sayingRemoved(messages, data.justRemoved)}</div></div>`;
  const title = data.isOutdated ? messages.layout.titleWithProblem(texts.title) : texts.title;
  const main = html`<h1>${texts.heading}</h1>
${data.appCount > 0 && html`<p class="lead">${texts.lead(brand.productName)} ${texts.effect}</p>`}
${data.isOutdated && problemNotice(texts.outdated)}
${removed}
${data.alone === null ? search(context, data) : html`<p class="fine"><a href="${paths.apps}">${texts.allApps}</a></p>`}
${data.apps.length > 0 ? appList(context, data) : emptyState(messages, data)}
${otherPages(context, data)}
${data.alone === null && data.appCount > 1 && removeAll(context, data.removeAllFormToken)}`;
  return accountLayout(context, data, { title, current: 'apps' }, main);
}

/** A form that only reads, so it is a GET. */
function search({ messages, paths }: PageContext, { query, appCount, first }: ConnectedAppsData): Html | false {
  const { search: texts } = messages.connectedApps;
  if (query === '' && appCount < FOUND_FROM) return false;
  return html`<form method="get" action="${paths.apps}" class="find" role="search"><div class="field"><label for="q">${texts.label}</label><input id="q" name="q" type="search" value="${query}" maxlength="100" autocomplete="off"></div><button class="secondary">${texts.submit}</button>${query !== '' && html`<a href="${paths.apps}">${texts.all}</a>`}</form>${first === 1 && html`\n<p class="fine">${texts.order}</p>`}`;
}

/** Links, so that it works without a script. */
function otherPages(
  { messages: { connectedApps: texts }, paths }: PageContext,
  { first, shown, total, after, next, query, alone }: ConnectedAppsData,
): Html | false {
  if (shown === total) return false;
  const to = (cursor: string | null) => {
    const parameters = Object.entries({ app: alone ?? '', q: query, after: cursor ?? '' }).filter(([, value]) => value);
    return parameters.length === 0 ? paths.apps : `${paths.apps}?${new URLSearchParams(parameters)}`;
  };
  return html`<nav class="pages" aria-label="${texts.pages.label}">
${after !== null && html`<a class="button secondary" href="${to(null)}">${texts.pages.first}</a>`}
<span>${texts.pages.shown(first, first + shown - 1, total)}</span>
${next !== null && html`<a class="button secondary" href="${to(next)}" rel="next">${texts.pages.next}</a>`}
</nav>`;
}

function appList(context: PageContext, data: ConnectedAppsData): Html {
  const { alone, query, after, now } = data;
  const back = Object.entries({ app: alone ?? '', q: query, after: after ?? '' }).filter(([, value]) => value !== '');
  const form: CardForm = { formToken: data.formToken, back: Object.fromEntries(back) };
  let room = ROOM_BYTES;
  const cards = data.apps.map((app) => {
    const whole = cardBody(context, app, form);
    const bytes = Buffer.byteLength(String(whole));
    const fits = alone !== null || bytes <= room;
    if (fits) room -= bytes;
    return appCard(context, app, form, { now, isOpen: alone !== null, body: fits ? whole : linkToApp(context, app) });
  });
  return html`<ul class="apps">
${cards}</ul>
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

function emptyState({ connectedApps: { empty, search } }: Messages, { query }: ConnectedAppsData): Html {
  if (query !== '') return html`<p class="lead" role="status">${search.nothing(query)}</p>`;
  return html`<section class="empty">${icons.key}<h2>${empty.heading}</h2><p>${empty.text}</p></section>`;
}
