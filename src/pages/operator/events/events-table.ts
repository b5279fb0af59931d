/** The table of events. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import type { PageContext } from '../../layout/layout.ts';
import { type Filter, listHref } from '../listing.ts';
import { dataTable } from '../table.ts';
import { shortDetail } from './details.ts';
import { eventSentence, type ShownEvent } from './shown-event.ts';

/** Returns events: each is a sentence, whose time leads to its page. Links in all sentences would leave nothing to scan. */
export function eventsTable(context: PageContext, events: readonly ShownEvent[]): Html {
  return dataTable(
    'Events',
    [
      [
        'What happened',
        (event) => {
          const sentence = eventSentence(event);
          return html`<span class="sentence">${sentence}</span>${details(context, event, sentence)}`;
        },
      ],
      [
        'When',
        ({ at, sequence }) =>
          html`<a class="whole" href="/events/${sequence}">${context.messages.minute(at)}<span class="unseen">, event ${sequence}</span></a>`,
      ],
    ],
    events,
  );
}

/** Bytes of the sentence of a row, with its details: 40 rows and the filter stay below 50 KB. */
const ROW_BYTES = 750;

function details({ messages }: PageContext, { detail }: ShownEvent, sentence: Html): HtmlValue {
  const room = ROW_BYTES - Buffer.byteLength(String(sentence));
  return shortDetail(detail, messages, room).map((words) => html`<small>${words}</small>`);
}

/** The last events about something, and the way to all. `filter` is that of the page of events. */
export function lastEvents(context: PageContext, filter: Filter, events: readonly ShownEvent[]): Html {
  return html`<section class="part" id="events"><h2>Last events</h2>
${events.length === 0 ? html`<p>The audit trail has none.</p>` : eventsTable(context, events)}
<p><a href="${listHref('/events', filter)}">All events</a></p></section>`;
}
