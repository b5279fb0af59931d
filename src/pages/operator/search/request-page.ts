/** The page of a request: what the audit trail and the recorded failures have of it. */
import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedAddress, isolatedCode, shortened } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { asSentence } from '../act-button.ts';
import { appHref } from '../apps/app-page.ts';
import { eventsTable } from '../events/events-table.ts';
import { requestHref, type ShownEvent } from '../events/shown-event.ts';
import type { ConsolePage } from '../frame.ts';
import { listHref } from '../listing.ts';
import { dataTable } from '../table.ts';

/** A recorded failure of an app; `at` in ms. */
type RequestFailure = {
  readonly clientId: string;
  /** Its name, or its ID once it is deleted. */
  readonly app: string;
  readonly at: number;
  readonly error: string;
  readonly reason: string;
  readonly network: string;
  readonly grantId: string | null;
};

/** Data of the page. */
export type RequestData = {
  readonly id: string;
  readonly events: readonly ShownEvent[];
  readonly failures: readonly RequestFailure[];
  /** The time (ms) of the last event that was looked at; null if all were. */
  readonly eventsSince: number | null;
  /** True if all recorded failures were looked at. */
  readonly hasAllFailures: boolean;
  /** The cursor of the rest; null if all was looked at. */
  readonly next: string | null;
  readonly isFirst: boolean;
};

/** The page of a request. */
export function requestPage(context: PageContext, data: RequestData): ConsolePage {
  const { id, events, failures, next, isFirst } = data;
  const none = events.length === 0 && failures.length === 0;
  return {
    frame: { title: `Request ${id}`, section: 'Events', parents: [['/events', 'Events']] },
    main: html`<h1>Request <code>${id}</code></h1>
<p class="lead">${none && 'Nothing was found. '}${lookedAt(context, data)} The log of the service has every request by this ID.</p>
${events.length > 0 && html`<section class="part"><h2>Events</h2>${eventsTable(context, events)}</section>`}
${failures.length > 0 && html`<section class="part"><h2>Refused</h2>${failureTable(context, failures)}</section>`}
<nav class="pages" aria-label="Pages of the search">${next !== null && html`<a class="button secondary" rel="next" href="${listHref(requestHref(id), {}, next)}">Search on</a>`}${!isFirst && html`<a href="${requestHref(id)}">From the newest</a>`}</nav>`,
  };
}

/** Says how far the search got. */
function lookedAt({ messages }: PageContext, { eventsSince, hasAllFailures }: RequestData): string {
  const events = eventsSince === null ? 'all events' : `the events back to ${messages.minute(eventsSince)}`;
  const failures = hasAllFailures ? 'all recorded failures' : 'a part of the recorded failures';
  return `This search looked at ${events}, and at ${failures} of apps.`;
}

function failureTable({ messages }: PageContext, failures: readonly RequestFailure[]): Html {
  return dataTable<RequestFailure>(
    'Refused requests',
    [
      ['Why', ({ error, reason }) => html`${isolated(asSentence(reason), 300)}<small>${isolatedCode(error)}</small>`],
      ['App', ({ clientId, app }) => html`<a href="${appHref(clientId)}">${shortened(app)}</a>`],
      ['Grant', ({ grantId }) => (grantId === null ? '–' : html`<a href="/grants/${grantId}">See the grant</a>`)],
      ['From', ({ network }) => html`<span class="whole">${isolatedAddress(network)}</span>`],
      ['When', ({ at }) => messages.second(at)],
    ],
    failures,
  );
}
