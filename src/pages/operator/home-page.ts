import { type Html, html } from '../html.ts';
import { icons } from '../icons.ts';
import { isolated } from '../isolated.ts';
import type { PageContext } from '../layout.ts';
import { consoleLayout, type ShownOperator } from './frame.ts';

/** Data of the start page. */
export type HomeData = {
  operator: ShownOperator;
  /** How the session began. */
  how: 'passkey' | 'address';
  passkeyCount: number;
};

/** The start page: the signed-in operator, and what is here. */
export function homePage(context: PageContext, { operator, how, passkeyCount }: HomeData): Html {
  return consoleLayout(
    context,
    operator,
    { title: 'Now' },
    html`<h1>Hello, ${isolated(operator.name)}</h1>
<p class="lead">${ROLES[operator.role]}${how === 'address' && ' You signed in with a one-time link, for an hour at most.'}</p>
${fewPasskeys(passkeyCount)}
<ul class="ways">
<li><a href="/operators">Operators</a><p>Who may do what, with passkeys, sessions and keys.</p></li>
<li><a href="/passkeys">Your passkeys and sessions</a><p>Add a passkey, or end a session on another device.</p></li>
</ul>`,
  );
}

/** Returns the advice to have two passkeys, so that a lost device locks nobody out; null where there are. */
export function fewPasskeys(count: number): Html | null {
  if (count > 1) return null;
  const have = count === 0 ? 'You have no passkey.' : 'You have one passkey.';
  return html`<div class="notice advice">${icons.key}<div><strong>${have}</strong> Add one on another device, so that you can still sign in if you lose this device. <a href="/passkeys/new">Add a passkey</a></div></div>`;
}

const ROLES: Readonly<Record<ShownOperator['role'], string>> = {
  read: 'You can see everything, and change only your own passkeys and sessions.',
  support: 'You can see everything, pause and resume apps, sign users out, and end their connections.',
  admin: 'You can do everything. Actions that give access, or take it from many users, need your passkey again.',
};
