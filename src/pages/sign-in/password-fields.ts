/** Password fields, and the problems of an input. */
import { type Html, html } from '../html/html.ts';
import type { Messages } from '../messages/messages.ts';

/** Reason why the rules refuse a password. */
type RefusedPassword = 'too_short' | 'too_long' | 'nul' | 'common' | 'guessable';

/** Reason why the last try to set a password changed nothing. */
export type PasswordProblemShown =
  | { kind: 'wrong_credentials' | 'busy' | 'form_expired' | 'opened_twice' | 'no_cookies' }
  /** The two new passwords differ; `also` is a further problem of the first. */
  | { kind: 'different'; also: RefusedPassword | null }
  | { kind: RefusedPassword | 'same' }
  | { kind: 'throttled'; retryAfterSeconds: number };

/** Problems that another input does not solve. */
const NOT_ABOUT_FIELDS = { busy: true, throttled: true, form_expired: true, opened_twice: true, no_cookies: true };

/** True if another input solves the problem. */
export function isAboutFields({ kind }: PasswordProblemShown): boolean {
  return !(kind in NOT_ABOUT_FIELDS);
}

/** A password field, with the rule for new ones above it; `isInvalid` if the shown problem is about it. */
export function passwordField(
  name: string,
  label: string,
  autocomplete: string,
  isInvalid: boolean,
  rule: string | null = null,
): Html {
  const described = [isInvalid && 'problem', rule !== null && `${name}-rule`].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
${rule !== null && html`<p class="hint" id="${name}-rule">${rule}</p>`}
<input id="${name}" name="${name}" type="password" dir="ltr" autocomplete="${autocomplete}" required ${described !== '' && html`aria-describedby="${described}"`} ${isInvalid && html`aria-invalid="true"`}>
</div>`;
}

/** The texts of a problem. */
export function passwordProblemTexts({ password: { problems } }: Messages, problem: PasswordProblemShown) {
  if (problem.kind === 'different' && problem.also !== null) {
    const { heading, text } = problems.different;
    const also = problems[problem.also];
    return { heading, text: `${text} ${also.heading}. ${also.text}` };
  }
  if (problem.kind !== 'throttled') return problems[problem.kind];
  const { heading, text } = problems.throttled;
  return { heading, text: text(problem.retryAfterSeconds) };
}
