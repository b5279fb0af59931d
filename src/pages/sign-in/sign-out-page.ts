import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { layout, type PageContext } from '../layout/layout.ts';

/**
 * Data of the sign-out page; `continueTo` is the path of this service to go to afterwards. `signedInAt` names the
 * product where the user signed in and stays signed in; null for here.
 */
export type SignOutData = {
  formToken: string;
  continueTo: string | null;
  signedInAt: string | null;
  /** True if the user has connected apps. */
  hasApps: boolean;
};

/** The page that asks before signing out. */
export function signOutPage(context: PageContext, { formToken, continueTo, signedInAt, hasApps }: SignOutData): Html {
  const texts = context.messages.signOut;
  return layout(
    context,
    { title: texts.title, shape: 'card' },
    html`<h1>${texts.heading}</h1>
<p>${texts.text(context.brand.productName)}${hasApps && html` ${texts.apps}`}</p>
${signedInAt !== null && html`<p>${texts.elsewhere(signedInAt)}</p>`}
<form method="post" action="${context.paths.signOut}" class="stack">
${hiddenFields(formToken, continueTo)}
<button class="primary">${texts.submit}</button>
<a class="button secondary" href="${context.paths.home}">${texts.stay}</a>
</form>`,
  );
}

/** The page after signing out; `signedInAt` as above. */
export function signedOutPage(context: PageContext, signedInAt: string | null = null): Html {
  const texts = context.messages.signedOut;
  return layout(
    context,
    { title: texts.title, shape: 'card' },
    html`<h1>${texts.heading}</h1>
${signedInAt !== null && html`<p>${context.messages.signOut.elsewhere(signedInAt)}</p>`}
<p>${texts.text}</p>
<div class="stack"><a class="button primary" href="${context.paths.signIn}">${texts.signIn}</a></div>`,
  );
}
