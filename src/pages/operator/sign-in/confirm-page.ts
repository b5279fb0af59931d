/** The pages where a signed-in operator shows to be present. */
import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { ConsolePage, ShownOperator } from '../frame.ts';
import { passkeyNameField } from './enroll-page.ts';
import { type Ceremony, type PasskeyContext, type PasskeyProblem, passkeyCard, passkeyForm } from './passkey-form.ts';
import { keptFields, type UnsentForm } from './session-ended-page.ts';

/** Data of the page. An operator without a passkey makes the first one; `passkeyName` is the name that it gets unless another is typed. */
export type ConfirmData = {
  operator: ShownOperator;
  ceremony: Ceremony;
  passkeyName: string;
  continueTo: string;
  problem: PasskeyProblem | null;
};

/** The page where a signed-in operator shows to be present, before what needs that. */
export function confirmPage(context: PasskeyContext, data: ConfirmData): Html {
  const { operator, ceremony, continueTo } = data;
  const fields = html`<input type="hidden" name="continue" value="${continueTo}">`;
  const back = html`<div class="stack"><a class="button secondary" href="${continueTo}">Go back</a></div>`;
  const isFirst = ceremony.ceremony === 'create';
  return asking(context, data, {
    lead: isFirst
      ? html`You’re signed in as ${isolated(operator.name)}, with a one-time link. This action needs a passkey. Create your first one here, then press the button again. ${ONCE}`
      : html`You’re signed in as ${isolated(operator.name)}. This action needs your passkey. Confirm, then press the button again. ${ONCE}`,
    form: passkeyForm(
      ceremony,
      isFirst ? 'Create a passkey' : 'Confirm with a passkey',
      html`${fields}${isFirst && passkeyNameField(data.passkeyName, 'passkey_name')}`,
    ),
    back,
  });
}

/** Data of the page; `back` is the page that the form was on. */
export type PresenceData = Omit<ConfirmData, 'continueTo' | 'operator'> & {
  /** Its name in the table of rights. */
  act: string;
  operator: ShownOperator & { readonly id: string };
  form: UnsentForm;
  back: string;
};

/**
 * The page between a form and its act, where that needs a passkey. It is at the form's address, and sends the form again with the
 * passkey's answer.
 */
export function presencePage(context: PasskeyContext, data: PresenceData): Html {
  const { act, operator, ceremony, passkeyName, form, back } = data;
  const purpose = PURPOSES[act] ?? 'do this';
  const kept = html`<input type="hidden" name="answerer" value="${operator.id}">${keptFields(form.fields)}`;
  const isFirst = ceremony.ceremony === 'create';
  return asking(context, data, {
    lead: isFirst
      ? html`You’re signed in as ${isolated(operator.name)}, with a one-time link. To ${purpose}, you need a passkey. Create your first one here: it is done as soon as the passkey is created. ${ONCE}`
      : html`You’re signed in as ${isolated(operator.name)}. To ${purpose}, use your passkey: it is done as soon as you confirm. ${ONCE}`,
    form: passkeyForm(
      ceremony,
      isFirst ? 'Create a passkey and go on' : 'Confirm and go on',
      html`${kept}${isFirst && passkeyNameField(passkeyName, 'passkey_name')}`,
      true,
    ),
    back: html`<div class="stack"><a class="button secondary" href="${back}">Cancel</a></div>`,
  });
}

const ONCE = 'For the next 5 minutes, no action asks again.';

function asking(
  context: PasskeyContext,
  { ceremony, problem }: Pick<ConfirmData, 'ceremony' | 'problem'>,
  { lead, form, back }: { readonly lead: Html; readonly form: Html; readonly back: Html },
): Html {
  const [title, heading] =
    ceremony.ceremony === 'create' ? ['Create a passkey', 'You need a passkey'] : ['Confirm', 'Confirm that it’s you'];
  return passkeyCard(context, { title, heading, lead, problem, form, below: back });
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
export function confirmedPage(): ConsolePage {
  return {
    frame: { title: 'Signed in' },
    main: html`<h1>You’re signed in</h1>
<p class="lead">If you came from a form, close this tab, and press the form’s button again.</p>`,
  };
}
