/** The table of events. */
import { type Html, html } from '../../html.ts';
import { isolated } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { type Filter, listHref } from '../listing.ts';
import { dataTable } from '../table.ts';
import { ACTION_WORDS } from './actions.ts';
import { doerWords, type ShownEvent, thingLink } from './shown-event.ts';

/** Returns events with links to what they are about. */
export function eventsTable({ messages }: PageContext, events: readonly ShownEvent[]): Html {
  return dataTable(
    'Events',
    [
      [
        'What',
        ({ sequence, action, detail }) =>
          html`<a href="/events/${sequence}">${ACTION_WORDS[action]}</a>${detail && html`<small>${isolated(detail)}</small>`}`,
      ],
      ['When', ({ at }) => messages.minute(at)],
      ['By', ({ by }) => doerWords(by)],
      [
        'About',
        ({ about, person, grantId }) =>
          about || person
            ? html`${thingLink(about)}${person && html`<small>${thingLink(person)}</small>`}${grantId !== null && html`<small><a href="/grants/${grantId}">The grant</a></small>`}`
            : '–',
      ],
    ],
    events,
  );
}

/** The last events about something, and the way to all. `filter` is that of the page of events. */
export function lastEvents(context: PageContext, filter: Filter, events: readonly ShownEvent[]): Html {
  return html`<section class="part" id="events"><h2>Last events</h2>
${events.length === 0 ? html`<p>The audit trail has none.</p>` : eventsTable(context, events)}
<p><a href="${listHref('/events', filter)}">All events</a></p></section>`;
}
