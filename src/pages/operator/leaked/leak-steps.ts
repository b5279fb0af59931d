/** The steps after a leak at an app: the mildest first, each with what it ends. */
import type { Permission, PersonField } from '../../consent/permission-list.ts';
import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { type ActProblem, actProblem, dangerList, doneNotice, type ShownAct } from '../act-button.ts';
import { appHref } from '../apps/app-page.ts';
import type { BlastRadius } from '../blast-radius.ts';
import { endAppGrantsEffect, endGrantEffect, hasGrants, pauseAppEffect } from '../effect-sentences.ts';
import type { ConsolePage, Parent } from '../frame.ts';
import { listHref } from '../listing.ts';
import { mayDo } from '../people/person-grants.ts';
import { type Facts, facts } from '../table.ts';

/** The page with the form, as the parent of its answers. */
export const LEAKED: Parent = ['/leaked', 'Leaks'];

/** The app, and the grant that leaked; null for a leaked secret. */
export type LeakedApp = {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'paused';
  readonly takesSecret: boolean;
  readonly grant: LeakedGrant | null;
  /** The live secret that leaked, where it is known. */
  readonly secret: LeakedSecret | null;
  /** The grants that end with the app's. */
  readonly grants: BlastRadius;
  /** The acts that the role allows. */
  readonly may: { readonly endGrant: boolean; readonly pause: boolean; readonly endAll: boolean };
};

/** A live secret. `which` of two it is; null if it is the only one. `lastUsedAt` in ms. */
export type LeakedSecret = {
  readonly which: 'newer' | 'older' | null;
  readonly lastUsedAt: number | null;
  /** True if the app uses it, and nothing newer. */
  readonly isNeeded: boolean;
};

/** The grant whose token or code leaked. `lastUsedAt` in ms; null if no API and no refresh used it. */
export type LeakedGrant = {
  readonly id: string;
  readonly isLive: boolean;
  readonly person: { readonly id: string; readonly name: string };
  readonly permissions: readonly Permission[];
  readonly personFields: readonly PersonField[];
  readonly lastUsedAt: number | null;
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
  app: LeakedApp;
  done: LeakNotice | null;
  problem: ActProblem | null;
};

/** The page of the steps for an app. It has ids alone. */
export function leakStepsPage(context: PageContext, { app, done, problem }: LeakStepsData): ConsolePage {
  return {
    frame: { title: `Leak at ${app.name}`, isProblem: problem !== null, section: 'Leaks', parents: [LEAKED] },
    main: html`<h1>Leak at ${isolated(app.name)}</h1>
${done !== null && doneNotice(LEAK_NOTICES[done](appHref(app.id)))}
${problem !== null && actProblem(problem)}
${facts([...ownerFacts('App', appHref(app.id), app.name), ...grantFacts(context, app.grant)])}
${leakSteps(app, { isOpen: problem !== null })}
<p class="part"><a href="/leaked">Identify another credential</a></p>`,
  };
}

/** The owner of a credential, with a link. */
export function ownerFacts(noun: string, href: string, name: string): Facts {
  return [[noun, html`<a href="${href}">${isolated(name)}</a>`]];
}

/** The person that a credential acts for, and what it lets the app do. */
export function grantFacts({ messages }: PageContext, grant: LeakedGrant | null): Facts {
  if (grant === null) return [];
  const { id, isLive, person, personFields, permissions, lastUsedAt } = grant;
  return [
    ...ownerFacts('Person', `/people/${encodeURIComponent(person.id)}`, person.name),
    ['Grant', html`${isLive ? 'Live' : 'Ended'}. <a href="${grantHref(id)}">See all that happened with it</a>`],
    [isLive ? 'May do' : 'Allowed', mayDo(messages, personFields, permissions)],
    ['Last used', lastUsedAt === null ? 'Never' : messages.minute(lastUsedAt)],
  ];
}

/** Which of the live secrets leaked, and its last use: of two, the app may use the other one. */
export function secretFacts({ messages }: PageContext, secret: LeakedSecret | null): Facts {
  if (secret === null) return [];
  const { which, lastUsedAt } = secret;
  return [
    ['Which one', which === null ? 'The only live secret' : `The ${which} of two live secrets`],
    ['Last used', lastUsedAt === null ? 'Never' : messages.minute(lastUsedAt)],
  ];
}

function grantHref(id: string): string {
  return `/grants/${encodeURIComponent(id)}`;
}

