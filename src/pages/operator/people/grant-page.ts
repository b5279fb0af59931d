/** The whole life of one grant. */
import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { actProblem, dangerZone, doneNotice } from '../act-button.ts';
import { appHref } from '../apps/app-page.ts';
import { endGrantEffect } from '../effect-sentences.ts';
import { eventsTable } from '../events/events-table.ts';
import { type Thing, thingLink } from '../events/shown-event.ts';
import type { ConsolePage, Parent } from '../frame.ts';
import { listHref } from '../listing.ts';
import { facts } from '../table.ts';
import { GRANT_NOTICES, type GrantData, type GrantFacts } from './grant-data.ts';
import { refusedLink, refusedRequests } from './grant-refusals.ts';
import { grantStory, presentedTwice } from './grant-story.ts';
import { mayDo } from './person-grants.ts';
import { PEOPLE } from './person-page.ts';

/** The page of one grant. */
export function grantPage(context: PageContext, data: GrantData): ConsolePage {
  const { id, app, person, done, problem, row, status, mayEnd } = data;
  const isLive = status === 'issued' || status === 'active';
  return {
    frame: {
      title: 'Grant',
      isProblem: problem !== null,
      section: 'People',
      parents: parentsOf(person),
      here: `Grant for ${named(app, 'an app')}`,
    },
    main: html`<h1>${isolated(named(app, 'An app'))} for ${isolated(named(person, 'a person'))}</h1>
<p class="lead">${stateText(context, data)}${refusedLink(data)}</p>
${done !== null && doneNotice(GRANT_NOTICES[done](named(app, 'the app'), named(person, 'the person')))}
${problem !== null && actProblem(problem)}
${presentedTwice(context, data)}
${grantStory(context, data)}
${refusedRequests(context, data)}
<section class="part"><h2>${isLive ? 'What it allows' : 'What it allowed'}</h2>
${facts([
  ['App', thingLink(app)],
  ['Person', thingLink(person)],
  ['Grant ID', html`<code>${isolatedAddress(id)}</code>`],
  ...(row ? rowFacts(context, row, isLive) : []),
])}</section>
${eventPart(context, data)}
${dangerZone([
  mayEnd &&
    isLive && {
      action: `/grants/${id}/end`,
      name: 'End this grant',
      effect: endGrantEffect(named(app, 'the app')),
    },
])}`,
  };
}

/** A person who was deleted has no page. */
function parentsOf(person: Thing | null): Parent[] {
  if (!person || person.isDeleted) return [PEOPLE];
  return [PEOPLE, [`/people/${encodeURIComponent(person.id)}`, named(person, '')]];
}

function named(thing: Thing | null, unknown: string): string {
  return thing?.name ?? thing?.id ?? unknown;
}

const STATES = {
  issued: 'Allowed; the app has not fetched its tokens yet.',
  active: 'Active.',
  revoked: 'Ended.',
} as const;

function stateText({ messages }: PageContext, { status, row }: GrantData): Html | string {
  if (status === 'gone')
    return html`Ended. Its details are deleted a day after the end, and its <a href="#events">events</a> are kept.`;
  const isLive = status === 'issued' || status === 'active';
  const held = isLive && row ? whyHeld(row) : '';
  if (held !== '') return `On hold: every token of it is refused while ${held}.`;
  if (status !== 'expired') return STATES[status];
  if (!row) return 'Expired.';
  const at = messages.second(row.expiresAt);
  return row.generation === 0 ? `Never exchanged: the code expired at ${at}.` : `Expired at ${at}.`;
}

type Facts = Parameters<typeof facts>[0];

function rowFacts({ messages }: PageContext, row: GrantFacts, isLive: boolean): Facts {
  const { permissions, personFields, leftOut } = row;
  return [
    ['May do', mayDo(messages, personFields, permissions)],
    ['Left out', leftOut.length > 0 && html`${leftOut.map((name) => html`${isolatedCode(name)} `)}`],
    ['Sent to', row.redirectUri === null ? 'A device' : isolatedAddress(row.redirectUri)],
    ['Resource', row.resource !== null && isolatedAddress(row.resource)],
    ['Ends', isLive && endsAt(messages, row)],
  ];
}

function endsAt(messages: PageContext['messages'], { generation, expiresAt, absoluteExpiresAt }: GrantFacts): Html {
  if (generation === 0) return html`${messages.second(expiresAt)}, unless the app exchanges the code before`;
  return html`${messages.minute(expiresAt)}, unless refreshed before; ${messages.day(absoluteExpiresAt)} in any case`;
}

/** The reasons for which a live grant lets the app do nothing; empty without one. */
function whyHeld({ appPaused, personDisabled }: GrantFacts): string {
  return [...(appPaused ? ['the app is paused'] : []), ...(personDisabled ? ['the person is disabled'] : [])].join(
    ' and ',
  );
}

function eventPart(context: PageContext, { id, app, events, hasMore }: GrantData): Html {
  return html`<section class="part" id="events"><h2>Events</h2>
${events.length === 0 ? html`<p>None is kept any more.</p>` : eventsTable(context, events)}
${hasMore && html`<p>Earlier ones are left out here. <a href="${listHref('/events', { grant: id })}">All events of this grant</a></p>`}
${app?.kind === 'app' && !app.isDeleted && html`<p><a href="${appHref(app.id)}/failures">Failures of ${isolated(named(app, ''))}</a></p>`}</section>`;
}
