/** Buttons that act, and the notices after them. */
import { type Html, type HtmlValue, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';

/** An act: its address, the button's words, and its effect in a sentence, which is read before the button is pressed. */
export type ShownAct = {
  readonly action: string;
  readonly name: string;
  readonly effect: HtmlValue;
  /** True for what ends something. */
  readonly isDanger?: boolean;
  /** Hidden or visible fields of the form. */
  readonly fields?: Html;
  /** True to show the question at once. */
  readonly isOpen?: boolean;
};

/** One button, behind a question. */
export function actButton({ action, name, effect, isDanger = false, fields, isOpen = false }: ShownAct): Html {
  return html`<details class="act"${isOpen && html` open`}>${isDanger ? dangerSummary(name) : html`<summary>${name}</summary>`}<form method="post" action="${action}"><p>${effect}</p>${fields}${isDanger ? confirmButton(name) : html`<button class="secondary">${name}</button>`}</form></details>`;
}

/** An act that ends nothing and needs no question: one button, and its effect beside it. */
export function plainAct({ action, name, effect, fields }: Omit<ShownAct, 'isDanger' | 'isOpen'>): Html {
  return html`<form method="post" action="${action}" class="plain-act">${fields}<button class="secondary">${name}</button><p>${effect}</p></form>`;
}

/** The answer to the question. Its words are not those of the button that opens the question. */
function confirmButton(name: string): Html {
  return html`<button class="danger">Yes, ${name.charAt(0).toLowerCase()}${name.slice(1)}</button>`;
}

/** A button that opens a question, and closes it. */
function dangerSummary(name: string): Html {
  return html`<summary class="button secondary danger"><span>${name}</span><span>Cancel</span></summary>`;
}

/** An act that no page does: its command line, and its effect in a sentence. */
export type CommandAct = { readonly command: string; readonly effect: HtmlValue };

/**
 * The acts that end something, in one group at the foot of a page: each with its effect in sight, behind a button that opens the
 * question. `note` holds for all of them. Without an act there is no group.
 */
export function dangerZone(acts: readonly (ShownAct | CommandAct | false)[], note?: HtmlValue): Html | null {
  const some = acts.filter((act) => act !== false);
  if (some.length === 0) return null;
  return html`<section class="part danger-zone" id="danger"><h2>Danger zone</h2>
${dangerList(some)}
${note && html`<p class="fine">${note}</p>`}</section>`;
}

/** The list of such acts, for a section with another heading. */
export function dangerList(acts: readonly (ShownAct | CommandAct)[]): Html {
  return html`<ul class="dangers">${acts.map(
    (
      act,
    ) => html`<li><p>${act.effect}</p>${'command' in act ? html`<code>${act.command}</code>` : dangerButton(act)}</li>
`,
  )}</ul>`;
}

function dangerButton({ action, name, fields, isOpen = false }: ShownAct): Html {
  return html`<details${isOpen && html` open`}>${dangerSummary(name)}<form method="post" action="${action}">${fields}${confirmButton(name)}</form></details>`;
}

/** The notice of an act that was done just now. */
export function doneNotice(text: HtmlValue): Html {
  return html`<div class="notice advice" role="status">${icons.check}<div>${text}</div></div>`;
}

/** A refused act: the reason in a sentence; `field` is the wrong field of the form, if it is one. Nothing that was typed is lost. */
export type ActProblem = {
  readonly text: string;
  readonly field?: string | null;
};

/** The sentence near an act that needs presence; an operator without a passkey makes one on the next page. `act` is a gerund: "making a secret". */
export function passkeyNeeded(hasPasskey: boolean, act: string): Html {
  return hasPasskey
    ? html`You need your passkey for this.`
    : html`<strong>You have no passkey yet.</strong> You create one right after you press the button: ${act} needs it.`;
}

/** Returns a message, which begins small in a command's output, as a sentence. A parameter's name at its beginning stays. */
export function asSentence(message: string): string {
  const end = /[.?!]$/.test(message) ? '' : '.';
  const first = /^[a-z]+_/.test(message) ? message.charAt(0) : message.charAt(0).toUpperCase();
  return first + message.slice(1) + end;
}

/** The notice of a refused act. */
export function actProblem({ text }: ActProblem): Html {
  return html`<div class="notice problem" role="alert" id="problem">${icons.alert}<div><strong>Nothing happened.</strong> ${asSentence(text)}</div></div>`;
}
