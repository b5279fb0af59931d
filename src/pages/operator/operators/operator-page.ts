/** One operator: passkeys, sessions and keys, and the acts on them. */
import { type Html, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { type ActProblem, actProblem, dangerZone, doneNotice, plainAct } from '../act-button.ts';
import type { ConsolePage } from '../frame.ts';
import { listHref } from '../listing.ts';
import { statePill } from '../state-pill.ts';
import { facts } from '../table.ts';
import { type ListedOperator, roleField } from './operators-page.ts';
import { copiedPasskeyWarning, type ShownPasskey, type ShownSession } from './own-page.ts';

/** A key in the list. Times in ms. */
export type ShownKey = {
  readonly id: string;
  readonly name: string;
  readonly rights: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly lastUsedAt: number | null;
};

/** The effects of acts in sentences, by their names in the address. */
export const OPERATOR_NOTICES = {
  updated: 'The role was changed.',
  disabled: 'Disabled. All sessions and keys have ended.',
  enabled: 'Enabled: the operator can sign in again.',
  'signed-out': 'All sessions and one-time links have ended.',
  'key-ended': 'The key has ended.',
} as const;

/** The name of such an act. */
export type OperatorNotice = keyof typeof OPERATOR_NOTICES;

/** Data of the page. */
export type OperatorData = {
  shown: ListedOperator;
  passkeys: readonly ShownPasskey[];
  sessions: readonly ShownSession[];
  keys: readonly ShownKey[];
  /** The rights that a new key may have. */
  rights: readonly string[];
  /** True if the signed-in operator's role lets them change operators. */
  mayChange: boolean;
  /** The tag of the operator as the page shows them. */
  tag: string;
  /** Names the form of a new key, so that it adds one however often it is sent. */
  once: string;
  /** The forms as they were typed. */
  typed: {
    readonly role: ListedOperator['role'];
    readonly keyName: string;
    readonly keyRights: readonly string[];
  };
  /** The act that was done just now. */
  done: OperatorNotice | null;
  problem: ActProblem | null;
  now: number;
};

/** The page of one operator. */
export function operatorPage(context: PageContext, data: OperatorData): ConsolePage {
  const { shown, done, problem, mayChange } = data;
  const title = shown.name;
  return {
    frame: { title, isProblem: problem !== null, section: 'Operators', parents: [['/operators', 'Operators']] },
    main: html`<h1>${isolated(shown.name)}</h1>
${done !== null && doneNotice(OPERATOR_NOTICES[done])}
${problem !== null && actProblem(problem)}
${shown.status === 'disabled' && disabled(data)}
${facts(
  [
    ['State', statePill(shown.status)],
    ['Role', shown.role],
    ['Added', context.messages.day(shown.createdAt)],
    ['ID', html`<code>${shown.id}</code>`],
  ],
  'strip',
)}
${part('Passkeys', 'No passkey yet.', data.passkeys, (each) => passkeyItem(context, each))}
${part('Sessions', 'Nobody is signed in.', data.sessions, (each) => sessionItem(context, each))}
${part('Keys for programs', 'No key.', data.keys, (each) => keyItem(context, each, data))}
<p class="part"><a href="/events?operator=${shown.id}">All acts of this operator</a></p>
${mayChange && acts(data)}`,
  };
}

/** Says that the operator is disabled, with the button to enable them. */
function disabled({ shown, tag, mayChange }: OperatorData): Html {
  const enable = plainAct({
    action: `/operators/${shown.id}/enable`,
    name: 'Enable the operator',
    effect: 'The passkeys work again. Keys stay ended. You need a passkey for this.',
    fields: html`<input type="hidden" name="tag" value="${tag}">`,
  });
  return html`<div class="notice problem">${icons.alert}<div><strong>Disabled: every sign-in is refused.</strong> Who did it stands among <a href="${listHref('/events', { action: 'operator_disabled' })}">the events of disabled operators</a>.</div></div>
${mayChange && enable}`;
}

function part<T>(heading: string, none: string, items: readonly T[], item: (each: T) => Html): Html {
  return html`<section class="part"><h2>${heading}</h2>
${items.length === 0 ? html`<p>${none}</p>` : html`<ul class="things">${items.map(item)}</ul>`}</section>`;
}

function passkeyItem({ messages }: PageContext, passkey: ShownPasskey): Html {
  const { name, createdAt, lastUsedAt } = passkey;
  const used = lastUsedAt === null ? 'not used yet' : `last used ${messages.minute(lastUsedAt)}`;
  return html`<li><div><h3>${isolated(name)}</h3><p>Made ${messages.minute(createdAt)}, ${used}</p>${copiedPasskeyWarning(messages, passkey, REMEDY)}</div></li>
`;
}

const REMEDY = 'The operator adds another passkey and removes this one, or you choose “Reset”.';

function sessionItem(
  { messages }: PageContext,
  { browser, source, createdAt, lastSeenAt, isThis }: ShownSession,
): Html {
  return html`<li><div><h3>${browser}</h3><p>From ${source}, since ${messages.minute(createdAt)}, last seen ${messages.minute(lastSeenAt)}</p></div>${isThis && html`<span class="effect">This browser</span>`}</li>
`;
}

function keyItem({ messages }: PageContext, key: ShownKey, { mayChange, shown, now }: OperatorData): Html {
  const { id, name, rights, createdAt, expiresAt, lastUsedAt } = key;
  const used = lastUsedAt === null ? 'not used yet' : `last used ${messages.minute(lastUsedAt)}`;
  const ends = expiresAt <= now ? 'expired' : `until ${messages.day(expiresAt)}`;
  const end = html`<form method="post" action="/operators/${shown.id}/keys/end"><input type="hidden" name="key" value="${id}"><button class="secondary danger">End<span class="unseen"> ${isolated(name)}</span></button></form>`;
  return html`<li><div><h3>${isolated(name)}</h3><p>${rights.join(', ')}</p><p>Made ${messages.minute(createdAt)}, ${used}, ${ends}. <a href="${listHref('/events', { key: id })}">What was done with it<span class="unseen">, the key ${isolated(name)}</span></a></p></div>${mayChange && end}</li>
`;
}

function acts({ shown, rights, tag, once, typed }: OperatorData): Html {
  const at = `/operators/${shown.id}`;
  const isActive = shown.status === 'active';
  // These act on the operator as the page shows them.
  const fields = html`<input type="hidden" name="tag" value="${tag}">`;
  return html`<section class="part"><h2>Change</h2>
<p>You need a passkey for this.</p>
<form method="post" action="${at}/role" class="stack narrow">${fields}${roleField(typed.role)}<button class="secondary">Change the role</button></form></section>
${isActive && keyForm(at, html`${fields}<input type="hidden" name="once" value="${once}">`, rights, typed)}
${dangerZone(
  [
    isActive && {
      action: `${at}/end-sessions`,
      name: 'End all sessions',
      effect: 'Ends all sessions and open one-time links. The operator signs in again with a passkey.',
    },
    isActive && {
      action: `${at}/reset`,
      name: 'Reset',
      effect: 'Ends all passkeys, sessions and one-time links, and gives you a new enrollment link: for lost devices.',
      fields,
    },
    isActive && {
      action: `${at}/disable`,
      name: 'Disable',
      effect: 'Ends all sessions, keys and one-time links. The passkeys work again once you enable the operator.',
    },
    {
      action: `${at}/delete`,
      name: 'Delete',
      effect: 'Ends everything for good. The audit trail keeps the operator’s actions.',
      fields,
    },
  ],
  'You need a passkey for each of these.',
)}`;
}

function keyForm(
  at: string,
  hidden: Html,
  rights: readonly string[],
  { keyName, keyRights }: OperatorData['typed'],
): Html {
  return html`<section class="part"><h2>Add a key for a program</h2>
<p>A key can do what both its rights and the operator’s role allow. It is valid for 90 days, and shown only once.</p>
<form method="post" action="${at}/keys" class="stack narrow">${hidden}
<div class="field"><label for="key-name">Name</label><input id="key-name" name="name" value="${keyName}" required maxlength="100" autocomplete="off"></div>
<fieldset class="rights"><legend>Rights</legend>${[...byNoun(rights)].map((each) => rightsOf(each, keyRights))}</fieldset>
<button class="secondary">Add a key</button>
</form></section>`;
}

/** Returns the rights by their nouns; one without a verb is a noun of its own. */
function byNoun(rights: readonly string[]): Map<string, string[]> {
  return Map.groupBy(rights, (right) => right.split('.')[0] as string);
}

function rightsOf([noun, rights]: readonly [string, readonly string[]], chosen: readonly string[]): Html {
  const box = (right: string) => {
    const [, verb = noun] = right.split('.');
    return html`<label><input type="checkbox" name="rights" value="${right}"${chosen.includes(right) && html` checked`}> ${verb !== noun && html`<span class="unseen">${noun}.</span>`}${verb}</label>`;
  };
  return html`<p>${noun}</p>${rights.map(box)}`;
}
