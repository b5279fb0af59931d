/** The pages of products, which sign their own people in. */
import { type Html, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { type ActProblem, actButton, actProblem, asSentence, dangerZone, doneNotice, plainAct } from '../act-button.ts';
import type { ShownHandOver } from '../apps/app-secrets.ts';
import type { ConsolePage } from '../frame.ts';
import { emptyList } from '../listing.ts';
import { verdictMark } from '../now/findings.ts';
import { type SettingRow, settingFacts } from '../setting-value.ts';
import { statePill } from '../state-pill.ts';
import { dataTable, facts } from '../table.ts';
import { type RegistrationsData, registrationsPage } from './list-page.ts';
import { commandsPart, handOverPart, type LiveSecret, secretWords } from './secret-facts.ts';

/** A product. Times in ms. */
export type ShownProduct = {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'paused';
  /** First the name. */
  readonly settings: readonly SettingRow[];
  readonly secrets: readonly LiveSecret[];
  readonly createdAt: number;
};

/** A finding of the test; `remedy` says what to do. */
export type ShownFinding = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly remedy: string | null;
};

/** The effects of acts in sentences, by their names in the address. */
export const PRODUCT_NOTICES = {
  paused: 'Paused: nobody can sign in there until you resume it. Sessions and grants stay.',
  resumed: 'Resumed: its people can sign in again.',
} as const;

/** The name of such an act. */
export type ProductNotice = keyof typeof PRODUCT_NOTICES;

/** Data of the page of one product; `findings` are those of a test just now. */
export type ProductData = {
  product: ShownProduct;
  /** The newest one. */
  handOver: ShownHandOver | null;
  /** The time of the page (ms). */
  may: { readonly pause: boolean; readonly resume: boolean; readonly test: boolean };
  findings: readonly ShownFinding[] | null;
  done: ProductNotice | null;
  problem: ActProblem | null;
};

/** The page of all products. */
export function productsPage(context: PageContext, data: RegistrationsData<ShownProduct>): ConsolePage {
  return registrationsPage(data, {
    title: 'Products',
    path: '/products',
    lead: 'Your products that sign their own people in. Those people need no password here.',
    none: NO_PRODUCTS,
    columns: [
      ['Product', ({ id, name }) => html`<a href="/products/${encodeURIComponent(id)}">${isolated(name)}</a>`],
      ['ID', ({ id }) => html`<code>${isolatedAddress(id)}</code>`],
      ['State', ({ status }) => statePill(status)],
      ['Registered', ({ createdAt }) => context.messages.day(createdAt)],
    ],
  });
}

/** The page of one product. */
export function productPage(context: PageContext, data: ProductData): ConsolePage {
  const { product, handOver, findings, done, problem } = data;
  const { id, name, status, settings, secrets, createdAt } = product;
  return {
    frame: { title: name, isProblem: problem !== null, section: 'Products', parents: [['/products', 'Products']] },
    main: html`<h1>${isolated(name)}</h1>
${done !== null && doneNotice(PRODUCT_NOTICES[done])}
${problem !== null && actProblem(problem)}
${findings !== null && tested(findings)}
${resuming(data)}
${facts([
  ['State', statePill(status)],
  ['ID', html`<code>${isolatedAddress(id)}</code>`],
  ...settingFacts(settings.slice(1)),
  ['Live secrets', secretWords(context, secrets)],
  ['Registered', context.messages.minute(createdAt)],
])}
${acts(data)}
${handOverPart(context, handOver)}
${commandsPart('identity-provider', id)}
<p class="part"><a href="/events?client=${encodeURIComponent(id)}">All events of this product</a></p>
${dangerous(data)}`,
  };
}

function acts({ product: { id }, may }: ProductData): Html {
  return html`<div class="acts">
${may.test && actButton({ action: `/products/${encodeURIComponent(id)}/test`, name: 'Test the setup', effect: 'Checks the registration, and sends one sign-in request to the product’s address. Nobody is signed in.' })}
</div>`;
}

function resuming({ product: { id, status }, may }: ProductData): Html | null {
  if (status === 'active' || !may.resume) return null;
  return plainAct({
    action: `/products/${encodeURIComponent(id)}/resume`,
    name: 'Resume the product',
    effect: 'Its people can sign in again at once, with the secrets and keys that it has now.',
  });
}

function dangerous({ product: { id, name, status }, may }: ProductData): Html | null {
  return dangerZone([
    may.pause &&
      status === 'active' && {
        action: `/products/${encodeURIComponent(id)}/pause`,
        name: 'Pause the product',
        effect: html`Nobody can sign in with ${isolated(name)} until you resume it, and its server is refused. Sessions and grants stay.`,
      },
    {
      command: `valetkey identity-provider end-all ${id} --since 12h`,
      effect: 'Ends all sessions, sign-ins and grants that came through the product since a time.',
    },
    {
      command: `valetkey identity-provider delete ${id}`,
      effect: html`Deletes ${isolated(name)} for good. Refused while people are linked to it.`,
    },
  ]);
}

function tested(findings: readonly ShownFinding[]): Html {
  const wrong = findings.filter(({ ok }) => !ok).length;
  const words = wrong === 0 ? 'All checks passed.' : `${wrong} of ${findings.length} checks failed.`;
  return html`<div class="notice ${wrong === 0 ? 'advice' : 'problem'}" role="status">${wrong === 0 ? icons.check : icons.alert}<div><strong>${words}</strong></div></div>
${dataTable(
  'Findings',
  [
    ['Check', ({ name }) => name.charAt(0).toUpperCase() + name.slice(1)],
    ['Result', ({ ok }) => verdictMark(ok ? 'ok' : 'wrong')],
    [
      'Finding',
      ({ ok, detail, remedy }) =>
        html`${isolated(asSentence(detail), 500)}${remedy !== null && html`<small>${ok ? 'Advice' : 'Remedy'}: ${isolated(remedy, 500)}</small>`}`,
    ],
  ],
  findings,
)}`;
}

const NO_PRODUCTS = emptyList(
  'No product yet',
  html`People sign in here with a password. Register a product that signs its people in with <code>valetkey identity-provider register --help</code>.`,
);
