import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { monogram } from '../layout/brand-mark.ts';
import { layout, type PageContext, supportLink } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import type { Messages } from '../messages/messages.ts';

/** Reason why the last try to sign in did not succeed. */
export type SignInProblem =
  | { kind: 'wrong_credentials' }
  | { kind: 'throttled'; retryAfterSeconds: number }
  | { kind: 'busy' }
  | { kind: 'form_expired' | 'opened_twice' | 'no_cookies' }
  /** The user was signed out before sending a form. */
  | { kind: 'signed_out' }
  /** The same, but the form may have worked before: the new password may be set, perhaps by the first of two presses. */
  | { kind: 'pressed_twice' };

/** Data of the sign-in page. */
export type SignInData = {
  formToken: string;
  /** Path of this service to continue to; null for the start page. */
  continueTo: string | null;
  /** The address that was typed before, or an empty string. */
  email: string;
  problem: SignInProblem | null;
  /** True if users may sign in here with a password. */
  hasPassword: boolean;
  /** Identity providers: their names, and the addresses that start the sign-in there. */
  providers: readonly { readonly name: string; readonly href: string }[];
  /** The app that the user is on the way to. */
  appName: string | null;
  /** Address that tells the app that nobody signed in; null without an app. */
  backToApp: string | null;
  /** True if the app asks a signed-in user to sign in again (OpenID Connect Core §3.1.2.1, `prompt=login`). */
  isAgain?: boolean;
};

/** The page on which a user signs in with email address and password, or chooses an identity provider. */
export function signInPage(context: PageContext, data: SignInData): Html {
  const { messages } = context;
  const texts = messages.signIn;
  const title = data.problem ? messages.layout.titleWithProblem(texts.title) : texts.title;
  return layout(
    context,
    // On the way to an app, the card of the consent page, so that nothing jumps between the two.
    { title, shape: 'card', isDecision: data.appName !== null, hasHelp: data.hasPassword },
    html`<div class="who${data.appName !== null && ' asking'}">${data.appName !== null && monogram(data.appName, 'app')}
<div><h1>${texts.heading}</h1>
<p class="lead">${lead(context, data)}</p></div></div>
<div class="answer">
${data.problem && problemNotice(problemTexts(messages, data.problem))}
${data.hasPassword && passwordForm(context, data)}
${data.providers.length > 0 && providerList(messages, data)}
</div>
${otherWays(context, data)}`,
  );
}

/** Links for users who do not want to sign in, or cannot. */
function otherWays(context: PageContext, { appName, backToApp, hasPassword }: SignInData): Html {
  const texts = context.messages.signIn;
  const back = appName !== null && backToApp !== null && html`<a href="${backToApp}">${texts.back(appName)}</a>`;
  return html`<div class="aside other-ways">${back && html`<p>${back}</p>`}${hasPassword && html`<p>${texts.trouble(supportLink(context))}</p>`}</div>`;
}

function passwordForm({ messages: { signIn: texts }, paths }: PageContext, data: SignInData): Html {
  const described = data.problem && html`aria-describedby="problem"`;
  const invalid = data.problem?.kind === 'wrong_credentials' && html`aria-invalid="true"`;
  const emailFocus = data.email === '' && html`autofocus`;
  const passwordFocus = data.email !== '' && html`autofocus`;
  return html`<form method="post" action="${paths.signIn}" class="stack">
${hiddenFields(data.formToken, data.continueTo)}
<div class="field">
<label for="email">${texts.email}</label>
<input id="email" name="email" type="email" value="${data.email}" dir="ltr" autocomplete="username" autocapitalize="none" spellcheck="false" required ${described} ${invalid} ${emailFocus}>
</div>
<div class="field">
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" dir="ltr" autocomplete="current-password" required ${described} ${invalid} ${passwordFocus}>
</div>
<button class="primary">${texts.submit}</button>
</form>`;
}

function providerList({ signIn: texts }: Messages, { hasPassword, providers }: SignInData): Html {
  return html`${hasPassword && html`<p class="or">${texts.or}</p>`}
<div class="stack">${providers.map(({ name, href }) => html`<a class="button secondary" href="${href}"><span>${texts.signInWith(name)}</span></a>`)}</div>`;
}

function lead({ messages: { signIn: texts }, brand }: PageContext, { appName, isAgain }: SignInData): Html {
  if (appName === null) return texts.lead(brand.productName);
  return isAgain ? texts.leadAgain(appName) : texts.leadToApp(appName);
}

function problemTexts({ signIn: { problems } }: Messages, problem: SignInProblem) {
  const { heading } = problems[problem.kind];
  const text =
    problem.kind === 'throttled' ? problems.throttled.text(problem.retryAfterSeconds) : problems[problem.kind].text;
  return { heading, text };
}
