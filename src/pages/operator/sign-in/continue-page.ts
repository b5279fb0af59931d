import { type Html, html } from '../../html/html.ts';
import type { PageContext } from '../../layout/layout.ts';
import { card } from '../frame.ts';

/** The page for visitors whom another site led here: browsers then keep the session's cookie to themselves. */
export function continuePage(context: PageContext, address: string): Html {
  return card(
    context,
    'Continue',
    html`<h1>Continue to the console?</h1>
<p class="lead">A link on another site led you here. For your protection, that site could not use your session.</p>
<div class="stack"><a class="button primary" href="${address}">Continue</a></div>`,
  );
}
