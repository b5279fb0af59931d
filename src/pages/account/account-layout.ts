/** The frame of the pages of a signed-in user: who that is, the way out, and one navigation for all. */
import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { isolatedAddress } from '../html/isolated-text.ts';
import { layout, type PageContext, wayBack } from '../layout/layout.ts';
import { accountName, type PageAccount } from '../layout/signed-in-account.ts';

/** The user, and what the frame needs to know about the account. */
export type AccountFrame = {
  account: PageAccount;
  signOutFormToken: string;
  /** True if the user has a password here and may change it. */
  hasPassword: boolean;
};

/** Returns the document of one page of the account. */
export function accountLayout(
  context: PageContext,
  { account, signOutFormToken, hasPassword }: AccountFrame,
  { title, current }: { title: string; current: 'account' | 'apps' | 'password' },
  main: Html,
): Html {
  const { messages, paths } = context;
  const { account: texts } = messages;
  const who = account.email === null ? accountName(messages, account) : isolatedAddress(account.email);
  const bar = html`<form method="post" action="${paths.signOut}" class="session"><span>${texts.signedInAs(who)}</span>${hiddenFields(signOutFormToken)}<button class="quiet">${texts.signOut}</button></form>`;
  const link = (href: string, text: string, isCurrent = false) =>
    html`<li><a href="${href}"${isCurrent && html` aria-current="page"`}>${text}</a></li>`;
  const back = wayBack(account.homePage, texts.backTo(account.at));
  const links = html`<nav class="tabs" aria-label="${texts.nav}"><ul>${link(paths.account, texts.home, current === 'account')}${link(paths.apps, messages.connectedApps.title, current === 'apps')}${hasPassword && link(paths.password, texts.password, current === 'password')}${back && html`<li class="back">${back}</li>`}</ul></nav>`;
  return layout(context, { title, shape: 'column', bar }, html`${links}\n${main}`);
}
