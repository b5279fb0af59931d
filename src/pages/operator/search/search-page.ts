/** The page of a search that names nothing exactly: apps and people that were found. */
import { type Html, html } from '../../html/html.ts';
import { isolated, shortened, shortenedAddress } from '../../html/isolated-text.ts';
import { appHref } from '../apps/app-page.ts';
import type { ConsolePage } from '../frame.ts';
import { emptyList, listHref } from '../listing.ts';
import { statePill } from '../state-pill.ts';

/** Some of what was found; `more` if there are others. */
type Some<Item> = { readonly items: readonly Item[]; readonly more: boolean };

/** An app that was found. */
type FoundApp = {
  readonly id: string;
  readonly name: string;
  readonly publisher: string | null;
  readonly status: 'active' | 'paused';
};

/** Data of the page. */
export type SearchData = {
  readonly text: string;
  /** Apps with this very name or publisher, and others that have the text in one of them. */
  readonly named: Some<FoundApp>;
  readonly apps: Some<FoundApp>;
  /** The number of both kinds of apps; null for more than 1,000. */
  readonly count: number | null;
  readonly people: Some<{
    readonly id: string;
    readonly name: string | null;
    readonly email: string | null;
    readonly username: string | null;
  }>;
};

/** The page of what was found. */
export function searchPage({ text, named, apps, count, people }: SearchData): ConsolePage {
  const none = named.items.length === 0 && apps.items.length === 0 && people.items.length === 0;
  const all = html`<a href="${listHref('/apps', { q: text })}">${count === null ? 'All apps' : `All ${count} apps`} with this in their name or publisher</a>`;
  return {
    frame: { title: 'Search' },
    main: html`<h1>Search for ${isolated(text, 100)}</h1>
${none && emptyList('Nothing found', html`No app or publisher has this in its name, and no user name or email address begins with it. ${WHAT}`)}
${named.items.length > 0 && part('Apps of this name or publisher', named, appItem, (named.more || (apps.more && apps.items.length === 0)) && all)}
${apps.items.length > 0 && part(named.items.length > 0 ? 'Other apps' : 'Apps', apps, appItem, apps.more && all)}
${people.items.length > 0 && part('People', people, ({ id, name, email, username }) => html`<a href="/people/${encodeURIComponent(id)}">${shortened(name ?? email ?? username ?? id)}</a> <small>${shortenedAddress(email ?? username ?? id)}</small>`, people.more && html`<a href="${listHref('/people', { q: text })}">All people whose user name or email address begins with this</a>`)}`,
  };
}

function appItem({ id, name, publisher, status }: FoundApp): Html {
  return html`<a href="${appHref(id)}">${shortened(name)}</a> ${status === 'paused' && statePill(status)} <small>${publisher !== null && html`${shortened(publisher)}, `}<code>${shortenedAddress(id)}</code></small>`;
}

function part<Item>(heading: string, { items }: Some<Item>, item: (item: Item) => Html, all: Html | false): Html {
  return html`<section class="part"><h2>${heading}</h2>
<ul class="things">${items.map((each) => html`<li><div>${item(each)}</div></li>`)}</ul>
${all && html`<p>${all}</p>`}</section>`;
}

const WHAT =
  'The search also takes the whole ID of an app, API, person, operator, grant or request, the number of an event, and any credential.';
