import { type Html, html } from './html/html.ts';
import { layout, type PageContext } from './layout/layout.ts';
import type { PageAccount } from './layout/signed-in-account.ts';

/** Data of the start page; null for a user who is not signed in. */
export type HomeData = { account: PageAccount | null; hasPassword: boolean };

/** The start page, which is also the account's: an introduction and links. */
export function homePage(context: PageContext, { account, hasPassword }: HomeData): Html {
  const { messages, brand, paths } = context;
  const texts = messages.home;
  const actions = account
    ? html`<a class="button primary" href="${paths.apps}">${texts.connectedApps}</a>${hasPassword && html`<a class="button secondary" href="${paths.password}">${texts.password}</a>`}<a class="button secondary" href="${paths.signOut}">${texts.signOut}</a>`
    : html`<a class="button primary" href="${paths.signIn}">${texts.signIn}</a>`;
  return layout(
    context,
    { title: texts.title, shape: 'card' },
    html`<h1>${account?.name ? texts.greeting(account.name) : texts.heading}</h1>
<p>${texts.text(brand.productName)}</p>
<div class="stack">${actions}</div>
<p class="aside">${texts.developers(paths.developers)}</p>`,
  );
}
