/** The page of an app's failures. */
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { choiceFilter, emptyList, type Filter, filterForm, type Listed, listing } from '../listing.ts';
import { dataTable } from '../table.ts';
import { type AppFailure, failureTable } from './app-failures.ts';
import { appHref } from './app-page.ts';

/** A refusal on the authorization page, which anyone can cause in the app's name. `at` in ms. */
export type ShownPageFailure = {
  readonly at: number;
  readonly requestId: string;
  readonly error: string;
  readonly reason: string;
  readonly received: string | null;
  readonly network: string;
};

/** Shown characters of a text that anyone can make long, so that the page stays below 50 KB. */
const MOST_OF_RECEIVED = 160;

/** The times that the page offers, by their values in the address. */
export const FAILURE_TIMES = [
  ['', 'The last 24 hours'],
  ['month', 'The last 30 days'],
] as const;

/** Such a value. */
export type FailureTime = (typeof FAILURE_TIMES)[number][0];

/** Data of the page. */
export type AppFailuresData = {
  operator: ShownOperator;
  app: { readonly id: string; readonly name: string };
  filter: Filter & { readonly time: FailureTime };
  isFirst: boolean;
  list: Listed<AppFailure>;
  /** Number of failures in this time, with valid credentials or without. */
  counted: number;
  pageFailures: readonly ShownPageFailure[];
};

/** The page of an app's failures, newest first. */
export function appFailuresPage(context: PageContext, data: AppFailuresData): Html {
  const { operator, app, filter, isFirst, list, counted, pageFailures } = data;
  const at = `${appHref(app.id)}/failures`;
  return consoleLayout(
    context,
    operator,
    { title: `Failures of ${app.name}`, section: 'Apps' },
    html`<h1>Failures of <a href="${appHref(app.id)}">${isolated(app.name)}</a></h1>
${filterForm(at, choiceFilter('time', 'Show', FAILURE_TIMES, filter.time))}
<section class="part"><h2>Requests of the app</h2>
<p>${countedWords(counted)} The last 200 with valid credentials are listed, for 30 days.</p>
${listing(list, { path: at, filter, isFirst }, NONE, (failures) => failureTable(context, failures))}</section>
${isFirst && authorizationPage(context, pageFailures)}
<p class="fine">All times are UTC.</p>`,
  );
}

const NONE = emptyList('No failure', 'No request with valid credentials was refused in this time.');

function countedWords(counted: number): string {
  return `${counted} ${counted === 1 ? 'failure was' : 'failures were'} counted in this time.`;
}

/** The texts may come from anyone, and may lead anywhere: none becomes a link. */
function authorizationPage({ messages }: PageContext, failures: readonly ShownPageFailure[]): Html {
  const table = dataTable<ShownPageFailure>(
    'Refused visitors',
    [
      ['When', ({ at }) => messages.minute(at)],
      ['Cause', ({ error, reason }) => html`${isolated(reason, 300)}<small>${isolatedCode(error)}</small>`],
      [
        'Received',
        ({ received }) => (received === null ? '–' : html`<code>${isolated(received, MOST_OF_RECEIVED)}</code>`),
      ],
      ['Network', ({ network }) => html`<span class="whole">${isolatedAddress(network)}</span>`],
      ['Request', ({ requestId }) => html`<code class="whole">${isolatedAddress(requestId)}</code>`],
    ],
    failures,
  );
  return html`<section class="part" id="authorization-page"><h2>On the authorization page</h2>
<p>Anyone can open that page in the app’s name, so these prove nothing. This instance remembers the last 20, until it restarts.</p>
${failures.length === 0 ? html`<p>No visitor was refused.</p>` : table}</section>`;
}
