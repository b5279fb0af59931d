import { type Html, html } from '../../html.ts';
import { icons } from '../../icons.ts';
import { isolated } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { facts } from '../table.ts';
import { daySummary, type LastDay, lastDay } from './last-day.ts';
import { isHealthy, lastBackup, type ShownState, timeAndAge, worstNotice } from './state.ts';

/** The next steps of an installation without an app: those that are done, and the way to the first one. */
export type FirstSteps = { readonly mayRegister: boolean; readonly hasPeople: boolean };

/** Data of the page. */
export type NowData = {
  readonly operator: ShownOperator;
  /** How the session began. */
  readonly how: 'passkey' | 'address';
  readonly passkeyCount: number;
  readonly state: ShownState;
  /** The first steps while no app is registered. */
  readonly content:
    | { readonly kind: 'steps'; readonly steps: FirstSteps }
    | { readonly kind: 'day'; readonly day: LastDay };
};

/** The start page: what needs a look, and the last 24 hours. */
export function nowPage(context: PageContext, { operator, how, passkeyCount, state, content }: NowData): Html {
  const { messages } = context;
  const healthy = isHealthy(state.findings) && 'The service is healthy. ';
  return consoleLayout(
    context,
    operator,
    { title: 'Now' },
    html`<h1>Hello, ${isolated(operator.name)}</h1>
<p class="lead">${healthy}${content.kind === 'day' && daySummary(content.day)}</p>
${worstNotice(state.findings, html`<a href="/health">See health</a>`)}
${content.kind === 'steps' ? firstSteps(content.steps, state) : lastDay(content.day)}
<section class="part"><h2>Installation</h2>
${facts([
  ['Last backup', lastBackup(messages, state)],
  ['Root key', html`In use since ${timeAndAge(messages, state.rootKey.createdAt, state.at)}`],
])}</section>
<section class="part"><h2>You</h2>
<p>${ROLES[operator.role]}${how === 'address' && ' You signed in with a one-time link, for an hour at most.'}</p>
${fewPasskeys(passkeyCount)}</section>
<p class="fine">All times are UTC.</p>`,
  );
}

function firstSteps({ mayRegister, hasPeople }: FirstSteps, { backedUpAt }: ShownState): Html {
  const register = mayRegister
    ? html`<a href="/apps/new">Register an app</a>`
    : html`<strong>An admin registers an app</strong>`;
  return html`<section class="part"><h2>Next steps</h2>
<ul class="things">
<li><div><h3>1. ${register}</h3><p>Its developer gets an ID, a secret and the addresses to use.</p></div></li>
${step(2, 'Let users sign in', html`<a href="/people">Invite people</a>. If your product has users already, connect it as an identity provider instead.`, hasPeople)}
${step(3, 'Back up every day', html`<code>valetkey database backup FILE</code> writes a backup while the service runs. The root keys need a copy of their own.`, backedUpAt !== null)}
</ul></section>`;
}

function step(number: number, name: string, text: Html, isDone: boolean): Html {
  return html`<li><div><h3>${number}. ${name}</h3><p>${text}</p></div>${isDone && html`<span class="effect">Done</span>`}</li>
`;
}

/** Returns the advice to have two passkeys, so that a lost device locks nobody out; null where there are. */
export function fewPasskeys(count: number): Html | null {
  if (count > 1) return null;
  const [have, why] =
    count === 0
      ? ['You have no passkey.', 'Add one, so that you can sign in without a one-time link.']
      : ['You have one passkey.', 'Add one on another device, so that you can still sign in if you lose this device.'];
  return html`<div class="notice advice">${icons.key}<div><strong>${have}</strong> ${why} <a href="/passkeys/new">Add a passkey</a></div></div>`;
}

const ROLES: Readonly<Record<ShownOperator['role'], string>> = {
  read: 'You can see everything, and change only your own passkeys and sessions.',
  support: 'You can see everything, pause and resume apps, sign users out, and end their grants.',
  admin: 'You can do everything. Actions that give access, or take it from many users, need your passkey again.',
};
