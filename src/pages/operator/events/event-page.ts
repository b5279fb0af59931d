/** One event of the audit trail. */
import { type Html, html } from '../../html/html.ts';
import { isolatedAddress, isolatedCode } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { ConsolePage } from '../frame.ts';
import { listHref } from '../listing.ts';
import { facts } from '../table.ts';
import { changeSentences, detailFacts } from './details.ts';
import { doerLink, eventSentence, isSame, requestHref, type ShownEvent, thingLink } from './shown-event.ts';

const NAMES = { app: 'App', API: 'API', product: 'Product', operator: 'Operator', person: 'Person' } as const;

/** Data of the page: the event, and a cursor of the list of all events behind it. */
export type EventData = {
  readonly event: ShownEvent;
  readonly cursor: string;
};

/** The page of one event. */
export function eventPage(context: PageContext, { event, cursor }: EventData): ConsolePage {
  const { sequence, at, action, by, source, requestId, means, about, person, grantId, detail } = event;
  return {
    frame: { title: `Event ${sequence}`, section: 'Events', parents: [['/events', 'Events']] },
    main: html`<h1>${eventSentence(event)}</h1>
${facts([
  ['When', context.messages.second(at)],
  ['By', doerLink(by)],
  [about === null ? '' : NAMES[about.kind], about !== null && !isSame(about, by) && thingLink(about)],
  ['Person', person !== null && !isSame(person, by) && thingLink(person)],
  [
    'Grant',
    grantId !== null &&
      html`<a href="/grants/${encodeURIComponent(grantId)}">Open the grant</a> <code>${isolatedAddress(grantId)}</code>`,
  ],
  ...detailFacts(detail, about?.name ?? null, context.messages),
  ['With', means !== null && html`<a href="${listHref('/events', { key: means })}">${isolatedAddress(means)}</a>`],
  ['From the address', source !== null && isolatedAddress(source)],
  [
    'Request in the log',
    requestId !== null && html`<a href="${requestHref(requestId)}"><code>${isolatedAddress(requestId)}</code></a>`,
  ],
])}
${changesPart(context, detail)}
<p class="fine">In logs and the API this is event ${sequence}, ${isolatedCode(action)}.</p>
${more(event, cursor)}`,
  };
}

function changesPart({ messages }: PageContext, detail: ShownEvent['detail']): Html | null {
  const sentences = changeSentences(detail, messages);
  if (sentences.length === 0) return null;
  return html`<section class="part"><h2>${detail.some(({ kind }) => kind === 'change' || kind === 'field') ? 'What changed' : 'Details'}</h2><ul>${sentences.map(
    (sentence) => html`<li>${sentence}</li>
`,
  )}</ul></section>`;
}

/** The links to the other events about the same things, and to those before this one. */
function more({ by, about, person, grantId }: ShownEvent, cursor: string): Html {
  const links: (readonly [words: string, filter: Record<string, string>, after?: string])[] = [];
  if (about) links.push([`All events of this ${about.kind}`, { client: about.id }]);
  if (person) links.push(['All events of this person', { user: person.id }]);
  if (grantId !== null) links.push(['All events of this grant', { grant: grantId }]);
  if (by.kind === 'operator' || by.kind === 'command') links.push(['All acts of this operator', { operator: by.id }]);
  links.push(['All events before this one', {}, cursor]);
  return html`<section class="part"><h2>See also</h2><ul>${links.map(
    ([words, filter, after]) => html`<li><a href="${listHref('/events', filter, after)}">${words}</a></li>
`,
  )}</ul></section>`;
}
