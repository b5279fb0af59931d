import { hiddenFields } from './form.ts';
import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import { layout, type PageContext } from './layout.ts';
import type { Messages } from './messages/messages.ts';
import { problemNotice } from './notice.ts';

/** Why the last try to change the password changed nothing. */
export type PasswordPageProblem =
  | { kind: 'wrong_credentials' | 'busy' | 'form_expired' | 'different' }
  | { kind: 'too_short' | 'too_long' | 'nul' | 'common' | 'guessable' }
  | { kind: 'throttled'; retryAfterSeconds: number };

/** What the page shows. */
export type PasswordPageData = {
  /** The address that the person signs in with. */
  email: string;
  formToken: string;
  problem: PasswordPageProblem | null;
  /** Whether the password was changed just now. */
  wasChanged: boolean;
};

/** The page where a signed-in person changes the password. It posts `current_password`, `password` and `password_again`. */
export function passwordPage(context: PageContext, { email, formToken, problem, wasChanged }: PasswordPageData): Html {
  const { messages, paths } = context;
  const texts = messages.password;
  const title = problem ? messages.layout.titleWithProblem(texts.title) : texts.title;
  const isAboutCurrent = problem?.kind === 'wrong_credentials';
  const isAboutNew = problem !== null && !isAboutCurrent && !(problem.kind in NOT_ABOUT_FIELDS);
  return layout(
    context,
    { title, shape: 'card' },
    html`<h1>${texts.heading}</h1>
<p class="lead">${texts.lead(email)}</p>
${problem && problemNotice(problemTexts(messages, problem))}
${wasChanged && html`<div class="notice success" role="status">${icons.check}<div>${texts.changed}</div></div>`}
<form method="post" action="${paths.password}" class="stack">
${hiddenFields(formToken)}
<input type="email" name="email" value="${email}" autocomplete="username" hidden readonly>
${field('current_password', texts.current, 'current-password', isAboutCurrent)}
${field('password', texts.next, 'new-password', isAboutNew, texts.rule)}
${field('password_again', texts.again, 'new-password', isAboutNew)}
<button class="primary">${texts.submit}</button>
</form>
<p class="aside">${texts.others(paths.apps)}</p>`,
  );
}

/** Problems that another input does not solve. */
const NOT_ABOUT_FIELDS = { busy: true, throttled: true, form_expired: true };

function field(
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

function problemTexts({ password: { problems } }: Messages, problem: PasswordPageProblem) {
  if (problem.kind !== 'throttled') return problems[problem.kind];
  const { heading, text } = problems.throttled;
  return { heading, text: text(problem.retryAfterSeconds) };
}
