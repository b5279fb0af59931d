/** The steps after a leak at an app: the mildest first, each with what it ends. */
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { type ActProblem, actProblem, dangerList, doneNotice, type ShownAct } from '../act.ts';
import { appHref } from '../apps/app-page.ts';
import type { BlastRadius } from '../blast-radius.ts';
import { endAppGrantsEffect, endGrantEffect, hasGrants, pauseAppEffect } from '../effects.ts';
import { consoleLayout, type Parent, type ShownOperator } from '../frame.ts';
import { listHref } from '../listing.ts';
import { type Facts, facts } from '../table.ts';

/** The page with the form, as the parent of its answers. */
export const LEAKED: Parent = ['/leaked', 'Leaked'];

/** The app, and the grant that leaked; null for a leaked secret. */
export type LeakedApp = {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'paused';
  readonly takesSecret: boolean;
  readonly grant: LeakedGrant | null;
  /** The grants that end with the app's. */
  readonly grants: BlastRadius;
  /** The acts that the role allows. */
  readonly may: { readonly endGrant: boolean; readonly pause: boolean; readonly endAll: boolean };
};

/** The grant whose token or code leaked. */
export type LeakedGrant = {
  readonly id: string;
  readonly isLive: boolean;
  readonly person: { readonly id: string; readonly name: string };
};

/** The effects of the steps in sentences, and what to do next, by their names in the address. */
export const LEAK_NOTICES = {
  grant: () =>
    'The grant has ended: all of its tokens are refused from now on. Next: if the app itself may have leaked more, pause it.',
  paused: (at: string) =>
    html`Paused: every request of the app is refused. Next: tell its developer, and give the app a new secret. Then resume it on <a href="${at}">its page</a>.`,
  all: (at: string) =>
    html`All grants of the app have ended. Users must allow it again. If it is paused, resume it on <a href="${at}">its page</a> once its developer closed the leak.`,
} as const;

/** The name of such a step. */
export type LeakNotice = keyof typeof LEAK_NOTICES;

/** Data of the page after a step. */
export type LeakStepsData = {
  operator: ShownOperator;
  app: LeakedApp;
  done: LeakNotice | null;
  problem: ActProblem | null;
};

/** The page of the steps for an app. It has ids alone. */
export function leakStepsPage(context: PageContext, { operator, app, done, problem }: LeakStepsData): Html {
  return consoleLayout(
    context,
    operator,
    { title: `Leak at ${app.name}`, isProblem: problem !== null, section: 'Leaked', parents: [LEAKED] },
    html`<h1>Leak at ${isolated(app.name)}</h1>
${done !== null && doneNotice(LEAK_NOTICES[done](appHref(app.id)))}
${problem !== null && actProblem(problem)}
${facts([['Works', app.grant && worksText(whyGrantFails(app))], ...ownerFacts('App', appHref(app.id), app.name), ...grantFacts(app.grant)])}
${leakSteps(app)}
<p class="part"><a href="/leaked">Identify another credential</a></p>`,
  );
}

function whyGrantFails({ grant, status }: LeakedApp): string | null {
  if (!grant?.isLive) return 'its grant ended';
  return status === 'paused' ? 'its app is paused' : null;
}

/** "Yes", which alarms, or why a credential does not work. */
export function worksText(deadBecause: string | null): Html {
  if (deadBecause !== null) return html`No: ${isolated(deadBecause, 300)}`;
  return html`<strong class="effect sensitive">Yes</strong> Whoever has it can use it.`;
}

/** The owner of a credential, with a link. */
export function ownerFacts(noun: string, href: string, name: string): Facts {
  return [[noun, html`<a href="${href}">${isolated(name)}</a>`]];
}

/** The person and the grant that a credential is of. */
export function grantFacts(grant: Pick<LeakedGrant, 'id' | 'person'> | null): Facts {
  if (grant === null) return [];
  const { id, person } = grant;
  return [
    ...ownerFacts('Person', `/people/${encodeURIComponent(person.id)}`, person.name),
    ['Grant', html`<a href="/grants/${encodeURIComponent(id)}"><code>${isolatedAddress(id)}</code></a>`],
  ];
}

/** The steps that are left. `since` is when a leaked secret was made (ms), if that is known. */
export function leakSteps(app: LeakedApp, since: number | null = null): Html {
  const { takesSecret, grant } = app;
  const at = appHref(app.id);
  const steps = [endGrant(app), pause(app), endAll(app)].filter((step) => step !== null);
  const secret = html`<a href="${at}#secrets">Replace the secret</a>: make a new one or hand it over, then retire the leaked one.`;
  const events = grant
    ? { grant: grant.id }
    : { client: app.id, since: since === null ? '' : new Date(since).toISOString().slice(0, 10) };
  return html`<section class="part"><h2>What to do now</h2>
${grant !== null && !grant.isLive && html`<p>The grant has ended: none of its tokens works.</p>`}
${app.status === 'paused' && html`<p>The app is paused: every request of it is refused. <a href="${at}">Open its page</a> to resume it.</p>`}
${takesSecret && grant === null && html`<p>${USUAL}${secret}</p>`}
${steps.length > 0 && dangerList(steps)}
<ul>
${takesSecret && grant !== null && html`<li>If the app’s secret may have leaked too: <a href="${at}#secrets">replace the secret</a>.</li>`}
<li><a href="${at}/failures">See what failed</a>, and <a href="${listHref('/events', events)}">what happened</a> ${grant ? 'with this grant' : since === null ? 'at the app' : 'since the secret was made'}.</li>
</ul></section>`;
}

const USUAL = html`<span class="effect">Usual step</span> `;

function endGrant(app: LeakedApp): ShownAct | null {
  if (!app.grant?.isLive || !app.may.endGrant) return null;
  return {
    action: step(app, 'revoke-grant'),
    name: 'End this grant',
    effect: html`${USUAL}${endGrantEffect(app.name)}`,
    fields: grantField(app),
  };
}

function pause(app: LeakedApp): ShownAct | null {
  if (app.status === 'paused' || !app.may.pause) return null;
  return {
    action: step(app, 'pause'),
    name: 'Pause the app',
    effect: pauseAppEffect(app.name, app.grants),
    fields: grantField(app),
  };
}

function endAll(app: LeakedApp): ShownAct | null {
  if (!app.may.endAll || !hasGrants(app.grants)) return null;
  return {
    action: step(app, 'revoke-grants'),
    name: 'End all grants of the app',
    effect: html`${endAppGrantsEffect(app.name, app.grants)} You need your passkey for this.`,
    fields: grantField(app),
  };
}

function grantField({ grant }: LeakedApp): Html {
  return html`${grant && html`<input type="hidden" name="grant" value="${grant.id}">`}`;
}

function step({ id }: LeakedApp, name: string): string {
  return `/leaked/apps/${encodeURIComponent(id)}/${name}`;
}
