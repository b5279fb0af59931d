/** The pages where a signed-in operator shows to be present. */
import { type Html, html } from '../html.ts';
import { isolated } from '../isolated.ts';
import type { PageContext } from '../layout.ts';
import { card, consoleLayout, type ShownOperator } from './frame.ts';
import { type Ceremony, type PasskeyProblem, passkeyForm, passkeyProblem, passkeyScriptTag } from './passkey-form.ts';
import { keptFields, type UnsentForm } from './session-ended-page.ts';

/** Data of the page; `ceremony` is null for an operator without a passkey. */
export type ConfirmData = {
  operator: ShownOperator;
  ceremony: Ceremony | null;
  continueTo: string;
  problem: PasskeyProblem | null;
};

/** The page where a signed-in operator shows to be present, before what needs that. */
export function confirmPage(context: PageContext, { operator, ceremony, continueTo, problem }: ConfirmData): Html {
  const back = html`<a class="button secondary" href="${continueTo}">Go back</a>`;
  if (ceremony === null)
    return card(
      context,
      'A passkey is needed',
      html`<h1>You need a passkey</h1>
<p class="lead">You signed in with a one-time link. Actions that give access or take it away need a passkey. Add one first.</p>
<div class="stack"><a class="button primary" href="/passkeys/new">Add a passkey</a>${back}</div>`,
    );
  return card(
    context,
    problem ? 'Problem: Confirm' : 'Confirm',
    html`<h1>Confirm that it’s you</h1>
<p class="lead">You’re signed in as ${isolated(operator.name)}. This action needs your passkey. Confirm, then press the button again. For the next 5 minutes, no action asks again.</p>
${passkeyProblem(problem)}
${passkeyForm(ceremony, 'Confirm with a passkey', html`<input type="hidden" name="continue" value="${continueTo}">`)}
<div class="stack">${back}</div>`,
    passkeyScriptTag(context),
  );
}

/** Data of the page; `ceremony` is null for an operator without a passkey, and `back` is the page that the form was on. */
export type PresenceData = {
  /** Its name in the table of rights. */
  act: string | undefined;
  operator: ShownOperator & { readonly id: string };
  ceremony: Ceremony | null;
  form: UnsentForm;
  back: string;
  problem: PasskeyProblem | null;
};

/**
 * The page between a form and its act, where that needs a passkey. It is at the form's address, and sends the form again with the
 * passkey's answer.
 */
export function presencePage(context: PageContext, data: PresenceData): Html {
  const { act, operator, ceremony, form, back, problem } = data;
  const cancel = html`<div class="stack"><a class="button secondary" href="${back}">Cancel</a></div>`;
  if (ceremony === null)
    return card(
      context,
      'A passkey is needed',
      html`<h1>You need a passkey</h1>
<p class="lead">Nothing happened yet. This page keeps what you sent: add a passkey in another tab, come back, and send it again.</p>
<div class="stack"><a class="button primary" href="/passkeys/new" target="_blank">Add a passkey in another tab</a></div>
<form method="post" class="stack">${keptFields(form.fields)}<button class="secondary">Send again</button></form>
${cancel}`,
    );
  return card(
    context,
    problem ? 'Problem: Confirm' : 'Confirm',
    html`<h1>Confirm that it’s you</h1>
<p class="lead">You’re signed in as ${isolated(operator.name)}. To ${(act && PURPOSES[act]) ?? 'do this'}, use your passkey: it is done as soon as you confirm. For the next 5 minutes, no action asks again.</p>
${passkeyProblem(problem)}
${passkeyForm(ceremony, 'Confirm and go on', html`<input type="hidden" name="answerer" value="${operator.id}">${keptFields(form.fields)}`, true)}
${cancel}`,
    passkeyScriptTag(context),
  );
}

/** The acts of forms, as the end of a sentence that begins with “to”. */
const PURPOSES: Readonly<Record<string, string>> = {
  'clients.register': 'register the app',
  'clients.update': 'save the settings of the app',
  'clients.make-secret': 'make a new secret',
  'clients.retire-secret': 'retire a secret',
  'clients.hand-over': 'make a pick-up link',
  'clients.revoke-grants': 'end all grants of the app',
  'clients.delete': 'delete the app',
  'users.invite': 'make an invitation link',
  'users.update': 'change the person',
  'users.delete': 'delete the person',
  'operators.add': 'add an operator',
  'operators.update': 'change the role of the operator',
  'operators.end-sessions': 'sign the operator out',
  'operators.reset': 'let the operator enroll again',
  'operators.add-key': 'add a key',
  'operators.end-key': 'end a key',
  'operators.disable': 'disable the operator',
  'operators.enable': 'enable the operator',
  'operators.delete': 'delete the operator',
  'own.remove-passkey': 'remove a passkey',
};

/** The page after a sign-in in another tab, whose form is still open in the first one. */
export function confirmedPage(context: PageContext, operator: ShownOperator): Html {
  return consoleLayout(
    context,
    operator,
    { title: 'Signed in' },
    html`<h1>You’re signed in</h1>
<p class="lead">If you came from a form, close this tab, and press the form’s button again.</p>`,
  );
}
