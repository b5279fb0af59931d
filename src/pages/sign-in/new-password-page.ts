/**
 * The pages on which users who are not signed in set a password: invited users, and users whose password somebody
 * else knows.
 */
import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { layout, type PageContext } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import { isAboutFields, type PasswordProblemShown, passwordField, passwordProblemTexts } from './password-fields.ts';

/** Data of both pages. */
type NewPasswordData = {
  /** The address that the user signs in with. */
  email: string;
  formToken: string;
  problem: PasswordProblemShown | null;
};

/** Data of the page for invited users; `token` is the invitation's. */
export type InvitationData = NewPasswordData & { token: string };

/** Data of the page at sign-in; it continues to `continueTo`, a path of this service, or to the start page. */
export type MustChangeData = NewPasswordData & { accountId: string; continueTo: string | null };

/** The page on which an invited user sets the password. It posts `token`, `password` and `password_again`. */
export function invitationPage(context: PageContext, data: InvitationData): Html {
  const texts = context.messages.invitation;
  const lead = texts.lead(data.email, context.brand.productName);
  const hidden = html`${hiddenFields(data.formToken)}<input type="hidden" name="token" value="${data.token}">`;
  return newPasswordPage(context, data, { ...texts, lead, hidden, action: context.paths.newPassword });
}

/**
 * The page on which a user replaces a password at sign-in. It posts `account`, `password`, `password_again` and
 * `continue`.
 */
export function mustChangePage(context: PageContext, data: MustChangeData): Html {
  const texts = context.messages.mustChange;
  const lead = texts.lead(data.email);
  const hidden = html`${hiddenFields(data.formToken, data.continueTo)}<input type="hidden" name="account" value="${data.accountId}">`;
  return newPasswordPage(context, data, { ...texts, lead, hidden, action: context.paths.mustChange });
}

/** The page after an invited user has set the password. */
export function passwordSetPage(context: PageContext): Html {
  const { messages, paths } = context;
  const texts = messages.passwordSet;
  return layout(
    context,
    { title: texts.title, shape: 'card' },
    html`<h1>${texts.heading}</h1>
<p>${texts.text}</p>
<div class="stack"><a class="button primary" href="${paths.signIn}">${messages.signIn.submit}</a></div>`,
  );
}

/** The differences between both pages. */
type Variant = {
  title: string;
  heading: string;
  text: string;
  submit: string;
  lead: Html;
  hidden: Html;
  action: string;
};

function newPasswordPage(context: PageContext, { email, problem }: NewPasswordData, variant: Variant): Html {
  const { messages } = context;
  const { next, again, rule } = messages.password;
  const title = problem ? messages.layout.titleWithProblem(variant.title) : variant.title;
  const isInvalid = problem !== null && isAboutFields(problem);
  return layout(
    context,
    { title, shape: 'card' },
    html`<h1>${variant.heading}</h1>
<p class="lead">${variant.lead}</p>
${problem && problemNotice(passwordProblemTexts(messages, problem))}
<p>${variant.text}</p>
<form method="post" action="${variant.action}" class="stack">
${variant.hidden}
<input type="email" name="email" value="${email}" autocomplete="username" hidden readonly>
${passwordField('password', next, 'new-password', isInvalid, rule)}
${passwordField('password_again', again, 'new-password', isInvalid)}
<button class="primary">${variant.submit}</button>
</form>`,
  );
}
