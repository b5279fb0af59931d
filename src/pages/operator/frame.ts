/** The frame of the operators' pages. */
import { type Html, html } from '../html/html.ts';
import { isolated } from '../html/isolated-text.ts';
import { layout, type PageContext } from '../layout/layout.ts';

/** An operator, as pages show one. */
export type ShownOperator = { readonly name: string; readonly role: 'read' | 'support' | 'admin' };

/** Returns a page with one question. */
export function card(context: PageContext, title: string, main: Html, script: Html | null = null): Html {
  return layout(context, { title: `${title} – Operators`, shape: 'card', ...(script && { script }) }, main);
}

/** A page above another one: its address and its name, which may be a foreign one. */
export type Parent = readonly [href: string, name: string];

/** The frame of a console page. */
export type ConsoleFrame = {
  readonly title: string;
  /** The link of the navigation that the page belongs to, if that has another name than `title`. */
  readonly section?: Section;
  /**
   * The pages above this one, from the list down: `[['/apps', 'Apps'], [appHref(app.id), app.name]]`. They are shown as
   * breadcrumbs above the heading. A page of the navigation itself has none.
   */
  readonly parents?: readonly Parent[];
  /** The page's name in its breadcrumbs, if `title` repeats a parent. */
  readonly here?: string;
  /** True after a refused act: the document's title begins with "Problem: ", which screen readers read first. */
  readonly isProblem?: boolean;
  readonly script?: Html;
};

/** A page of the console, in its frame. */
export type ConsolePage = { readonly frame: ConsoleFrame; readonly main: Html };

/** Returns a page for a signed-in operator, with the links to all pages. */
export function consoleLayout(context: PageContext, signedIn: ShownOperator, { frame, main }: ConsolePage): Html {
  const { title, section, parents, here = title, isProblem = false, script } = frame;
  return layout(
    context,
    {
      title: `${isProblem ? 'Problem: ' : ''}${title} – Operators`,
      shape: 'column',
      bar: bar(signedIn),
      nav: navigation(section ?? title),
      ...(script && { script }),
    },
    html`${parents && breadcrumb(parents, here)}
${main}`,
  );
}

/** The pages that every page leads to, in the groups of an operator's work. */
const GROUPS = [
  [null, [['/', 'Now']]],
  [
    'Daily work',
    [
      ['/apps', 'Apps'],
      ['/people', 'People'],
      ['/events', 'Events'],
      ['/leaked', 'Leaks'],
    ],
  ],
  [
    'Registrations',
    [
      ['/apis', 'APIs'],
      ['/products', 'Products'],
      ['/scopes', 'Scopes'],
    ],
  ],
  [
    'Service',
    [
      ['/health', 'Health'],
      ['/operators', 'Operators'],
    ],
  ],
] as const;

/** The name of such a link. */
export type Section = (typeof GROUPS)[number][1][number][1];

/** Returns the list of the navigation that a path is below, or null. */
export function listAbove(path: string): readonly [href: string, name: Section] | null {
  for (const [, links] of GROUPS)
    for (const link of links) if (link[0] !== '/' && path.startsWith(`${link[0]}/`)) return link;
  return null;
}

/** A narrow screen shows the current page and a menu that opens without a script; the stylesheet keeps it open at the side of a wide one. */
function navigation(current: string): Html {
  const item = ([href, name]: readonly [string, string]) =>
    html`<li><a href="${href}"${name === current && html` aria-current="page"`}>${name}</a></li>`;
  const isListed = GROUPS.some(([, links]) => links.some(([, name]) => name === current));
  return html`<nav class="menu" aria-label="Console"><details><summary>Menu${isListed && html` <strong>${current}</strong>`}</summary><div>${GROUPS.map(
    ([group, links]) =>
      html`<div>${group !== null && html`<p aria-hidden="true">${group}</p>`}<ul${group !== null && html` aria-label="${group}"`}>${links.map(item)}</ul></div>`,
  )}</div></details></nav>
`;
}

function breadcrumb(parents: readonly Parent[], here: string): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb"><ol>${parents.map(
    ([href, name]) => html`<li><a href="${href}">${isolated(name)}</a></li>`,
  )}<li aria-current="page">${isolated(here)}</li></ol></nav>`;
}

/** The links to the sections of a long page, by their ids. */
export function sectionLinks(sections: readonly (readonly [id: string, name: string])[]): Html {
  return html`<nav class="sections" aria-labelledby="on-this-page"><p id="on-this-page">On this page:</p><ul>${sections.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>`;
}

function bar({ name, role }: ShownOperator): Html {
  return html`<a class="skip" href="#content">Skip to the content</a><form method="post" action="/search" class="find" role="search" aria-label="The whole console"><label class="unseen" for="find">Search: an app, person, grant, event, request ID or credential</label><input id="find" name="q" placeholder="Search, or paste an ID or credential" required autocomplete="off" autocapitalize="off" spellcheck="false"><button class="quiet">Search</button></form><form method="post" action="/sign-out" class="session"><span>${isolated(name)} (${role})</span><a href="/passkeys">Your passkeys</a><button class="quiet">Sign out</button></form>`;
}
