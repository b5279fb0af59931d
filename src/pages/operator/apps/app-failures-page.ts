/** The page of an app's failures. */
import type { AppFailure } from '../../../oauth/activity/app-failure.ts';
import type { AppTally } from '../../../oauth/activity/app-tally.ts';
import type { PageFailure } from '../../../oauth/activity/page-failures.ts';
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { asSentence } from '../act.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { choiceFilter, emptyList, type Filter, filterForm, type Listed, listing } from '../listing.ts';
import { dataTable, facts } from '../table.ts';
import { failureTable, ONLY_COUNTED } from './app-failures.ts';
import { APPS, appHref } from './app-page.ts';

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
  app: { readonly id: string; readonly name: string; readonly type: 'confidential' | 'public' };
  filter: Filter & { readonly time: FailureTime };
  isFirst: boolean;
  list: Listed<AppFailure>;
  /** Number of failures in this time that the list has on all its pages. */
  listed: number;
  /** The numbers of failures in this time, with valid credentials or without. */
  tally: FailureCounts;
  pageFailures: readonly PageFailure[];
};

/** The page of an app's failures, newest first. */
export function appFailuresPage(context: PageContext, data: AppFailuresData): Html {
  const { operator, app, filter, isFirst, list, listed, tally, pageFailures } = data;
  const at = `${appHref(app.id)}/failures`;
  return consoleLayout(
    context,
    operator,
    {
      title: `Failures of ${app.name}`,
      section: 'Apps',
      parents: [APPS, [appHref(app.id), app.name]],
      here: 'Failures',
    },
    html`<h1>Failures of ${isolated(app.name)}</h1>
${filterForm(at, choiceFilter('time', 'Show', FAILURE_TIMES, filter.time))}
<section class="part"><h2>Requests of the app</h2>
${causes(tally)}
${listed > 0 && html`<p>Of these, ${listed === 1 ? 'one is' : html`the last ${listed} are`} listed below: at most 10 a second, 200 in all, for 30 days. ${ONLY_COUNTED[app.type]}</p>`}
${listing(list, { path: at, filter, isFirst }, NONE(app), (failures) => failureTable(context, failures))}</section>
${isFirst && authorizationPage(context, pageFailures)}`,
  );
}

const NONE = (app: AppFailuresData['app']) =>
  emptyList(
    'No failure to list',
    `No refused request of this time proved to come from the app. ${ONLY_COUNTED[app.type]}`,
  );

/** Each cause, by its counter, with what it says to the developer. */
const CAUSES = [
  ['invalidClient', 'Wrong or missing credentials', 'The app’s secret or key is not the registered one.'],
  [
    'invalidGrant',
    'A code or token that no longer works',
    'It was used before, expired or ended, or its request differed.',
  ],
  ['invalidRequest', 'A malformed request', 'A parameter is missing, repeated or wrong.'],
  ['limited', 'Too many requests', 'The app asked faster than its limit.'],
  ['other', 'Other causes', 'The list below has the reasons.'],
] as const satisfies readonly (readonly [keyof AppTally, string, string])[];

type FailureCounts = Pick<AppTally, (typeof CAUSES)[number][0]>;

/** How many failed for which cause, those without any left out. */
function causes(tally: FailureCounts): Html | null {
  const some = CAUSES.filter(([counter]) => tally[counter] > 0);
  if (some.length === 0) return null;
  return facts(some.map(([counter, name, meaning]) => [name, html`${tally[counter]}<small>${meaning}</small>`]));
}

/** The texts may come from anyone, and may lead anywhere: none becomes a link. */
function authorizationPage({ messages }: PageContext, failures: readonly PageFailure[]): Html {
  const table = dataTable<PageFailure>(
    'Refused visitors',
    [
      ['When', ({ at }) => messages.minute(at)],
      ['Cause', ({ error, reason }) => html`${isolated(asSentence(reason), 300)}<small>${isolatedCode(error)}</small>`],
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
