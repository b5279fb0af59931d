import type { Pending } from '../../packages/product/src/product.ts';
import { type Html, html } from '../../src/pages/html/html.ts';
import { layout } from './layout.ts';
import type { Notice } from './people.ts';
import { photos } from './picture.ts';

/** Data of the sign-in page. */
export type SignInData = {
  /** The page that a sign-in leads to. */
  readonly next: string;
  /** The app that somebody signs in for, if one asked. */
  readonly pending: Pending | null;
  readonly notice: Notice | null;
};

/** The product's own sign-in, for itself or for an app that asked. */
export function signInPage({ next, pending, notice }: SignInData): Html {
  return layout({
    title: 'Sign in',
    person: null,
    main: html`<div class="entrance">
${photos[1]?.picture}
<section class="card">
<h1>Sign in</h1>
<p class="lead">${pending === null ? 'Your photos are where you left them.' : html`<strong>${pending.appName}</strong> asks for your photos. First we need to know that it’s you.`}</p>
${notice === 'wrong_password' && html`<p class="notice bad" role="alert">That email and password don’t go together.</p>`}
<form method="post" action="/sign-in">
<input type="hidden" name="next" value="${next}">
<label>Email<input name="email" type="email" autocomplete="username" required autofocus></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">Sign in</button>
</form>
${pending !== null && html`<form method="post" enctype="text/plain" action="${pending.refuseUrl}"><button class="quiet">No, go back to ${pending.appName}</button></form>`}
<p class="aside">This form is Tintype’s own. The email and password are in your terminal; Valetkey has neither.</p>
</section>
</div>`,
  });
}
