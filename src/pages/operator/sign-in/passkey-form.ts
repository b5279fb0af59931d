/** The form that uses a passkey, with what it says when that is impossible. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import type { PageContext } from '../../layout/layout.ts';
import { problemNotice } from '../../layout/problem-notice.ts';
import { card } from '../frame.ts';

/** Options for the browser, as JSON; `create` makes a passkey, and `get` uses one. */
export type Ceremony = { readonly ceremony: 'create' | 'get'; readonly json: string };

/** Why the last answer was not accepted. `dead` has a page of its own. */
export type PasskeyProblem = 'expired' | 'wrong' | 'known' | 'full' | 'name' | 'second' | 'dead';

/** Data of every page with such a form: the address of `passkeyScript` too. */
export type PasskeyContext = PageContext & { readonly passkeyScriptHref: string };

/** Returns the script of a page with such a form. */
function passkeyScriptTag({ passkeyScriptHref }: PasskeyContext): Html {
  return html`<script src="${passkeyScriptHref}" defer></script>\n`;
}

/**
 * Returns the form. Without an `action`, it posts to the page's own address: so a one-time address is in no page.
 * `fields` stand before the button. A page that `isPosted` answered a form, so the script never loads it anew: its challenge, once
 * too old, is renewed by the answer.
 */
export function passkeyForm(
  { ceremony, json }: Ceremony,
  submit: string,
  fields: Html | false = false,
  isPosted = false,
): Html {
  return html`<noscript><div class="notice problem">${icons.alert}<div><strong>Scripts are off.</strong> A passkey can only be used by a script, and this page has one of its own. Allow scripts for this address, and load the page again. Without a passkey, ask an operator with a shell for <code>valetkey operator sign-in NAME</code>.</div></div></noscript>
<div class="notice problem" role="alert" id="problem-here" hidden>${icons.alert}<span></span></div>
<form method="post" class="stack" data-ceremony="${ceremony}" data-options="${json}"${isPosted && html` data-posted`}>
<input type="hidden" name="answer">
${fields}
<button class="primary">${submit}</button>
</form>`;
}

/** The parts of a page with such a form. */
export type PasskeyCard = {
  readonly title: string;
  readonly heading: HtmlValue;
  readonly lead: HtmlValue;
  readonly problem: PasskeyProblem | null;
  readonly form: Html;
  readonly below: Html;
};

/** Returns a page with such a form. */
export function passkeyCard(
  context: PasskeyContext,
  { title, heading, lead, problem, form, below }: PasskeyCard,
): Html {
  return card(
    context,
    problem ? `Problem: ${title}` : title,
    html`<h1>${heading}</h1>
<p class="lead">${lead}</p>
${passkeyProblem(problem)}
${form}
${below}`,
    passkeyScriptTag(context),
  );
}

/** Returns the notice of an answer that was not accepted, or null. */
function passkeyProblem(problem: PasskeyProblem | null): Html | null {
  return problem === null ? null : problemNotice(PROBLEMS[problem]);
}

const PROBLEMS: Readonly<Record<PasskeyProblem, { heading: string; text: string }>> = {
  expired: { heading: 'The page was open for too long.', text: 'Nothing happened. Try again.' },
  wrong: {
    heading: 'The passkey was not accepted.',
    text: 'Try again, with a passkey for this address. If this happens again, an admin finds the reason in the log.',
  },
  known: {
    heading: 'This passkey is enrolled already.',
    text: 'Sign in with this passkey, or create one on another device.',
  },
  full: {
    heading: 'You have 20 passkeys, the maximum.',
    text: 'Nothing was added. Remove one first, on the page of your passkeys.',
  },
  name: {
    heading: 'The name of the passkey was not accepted.',
    text: 'It holds control, direction or invisible characters. Nothing was added: type another name, and try again.',
  },
  second: {
    heading: 'You have a passkey by now.',
    text: 'This page creates only the first one, so nothing was added. Use the one that you have, or add this device on the page of your passkeys.',
  },
  dead: { heading: 'The link no longer works.', text: 'Ask for a new one.' },
};
