/** The last 24 hours on Now: what was asked of the service, which apps fail, and the incidents. */
import type { FailureTotal } from '../../../oauth/activity/failure-summary.ts';
import type { IncidentCounts } from '../../../oauth/trail/audit.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { Formats } from '../../messages/formats.ts';
import { failuresHref } from '../apps/app-failures.ts';
import { failingSentence, type NamedApp } from '../apps/app-notices.ts';
import { appHref } from '../apps/app-page.ts';
import { type ShownEvent, thingLink } from '../events/shown-event.ts';
import { countsOf, type Plotted, plot } from '../plot.ts';
import { dataTable } from '../table.ts';

/** An app with its failures, and true if it fails now and is not paused. */
export type RefusedApp = NamedApp & FailureTotal & { readonly isFailing: boolean };

/** The last 24 hours. */
export type LastDay = {
  readonly activity: Plotted;
  /** The apps with the most failures, most first. */
  readonly refused: readonly RefusedApp[];
  /** More than `countedTo` of a kind are not counted. */
  readonly incidents: IncidentCounts;
  /** The newest incidents of each kind. */
  readonly newest: readonly ShownEvent[];
  readonly countedTo: number;
};

/** Apps in the notice, and in the table. */
const NAMED_FAILING = 3;
const LISTED_REFUSED = 5;

const formats = new Formats('en-GB');

/** The list of all apps with refused requests. */
const REFUSED = '/apps?show=failing';

/** The incidents, each with what happened and what follows from it. */
const INCIDENTS = [
  ['refresh_reuse', 'Refresh token used twice', 'Somebody may have stolen it. Its grant was ended.'],
  ['code_replay', 'Authorization code used twice', 'Somebody may have stolen it. Its grant was ended.'],
  ['wrong_sign_ins', 'Wrong passwords for one person', 'Somebody may be guessing. One event an hour for each person.'],
] as const;

/** Says how many requests were refused, and how many incidents there were, with links to both. */
export function daySummary({ activity, incidents, countedTo }: LastDay): Html {
  const { succeeded, refused } = countsOf(activity.tallies);
  const all = succeeded + refused;
  const requests =
    all === 0
      ? 'no request of an app was counted'
      : html`<a href="#refused">${formats.number(refused)} of ${formats.number(all)} requests were refused</a>`;
  const count = incidentsOf(incidents);
  const isMore = Object.values(incidents).some((number) => number > countedTo);
  const number = isMore ? `more than ${formats.number(countedTo)}` : count === 0 ? 'no' : formats.number(count);
  const happened = `${number} ${count === 1 ? 'incident was' : 'incidents were'} recorded`;
  return html`In 24 hours, ${requests}, and ${count === 0 ? happened : html`<a href="#incidents">${happened}</a>`}.`;
}

/** Says which apps fail, as their own pages do; null if none does. */
export function failingApps(context: PageContext, { refused }: LastDay): Html | null {
  const failing = refused.filter(({ isFailing }) => isFailing);
  if (failing.length === 0) return null;
  const named = failing.slice(0, NAMED_FAILING);
  const more =
    failing.length > named.length &&
    html`<p>More apps fail. <a href="${REFUSED}">See all with refused requests</a></p>`;
  return html`<div class="notice problem">${icons.alert}<div>${named.map((app) => html`<p>${failingSentence(context, app, app)}</p>`)}${more}</div></div>`;
}

/** The plot, the apps that were refused most, and the incidents. */
export function lastDay(context: PageContext, day: LastDay): Html {
  const { activity, refused, incidents } = day;
  return html`<section class="part"><h2>Last 24 hours, all apps</h2>
${plot(activity)}</section>
<section class="part" id="refused"><h2>Apps with the most refused requests</h2>
${refused.length === 0 ? html`<p>No refused request of an app was counted.</p>` : refusedApps(refused)}</section>
<section class="part" id="incidents"><h2>Incidents</h2>
${incidentsOf(incidents) === 0 ? html`<p>The audit trail records no code or token that was used twice, and no wrong passwords. It records those of an hour when the hour is over.</p>` : incidentTable(context, day)}
<p><a href="/events?action=operator-changes">Changes by operators</a></p></section>`;
}

function refusedApps(refused: readonly RefusedApp[]): Html {
  const table = dataTable(
    'Apps with the most refused requests in 24 hours',
    [
      ['App', ({ id, name }) => html`<a href="${appHref(id)}">${isolated(name)}</a>`],
      ['Refused', ({ failures }) => formats.number(failures)],
      [
        'Failures',
        ({ id, name }) =>
          html`<a href="${failuresHref(id)}">See the failures<span class="unseen"> of ${isolated(name)}</span></a>`,
      ],
    ],
    refused.slice(0, LISTED_REFUSED),
  );
  return html`${table}
<p><a href="${REFUSED}">All apps with refused requests since yesterday</a></p>`;
}

function incidentTable({ messages }: PageContext, { activity, incidents, newest, countedTo }: LastDay): Html {
  const since = new Date(activity.from).toISOString().slice(0, 10);
  return dataTable(
    'Incidents in 24 hours',
    [
      ['What happened', ([, name, meaning]): HtmlValue => html`${name} <small>${meaning}</small>`],
      [
        'How often',
        ([action]) =>
          incidents[action] > countedTo ? `More than ${formats.number(countedTo)}` : formats.number(incidents[action]),
      ],
      [
        'Newest',
        ([kind]) =>
          newest
            .filter(({ action }) => action === kind)
            .map(
              (event) =>
                html`<p>${partiesOf(event)}<small><a href="/events/${event.sequence}">${messages.minute(event.at)}</a></small></p>`,
            ),
      ],
      [
        'Events',
        ([action, name]) =>
          html`<a href="/events?action=${action}&amp;since=${since}">See the events<span class="unseen">: ${name}</span></a>`,
      ],
    ],
    INCIDENTS.filter(([action]) => incidents[action] > 0),
  );
}

/** The app and the person of an incident; wrong passwords have no app. */
function partiesOf({ about, person }: ShownEvent): Html {
  return html`${thingLink(about)}${about && person && ' for '}${thingLink(person)}`;
}

function incidentsOf(incidents: IncidentCounts): number {
  return Object.values(incidents).reduce((sum, number) => sum + number, 0);
}
