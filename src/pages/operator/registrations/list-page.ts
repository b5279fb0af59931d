/** The lists of APIs, products and scopes: one page for all three. */
import { type Html, html } from '../../html.ts';
import type { PageContext } from '../../layout.ts';
import { consoleLayout, type Section, type ShownOperator } from '../frame.ts';
import { type Listed, listing } from '../listing.ts';
import { type Column, dataTable } from '../table.ts';

/** Data of such a page. */
export type RegistrationsData<Item> = {
  readonly operator: ShownOperator;
  readonly list: Listed<Item>;
  readonly isFirst: boolean;
};

/** Texts and columns of one of the pages. */
type RegistrationsTexts<Item> = {
  readonly title: Section;
  readonly path: string;
  readonly lead: string;
  /** Shown in place of an empty list. */
  readonly none: Html;
  readonly columns: readonly Column<Item>[];
  readonly below?: Html;
};

/** Returns the page of a list. */
export function registrationsPage<Item>(
  context: PageContext,
  { operator, list, isFirst }: RegistrationsData<Item>,
  { title, path, lead, none, columns, below }: RegistrationsTexts<Item>,
): Html {
  return consoleLayout(
    context,
    operator,
    { title },
    html`<h1>${title}</h1>
<p class="lead">${lead}</p>
${listing(list, { path, filter: {}, isFirst }, none, (items) => dataTable(title, columns, items))}
${below}`,
  );
}
