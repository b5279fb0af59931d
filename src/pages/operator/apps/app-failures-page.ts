/** The page of an app's failures. */
import type { FailureSummary } from '../../../oauth/activity/failure-summary.ts';
import type { PageFailure } from '../../../oauth/activity/page-failures.ts';
import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { asSentence } from '../act-button.ts';
import type { ConsolePage } from '../frame.ts';
import { emptyList, type Listed, listing } from '../listing.ts';
import { dataTable } from '../table.ts';
import {
  causeName,
  causeTable,
  type FailingApp,
  failuresHref,
  failureTable,
  ONLY_COUNTED,
  type ShownFailure,
} from './app-failures.ts';
import { APPS, appHref } from './app-page.ts';

/** Shown characters of a text that anyone can make long, so that the page stays below 50 KB. */
const MOST_OF_RECEIVED = 160;

/** Maximum number of causes, so that the page stays below 50 KB: 200 failures may have as many. */
const SHOWN_CAUSES = 10;

/** Data of the page. */
export type AppFailuresData = {
  app: FailingApp & { readonly name: string };
  summary: FailureSummary;
  /** The key of the cause whose failures are listed; '' for all. It comes from the address. */
  cause: string;
  isFirst: boolean;
  list: Listed<ShownFailure>;
  pageFailures: readonly PageFailure[];
};

/** The page of an app's failures, newest first. */
export function appFailuresPage(context: PageContext, data: AppFailuresData): ConsolePage {
  const { app, summary, isFirst, pageFailures } = data;
  return {
    frame: {
      title: `Failures of ${app.name}`,
      section: 'Apps',
      parents: [APPS, [appHref(app.id), app.name]],
      here: 'Failures',
    },
    main: html`<h1>Failures of ${isolated(app.name)}</h1>
${summary.causes.length === 0 ? none(app) : causesAndList(context, data)}
${isFirst && authorizationPage(context, pageFailures)}`,
  };
}

function none({ type }: AppFailuresData['app']): Html {
  return emptyList(
    'No failure to list',
    `No refused request of 48 hours was counted, and none of 30 days is recorded. ${ONLY_COUNTED[type]}`,
  );
}

function causesAndList(context: PageContext, { app, summary, cause, isFirst, list }: AppFailuresData): Html {
  const shown = summary.causes.find((each) => each.reason?.key === cause);
  const only =
    cause !== '' &&
    html`<p>${shown ? html`Only this cause: ${causeName(shown)}` : 'No recorded failure has this cause.'} <a href="${failuresHref(app.id)}#recorded">Show all causes</a></p>`;
  const empty = html`<p>No failure is recorded with its cause.</p>`;
  return html`<section class="part"><h2>Causes</h2>
${causeTable(context, app, summary, SHOWN_CAUSES)}</section>
<section class="part" id="recorded"><h2>Recorded failures</h2>
${only}
${listing(list, { path: failuresHref(app.id), filter: { cause }, isFirst }, cause === '' ? empty : html``, (failures) => failureTable(context, failures))}</section>`;
}

/** The texts may come from anyone, and may lead anywhere: none becomes a link. */
function authorizationPage({ messages }: PageContext, failures: readonly PageFailure[]): Html {
  const table = dataTable<PageFailure>(
    'Refused requests on the authorization page',
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
${failures.length === 0 ? html`<p>It remembers none.</p>` : table}</section>`;
}
