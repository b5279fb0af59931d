/** One event of the audit trail. */
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { listHref } from '../listing.ts';
import { facts } from '../table.ts';
import { ACTION_WORDS } from './actions.ts';
import { doerWords, type ShownEvent, thingLink } from './shown-event.ts';

/** Maximum length of a shown detail; the longest ones are signatures of the trail. */
const MAX_DETAIL = 10_000;

const NAMES = { app: 'App', API: 'API', product: 'Product', operator: 'Operator', person: 'Person' } as const;

/** The page of one event. */
export function eventPage(context: PageContext, operator: ShownOperator, event: ShownEvent): Html {
  const { sequence, at, action, by, source, requestId, about, person, grantId, detail } = event;
  return consoleLayout(
    context,
    operator,
    { title: `Event ${sequence}`, section: 'Events' },
    html`<h1>${ACTION_WORDS[action]}</h1>
${facts([
  ['When', context.messages.minute(at)],
  ['Detail', detail !== null && isolated(detail, MAX_DETAIL)],
  ['By', doerWords(by)],
  ['From', source !== null && isolatedAddress(source)],
  [about === null ? '' : NAMES[about.kind], thingLink(about)],
  ['Person', thingLink(person)],
  [
    'Grant',
    grantId !== null &&
      html`<a href="/grants/${encodeURIComponent(grantId)}"><code>${isolatedAddress(grantId)}</code></a>`,
  ],
  ['Request in the log', requestId !== null && html`<code>${isolatedAddress(requestId)}</code>`],
  ['Action', html`<code>${action}</code>`],
  ['Number', String(sequence)],
])}
${more(event)}
<p class="fine">All times are UTC.</p>`,
  );
}

/** The links to the other events about the same things. */
function more({ by, about, person, grantId }: ShownEvent): Html {
  const links: (readonly [words: string, filter: Record<string, string>])[] = [];
  if (about) links.push([`All events of this ${about.kind}`, { client: about.id }]);
  if (person) links.push(['All events of this person', { user: person.id }]);
  if (grantId !== null) links.push(['All events of this grant', { grant: grantId }]);
  if (by.kind === 'operator' || by.kind === 'command') links.push(['All acts of this operator', { operator: by.id }]);
  links.push(['All events', {}]);
  return html`<section class="part"><h2>See also</h2><ul>${links.map(
    ([words, filter]) => html`<li><a href="${listHref('/events', filter)}">${words}</a></li>
`,
  )}</ul></section>`;
}
