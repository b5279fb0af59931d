/** An operator's own passkeys and sessions. */
import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { Messages } from '../../messages/messages.ts';
import { doneNotice } from '../act-button.ts';
import type { ConsolePage } from '../frame.ts';
import { fewPasskeys } from '../now/now-page.ts';
import { passkeyNameField } from '../sign-in/enroll-page.ts';
import {
  type Ceremony,
  type PasskeyContext,
  type PasskeyProblem,
  passkeyCard,
  passkeyForm,
} from '../sign-in/passkey-form.ts';

/** A passkey in a list. Times in ms. */
export type ShownPasskey = {
  readonly id: string;
  readonly name: string;
  readonly isBackedUp: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  /** When its counter first did not go on, or null. */
  readonly suspectedAt: number | null;
};

/** A session in a list; `id` names it in forms. Times in ms. */
export type ShownSession = {
  readonly id: string;
  readonly browser: string;
  readonly source: string;
  readonly how: 'passkey' | 'address';
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** When it ends at the latest. */
  readonly expiresAt: number;
  /** True for the session that looks at the page. */
  readonly isThis: boolean;
};

/** Data of the page; `notice` says what was done just now. */
export type OwnData = {
  passkeys: readonly ShownPasskey[];
  sessions: readonly ShownSession[];
  notice: keyof typeof NOTICES | null;
};

/** Sentences about an act that was done just now, or was not. */
const NOTICES = {
  added: 'The passkey was added.',
  removed: 'The passkey was removed. Its other sessions have ended, and your remaining ones ask for a passkey again.',
  only: 'This is your only passkey, so it stays. Add another one first.',
  ended: 'The session has ended.',
  gone: 'It had already ended.',
} as const;

/** The page of an operator's own passkeys and sessions. */
export function ownPage(context: PageContext, { passkeys, sessions, notice }: OwnData): ConsolePage {
  return {
    frame: { title: 'Your passkeys' },
    main: html`<h1>Your passkeys and sessions</h1>
${notice !== null && doneNotice(NOTICES[notice])}
${notice === null && fewPasskeys(passkeys.length)}
<section class="part"><h2>Passkeys</h2>
<p>A removed passkey signs in no more, and its sessions end. To add or remove one, you need a passkey.</p>
<ul class="things">${passkeys.map((each) => passkeyItem(context, each))}</ul>
<a class="button secondary" href="/passkeys/new">Add a passkey</a></section>
<section class="part"><h2>Sessions</h2>
<p>A session ends after 30 minutes without a request, and at the time below in any case.</p>
<ul class="things">${sessions.map((each) => sessionItem(context, each))}</ul></section>`,
  };
}

function passkeyItem({ messages }: PageContext, passkey: ShownPasskey): Html {
  const { id, name, isBackedUp, createdAt, lastUsedAt } = passkey;
  const used = lastUsedAt === null ? 'not used yet' : `last used ${messages.minute(lastUsedAt)}`;
  return html`<li><div><h3>${isolated(name)}</h3><p>Made ${messages.minute(createdAt)}, ${used}${isBackedUp && ', synced to your other devices'}</p>${copiedPasskeyWarning(messages, passkey, 'Add another passkey, then remove this one.')}</div>
<form method="post" action="/passkeys/remove"><input type="hidden" name="passkey" value="${id}"><button class="secondary danger">Remove<span class="unseen"> ${isolated(name)}</span></button></form></li>
`;
}

/** Returns the sentence on a passkey that may have been copied, with the remedy; null for any other passkey. */
export function copiedPasskeyWarning(messages: Messages, { suspectedAt }: ShownPasskey, remedy: string): Html | null {
  if (suspectedAt === null) return null;
  return html`<p><span class="effect warning">May have been copied</span> Its counter went back, first ${messages.minute(suspectedAt)}. ${remedy}</p>`;
}

function sessionItem({ messages }: PageContext, session: ShownSession): Html {
  const { id, browser, source, how, createdAt, lastSeenAt, expiresAt, isThis } = session;
  const end = html`<form method="post" action="/sessions/end"><input type="hidden" name="session" value="${id}"><button class="secondary danger">End<span class="unseen"> the session of ${browser}, ${source}</span></button></form>`;
  return html`<li><div><h3>${browser}</h3><p>From ${source}, since ${messages.minute(createdAt)}, last seen ${messages.minute(lastSeenAt)}${how === 'address' && ', begun with a one-time link'}. Ends by ${messages.minute(expiresAt)}.</p></div>
${isThis ? html`<span class="effect">This browser</span>` : end}</li>
`;
}

/** Data of the page that adds a passkey. */
export type AddPasskeyData = { ceremony: Ceremony; passkeyName: string; problem: PasskeyProblem | null };

/** The page that adds a passkey to a signed-in operator. */
export function addPasskeyPage(context: PasskeyContext, { ceremony, passkeyName, problem }: AddPasskeyData): Html {
  return passkeyCard(context, {
    title: 'Add a passkey',
    heading: 'Add a passkey',
    lead: 'On this device, or on a telephone or security key that your browser offers.',
    problem,
    form: passkeyForm(ceremony, 'Add a passkey', passkeyNameField(passkeyName)),
    below: html`<div class="stack"><a class="button secondary" href="/passkeys">Go back</a></div>`,
  });
}
