/** An app's secrets and hand-over, with the acts on them. */
import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { actButton, passkeyNeeded, type ShownAct } from '../act-button.ts';
import { facts } from '../table.ts';

/** A live secret: its times in ms, the advice on it, and whether it may be retired. */
export type ShownSecret = {
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly advice: { readonly kind: keyof typeof ADVICE; readonly days: number };
  /** Null if it may not be retired. */
  readonly retires: 'older' | 'newer' | null;
};

/** The newest hand-over. Times in ms. */
export type ShownHandOver = {
  readonly madeAt: number;
  readonly madeBy: string;
  readonly expiresAt: number;
  readonly fetchedAt: number | null;
  readonly fetchedFrom: string | null;
  readonly endedAt: number | null;
  readonly endedWhy: keyof typeof ENDED | null;
  /** True while the developer can use the link. */
  readonly isOpen: boolean;
};

/** Data of the part. */
export type AppSecrets = {
  readonly id: string;
  readonly type: 'confidential' | 'public';
  /** True if every request is refused, whatever its secret. */
  readonly isPaused: boolean;
  /** Newest first. */
  readonly secrets: readonly ShownSecret[];
  readonly handOver: ShownHandOver | null;
  /** The acts that the role and the app's state allow. */
  readonly mayMakeSecret: boolean;
  readonly mayRetire: boolean;
  readonly mayHandOver: boolean;
  /** True if the operator has a passkey. */
  readonly hasPasskey: boolean;
  /** True if a hand-over makes a secret; otherwise the developer gets the addresses alone. */
  readonly handsOverSecret: boolean;
  /** Names the form for a new secret, so that it makes one however often it is sent. */
  readonly once: string;
};

/** The secrets, newest first, and the newest hand-over. */
export function appSecrets(context: PageContext, app: AppSecrets): Html {
  const { secrets, type, handOver } = app;
  const none = type === 'public' ? 'A public app has no secret.' : 'No secret is live.';
  return html`<section class="part" id="secrets"><h2>Secrets</h2>
${secrets.length > 1 && html`<p>Two secrets are live. Retire the older one first, once the app uses only the newer one.</p>`}
${secrets.length === 0 ? html`<p>${none}</p>` : html`<ul class="things">${secrets.map((secret, at) => secretItem(context, app, secret, at))}</ul>`}
${handOver !== null && html`<h3>Newest pick-up link</h3>${facts(handOverFacts(context, handOver))}`}
${ways(context, app)}</section>`;
}

function secretItem({ messages }: PageContext, app: AppSecrets, secret: ShownSecret, at: number): Html {
  const { createdAt, lastUsedAt, advice, retires } = secret;
  const name = app.secrets.length === 1 ? 'The secret' : at === 0 ? 'Newer secret' : 'Older secret';
  const used = lastUsedAt === null ? 'never used' : `last used ${messages.minute(lastUsedAt)}`;
  const words = ADVICE[advice.kind](advice.days, app.isPaused);
  const retire =
    app.mayRetire &&
    retires !== null &&
    actButton({
      action: `/apps/${encodeURIComponent(app.id)}/secrets/${retires}/retire`,
      name: app.secrets.length === 1 ? 'Retire the secret' : `Retire the ${retires} secret`,
      effect: html`${words} ${app.isPaused ? EFFECT_PAUSED : EFFECT} You need a passkey for this.`,
      isDanger: true,
      // The secret that the operator saw: "older" may be another one meanwhile, or be in use again.
      fields: html`<input type="hidden" name="made" value="${createdAt}"><input type="hidden" name="advice" value="${advice.kind}">`,
    });
  return html`<li><div><h3>${name}</h3><p>Made ${messages.minute(createdAt)}, ${used}</p><p>${words}</p></div>${retire}</li>
`;
}

const EFFECT = 'It stops working at once, and no act brings it back. Nobody is signed out.';
const EFFECT_PAUSED = 'It will not work when you resume the app, and no act brings it back. Nobody is signed out.';

/** Returns what holds for the secret before a new one. */
export function secretBefore(isPaused: boolean): string {
  return `The secret before works ${isPaused ? 'again when you resume the app, ' : ''}until you retire it.`;
}

