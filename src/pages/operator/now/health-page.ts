import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { ConsolePage } from '../frame.ts';
import { facts } from '../table.ts';
import { fineChecks, fineCount, inNeed, neededActs, overallNotice } from './findings.ts';
import { lastBackup, rootKeyAge, type ShownState, timeAndAge } from './state.ts';

/** The page of the installation's state: what the doctor finds, and what to do about it. */
export function healthPage(context: PageContext, { state }: { state: ShownState }): ConsolePage {
  const { messages } = context;
  const { at, version, instances, restoredAt, rootKey, findings } = state;
  return {
    frame: { title: 'Health' },
    main: html`<h1>Health</h1>
${overallNotice(findings)}
<p class="fine"><a href="/#incidents">Incidents</a> and <a href="/#refused">failing apps</a> are on the page Now.</p>
${inNeed(findings).length > 0 && html`<section class="part"><h2>What to do</h2>${neededActs(findings)}</section>`}
<section class="part"><h2>Installation</h2>
${facts([
  ['Last backup', lastBackup(context, state)],
  ['Last restore', restoredAt === null ? 'Never' : timeAndAge(messages, restoredAt, at)],
  ['Root key', html`${rootKeyAge(context, state)}<small>Key ID <code>${isolatedAddress(rootKey.name)}</code></small>`],
  ['Version', version],
  [instances.length === 1 ? 'Instance' : `Instances (${instances.length})`, names(instances)],
])}</section>
<section class="part"><h2>${fineCount(findings)}</h2>
${fineChecks(findings)}
<p>Run <code>valetkey doctor</code> on the server to check the public addresses and the sign-in methods too.</p></section>
<p class="fine">Looked at ${messages.minute(at)}; at most 10 seconds old.</p>`,
  };
}

const MAX_NAMES = 50;

/** Returns the names, in order; of very many, the first ones. */
function names(instances: readonly string[]): Html {
  const shown = instances.toSorted().slice(0, MAX_NAMES);
  return html`${shown.map((name, at) => html`${at > 0 && ', '}${isolated(name)}`)}${instances.length > MAX_NAMES && ', …'}`;
}
