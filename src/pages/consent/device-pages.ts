/** The pages of `/device` besides consent: for users who connect a device without a browser (RFC 8628 §3.3). */
import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import { layout, type PageContext } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import type { Messages } from '../messages/messages.ts';

/** Reason why the typed code was not accepted. */
export type DeviceCodeProblem =
  | { kind: 'unknown_code' | 'answered_just_now' }
  | { kind: 'throttled'; retryAfterSeconds: number };

/** Data of the device code page. */
export type DeviceCodeData = {
  /** The code that was typed before, or an empty string. */
  userCode: string;
  problem: DeviceCodeProblem | null;
};

/** Data of the page after the decision; `isConnected` once the device has fetched the access. */
export type DeviceDoneData = { decision: 'allowed' | 'denied'; isConnected: boolean; appName: string };

/**
 * The page on which a user types a device's code. Its form is a GET to the same page with `user_code`; it decides
 * nothing.
 */
export function deviceCodePage(context: PageContext, { userCode, problem }: DeviceCodeData): Html {
  const { messages, brand, paths } = context;
  const texts = messages.deviceCode;
  const described = problem ? 'problem hint' : 'hint';
  const invalid = problem?.kind === 'unknown_code' && html`aria-invalid="true"`;
  return layout(
    context,
    { title: problem ? messages.layout.titleWithProblem(texts.title) : texts.title, shape: 'card' },
    html`<h1>${texts.heading}</h1>
<p class="lead">${texts.lead(brand.productName)}</p>
${problem && problemNotice(problemTexts(messages, problem))}
<form method="get" action="${paths.device}" class="stack">
<div class="field">
<label for="user_code">${texts.userCode}</label>
<input id="user_code" name="user_code" class="user-code" value="${userCode}" dir="ltr" inputmode="text" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40" pattern="[^A-Za-z]*(?:[A-Za-z][^A-Za-z]*){8}" title="${texts.hint}" required autofocus aria-describedby="${described}" ${invalid}>
<small id="hint">${texts.hint}</small>
</div>
<button class="primary">${texts.submit}</button>
</form>
<p class="aside">${texts.warning}</p>`,
  );
}

function problemTexts({ deviceCode: { problems } }: Messages, problem: DeviceCodeProblem) {
  if (problem.kind !== 'throttled') return problems[problem.kind];
  const { heading, text } = problems.throttled;
  return { heading, text: text(problem.retryAfterSeconds) };
}

/** The page after Allow or Deny for a device: this browser has no app to go on to. */
export function deviceDonePage(context: PageContext, { decision, isConnected, appName }: DeviceDoneData): Html {
  const { messages, paths } = context;
  const texts = messages.deviceDone;
  const { title, heading, text } = texts[isConnected ? 'connected' : decision];
  return layout(
    context,
    { title, shape: 'card' },
    html`${decision === 'allowed' && html`<span class="done">${icons.check}</span>`}
<h1>${heading}</h1>
<p>${text(appName)}</p>
${decision === 'allowed' && html`<p class="aside">${texts.takeBack[isConnected ? 'connected' : 'allowed'](paths.apps)}</p>`}`,
  );
}