/** The state of what leaked, besides its app. */
type Leak = {
  /** True if the leaked credential gives no access now. */
  readonly isDead?: boolean;
  /** Time (ms) when a leaked secret was made, if that is known. */
  readonly since?: number | null;
  /** True to show the steps beyond the grant at once. */
  readonly isOpen?: boolean;
};

/** The steps that are left: none is pressing once the grant has ended. */
export function leakSteps(app: LeakedApp, leak: Leak = {}): Html {
  const { grant } = app;
  return html`<section class="part"><h2>What to do now</h2>
${app.status === 'paused' && html`<p>The app is paused: every request of it is refused. <a href="${appHref(app.id)}">Open its page</a> to resume it.</p>`}
${grant && !grant.isLive ? afterEnd(app, leak) : pressing(app, leak)}
<p>${lookLinks(app, leak)}</p></section>`;
}

function pressing(app: LeakedApp, { isDead = false }: Leak): Html {
  const { grant } = app;
  const lead = isDead
    ? html`<p>It gives no access now. If a newer token of the grant may have leaked too, end the grant.</p>`
    : null;
  const steps = [endGrant(app, !isDead), pause(app), endAll(app)].filter((step) => step !== null);
  return html`${grant ? lead : secretStep(app)}
${steps.length > 0 && dangerList(steps)}
${grant && otherSecret(app)}`;
}

function afterEnd(app: LeakedApp, { isOpen = false }: Leak): Html {
  const steps = [pause(app), endAll(app)].filter((step) => step !== null);
  return html`<p>Nothing: the grant has ended, and none of its tokens works.</p>
${otherSecret(app)}
${steps.length > 0 && html`<details class="further"${isOpen && html` open`}><summary>If more of the app leaked</summary>${dangerList(steps)}</details>`}`;
}

function secretStep({ id, takesSecret, secret }: LeakedApp): Html | null {
  if (!takesSecret) return null;
  const link = (words: string) => html`<a href="${appHref(id)}#secrets">${words}</a>`;
  const { which = null, lastUsedAt = null, isNeeded = true } = secret ?? {};
  if (which === null)
    return html`<p>${USUAL}${link('Replace the secret')}: ${NEW_SECRET}. When the app uses it, retire the leaked one.</p>`;
  if (!isNeeded)
    return html`<p>${USUAL}${link(`Retire the ${which} secret`)}, which leaked. ${lastUsedAt === null ? 'It was never used.' : 'The app uses the newer one.'}</p>`;
  const change =
    which === 'older'
      ? 'have the developer change to the newer one. If nobody has that one, retire it, then make another one'
      : `retire the older one, if the app no longer uses it. Then ${NEW_SECRET}`;
  return html`<p>The app uses the leaked secret, and two are live, so none can be made now.</p>
<p>${USUAL}${link('Replace the secret')}: ${change}. When the app uses it, retire the leaked one.</p>`;
}

/** The ways to a new secret. */
const NEW_SECRET = 'make a new one, or a pick-up link with which the developer makes it';

function otherSecret({ id, takesSecret }: LeakedApp): Html | null {
  if (!takesSecret) return null;
  return html`<p>If the app’s secret may have leaked too: <a href="${appHref(id)}#secrets">replace the secret</a>.</p>`;
}

function lookLinks({ id, grant }: LeakedApp, { since = null }: Leak): Html {
  const failures = html`<a href="${appHref(id)}/failures">See what failed at the app</a>`;
  if (grant) return failures;
  const filter = { client: id, since: since === null ? '' : new Date(since).toISOString().slice(0, 10) };
  return html`${failures}, and <a href="${listHref('/events', filter)}">what happened ${since === null ? 'there' : 'since the secret was made'}</a>.`;
}

const USUAL = html`<span class="effect">Usual step</span> `;

function endGrant(app: LeakedApp, isUsual: boolean): ShownAct | null {
  if (!app.grant?.isLive || !app.may.endGrant) return null;
  return {
    action: step(app, 'revoke-grant'),
    name: 'End this grant',
    effect: html`${isUsual && USUAL}${endGrantEffect(app.name)}`,
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
    effect: html`${endAppGrantsEffect(app.name, app.grants)} You need a passkey for this.`,
    fields: grantField(app),
  };
}

function grantField({ grant }: LeakedApp): Html {
  return html`${grant && html`<input type="hidden" name="grant" value="${grant.id}">`}`;
}

function step({ id }: LeakedApp, name: string): string {
  return `/leaked/apps/${encodeURIComponent(id)}/${name}`;
}
