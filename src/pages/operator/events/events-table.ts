/** The table of events. */
import { type Html, type HtmlValue, html } from '../../html.ts';
import type { PageContext } from '../../layout.ts';
import { type Filter, listHref } from '../listing.ts';
import { dataTable } from '../table.ts';
import { shortDetail } from './details.ts';
import { eventSentence, type ShownEvent } from './shown-event.ts';

/** Returns events, each as a sentence that leads to its page. */
export function eventsTable(context: PageContext, events: readonly ShownEvent[]): Html {
  return dataTable(
    'Events',
    [
      [
        'What happened',
        (event) => {
          const sentence = eventSentence(event);
          return html`<a href="/events/${event.sequence}">${sentence}</a>${details(context, event, sentence)}`;
        },
      ],
      ['When', ({ at }) => context.messages.minute(at)],
    ],
    events,
  );
}

/** Bytes of the sentence of a row, with its details: 40 rows and the filter stay below 50 KB. */
const ROW_BYTES = 750;

function details({ messages }: PageContext, { detail }: ShownEvent, sentence: Html): HtmlValue {
  if (detail === null) return null;
  const room = ROW_BYTES - Buffer.byteLength(String(sentence));
  return shortDetail(detail, messages, room).map((words) => html`<small>${words}</small>`);
}

/** The last events about something, and the way to all. `filter` is that of the page of events. */
export function lastEvents(context: PageContext, filter: Filter, events: readonly ShownEvent[]): Html {
  return html`<section class="part" id="events"><h2>Last events</h2>
${events.length === 0 ? html`<p>The audit trail has none.</p>` : eventsTable(context, events)}
<p><a href="${listHref('/events', filter)}">All events</a></p></section>`;
}
