import { type Html, html } from '../../html/html.ts';
import type { PageContext } from '../../layout/layout.ts';
import { card } from '../frame.ts';

/** A form that could not be acted on yet: its address, and its fields in order. */
export type UnsentForm = {
  readonly action: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
};

/** The page that keeps what was typed until the operator is signed in again. */
export function sessionEndedPage(context: PageContext, { action, fields }: UnsentForm): Html {
  return card(
    context,
    'Your session ended',
    html`<h1>Your session ended</h1>
<p class="lead">Your session had ended when you sent this form, so it did nothing. This page keeps what you typed: sign in again in another tab, come back, and send it again.</p>
<div class="stack"><a class="button primary" href="/sign-in?continue=/confirmed" target="_blank">Sign in in another tab</a></div>
<form method="post" action="${action}" class="stack">${keptFields(fields)}<button class="secondary">Send again</button></form>
<p class="fine">If you sign in as another operator, it is sent as that operator.</p>`,
  );
}

/** Returns the fields, out of sight. */
export function keptFields(fields: UnsentForm['fields']): Html {
  return html`${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}
