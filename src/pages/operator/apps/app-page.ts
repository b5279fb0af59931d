/** The page of one app. */

import type { FailureSummary, RefusedSince } from '../../../oauth/activity/failure-summary.ts';
import { type Html, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { type ActProblem, actProblem, dangerZone, doneNotice, plainAct } from '../act-button.ts';
import { type BlastRadius, grantsWords, numberWithNoun } from '../blast-radius.ts';
import { endAppGrantsEffect, hasGrants, pauseAppEffect } from '../effect-sentences.ts';
import { eventsTable } from '../events/events-table.ts';
import type { ShownEvent } from '../events/shown-event.ts';
import { type ConsolePage, type Parent, sectionLinks } from '../frame.ts';
import { listHref } from '../listing.ts';
import { type Plotted, plot } from '../plot.ts';
import { statePill } from '../state-pill.ts';
import { facts } from '../table.ts';
import { causeTable, failuresHref, ONLY_COUNTED } from './app-failures.ts';
import { failingNotice, pausedNotice } from './app-notices.ts';
import { type AppSecrets, appSecrets } from './app-secrets.ts';
import { type AppSettings, appSettings } from './app-settings.ts';

/** The effects of acts in sentences, by their names in the address. */
export const APP_NOTICES = {
  updated: 'The settings were changed.',
  paused: 'Paused: every request of the app is refused.',
  resumed: 'Resumed: the app works again.',
  retired: 'The secret was retired. It no longer works.',
  ended: 'All grants have ended. Users can allow the app again.',
} as const;

/** The name of such an act. */
export type AppNotice = keyof typeof APP_NOTICES;

/** Data of the page. Times in ms. */
export type AppData = {
  app: AppSettings & { readonly id: string; readonly name: string; readonly status: 'active' | 'paused' };
  lastUsedAt: number | null;
  /** The last request with its secret or key (ms). */
  secretUsedAt: number | null;
  secrets: AppSecrets;
  /** The grants that end with the app. */
  grants: BlastRadius;
  hours: Plotted;
  days: Plotted;
  failures: FailureSummary;
  /** True if it fails now. */
  isFailing: boolean;
  /** The event of its last pause; null if the trail has none. */
  paused: ShownEvent | null;
  /** The refused requests since that event, or since they are counted. */
  refused: RefusedSince;
  /** Number of refusals on the authorization page that this instance remembers. */
  pageFailureCount: number;
  /** The last changes of the registration. */
  changes: readonly ShownEvent[];
  /** The acts that the role allows. */
  may: { readonly update: boolean; readonly pause: boolean; readonly revokeGrants: boolean; readonly delete: boolean };
  done: AppNotice | null;
  problem: ActProblem | null;
};

/** The page of one app. */
export function appPage(context: PageContext, data: AppData): ConsolePage {
  const { app, secrets, done, problem, may } = data;
  const at = appHref(app.id);
  const acts = dangerous(data, at);
  return {
    frame: { title: app.name, isProblem: problem !== null, parents: [APPS], section: 'Apps' },
    main: html`<div class="title"><h1>${isolated(app.name)}</h1>${may.update && html`<a class="button secondary" href="${at}/edit">Edit the settings</a>`}</div>
${done !== null && doneWords(data, done)}
${problem !== null && actProblem(problem)}
${state(context, data)}
${overview(context, data)}
${sectionLinks(SECTIONS.filter(([id]) => id !== 'danger' || acts !== null))}
<section class="part" id="activity"><h2>Activity</h2>
${plots(data)}</section>
${failing(context, data)}
${appSecrets(context, secrets)}
${appSettings(context, app)}
${changesOf(context, data)}
${acts}`,
  };
}

/** A retirement after which the app has nothing that it ever used is no good news yet. */
function doneWords({ secretUsedAt }: AppData, done: AppNotice): Html {
  if (done !== 'retired' || secretUsedAt !== null) return doneNotice(APP_NOTICES[done]);
  return html`<div class="notice warning" role="status">${icons.alert}<div><strong>${APP_NOTICES.retired}</strong> The app never used the secret or key that is left, so it cannot connect until its developer has that one.</div></div>`;
}

/** The sections of the page, in the order of an operator's questions. */
const SECTIONS = [
  ['activity', 'Activity'],
  ['failures', 'Failures'],
  ['secrets', 'Secrets'],
  ['settings', 'Settings'],
  ['changes', 'Changes'],
  ['danger', 'Danger zone'],
] as const;

/** Maximum number of causes; the page of its failures has more. */
const SHOWN_CAUSES = 5;

/** The list of apps, as the parent of their pages. */
export const APPS: Parent = ['/apps', 'Apps'];

/** Returns the address of an app's page. */
export function appHref(id: string): string {
  return `/apps/${encodeURIComponent(id)}`;
}

/** A paused app, or one that fails, says so first. */
function state(context: PageContext, { app, paused, refused, failures, isFailing, hours, may }: AppData): Html | null {
  if (app.status === 'active') return isFailing ? failingNotice(context, app, failures, hours.tallies) : null;
  return html`${pausedNotice(context, app, paused, refused)}
${may.pause && resuming(appHref(app.id))}`;
}

/** Beside each other, unless one is empty. */
function plots({ hours, days }: AppData): Html {
  const both = html`<div><h3>Last 48 hours</h3>${plot(hours)}</div><div><h3>Last 400 days</h3>${plot(days)}</div>`;
  return html`<div class="${hours.tallies.length === 0 ? 'stacked' : 'halves'}">${both}</div>${
    hours.tallies.length > 0 &&
    html`
<p class="fine">The two plots have different scales: a bar is an hour in one, and a day in the other.</p>`
  }`;
}

function overview({ messages }: PageContext, { app, lastUsedAt, grants, isFailing }: AppData): Html {
  return facts(
    [
      ['State', statePill(app.status === 'active' && isFailing ? 'failing' : app.status)],
      ['Client ID', html`<code>${isolatedAddress(app.id)}</code>`],
      ['Live grants', grantsWords(grants).replace(/^./, (first) => first.toUpperCase())],
      // By its last live secret or key that was right, also in a refused request, or by its last tokens.
      ['Last used', lastUsedAt === null ? 'Never' : messages.minute(lastUsedAt)],
    ],
    'strip',
  );
}

function resuming(at: string): Html {
  return plainAct({
    action: `${at}/resume`,
    name: 'Resume the app',
    effect: 'Its secrets and tokens work again at once, unless they expired or ended meanwhile.',
  });
}

function failing(context: PageContext, { app, secretUsedAt, failures, pageFailureCount }: AppData): Html {
  const href = failuresHref(app.id);
  const page =
    pageFailureCount > 0 &&
    html`<p>This instance remembers ${numberWithNoun(pageFailureCount, 'refused request')} on the authorization page. <a href="${href}#authorization-page">See why</a></p>`;
  return html`<section class="part" id="failures"><h2>Failures</h2>
${
  failures.causes.length === 0
    ? html`<p>No refused request of 48 hours was counted, and no failure of 30 days is recorded. ${ONLY_COUNTED[app.type]}</p>`
    : causeTable(context, { ...app, secretUsedAt }, failures, SHOWN_CAUSES)
}
${page}
<p><a href="${href}">All failures</a></p></section>`;
}

function changesOf(context: PageContext, { app, changes }: AppData): Html {
  return html`<section class="part" id="changes"><h2>Changes</h2>
${changes.length === 0 ? html`<p>The audit trail has none.</p>` : eventsTable(context, changes)}
<p><a href="${listHref('/events', { client: app.id })}">All events of the app</a></p></section>`;
}

/** The acts that end something. A paused app has been stopped already. */
function dangerous({ app, grants, may }: AppData, at: string): Html | null {
  return dangerZone(
    [
      may.pause &&
        app.status === 'active' && {
          action: `${at}/pause`,
          name: 'Pause the app',
          effect: pauseAppEffect(app.name, grants),
        },
      may.revokeGrants &&
        hasGrants(grants) && {
          action: `${at}/revoke-grants`,
          name: 'End all grants',
          effect: endAppGrantsEffect(app.name, grants),
        },
      may.delete && {
        action: `${at}/delete`,
        name: 'Delete the app',
        effect: html`Deletes ${isolated(app.name)} with its secrets and settings for good, and ends ${grantsWords(grants)}.`,
      },
    ],
    may.delete && `You need a passkey ${hasGrants(grants) ? 'to end all grants or ' : ''}to delete the app.`,
  );
}
