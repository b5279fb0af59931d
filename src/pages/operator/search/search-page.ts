/** The page of a search that names nothing exactly: apps and people that were found. */
import { type Html, html } from '../../html.ts';
import { isolated, shortened, shortenedAddress } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { appHref } from '../apps/app-page.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { emptyList, listHref } from '../listing.ts';

/** Some of what was found; `more` if there are others. */
type Some<Item> = { readonly items: readonly Item[]; readonly more: boolean };

/** Data of the page. */
export type SearchData = {
  readonly operator: ShownOperator;
  readonly text: string;
  readonly apps: Some<{ readonly id: string; readonly name: string; readonly publisher: string | null }>;
  readonly people: Some<{
    readonly id: string;
    readonly name: string | null;
    readonly email: string | null;
    readonly username: string | null;
  }>;
};

/** The page of what was found. */
export function searchPage(context: PageContext, { operator, text, apps, people }: SearchData): Html {
  const none = apps.items.length === 0 && people.items.length === 0;
  return consoleLayout(
    context,
    operator,
    { title: 'Search' },
    html`<h1>Search for ${isolated(text, 100)}</h1>
${none && emptyList('Nothing found', html`No app or publisher has this in its name, and no user name or email address begins with it. ${WHAT}`)}
${apps.items.length > 0 && part('Apps', listHref('/apps', { q: text }), apps, ({ id, name, publisher }) => html`<a href="${appHref(id)}">${shortened(name)}</a> <small>${publisher !== null && html`${shortened(publisher)}, `}<code>${shortenedAddress(id)}</code></small>`)}
${people.items.length > 0 && part('People', listHref('/people', { q: text }), people, ({ id, name, email, username }) => html`<a href="/people/${encodeURIComponent(id)}">${shortened(name ?? email ?? username ?? id)}</a> <small>${shortenedAddress(email ?? username ?? id)}</small>`)}`,
  );
}

function part<Item>(heading: string, all: string, { items, more }: Some<Item>, item: (item: Item) => Html): Html {
  return html`<section class="part"><h2>${heading}</h2>
<ul class="things">${items.map((each) => html`<li><div>${item(each)}</div></li>`)}</ul>
${more && html`<p><a href="${all}">All ${heading.toLowerCase()} with this</a></p>`}</section>`;
}

const WHAT =
  'The search also takes the whole ID of an app, API, person, operator, grant or request, the number of an event, and any credential.';
