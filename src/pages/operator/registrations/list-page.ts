/** The lists of APIs, products and scopes: one page for all three. */
import { type Html, html } from '../../html/html.ts';
import type { ConsolePage, Section } from '../frame.ts';
import { type Listed, listing } from '../listing.ts';
import { type Column, dataTable } from '../table.ts';

/** Data of such a page. */
export type RegistrationsData<Item> = {
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
  { list, isFirst }: RegistrationsData<Item>,
  { title, path, lead, none, columns, below }: RegistrationsTexts<Item>,
): ConsolePage {
  return {
    frame: { title },
    main: html`<h1>${title}</h1>
<p class="lead">${lead}</p>
${listing(list, { path, filter: {}, isFirst }, none, (items) => dataTable(title, columns, items))}
${below}`,
  };
}
