/** The pages of APIs, which check tokens. */
import { html } from '../../html/html.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { dangerZone } from '../act-button.ts';
import type { ShownHandOver } from '../apps/app-secrets.ts';
import type { ConsolePage } from '../frame.ts';
import { emptyList } from '../listing.ts';
import { type SettingRow, settingFacts } from '../setting-value.ts';
import { facts } from '../table.ts';
import { type RegistrationsData, registrationsPage } from './list-page.ts';
import { commandsPart, handOverPart, type LiveSecret, secretWords } from './secret-facts.ts';

/** An API. Times in ms. */
export type ShownApi = {
  readonly id: string;
  readonly name: string;
  readonly resource: string | null;
  /** First the name. */
  readonly settings: readonly SettingRow[];
  readonly secrets: readonly LiveSecret[];
  readonly createdAt: number;
};

/** The page of all APIs. */
export function apisPage(context: PageContext, data: RegistrationsData<ShownApi>): ConsolePage {
  return registrationsPage(data, {
    title: 'APIs',
    path: '/apis',
    lead: 'Your services that check what a token allows.',
    none: NO_APIS,
    columns: [
      ['API', ({ id, name }) => html`<a href="/apis/${encodeURIComponent(id)}">${isolated(name)}</a>`],
      ['ID', ({ id }) => html`<code>${isolatedAddress(id)}</code>`],
      ['Resource', ({ resource }) => (resource === null ? 'None' : isolatedAddress(resource))],
      ['Registered', ({ createdAt }) => context.messages.day(createdAt)],
    ],
  });
}

/** The page of one API, with its newest hand-over. */
export function apiPage(
  context: PageContext,
  { api, handOver }: { readonly api: ShownApi; readonly handOver: ShownHandOver | null },
): ConsolePage {
  const { id, name, settings, secrets, createdAt } = api;
  return {
    frame: { title: name, section: 'APIs', parents: [['/apis', 'APIs']] },
    main: html`<h1>${isolated(name)}</h1>
${facts([
  ['ID', html`<code>${isolatedAddress(id)}</code>`],
  ...settingFacts(settings.slice(1)),
  ['Live secrets', secretWords(context, secrets)],
  ['Registered', context.messages.minute(createdAt)],
])}
${handOverPart(context, handOver)}
${commandsPart('resource-server', id)}
<p class="part"><a href="/events?client=${encodeURIComponent(id)}">All events of this API</a></p>
${dangerZone([
  {
    command: `valetkey resource-server delete ${id}`,
    effect: html`Deletes ${isolated(name)} for good. It can no longer check tokens; no grant ends.`,
  },
])}`,
  };
}

const NO_APIS = emptyList(
  'No API yet',
  html`Register one with <code>valetkey resource-server register --help</code>. It can then check tokens.`,
);
