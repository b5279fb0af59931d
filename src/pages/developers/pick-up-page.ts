/** The pages of a hand-over: the question, the values that a developer needs with the new secret, and a used address. */
import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { copyable, copyScriptTag } from '../layout/copy-script.ts';
import { layout, type PageContext, supportLink } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import type { Messages } from '../messages/messages.ts';
import { termList } from './developers-section.ts';

/** A value that a developer needs. */
export type PickUpValue = keyof Messages['pickUp']['values'];

/** Reason why the last press of the button did nothing. */
export type PickUpProblem = keyof Messages['pickUp']['problems'];

/** Data of the question. `expiresAt` in ms; `hasSecret` is false for what proves itself otherwise. */
export type PickUpData = {
  name: string;
  hasSecret: boolean;
  expiresAt: number;
  token: string;
  formToken: string;
  problem: PickUpProblem | null;
};

/** Data of the answer; a value may be a list. `hasEarlier` is true if another secret works too. */
export type PickedUpData = {
  name: string;
  hasSecret: boolean;
  hasEarlier: boolean;
  values: readonly (readonly [PickUpValue, string | readonly string[]])[];
};

/** The page that asks before a secret is made. It posts `token`. */
export function pickUpPage(context: PageContext, data: PickUpData): Html {
  const { messages, paths } = context;
  const texts = messages.pickUp;
  const its = texts[data.hasSecret ? 'withSecret' : 'withoutSecret'];
  const problem = data.problem && texts.problems[data.problem];
  return layout(
    context,
    { title: problem ? messages.layout.titleWithProblem(its.title) : its.title, shape: 'card' },
    html`<h1>${its.heading(data.name)}</h1>
<p class="lead">${texts.until(messages.minute(data.expiresAt))}</p>
${problem && problemNotice(problem)}
<p>${its.text}</p>
<form method="post" action="${paths.pickUp}" class="stack">
${hiddenFields(data.formToken)}<input type="hidden" name="token" value="${data.token}">
<button class="primary">${its.submit}</button>
</form>`,
  );
}

/** The page that shows the values, once. */
export function pickedUpPage(context: PageContext, { name, hasSecret, hasEarlier, values }: PickedUpData): Html {
  const { messages, paths } = context;
  const { pickUp } = messages;
  const its = pickUp[hasSecret ? 'withSecret' : 'withoutSecret'];
  const list = values.map(([label, value]) => {
    const each = [value].flat().map((text) => copyable(pickUp.values[label], text));
    return html`<div><dt>${pickUp.values[label]}</dt><dd>${each}</dd></div>\n`;
  });
  return layout(
    context,
    { title: its.done, shape: 'column', script: copyScriptTag(context) },
    html`<h1>${its.heading(name)}</h1>
<p class="lead">${its.doneText}</p>
${
  hasEarlier &&
  html`<p>${pickUp.earlier}</p>
`
}<div class="picked-up">${termList(...list)}</div>
<p class="fine">${pickUp.guide(paths.developers)}</p>`,
  );
}

/** The page of an address that was used at a time (ms): when, and whom to tell. */
export function usedPickUpPage(context: PageContext, at: number): Html {
  const { messages } = context;
  const texts = messages.pickUp.used;
  const help = supportLink(context);
  return layout(
    context,
    { title: texts.title, shape: 'card', hasHelp: true },
    html`<h1>${texts.title}</h1>
<p>${texts.when(messages.second(at))}</p>
<p>${texts.you}</p>
<p><strong>${texts.notYou}</strong> ${help}</p>`,
  );
}
