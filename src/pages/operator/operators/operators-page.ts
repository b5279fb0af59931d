/** The operators of the installation. */
import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { type ActProblem, actProblem, passkeyNeeded } from '../act-button.ts';
import type { ConsolePage, ShownOperator } from '../frame.ts';
import type { ShownOnce } from '../shown-once.ts';
import { statePill } from '../state-pill.ts';

/** An operator in the list. `createdAt` in ms. */
export type ListedOperator = ShownOperator & {
  readonly id: string;
  readonly status: 'active' | 'disabled';
  readonly createdAt: number;
};

/** Data of the page. */
export type OperatorsData = {
  operators: readonly ListedOperator[];
  /** True if the signed-in operator's role lets them add one. */
  mayAdd: boolean;
  /** The form as it was typed. */
  typed: { readonly name: string; readonly role: ShownOperator['role'] };
  /** Names the form, so that it adds one operator however often it is sent. */
  once: string;
  /** True if the signed-in operator has a passkey. */
  hasPasskey: boolean;
  problem: ActProblem | null;
};

/** The page with all operators, and the form to add one. */
export function operatorsPage(
  context: PageContext,
  { operators, mayAdd, typed, once, hasPasskey, problem }: OperatorsData,
): ConsolePage {
  return {
    frame: { title: 'Operators', isProblem: problem !== null },
    main: html`<h1>Operators</h1>
<p class="lead">Operators manage this installation, on these pages or through keys for programs.</p>
${problem && actProblem(problem)}
<ul class="things">${operators.map((each) => item(context, each))}</ul>
${mayAdd && addForm(typed, once, hasPasskey)}`,
  };
}

function item({ messages }: PageContext, { id, name, role, status, createdAt }: ListedOperator): Html {
  return html`<li><div><h2><a href="/operators/${id}">${isolated(name)}</a></h2><p>${role}, added ${messages.day(createdAt)}</p></div>${status === 'disabled' && statePill(status)}</li>
`;
}

function addForm({ name, role }: OperatorsData['typed'], once: string, hasPasskey: boolean): Html {
  return html`<section class="part"><h2>Add an operator</h2>
<p>You get a one-time link, valid for 24 hours, where the new operator creates a passkey. ${passkeyNeeded(hasPasskey, 'adding an operator')}</p>
<form method="post" action="/operators" class="stack narrow"><input type="hidden" name="once" value="${once}">
<div class="field"><label for="name">Name</label><input id="name" name="name" value="${name}" required maxlength="100" autocomplete="off"></div>
${roleField(role)}
<button class="primary">Add</button>
</form></section>`;
}

/** Returns the field for a role. */
export function roleField(current: ShownOperator['role']): Html {
  const option = (role: ShownOperator['role'], words: string) =>
    html`<option value="${role}"${role === current && html` selected`}>${words}</option>`;
  return html`<div class="field"><label for="role">Role</label><select id="role" name="role">
${option('read', 'read: sees everything')}
${option('support', 'support: also pauses apps, ends access')}
${option('admin', 'admin: does everything')}
</select></div>`;
}

/** The enrollment link of an operator, which works until a time (ms). */
export function enrollmentLink(
  { messages }: PageContext,
  { name, role }: ShownOperator,
  url: string,
  expiresAt: number,
): ShownOnce {
  const them = isolated(name);
  return {
    heading: html`Give this link to ${them}`,
    text: url,
    message: html`With this link, you create the passkey that you sign in with. It works once, until ${messages.minute(expiresAt)}. Please tell us if it says that it no longer works.`,
    channels: html`In person or by a direct message. By email only if nobody else reads that mailbox: the first person who uses the link acts as ${them}, with the role ${role}. If somebody else was first, the link no longer works for ${them}, whose page here lists the passkey and when it was made. Then delete the operator there at once, add another one, and look at Events for what was done meanwhile.`,
  };
}

/** A new key of an operator. */
export function operatorKey(text: string): ShownOnce {
  return {
    heading: 'Copy this key into the program’s secret store',
    text,
    message: null,
    channels:
      'A program sends it to the API as a bearer token. Whoever has the key can do what it may do. To pass it on, share it in a password manager. Email and chat keep it: never use them for a key.',
  };
}
