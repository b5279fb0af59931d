/** The list of apps. */
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { doneNotice } from '../act.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { choiceFilter, emptyList, type Filter, filterForm, type Listed, listing, textFilter } from '../listing.ts';
import { dataTable } from '../table.ts';

/** An app in the list. Times in ms. */
export type ListedApp = {
  readonly id: string;
  readonly name: string;
  readonly publisher: string | null;
  readonly status: 'active' | 'paused';
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
};

/** Data of the page. */
export type AppsData = {
  operator: ShownOperator;
  list: Listed<ListedApp>;
  filter: Filter;
  isFirst: boolean;
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
  ['failing', 'Failing in the last 24 hours'],
  ['unused', 'Unused for 90 days'],
] as const;

/** Such a value. */
export type ShownApps = (typeof SHOWN_APPS)[number][0];

/** The page of all apps. */
export function appsPage(
  context: PageContext,
  { operator, list, filter, isFirst, isDeleted, mayRegister }: AppsData,
): Html {
  const { messages } = context;
  const { q = '', show = '' } = filter;
  const isFiltered = q !== '' || show !== '';
  return consoleLayout(
    context,
    operator,
    { title: 'Apps' },
    html`<div class="title"><h1>Apps</h1>${mayRegister && html`<a class="button primary" href="/apps/new">Register an app</a>`}</div>
${isDeleted && doneNotice('The app was deleted, and all of its grants have ended.')}
${filterForm('/apps', html`${textFilter('q', 'Name, part of it, or client ID', q)}${choiceFilter('show', 'Show', SHOWN_APPS, show)}`)}
${listing(list, { path: '/apps', filter, isFirst }, isFiltered ? NONE_FOUND : NO_APPS, (apps) =>
  dataTable(
    'Apps',
    [
      [
        'App',
        (app) =>
          html`<a href="/apps/${encodeURIComponent(app.id)}">${isolated(app.name)}</a>${app.publisher !== null && html`<small>${isolated(app.publisher)}</small>`}`,
      ],
      ['ID', ({ id }) => html`<code>${isolatedAddress(id)}</code>`],
      ['State', ({ status }) => (status === 'active' ? 'Active' : html`<span class="effect sensitive">Paused</span>`)],
      ['Last used', ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : messages.day(lastUsedAt))],
      ['Registered', ({ createdAt }) => messages.day(createdAt)],
    ],
    apps,
  ),
)}
<p class="fine">All times are UTC.</p>`,
  );
}

const NO_APPS = emptyList(
  'No app yet',
  'Register the first one: its developer gets an ID, a secret and the addresses to use.',
);
const NONE_FOUND = emptyList('No app found', html`None matches. <a href="/apps">Show all apps</a>`);
