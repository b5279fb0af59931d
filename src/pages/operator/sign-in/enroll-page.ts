import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { ShownOperator } from '../frame.ts';
import { type Ceremony, type PasskeyContext, type PasskeyProblem, passkeyCard, passkeyForm } from './passkey-form.ts';

/** Data of the page: `passkeyName` is the name that the passkey gets unless another is typed. */
export type EnrollData = {
  operator: ShownOperator;
  ceremony: Ceremony;
  passkeyName: string;
  problem: PasskeyProblem | null;
};

/** The page at the one-time address where an operator makes the first passkey. */
export function enrollPage(context: PasskeyContext, { operator, ceremony, passkeyName, problem }: EnrollData): Html {
  return passkeyCard(context, {
    title: 'Create a passkey',
    heading: html`Welcome, ${isolated(operator.name)}`,
    lead: html`Create a passkey to sign in with. Your device stores the passkey, and asks for your finger, face or PIN. Your role is ${operator.role}.`,
    problem,
    form: passkeyForm(ceremony, 'Create a passkey', passkeyNameField(passkeyName)),
    below: html`<p class="aside">This link works once. If nobody gave it to you, close the page.</p>`,
  });
}

/** Returns the field for a new passkey's name, which another form's field may have taken. */
export function passkeyNameField(passkeyName: string, field: 'name' | 'passkey_name' = 'name'): Html {
  return html`<div class="field">
<label for="${field}">Name of the passkey</label>
<input id="${field}" name="${field}" value="${passkeyName}" maxlength="60" autocomplete="off" aria-describedby="${field}-hint">
<span class="hint" id="${field}-hint">Helps you recognize the passkey in a list.</span>
</div>`;
}
