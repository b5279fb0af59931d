/** The parts of pages with a long list: a filter above it, and the way to the next page below. */
import { type Html, html } from '../html/html.ts';

/** A page of a list. `next` is the cursor behind it, null at the end; there may be more although nothing is here. */
export type Listed<Item> = { readonly items: readonly Item[]; readonly next: string | null };

/** The names and values of a filter, as the address has them; empty ones are left out. */
export type Filter = Readonly<Record<string, string>>;

/** Returns the address of a list with a filter, from a cursor on. */
export function listHref(path: string, filter: Filter, after: string | null = null): string {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));
  if (after !== null) query.set('after', after);
  return query.size === 0 ? path : `${path}?${query}`;
}

/**
 * A form that filters a list. It sends a GET, so that the address of the result can be kept. A second one on a page needs a `name`.
 * The button of a form that finds one thing by its text says "Search".
 */
export function filterForm(
  path: string,
  fields: Html,
  { name, button = 'Show' }: { readonly name?: string; readonly button?: 'Show' | 'Search' } = {},
): Html {
  return html`<form method="get" action="${path}" class="filter" role="search"${name !== undefined && html` aria-label="${name}"`}>${fields}<button class="secondary">${button}</button></form>`;
}

/** A text field of a filter. */
export function textFilter(name: string, label: string, value: string): Html {
  return html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${value}" autocomplete="off" spellcheck="false"></div>`;
}

/** A choice of a filter; the first option is the one that filters nothing, with an empty value. */
export function choiceFilter(
  name: string,
  label: string,
  options: readonly (readonly [value: string, words: string])[],
  chosen: string,
): Html {
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">${options.map(
    ([value, words]) => html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`,
  )}</select></div>`;
}

/** The list, or the words of an empty one; then the links to the next page and the first one. */
export function listing<Item>(
  { items, next }: Listed<Item>,
  place: { readonly path: string; readonly filter: Filter; readonly isFirst: boolean },
  none: Html,
  list: (items: readonly Item[]) => Html,
): Html {
  const { path, filter, isFirst } = place;
  const on =
    next !== null &&
    html`<a class="button secondary" rel="next" href="${listHref(path, filter, next)}">${items.length === 0 ? 'Search on' : 'Next page'}</a>`;
  const back = !isFirst && html`<a href="${listHref(path, filter)}">First page</a>`;
  return html`${items.length > 0 ? list(items) : next === null ? none : searched}
${(next !== null || !isFirst) && html`<nav class="pages" aria-label="Pages of the list">${on}${back}</nav>`}`;
}

const searched = html`<p class="lead">Nothing was found so far. The list is long, and the search goes on from here.</p>`;

/** The words of a list without items: nothing is there, and the next step. */
export function emptyList(heading: string, text: Html | string): Html {
  return html`<div class="empty"><h2>${heading}</h2><p>${text}</p></div>`;
}
