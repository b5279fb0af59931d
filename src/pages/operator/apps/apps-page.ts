/** The list of apps. */
import { type Html, html } from '../../html.ts';
import { shortened, shortenedAddress } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { doneNotice } from '../act.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { choiceFilter, emptyList, type Filter, filterForm, type Listed, listing, textFilter } from '../listing.ts';
import { statePill } from '../state-pill.ts';
import { type Column, dataTable } from '../table.ts';
import { appHref } from './app-page.ts';

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
  /** Refused requests, in the list of failing apps; null in others. */
  readonly failures: number | null;
};

/** Data of the page. */
export type AppsData = {
  operator: ShownOperator;
  list: Listed<ListedApp>;
  filter: Filter;
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
  ['failing', 'Failing since yesterday'],
  ['unused', 'Unused for 90 days'],
] as const;

/** Such a value. */
export type ShownApps = (typeof SHOWN_APPS)[number][0];

/** The page of all apps. */
export function appsPage(context: PageContext, data: AppsData): Html {
  const { operator, list, filter, isFirst, countedSince, isDeleted, mayRegister } = data;
  const { q = '', show = '' } = filter;
  const isFiltered = q !== '' || show !== '';
  const isFailing = show === 'failing';
  return consoleLayout(
    context,
    operator,
    { title: 'Apps' },
    html`<div class="title"><h1>Apps</h1>${mayRegister && html`<a class="button primary" href="/apps/new">Register an app</a>`}</div>
${isDeleted && doneNotice('The app was deleted, and all of its grants have ended.')}
${filterForm('/apps', html`${textFilter('q', 'Name, part of it, or client ID', q)}${choiceFilter('show', 'Which apps', SHOWN_APPS, show)}`)}
${isFailing && html`<p class="fine">The apps with the most refused requests since yesterday, ${context.messages.day(countedSince)} (UTC), come first.</p>`}
${show === 'unused' && html`<p>${UNUSED}${list.items.length > 0 && ` ${NEXT}`}</p>`}
${!isFailing && list.items.length > 0 && html`<p class="fine">The app that was registered first comes first.</p>`}
${listing(list, { path: '/apps', filter, isFirst }, isFiltered ? NONE_FOUND : NO_APPS, (apps) =>
  dataTable('Apps', columns(context, isFailing), apps),
)}
${list.items.length > 0 && html`<p class="fine">${NUMBERS}</p>`}`,
  );
}

function columns({ messages }: PageContext, isFailing: boolean): readonly Column<ListedApp>[] {
  const refused: Column<ListedApp> = [
    'Refused',
    ({ id, failures }) => html`<a href="${appHref(id)}/failures">${failures}</a>`,
  ];
  return [
    [
      'App',
      ({ id, name, publisher }) =>
        html`<a href="${appHref(id)}">${shortened(name)}</a><small>${publisher !== null && html`${shortened(publisher)}, `}<code>${shortenedAddress(id)}</code></small>`,
    ],
    ...(isFailing ? [refused] : []),
    ['State', ({ status }) => statePill(status)],
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
  'People: those with a live grant, among the newest 100 grants of the app. Last used: the last request with a secret or key of the app, or, if it has none, its last tokens.';

const UNUSED = 'Only apps that were registered more than 90 days ago, and not used in the last 90 days.';
const NEXT =
  'Ask the publisher of one if it is still needed. If not, pause it on its page: you can resume it. Delete it once nobody misses it.';

const NO_APPS = emptyList(
  'No app yet',
  'Register the first one: its developer gets an ID, a secret and the addresses to use.',
);
const NONE_FOUND = emptyList('No app found', html`None matches. <a href="/apps">Show all apps</a>`);
