import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { ConsolePage, ShownOperator } from '../frame.ts';
import { facts } from '../table.ts';
import { inNeed, worstNotice } from './findings.ts';
import { daySummary, failingApps, type LastDay, lastDay } from './last-day.ts';
import { lastBackup, rootKeyAge, type ShownState } from './state.ts';

/** The first steps of an installation, by what is there. */
export type FirstSteps = { readonly mayRegister: boolean; readonly hasApps: boolean; readonly hasPeople: boolean };

/** Data of the page. */
export type NowData = {
  readonly operator: ShownOperator;
  /** How the session began. */
  readonly how: 'passkey' | 'address';
  readonly passkeyCount: number;
  readonly state: ShownState;
  readonly steps: FirstSteps;
  /** Null while no app is registered. */
  readonly day: LastDay | null;
};

/** The start page: what needs a look, and the last 24 hours. */
export function nowPage(
  context: PageContext,
  { operator, how, passkeyCount, state, steps, day }: NowData,
): ConsolePage {
  const healthy = inNeed(state.findings).length === 0 && 'The service is healthy. ';
  return {
    frame: { title: 'Now' },
    main: html`<h1>Hello, ${isolated(operator.name)}</h1>
<p class="lead">${healthy}${day && daySummary(day)}</p>
${day && failingApps(context, day)}
${worstNotice(state.findings)}
${firstSteps(steps, state)}
${day && lastDay(context, day)}
<section class="part"><h2>Installation</h2>
${facts([
  ['Last backup', lastBackup(context, state)],
  ['Root key', rootKeyAge(context, state)],
])}</section>
<section class="part"><h2>You</h2>
<p>${ROLES[operator.role]}${how === 'address' && ' You signed in with a one-time link, for an hour at most.'}</p>
${fewPasskeys(passkeyCount)}</section>`,
  };
}

/** The steps until all of them are done; then null. */
function firstSteps({ mayRegister, hasApps, hasPeople }: FirstSteps, { backedUpAt }: ShownState): Html | null {
  const hasBackup = backedUpAt !== null;
  if (hasApps && hasPeople && hasBackup) return null;
  const register = mayRegister ? html`<a href="/apps/new">Register an app</a>` : 'An admin registers an app';
  return html`<section class="part"><h2>Next steps</h2>
<ul class="things">
${step(1, register, 'Its developer gets an ID, a secret and the addresses to use.', hasApps)}
${step(2, 'Let people sign in', html`<a href="/people#invite">Invite people</a>. If your product has users already, <a href="/products">connect it</a> instead.`, hasPeople)}
${step(3, 'Back up every day', html`<code>valetkey database backup FILE</code> writes a backup while the service runs. The root keys need a copy of their own.`, hasBackup)}
</ul></section>`;
}

function step(number: number, name: HtmlValue, text: HtmlValue, isDone: boolean): Html {
  return html`<li><div><h3>${number}. ${name}</h3><p>${text}</p></div>${isDone && html`<span class="effect">Done</span>`}</li>
`;
}

/** Returns the advice to have two passkeys, so that a lost device locks nobody out; null where there are. */
export function fewPasskeys(count: number): Html | null {
  if (count > 1) return null;
  const [have, why] =
    count === 0
      ? [
          'You have no passkey.',
          'Add one, so that you can sign in without a one-time link, and register apps and make secrets.',
        ]
      : ['You have one passkey.', 'Add one on another device, so that you can still sign in if you lose this device.'];
  return html`<div class="notice advice">${icons.key}<div><strong>${have}</strong> ${why} <a href="/passkeys/new">Add a passkey</a></div></div>`;
}

const ROLES: Readonly<Record<ShownOperator['role'], string>> = {
  read: 'You can see everything, and change only your own passkeys and sessions.',
  support: 'You can see everything, pause and resume apps, sign users out, and end their grants.',
  admin: 'You can do everything. Actions that give access, or take it from many users, need a passkey.',
};
