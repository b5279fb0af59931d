/** The page of an app's failures. */
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { choiceFilter, emptyList, filterForm } from '../listing.ts';
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
  time: FailureTime;
  failures: readonly AppFailure[];
  /** Number of failures that were counted in this time, recorded or not. */
  counted: number;
  pageFailures: readonly ShownPageFailure[];
};

/** The page of an app's failures, newest first. */
export function appFailuresPage(context: PageContext, data: AppFailuresData): Html {
  const { operator, app, time, failures, counted, pageFailures } = data;
  const at = appHref(app.id);
  const more =
    counted > failures.length &&
    html`<p>${String(counted)} failures were counted. These are the newest with valid credentials. All others are only counted.</p>`;
  return consoleLayout(
    context,
    operator,
    { title: `Failures of ${app.name}`, section: 'Apps' },
    html`<h1>Failures of <a href="${at}">${isolated(app.name)}</a></h1>
${filterForm(`${at}/failures`, choiceFilter('time', 'Show', FAILURE_TIMES, time))}
<section class="part"><h2>Requests of the app</h2>
${more}
${failures.length === 0 ? emptyList('No failure', 'No request with valid credentials was refused in this time.') : failureTable(context, failures)}</section>
${authorizationPage(context, pageFailures)}
<p class="fine">All times are UTC.</p>`,
  );
}

/** The texts may come from anyone, and may lead anywhere: none becomes a link. */
function authorizationPage({ messages }: PageContext, failures: readonly ShownPageFailure[]): Html {
  const table = dataTable<ShownPageFailure>(
    'Refused visitors',
    [
      ['When', ({ at }) => messages.minute(at)],
      ['Cause', ({ error, reason }) => html`${isolated(reason, 300)}<small>${isolatedCode(error)}</small>`],
      ['Received', ({ received }) => (received === null ? '–' : html`<code>${isolatedAddress(received)}</code>`)],
      ['Network', ({ network }) => isolatedAddress(network)],
      ['Request', ({ requestId }) => html`<code>${isolatedAddress(requestId)}</code>`],
    ],
    failures,
  );
  return html`<section class="part" id="authorization-page"><h2>On the authorization page</h2>
<p>Anyone can open that page in the app’s name, so these prove nothing. This instance remembers the last 20, until it restarts.</p>
${failures.length === 0 ? html`<p>No visitor was refused.</p>` : table}</section>`;
}
