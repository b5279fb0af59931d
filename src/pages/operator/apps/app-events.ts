/** The last events of an app in the audit trail. */
import { type Html, html } from '../../html.ts';
import { isolated, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { dataTable } from '../table.ts';

/** An event. `at` in ms; `actor` is an operator's name, or the kind of another actor. */
export type AppEvent = {
  readonly sequence: number;
  readonly at: number;
  readonly action: string;
  readonly actor: string;
  readonly detail: string | null;
};

/** The last events, and the way to all. */
export function appEvents({ messages }: PageContext, clientId: string, events: readonly AppEvent[]): Html {
  const all = `/events?${new URLSearchParams({ client: clientId })}`;
  return html`<section class="part"><h2>Last events</h2>
${events.length === 0 ? html`<p>The audit trail has no event of the app.</p>` : eventTable(messages, events)}
<p><a href="${all}">All events of the app</a></p></section>`;
}

function eventTable(messages: PageContext['messages'], events: readonly AppEvent[]): Html {
  return dataTable(
    'Events',
    [
      ['When', ({ at, sequence }) => html`<a href="/events/${sequence}">${messages.minute(at)}</a>`],
      ['Act', ({ action }) => isolatedCode(action)],
      ['By', ({ actor }) => isolated(actor)],
      ['Detail', ({ detail }) => (detail === null ? '–' : isolated(detail, 120))],
    ],
    events,
  );
}
