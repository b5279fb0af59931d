import { displayName } from '../html/display-name.ts';
import { hiddenFields } from '../html/hidden-fields.ts';
import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import { isolatedAddress, isolatedCode } from '../html/isolated-text.ts';
import { monogram } from '../layout/brand-mark.ts';
import { layout, newTab, type PageContext } from '../layout/layout.ts';
import { problemNotice } from '../layout/problem-notice.ts';
import { accountName, type PageAccount } from '../layout/signed-in-account.ts';
import type { Messages } from '../messages/messages.ts';
import { type AppProfile, appProfile } from './app-profile.ts';
import { requestedPermissions } from './consent-permissions.ts';
import { isSensitive, type Permission, type PersonSeen } from './permission-list.ts';

/** Data of the consent page. */
export type ConsentData = ConsentDestination & {
  appName: string;
  profile: AppProfile;
  account: PageAccount;
  /** True if the app can use the account now; then each permission's `earlier` tells which are not new. */
  hasAccessAlready: boolean;
  permissions: readonly Permission[];
  person: PersonSeen;
  /** Maximum duration of access, and without any use (s). */
  accessDuration: { readonly max: number; readonly unused: number };
  /** An earlier answer that was not accepted; null if there was none. */
  notTaken: NotTaken | null;
  /** Target of the form: a path of this service that carries the whole request. */
  action: string;
  formToken: string;
  /** The form that signs out and returns here, to use another account. */
  switchAccount: { continueTo: string; formToken: string };
};

/**
 * Reason why an answer was not accepted: its page was open for too long, or belonged to another sign-in or request;
 * the user was not signed in any more; or there were too many answers. `choice` has its optional scopes.
 */
export type NotTaken = { readonly choice: readonly string[] } & (
  | { readonly why: 'expired' | 'elsewhere' | 'signed_out' }
  | { readonly why: 'throttled'; readonly retryAfterSeconds: number }
);

/** Receiver of the decision: an app that the browser goes on to, or a device that waits for it (RFC 8628). */
export type ConsentDestination =
  | {
      /** The redirect URI's host, with its port if it has one; for a private-use scheme, the scheme with its colon. */
      redirectHost: string;
    }
  | {
      /** The code, in the form that the device shows: `BCDF-GHJK`. */
      userCode: string;
    };

/**
 * The page that asks whether an app may use the account. Its form posts `decision` (`allow` or `deny`), and `scope`
 * once for each optional permission that stays ticked.
 */
export function consentPage(context: PageContext, data: ConsentData): Html {
  const { messages, brand, paths } = context;
  const texts = messages.consent;
  const asksForMore = data.hasAccessAlready && (data.person.isNew || data.permissions.some(({ earlier }) => !earlier));
  const isSignIn = data.person.signsIn && data.permissions.length === 0;
  const heading = isSignIn ? texts.signIn.heading : asksForMore ? texts.headingMore : texts.heading;
  const named = isSignIn ? texts.signIn.title : texts.title;
  const title = data.notTaken ? messages.layout.titleWithProblem(named) : named;
  const count = data.permissions.length + 1 + (data.person.signsIn ? data.person.fields.length : 0);
  // In the column that has room for them: a device's code is beside the permissions.
  const facts = html`<ul class="facts">
${!isSignIn && html`<li>${icons.clock}<span>${duration(texts, data.accessDuration)}</span></li>\n`}<li>${icons.undo}<span>${texts.takeBack(paths.apps, newTab(messages))}</span></li>
</ul>`;
  return layout(
    context,
    { title, shape: 'card', isDecision: true },
    html`<div class="who">
<div class="asking">${monogram(data.appName, 'app')}
<div><h1>${heading(data.appName, brand.productName)}</h1>
${appProfile(context, data.profile)}
${data.hasAccessAlready && (asksForMore || !isSignIn) && html`<p class="lead">${asksForMore ? texts.leadMore : texts.leadNothingNew}</p>`}</div></div>
${'userCode' in data && askingDevice(context, data.userCode)}
${accountRow(context, data)}
${!('userCode' in data) && facts}
</div>
<form method="post" action="${data.action}" class="answer consent">
${hiddenFields(data.formToken)}
${requestedPermissions(messages, data.permissions, data.notTaken?.choice ?? null, asksForMore, data.person)}
<div class="verdict${'userCode' in data && ' of-device'}">
${!('userCode' in data) && html`<p class="below" aria-hidden="true"><span>${texts.below(count)}</span></p>`}
${'userCode' in data && facts}
<div class="choice">
${data.notTaken && problemNotice(whyNotTaken(texts, data.notTaken))}
${isUncheckedAndSensitive(data) && html`<p class="caution">${icons.warning}<span>${texts.uncheckedSensitive(brand.productName)}</span></p>`}
<p class="destination">${'userCode' in data ? texts.device.warning : destination(context, data.redirectHost)}</p>
<button class="primary" name="decision" value="allow">${texts.allow}</button>
<button class="secondary" name="decision" value="deny">${texts.deny}</button>
</div>
</div>
</form>
<p class="aside">${data.hasAccessAlready ? texts.doubtAlready : texts.doubt} ${texts.password}</p>`,
  );
}

/** True if nobody vouches for an app that asks for something with which it could do harm. */
function isUncheckedAndSensitive({ profile, permissions }: ConsentData): boolean {
  return !profile.isChecked && permissions.some(isSensitive);
}

function duration(texts: Messages['consent'], { max, unused }: ConsentData['accessDuration']): string {
  return unused < max ? texts.durationOrUnused(max, unused) : texts.duration(max);
}

function whyNotTaken({ notTaken: texts }: Messages['consent'], notTaken: NotTaken) {
  if (notTaken.why !== 'throttled') return texts[notTaken.why];
  return { heading: texts.throttled.heading, text: texts.throttled.text(notTaken.retryAfterSeconds) };
}

/** RFC 8628 §5.4: an attacker may have started it, so the user must compare the code with the device's. */
function askingDevice({ messages: { consent: texts } }: PageContext, userCode: string): Html {
  return html`<section class="device">
<h2>${icons.device}${texts.device.heading}</h2>
<p>${texts.device.text}</p>
<p class="user-code">${isolatedCode(userCode)}</p>
</section>`;
}

function accountRow({ messages, paths }: PageContext, { account, switchAccount }: ConsentData): Html {
  const texts = messages.consent;
  return html`<section class="account" aria-label="${texts.account}">
${monogram(account.name ?? account.at, 'person')}
<p><strong>${accountName(messages, account)}</strong>${account.email !== null && isolatedAddress(account.email)}</p>
<form method="post" action="${paths.signOut}">${hiddenFields(switchAccount.formToken, switchAccount.continueTo)}<button class="quiet">${texts.switchAccount}</button></form>
</section>`;
}

const thisDevice = /^(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?$|^[^:]+:$/;

function destination({ messages: { consent: texts } }: PageContext, redirectHost: string): Html {
  const host = displayName(redirectHost, 320);
  if (!thisDevice.test(host)) return texts.destination(host);
  // RFC 8252 §8.3: a name may resolve to another machine; a loopback address cannot.
  return html`${texts.destinationOnThisDevice(host)}${host.startsWith('localhost') && html` ${texts.destinationByName}`}`;
}
