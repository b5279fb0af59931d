import type { PageAccount } from './consent-page.ts';
import { type Html, html } from './html.ts';
import { layout, type PageContext } from './layout.ts';

/** What the start page shows; null without a signed-in person. */
export type HomeData = { account: PageAccount | null };

/** The start page: what this is, and where to go. */
export function homePage(context: PageContext, { account }: HomeData): Html {
  const texts = context.messages.home;
  const actions = account
    ? html`<a class="button primary" href="/account/apps">${texts.connectedApps}</a><a class="button secondary" href="/account/password">${texts.password}</a><a class="button secondary" href="/sign-out">${texts.signOut}</a>`
    : html`<a class="button primary" href="/sign-in">${texts.signIn}</a>`;
  return layout(
    context,
    { title: texts.title, shape: 'card' },
    html`<h1>${account ? texts.greeting(account.name) : texts.heading}</h1>
<p>${texts.text(context.brand.productName)}</p>
<div class="stack">${actions}</div>
<p class="aside">${texts.developers}</p>`,
  );
}
