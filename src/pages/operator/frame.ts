/** The frame of the operators' pages. */
import { type Html, html } from '../html.ts';
import { isolated } from '../isolated.ts';
import { layout, type PageContext } from '../layout.ts';

/** An operator, as pages show one. */
export type ShownOperator = { readonly name: string; readonly role: 'read' | 'support' | 'admin' };

/** Returns a page with one question. */
export function card(context: PageContext, title: string, main: Html, script: Html | null = null): Html {
  return layout(context, { title: `${title} – Operators`, shape: 'card', ...(script && { script }) }, main);
}

/** The frame of a console page: its title, and the link of `SECTIONS` that it belongs to, if that has another name. */
export type ConsoleFrame = { readonly title: string; readonly section?: Section; readonly script?: Html };

/** Returns a page for a signed-in operator, with the links to all pages. */
export function consoleLayout(
  context: PageContext,
  signedIn: ShownOperator,
  { title, section, script }: ConsoleFrame,
  main: Html,
): Html {
  return layout(
    context,
    { title: `${title} – Operators`, shape: 'column', bar: bar(signedIn), ...(script && { script }) },
    html`<nav class="console" aria-label="Console">${SECTIONS.map(
      ([href, name]) => html`<a href="${href}"${name === (section ?? title) && html` aria-current="page"`}>${name}</a>`,
    )}</nav>
${main}`,
  );
}

/** The pages that every page leads to. */
const SECTIONS = [
  ['/', 'Now'],
  ['/apps', 'Apps'],
  ['/people', 'People'],
  ['/events', 'Events'],
  ['/leaked', 'Leaked'],
  ['/apis', 'APIs'],
  ['/products', 'Products'],
  ['/scopes', 'Scopes'],
  ['/health', 'Health'],
  ['/operators', 'Operators'],
] as const;

/** The name of such a link. */
export type Section = (typeof SECTIONS)[number][1];

function bar({ name, role }: ShownOperator): Html {
  return html`<form method="post" action="/sign-out" class="session"><span>${isolated(name)} (${role})</span><a href="/passkeys">Your passkeys</a><button class="quiet">Sign out</button></form>`;
}
