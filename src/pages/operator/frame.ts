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

/** Returns a page for a signed-in operator, with the links to all pages. */
export function consoleLayout(
  context: PageContext,
  signedIn: ShownOperator,
  { title, script }: { readonly title: string; readonly script?: Html },
  main: Html,
): Html {
  return layout(
    context,
    { title: `${title} – Operators`, shape: 'column', bar: bar(signedIn), ...(script && { script }) },
    html`<nav class="console" aria-label="Console">${PAGES.map(
      ([href, name]) => html`<a href="${href}"${name === title && html` aria-current="page"`}>${name}</a>`,
    )}</nav>
${main}`,
  );
}

/** The pages that every page leads to. */
const PAGES = [
  ['/', 'Now'],
  ['/operators', 'Operators'],
  ['/passkeys', 'Your passkeys'],
] as const;

function bar({ name, role }: ShownOperator): Html {
  return html`<form method="post" action="/sign-out" class="session"><span>${isolated(name)} (${role})</span><button class="quiet">Sign out</button></form>`;
}
