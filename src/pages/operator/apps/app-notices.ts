/** The notices at the top of an app's page: that it fails, and that it is paused. */
import type { AppTally } from '../../../oauth/activity/app-tally.ts';
import type {
  FailureCause,
  FailureSummary,
  FailureTotal,
  RefusedSince,
} from '../../../oauth/activity/failure-summary.ts';
import { type Html, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { Formats } from '../../messages/formats.ts';
import { doneBy, type ShownEvent } from '../events/shown-event.ts';
import { COUNTED, causeText, failuresHref, numberOf } from './app-failures.ts';

const formats = new Formats('en-GB');

/** An app by its ID and name. */
export type NamedApp = { readonly id: string; readonly name: string };

/** Recorded causes of one kind of error that the notice names. */
const NAMED_CAUSES = 2;

/** Says how many requests of an app fail, since when, and where to see why. */
export function failingSentence({ messages }: PageContext, { id, name }: NamedApp, total: FailureTotal): Html {
  const { failures, counted, period } = total;
  const since =
    period && html`, since the hour from ${messages.minute(period.beganAt)}${period.mayBeEarlier && ', or earlier'}`;
  return html`<strong>${isolated(name)} fails: ${formats.number(failures)} of ${formats.number(counted)} requests in 24 hours were refused${since}.</strong> <a href="${failuresHref(id)}">See its failures</a>`;
}

/** The same sentence, the causes, and that no code is exchanged, where users allow the app. */
export function failingNotice(
  context: PageContext,
  app: NamedApp,
  summary: FailureSummary,
  hours: readonly AppTally[],
): Html {
  const sum = (counter: 'allowed' | 'exchanges') => hours.reduce((all, tally) => all + tally[counter], 0);
  const allowed = sum('allowed');
  const unused =
    allowed > 0 &&
    sum('exchanges') === 0 &&
    html`<p>It was allowed ${allowed === 1 ? 'once' : `${formats.number(allowed)} times`} in 48 hours, and exchanged no code for tokens.</p>`;
  return html`<div class="notice problem">${icons.alert}<div><p>${failingSentence(context, app, summary)}</p>${causeList(summary)}${unused}</div></div>`;
}

/** The kinds of errors, most frequent first: the numbers of recorded causes may be minimums, and cannot be compared. */
function causeList({ causes, failures }: FailureSummary): Html {
  const kinds = [...Map.groupBy(causes, ({ counter }) => counter).values()]
    .map((all) => ({
      all: all.filter(({ count }) => count > 0),
      count: all.reduce((sum, { count }) => sum + count, 0),
    }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count);
  return html`<ul>${kinds.map(({ all, count }) => html`<li>${2 * count > failures && 'Mostly: '}${kindOfError(all, count)}</li>`)}</ul>`;
}

function kindOfError(causes: readonly FailureCause[], count: number): Html {
  const [first] = causes;
  const named = causes.filter(({ reason }) => reason !== null).slice(0, NAMED_CAUSES);
  if (causes.length === 1 || !first) return html`${first && causeText(first)} (${formats.number(count)})`;
  return html`${COUNTED[first.counter]} (${formats.number(count)}): ${named.map((each, place) => html`${place > 0 && '; '}${causeText(each)} (${numberOf(each)})`)}`;
}

/** Says who paused an app and when, and how often it was refused since. `event` is null if the audit trail has it no more. */
export function pausedNotice(
  context: PageContext,
  { id }: NamedApp,
  event: ShownEvent | null,
  { isWhole, span, refused, isAtLeast }: RefusedSince,
): Html {
  const by = event && html`${doneBy(context, event)}<br>`;
  const period = isWhole ? 'Since then' : 'In the last 400 days';
  const number = html`${isAtLeast && 'at least '}${formats.number(refused)} ${refused === 1 ? 'request was' : 'requests were'} refused`;
  const some = isAtLeast
    ? `Requests were refused ${span === 'hour' ? 'in the hour' : 'on the day'} of the pause, before it or after.`
    : `${period}, no refused request was counted.`;
  const calls = refused === 0 ? some : html`${period}, <a href="${failuresHref(id)}">${number}</a>.`;
  return html`<div class="notice warning">${icons.alert}<div><strong>Paused: every request is refused.</strong> ${by}${calls}</div></div>`;
}
