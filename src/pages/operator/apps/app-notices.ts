/** The notices at the top of an app's page: that it fails, and that it is paused. */
import type { FailureSummary, RefusedSince } from '../../../oauth/activity/failure-summary.ts';
import { type Html, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { Formats } from '../../messages/formats.ts';
import { doneBy, type ShownEvent } from '../events/shown-event.ts';
import { causeText, failuresHref, numberOf } from './app-failures.ts';

const formats = new Formats('en-GB');

type NamedApp = { readonly id: string; readonly name: string };

/** Causes that the notice names. */
const NAMED_CAUSES = 3;

/** Says how many requests of an app fail, since when, and mostly why. */
export function failingNotice({ messages }: PageContext, { id, name }: NamedApp, summary: FailureSummary): Html {
  const { failures, counted, causes, period } = summary;
  const most = causes.filter(({ count, isRest }) => count > 0 && !isRest).slice(0, NAMED_CAUSES);
  const why =
    most.length > 0 &&
    html` Mostly: ${most.map((each, place) => html`${place > 0 && '; '}${causeText(each)} (${numberOf(each)})`)}.`;
  const since =
    period &&
    html`It began in the hour from ${messages.minute(period.beganAt)}${period.mayBeEarlier && ', or earlier'}.`;
  return html`<div class="notice problem">${icons.alert}<div><strong>${isolated(name)} fails: ${formats.number(failures)} of ${formats.number(counted)} requests in 24 hours were refused.</strong> ${since}${why} <a href="${failuresHref(id)}">See its failures</a></div></div>`;
}

/** Says who paused an app and when, and how often it was refused since. `event` is null if the audit trail has it no more. */
export function pausedNotice(
  context: PageContext,
  { id }: NamedApp,
  event: ShownEvent | null,
  { isWhole, refused, isAtLeast }: RefusedSince,
): Html {
  const by = event && html`${doneBy(context, event)}<br>`;
  const period = isWhole ? 'Since then' : 'In the last two days';
  const number = html`${isAtLeast && 'at least '}${formats.number(refused)} ${refused === 1 ? 'request was' : 'requests were'} refused`;
  const some = isAtLeast
    ? 'Requests were refused in the hour of the pause, before it or after.'
    : `${period}, no refused request was counted.`;
  const calls = refused === 0 ? some : html`${period}, <a href="${failuresHref(id)}">${number}</a>.`;
  return html`<div class="notice problem">${icons.alert}<div><strong>Paused: every request is refused.</strong> ${by}${calls}</div></div>`;
}
