import { displayName } from './display-name.ts';
import { hiddenFields } from './form.ts';
import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import { isolated, isolatedAddress } from './isolated.ts';
import { layout, type PageContext } from './layout.ts';
import { monogram } from './mark.ts';
import { type Permission, permissionList } from './permissions.ts';

/** The signed-in person, as pages show them. */
export type PageAccount = { name: string; email: string };

/** What the consent page shows. */
export type ConsentData = {
  appName: string;
  /** The redirect URI's host, with its port if it has one; for a private-use scheme, the scheme with its colon. */
  redirectHost: string;
  account: PageAccount;
  permissions: readonly Permission[];
  /** Where the form posts to: a path of this service that carries the whole authorization request. */
  action: string;
  formToken: string;
  /** The form that signs out, to come back here with another account. */
  switchAccount: { continueTo: string; formToken: string };
};

/** The page that asks whether an app may use the account. */
export function consentPage(context: PageContext, data: ConsentData): Html {
  const { messages, brand } = context;
  const texts = messages.consent;
  return layout(
    context,
    { title: texts.title, shape: 'card' },
    html`${monogram(data.appName, 'app')}
<h1>${texts.heading(data.appName, brand.productName)}</h1>
${accountRow(context, data)}
<h2>${texts.permissions}</h2>
${permissionList(messages, data.permissions)}
<form method="post" action="${data.action}">
${hiddenFields(data.formToken)}
<p class="destination">${destination(context, data.redirectHost)}</p>
<div class="choice">
<button class="primary" name="decision" value="allow">${texts.allow}</button>
<button class="secondary" name="decision" value="deny">${texts.deny}</button>
</div>
</form>
<p class="aside">${texts.doubt}</p>
<ul class="facts">
<li>${icons.lock}<span>${texts.password}</span></li>
<li>${icons.clock}<span>${texts.duration}</span></li>
<li>${icons.undo}<span>${texts.takeBack}</span></li>
</ul>`,
  );
}

function accountRow({ messages: { consent: texts } }: PageContext, { account, switchAccount }: ConsentData): Html {
  return html`<section class="account" aria-label="${texts.account}">
${monogram(account.name, 'person')}
<p><strong>${isolated(account.name)}</strong>${isolatedAddress(account.email)}</p>
<form method="post" action="/sign-out">${hiddenFields(switchAccount.formToken, switchAccount.continueTo)}<button class="quiet">${texts.switchAccount}</button></form>
</section>`;
}

const thisDevice = /^(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?$|^[^:]+:$/;

function destination({ messages: { consent: texts } }: PageContext, redirectHost: string): Html {
  const host = displayName(redirectHost, 320);
  return thisDevice.test(host) ? texts.destinationOnThisDevice(host) : texts.destination(host);
}
