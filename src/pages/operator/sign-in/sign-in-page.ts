import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { card, type ShownOperator } from '../frame.ts';
import { type Ceremony, type PasskeyContext, type PasskeyProblem, passkeyCard, passkeyForm } from './passkey-form.ts';

/** Data of the sign-in page; `continueTo` is the page to go on to. */
export type SignInData = { ceremony: Ceremony; continueTo: string; problem: PasskeyProblem | null };

/** The page where operators sign in with a passkey. */
export function signInPage(context: PasskeyContext, { ceremony, continueTo, problem }: SignInData): Html {
  return passkeyCard(context, {
    title: 'Sign in',
    heading: 'Sign in as an operator',
    lead: 'Your device shows the passkeys that it has for this address.',
    problem,
    form: passkeyForm(
      ceremony,
      'Sign in with a passkey',
      html`<input type="hidden" name="continue" value="${continueTo}">`,
    ),
    below: html`<p class="aside">No passkey here? Ask an admin for a new enrollment link.</p>`,
  });
}

/** The page at the one-time address to sign in without a passkey. */
export function addressSignInPage(context: PageContext, { name, role }: ShownOperator): Html {
  return card(
    context,
    'Sign in',
    html`<h1>Sign in as ${isolated(name)}</h1>
<p class="lead">This link signs you in once, for an hour, with the role ${role}. You cannot do what needs a passkey, but you can add a passkey.</p>
<form method="post" class="stack">
<button class="primary">Sign in on this browser</button>
</form>
<p class="aside">If nobody gave you this link, close the page.</p>`,
  );
}
