import { hiddenFields } from './form.ts';
import { type Html, html } from './html.ts';
import { layout, type PageContext } from './layout.ts';

/** What the sign-out page shows; `continueTo` is where to go afterwards, a path of this service. */
export type SignOutData = { formToken: string; continueTo: string | null };

/** The page that asks before signing out. */
export function signOutPage(context: PageContext, { formToken, continueTo }: SignOutData): Html {
  const texts = context.messages.signOut;
  return layout(
    context,
    { title: texts.title, shape: 'card' },
    html`<h1>${texts.heading}</h1>
<p>${texts.text(context.brand.productName)}</p>
<form method="post" action="${context.paths.signOut}" class="stack">
${hiddenFields(formToken, continueTo)}
<button class="primary">${texts.submit}</button>
<a class="button secondary" href="${context.paths.home}">${texts.stay}</a>
</form>`,
  );
}

/** The page after signing out. */
export function signedOutPage(context: PageContext): Html {
  const texts = context.messages.signedOut;
  return layout(
    context,
    { title: texts.title, shape: 'card' },
    html`<h1>${texts.heading}</h1>
<p>${texts.text}</p>
<div class="stack"><a class="button primary" href="${context.paths.signIn}">${texts.signIn}</a></div>`,
  );
}
