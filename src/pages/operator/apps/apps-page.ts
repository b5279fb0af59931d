/** The list of apps. */
import { type Html, html } from '../../html/html.ts';
import { shortened, shortenedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { Formats } from '../../messages/formats.ts';
import { doneNotice } from '../act-button.ts';
import type { ConsolePage } from '../frame.ts';
import {
  choiceFilter,
  emptyList,
  type Filter,
  filterForm,
  type Listed,
  listHref,
  listing,
  textFilter,
} from '../listing.ts';
import { statePill } from '../state-pill.ts';
import { type Column, dataTable } from '../table.ts';
import { failuresHref } from './app-failures.ts';
import { appHref } from './app-page.ts';

const formats = new Formats('en-GB');

/** An app in the list. Times in ms. */
export type ListedApp = {
  readonly id: string;
  readonly name: string;
  readonly publisher: string | null;
  readonly status: 'active' | 'paused';
  readonly registeredAt: number;
  readonly lastUsedAt: number | null;
  /** People with a live grant; `more` if older grants were not looked at. */
  readonly people: number;
  readonly more: boolean;
  /** Refused requests since yesterday. */
  readonly refused: number;
  readonly isFailing: boolean;
};

/** Data of the page. */
export type AppsData = {
  list: Listed<ListedApp>;
  filter: Filter & { readonly q: string; readonly show: ShownApps; readonly sort: AppsOrder | '' };
  /** The order that the list has. */
  order: AppsOrder;
  /** The number of apps that match; null if there are many, which are sorted by name and age alone. */
  count: number | null;
  /** The largest such number. */
  countedTo: number;
  isFirst: boolean;
  /** The beginning (ms) of the day from which refused requests are counted. */
  countedSince: number;
  /** True if an app was deleted just now. */
  isDeleted: boolean;
  /** True if the signed-in operator's role lets them register one. */
  mayRegister: boolean;
};

/** Which apps to show, by a value of the filter. */
export const SHOWN_APPS = [
  ['', 'All apps'],
  ['active', 'Active'],
  ['paused', 'Paused'],
  ['failing', 'Refused since yesterday'],
  ['unused', 'Unused for 90 days'],
] as const;

/** Such a value. */
export type ShownApps = (typeof SHOWN_APPS)[number][0];

/** The orders of the list, by a value of the address: its words, and if an index has it, so that it is there for any number. */
export const APPS_ORDERS = [
  ['newest', 'newest', true],
  ['oldest', 'oldest', true],
  ['name', 'name', true],
  ['used', 'last used', false],
  ['people', 'most people', false],
  ['refused', 'most refused', false],
] as const;

/** Such a value. */
export type AppsOrder = (typeof APPS_ORDERS)[number][0];

/** The page of all apps. */
export function appsPage(context: PageContext, data: AppsData): ConsolePage {
  const { list, filter, isFirst, countedSince, isDeleted, mayRegister } = data;
  const { q, show } = filter;
  const isFiltered = q !== '' || show !== '';
  return {
    frame: { title: 'Apps' },
    main: html`<div class="title"><h1>Apps</h1>${mayRegister && html`<a class="button primary" href="/apps/new">Register an app</a>`}</div>
${isDeleted && doneNotice('The app was deleted, and all of its grants have ended.')}
${filterForm('/apps', html`${textFilter('q', 'Name or publisher, part of it, or client ID', q)}${choiceFilter('show', 'Which apps', SHOWN_APPS, show)}`)}
${show === 'unused' && html`<p>${UNUSED}${list.items.length > 0 && ` ${NEXT}`}</p>`}
${list.items.length > 0 && orders(data)}
${listing(list, { path: '/apps', filter, isFirst }, isFiltered ? NONE_FOUND : NO_APPS, (apps) =>
  dataTable('Apps', columns(context), apps),
)}
${list.items.length > 0 && html`<p class="fine">Refused: requests since yesterday, ${context.messages.day(countedSince)} (UTC). Failing: at least 10 requests of 24 hours, and one in a hundred, were refused, and some still are. ${NUMBERS}</p>`}`,
  };
}

/** Says how many apps match, and leads to the other orders; many have those alone that an index has. */
function orders({ filter, count, countedTo, order }: AppsData): Html {
  const { q, show } = filter;
  const what = q === '' && show === '' ? '' : ' found';
  const found =
    count === null
      ? html`More than ${formats.number(countedTo)} apps to look through: search for fewer to sort them by last use, people or refused requests.`
      : html`${formats.number(count)} ${count === 1 ? 'app' : 'apps'}${what}.`;
  const links = APPS_ORDERS.filter(([, , isIndexed]) => isIndexed || count !== null).map(([sort, words]) =>
    sort === order
      ? html`<li aria-current="true">${words}</li>`
      : html`<li><a href="${listHref('/apps', { ...filter, sort })}">${words}</a></li>`,
  );
  return html`<p class="fine">${found}</p>
<nav class="sections" aria-labelledby="order"><p id="order">Order:</p><ul>${links}</ul></nav>`;
}

function columns({ messages }: PageContext): readonly Column<ListedApp>[] {
  return [
    [
      'App',
      ({ id, name, publisher }) =>
        html`<a href="${appHref(id)}">${shortened(name)}</a><small>${publisher !== null && html`${shortened(publisher)}, `}<code>${shortenedAddress(id)}</code></small>`,
    ],
    ['State', ({ status, isFailing }) => statePill(status === 'active' && isFailing ? 'failing' : status)],
    [
      'Refused',
      ({ id, refused }) => (refused === 0 ? 0 : html`<a href="${failuresHref(id)}">${formats.number(refused)}</a>`),
    ],
    ['People', peopleWords],
    ['Registered', ({ registeredAt }) => messages.day(registeredAt)],
    ['Last used', ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : messages.day(lastUsedAt))],
  ];
}

function peopleWords({ people, more }: ListedApp): string {
  if (!more) return String(people);
  return people === 0 ? 'Not known' : `At least ${people}`;
}

/** For a confidential app, a refused request with the right secret or key is a use, too. */
const NUMBERS =
  'People: those with a live grant, among the newest 100 grants of the app. Last used: the last request with a live secret or key of the app, or its last tokens.';

const UNUSED = 'Only apps that were registered more than 90 days ago, and not used in the last 90 days.';
const NEXT =
  'Ask the publisher of one if it is still needed. If not, pause it on its page: you can resume it. Delete it once nobody misses it.';

const NO_APPS = emptyList(
  'No app yet',
  'Register the first one: its developer gets an ID, a secret and the addresses to use.',
);
const NONE_FOUND = emptyList('No app found', html`None matches. <a href="/apps">Show all apps</a>`);
