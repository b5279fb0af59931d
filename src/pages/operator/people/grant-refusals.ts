/** The refused requests about one grant, by cause. */
import type { RecordedCause } from '../../../oauth/activity/failure-summary.ts';
import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { RECORDED, reasonCell } from '../apps/app-failures.ts';
import { dataTable } from '../table.ts';
import type { GrantStoryData } from './grant-data.ts';

/** Maximum number of causes, so that the page stays below 50 KB: 200 failures may have as many. */
const SHOWN_CAUSES = 10;

/** A sentence on their number, which leads to their causes; null without any. */
export function refusedLink({ refusals }: GrantStoryData): Html | null {
  const number = refusals.reduce((sum, { times }) => sum + times.length, 0);
  if (number === 0) return null;
  const were =
    number === 1 ? '1 refused request about this grant is' : `${number} refused requests about this grant are`;
  return html` <a href="#refused">${were} recorded.</a>`;
}

/** A table of their causes, the last one first; null without any. */
export function refusedRequests(context: PageContext, { app, refusals }: GrantStoryData): Html | null {
  if (app === null || refusals.length === 0) return null;
  const causes = refusals.toSorted((one, other) => lastOf(other) - lastOf(one));
  const table = dataTable<RecordedCause>(
    'Refused requests',
    [
      ['Cause', ({ reason }) => reasonCell(context, app.id, reason)],
      ['Requests', ({ times }) => times.length],
      ['Last', (each) => html`<span class="whole">${context.messages.second(lastOf(each))}</span>`],
    ],
    causes.slice(0, SHOWN_CAUSES),
  );
  const more = causes.length > SHOWN_CAUSES && html` Only the last ${SHOWN_CAUSES} causes are listed.`;
  return html`<section class="part" id="refused"><h2>Refused requests</h2>
${table}
<p class="fine">A cause leads to all failures of ${isolated(app.name ?? 'the app')} that have it. ${RECORDED}${more}</p></section>`;
}

function lastOf({ times }: RecordedCause): number {
  return times[0] ?? 0;
}
