/** The operators of the installation. */
import { type Html, type HtmlValue, html } from '../html.ts';
import { isolated } from '../isolated.ts';
import type { PageContext } from '../layout.ts';
import { type ActProblem, actProblem, passkeyNeeded } from './act.ts';
import { consoleLayout, type ShownOperator } from './frame.ts';
import { statePill } from './state-pill.ts';

/** An operator in the list. `createdAt` in ms. */
export type ListedOperator = ShownOperator & {
  readonly id: string;
  readonly status: 'active' | 'disabled';
  readonly createdAt: number;
};

/** Data of the page. */
export type OperatorsData = {
  operator: ShownOperator;
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
  { operator, operators, mayAdd, typed, once, hasPasskey, problem }: OperatorsData,
): Html {
  return consoleLayout(
    context,
    operator,
    { title: 'Operators', isProblem: problem !== null },
    html`<h1>Operators</h1>
<p class="lead">Operators manage this installation, on these pages or through keys for programs.</p>
${problem && actProblem(problem)}
<ul class="things">${operators.map((each) => item(context, each))}</ul>
${mayAdd && addForm(typed, once, hasPasskey)}
<p class="fine">All times are UTC.</p>`,
  );
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

/** Data of the page that shows a secret text once: a one-time address, or a key. */
export type ShownOnceData = {
  operator: ShownOperator;
  heading: string;
  /** Sentences that say how to use the text. */
  lead: HtmlValue;
  /** Null if an earlier answer showed it. */
  text: string | null;
  back: string;
};

/** The page that shows a secret text once. */
export function shownOncePage(context: PageContext, { operator, heading, lead, text, back }: ShownOnceData): Html {
  return consoleLayout(
    context,
    operator,
    { title: heading },
    html`<h1>${heading}</h1>
<p class="lead">${lead}</p>
${
  text !== null &&
  html`<p class="secret"><code>${text}</code></p>
<p>It is shown only once, and is gone when you load this page again.</p>`
}
<p class="part"><a class="button secondary" href="${back}">Go back</a></p>`,
  );
}
