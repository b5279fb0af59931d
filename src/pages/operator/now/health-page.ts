import { type Html, html } from '../../html.ts';
import { icons } from '../../icons.ts';
import { isolated, isolatedAddress } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { dataTable, facts } from '../table.ts';
import { findingName, lastBackup, type ShownState, timeAndAge, verdictMark, worstFirst, worstNotice } from './state.ts';

/** The page of the installation's state: what the doctor finds, and what to do about it. */
export function healthPage(
  context: PageContext,
  { operator, state }: { operator: ShownOperator; state: ShownState },
): Html {
  const { messages } = context;
  const { at, version, instances, restoredAt, rootKey, findings } = state;
  return consoleLayout(
    context,
    operator,
    { title: 'Health' },
    html`<h1>Health</h1>
${worstNotice(findings) ?? html`<div class="notice success">${icons.check}<div>The service is healthy: no check finds anything wrong.</div></div>`}
<section class="part"><h2>Installation</h2>
${facts([
  ['Last backup', lastBackup(messages, state)],
  ['Last restore', restoredAt === null ? 'Never' : timeAndAge(messages, restoredAt, at)],
  [
    'Root key',
    html`<code>${isolatedAddress(rootKey.name)}</code>, in use since ${timeAndAge(messages, rootKey.createdAt, at)}`,
  ],
  ['Version', version],
  [instances.length === 1 ? 'Instance' : `Instances (${instances.length})`, names(instances)],
])}</section>
<section class="part"><h2>Findings</h2>
${dataTable(
  'Findings of the doctor, the worst ones first',
  [
    ['Check', findingName],
    ['State', ({ verdict }) => verdictMark(verdict)],
    [
      'Found',
      ({ detail, remedy }) =>
        html`${isolated(detail, 300)}${remedy !== null && html`<small>Remedy: ${isolated(remedy, 500)}</small>`}`,
    ],
  ],
  worstFirst(findings),
)}
<p>Run <code>valetkey doctor</code> on the server to check the public addresses and the sign-in methods too.</p></section>
<p class="fine">Looked at ${messages.minute(at)}; at most 10 seconds old.</p>`,
  );
}

const MAX_NAMES = 50;

/** Returns the names, in order; of very many, the first ones. */
function names(instances: readonly string[]): Html {
  const shown = instances.toSorted().slice(0, MAX_NAMES);
  return html`${shown.map((name, at) => html`${at > 0 && ', '}${isolated(name)}`)}${instances.length > MAX_NAMES && ', …'}`;
}
