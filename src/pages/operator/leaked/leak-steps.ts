/** The steps after a leak at an app: the mildest first, each with what it ends. */
import { type Html, html } from '../../html.ts';
import { isolated } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { type ActProblem, actButton, actProblem, doneNotice } from '../act.ts';
import { type BlastRadius, grantsWords } from '../blast-radius.ts';
import { consoleLayout, type Parent, type ShownOperator } from '../frame.ts';

/** The page with the form, as the parent of its answers. */
export const LEAKED: Parent = ['/leaked', 'Leaked'];

/** The app, and the grant that leaked; null for a leaked secret. */
export type LeakedApp = {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'paused';
  readonly takesSecret: boolean;
  readonly grant: { readonly id: string; readonly isLive: boolean } | null;
  /** The grants that end with the app's. */
  readonly grants: BlastRadius;
  /** The acts that the role allows. */
  readonly may: { readonly endGrant: boolean; readonly pause: boolean; readonly endAll: boolean };
};

/** The effects of the steps in sentences, and what to do next, by their names in the address. */
export const LEAK_NOTICES = {
  grant:
    'The grant has ended: all of its tokens are refused from now on. Next: if the app itself may have leaked more, pause it.',
  paused:
    'Paused: every request of the app is refused. Next: tell its developer, and give the app a new secret. Then resume it on its page.',
  all: 'All grants of the app have ended. Next: once its developer closed the leak, resume the app on its page. Users must allow it again.',
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
${done !== null && doneNotice(LEAK_NOTICES[done])}
${problem !== null && actProblem(problem)}
${leakSteps(app)}
<p class="part"><a href="/leaked">Identify another credential</a></p>`,
  );
}

/** The steps that are left. */
export function leakSteps(app: LeakedApp): Html {
  const { takesSecret, may } = app;
  const at = `/apps/${encodeURIComponent(app.id)}`;
  return html`<section class="part"><h2>What to do now</h2>
<p>Do what the leak calls for. Each step says first what it ends.</p>
<div class="acts">
${app.grant !== null && endGrant(app, app.grant.isLive)}
${pause(app)}
${may.endAll && (app.grants.grants > 0 || app.grants.more) && endAll(app)}
</div>
<ul>
${takesSecret && html`<li><a href="${at}#secrets">Replace the secret</a>: make a new one or hand it over, then retire the leaked one.</li>`}
<li><a href="${at}/failures">See what failed</a>, and <a href="/events?client=${encodeURIComponent(app.id)}">what happened</a> since the leak.</li>
<li><a href="${at}">Open the app</a>, to resume it or to change its settings.</li>
</ul></section>`;
}

function endGrant(app: LeakedApp, isLive: boolean): Html | null {
  if (!isLive) return html`<p>The grant has ended: none of its tokens works.</p>`;
  if (!app.may.endGrant) return null;
  return actButton({
    action: step(app, 'revoke-grant'),
    name: 'End this grant',
    effect: html`Every token of this grant is refused at once. Its user must allow ${isolated(app.name)} again. Other users notice nothing.`,
    isDanger: true,
    fields: grantField(app),
  });
}

function pause(app: LeakedApp): Html | null {
  if (app.status === 'paused') return html`<p>The app is paused: every request of it is refused.</p>`;
  if (!app.may.pause) return null;
  return actButton({
    action: step(app, 'pause'),
    name: 'Pause the app',
    effect: `Every request of the app is refused at once, until you resume it: it has ${grantsWords(app.grants)}. An open pick-up link ends; nothing else does.`,
    isDanger: true,
    fields: grantField(app),
  });
}

function endAll(app: LeakedApp): Html {
  return actButton({
    action: step(app, 'revoke-grants'),
    name: 'End all grants of the app',
    effect: html`Ends ${grantsWords(app.grants)}. All tokens of ${isolated(app.name)} stop working at once, and its users must allow it again. You need your passkey for this.`,
    isDanger: true,
    fields: grantField(app),
  });
}

function grantField({ grant }: LeakedApp): Html {
  return html`${grant && html`<input type="hidden" name="grant" value="${grant.id}">`}`;
}

function step({ id }: LeakedApp, name: string): string {
  return `/leaked/apps/${encodeURIComponent(id)}/${name}`;
}
