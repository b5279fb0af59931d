import { type AccountFrame, accountLayout } from '../account/account-layout.ts';
import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import type { PageContext } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import { isAboutFields, type PasswordProblemShown, passwordField, passwordProblemTexts } from './password-fields.ts';

/** Data of the password page. */
export type PasswordPageData = Omit<AccountFrame, 'hasPassword'> & {
  /** The address that the user signs in with. */
  email: string;
  formToken: string;
  problem: PasswordProblemShown | null;
  /** True if the password was changed just now. */
  wasChanged: boolean;
  /** True if the user has connected apps. */
  hasApps: boolean;
};

/**
 * The page on which a signed-in user changes the password. It posts `current_password`, `password` and
 * `password_again`.
 */
export function passwordPage(context: PageContext, data: PasswordPageData): Html {
  const { email, formToken, problem, wasChanged, hasApps } = data;
  const { messages, paths } = context;
  const texts = messages.password;
  const title = problem ? messages.layout.titleWithProblem(texts.title) : texts.title;
  const isAboutCurrent = problem?.kind === 'wrong_credentials';
  const isAboutNew = problem !== null && !isAboutCurrent && isAboutFields(problem);
  return accountLayout(
    context,
    { ...data, hasPassword: true },
    { title, current: 'password' },
    html`<h1>${texts.heading}</h1>
<p class="lead">${texts.lead(email)}</p>
${problem && problemNotice(passwordProblemTexts(messages, problem))}
${wasChanged && html`<div class="notice success" role="status">${icons.check}<div>${texts.changed}</div></div>`}
<form method="post" action="${paths.password}" class="panel stack">
${hiddenFields(formToken)}
<input type="email" name="email" value="${email}" autocomplete="username" hidden readonly>
${passwordField('current_password', texts.current, 'current-password', isAboutCurrent)}
${passwordField('password', texts.next, 'new-password', isAboutNew, texts.rule)}
${passwordField('password_again', texts.again, 'new-password', isAboutNew)}
<button class="primary">${texts.submit}</button>
</form>
${hasApps && html`<p class="aside">${texts.others(paths.apps)}</p>`}`,
  );
}