/** The sentence on a secret, by the whole days since its last use. */
const ADVICE = {
  only: (_days: number, isPaused: boolean) =>
    `The only secret. To replace it, make a new one first: both work${isPaused ? ', once the app is resumed,' : ''} until you retire this one.`,
  unused: () => 'Not used yet: retire it only if nobody has it.',
  never: () => 'Never used, and the app uses a newer one: safe to retire.',
  used: (days: number, isPaused: boolean) => {
    const used = days === 0 ? 'Used in the last 24 hours' : `Last used ${daysWords(days)} ago, and nothing newer since`;
    return `${used}: retiring it would break the app${isPaused ? ', once it is resumed' : ''}.`;
  },
  waiting: (days: number) =>
    `Not used for ${daysWords(days)}. Wait until it is a week: a program that runs once a week may still use it.`,
  safe: (days: number) => `Not used for ${daysWords(days)}: safe to retire.`,
} as const;

function daysWords(days: number): string {
  return days === 1 ? 'a day' : `${days} days`;
}

/** The ways to a new secret, side by side: one where the operator never sees it, and one where they do. */
function ways(context: PageContext, app: AppSecrets): Html | null {
  const { mayMakeSecret, mayHandOver, handsOverSecret, hasPasskey, secrets, isPaused } = app;
  if (!mayMakeSecret && !mayHandOver) return null;
  const heading = handsOverSecret
    ? `Give the developer a ${secrets.length > 0 ? 'new ' : ''}secret`
    : 'Give the developer the addresses';
  const before = handsOverSecret && secrets.length > 0 && `${secretBefore(isPaused)} `;
  return html`<h3>${heading}</h3>
<p>${before}${passkeyNeeded(hasPasskey, handsOverSecret ? 'making a secret' : 'making a link')}</p>
<ul class="things">${mayHandOver && html`<li>${handOverWay(context, app)}</li>`}${mayMakeSecret && html`<li>${newSecretWay(app)}</li>`}</ul>`;
}

function handOverWay({ messages }: PageContext, { id, handOver, handsOverSecret }: AppSecrets): Html {
  const ends = handOver?.isOpen
    ? ` If you make another, the link of ${messages.minute(handOver.madeAt)} stops working.`
    : '';
  const use = handsOverSecret
    ? 'You get a link. The developer makes the secret there, and nobody else sees it.'
    : 'You get a link. It shows the client ID and the addresses to use.';
  return way({
    heading: handsOverSecret ? 'By a pick-up link (recommended)' : 'By a pick-up link',
    effect: `${use} It works once, within 72 hours.${ends}`,
    action: `/apps/${encodeURIComponent(id)}/hand-over`,
    name: 'Make a pick-up link',
  });
}

function newSecretWay({ id, once }: AppSecrets): Html {
  return way({
    heading: 'See it yourself',
    effect: 'You see the new secret once, and pass it on over a safe channel.',
    action: `/apps/${encodeURIComponent(id)}/secrets`,
    name: 'Make a new secret',
    fields: html`<input type="hidden" name="once" value="${once}">`,
  });
}

function way({ heading, effect, action, name, fields }: ShownAct & { readonly heading: string }): Html {
  return html`<div><h4>${heading}</h4><p>${effect}</p></div><form method="post" action="${action}">${fields}<button class="secondary">${name}</button></form>`;
}

/** The facts of a hand-over of an app, API or product. */
export function handOverFacts({ messages }: PageContext, handOver: ShownHandOver) {
  const { madeAt, madeBy, expiresAt, fetchedAt, fetchedFrom, endedAt, endedWhy, isOpen } = handOver;
  return [
    ['Made', html`${messages.minute(madeAt)} by ${isolated(madeBy)}`],
    [
      'Fetched',
      fetchedAt !== null &&
        html`${messages.minute(fetchedAt)}${fetchedFrom !== null && html` from ${isolatedAddress(fetchedFrom)}`}`,
    ],
    ['Ended', endedAt !== null && html`${messages.minute(endedAt)}${endedWhy !== null && html`: ${ENDED[endedWhy]}`}`],
    ['State', isOpen && html`Waits for the developer until ${messages.minute(expiresAt)}`],
    ['Expired', !isOpen && fetchedAt === null && endedAt === null && messages.minute(expiresAt)],
  ] as const;
}

const ENDED = {
  replaced: 'a newer link took its place',
  'secret changed': 'the secrets or keys changed',
  paused: 'it was paused',
  deleted: 'it was deleted',
  restored: 'the database was restored',
} as const;
