/** The steps that end a found one-time link. */
import { type Html, html } from '../../html/html.ts';

/** A found one-time link. */
export type ShownLink = {
  readonly kind: 'pick-up link' | 'invitation link' | 'enrollment link' | 'sign-in link';
  readonly isAlive: boolean;
  /** True if somebody used it. */
  readonly isUsed: boolean;
  /** Path of the owner's page, and the noun of the owner. */
  readonly href: string;
  readonly noun: string;
  /** The acts that end the link and that the role allows. */
  readonly may: Readonly<
    Partial<Record<'handOver' | 'pause' | 'invite' | 'disable' | 'reset' | 'endSessions', boolean>>
  >;
};

/** The steps that the role allows. */
export function linkSteps(link: ShownLink): Html {
  return html`<section class="part"><h2>What to do now</h2>
${link.isAlive ? ending(link) : ended(link)}
<p><a class="button secondary" href="${link.href}">Open the ${link.noun}</a></p></section>`;
}

function ended({ isUsed, noun }: ShownLink): Html {
  if (!isUsed) return html`<p>Nothing: the link gives no access now.</p>`;
  return html`<p>Ask the developer who used the link. If it was somebody else, replace the secret of the ${noun} at once.</p>`;
}

function ending(link: ShownLink): Html {
  const steps = STEPS[link.kind](link);
  const shown = steps.filter(([isAllowed]) => isAllowed).map(([, step]) => html`<li>${step}</li>`);
  return html`<p>${DANGERS[link.kind]}</p>
${shown.length > 0 ? html`<ul>${shown}</ul>` : html`<p>Your role cannot end it. Ask an operator with the role “admin” at once.</p>`}`;
}

const DANGERS = {
  'pick-up link': 'The first person to use the link gets a secret. Opening it does not use it up.',
  'invitation link': 'The first person to use the link sets the invited person’s password.',
  'enrollment link': 'The first person to use the link enrolls a passkey, and acts as the operator.',
  'sign-in link': 'The first person to use the link is signed in as the operator for an hour.',
} as const;

type Step = readonly [isAllowed: boolean | undefined, step: Html];

const END_SESSIONS = html`<strong>End all sessions of the operator</strong>: it ends this link, too. You need a passkey for this.`;

/** The steps of each kind, each with whether the role allows it. */
const STEPS: Readonly<Record<ShownLink['kind'], (link: ShownLink) => readonly Step[]>> = {
  'pick-up link': ({ noun, may }) => [
    [
      may.handOver,
      html`<strong>Make another pick-up link</strong>: it ends this one. You need a passkey for this.${noun !== 'app' && ' The page names the command.'}`,
    ],
    [
      may.pause,
      html`<strong>Pause the ${noun}</strong>: it ends this link, and every request of the ${noun} is refused until you resume it.`,
    ],
  ],
  'invitation link': ({ may }) => [
    [
      may.invite,
      html`<strong>Invite the person again</strong>: the new invitation link ends this one. You need a passkey for this.`,
    ],
    [
      may.disable,
      html`<strong>Disable the person</strong>: it ends this link, and all sessions and access of the person.`,
    ],
  ],
  'enrollment link': ({ may }) => [
    [may.endSessions, END_SESSIONS],
    [
      may.reset,
      html`<strong>Reset the operator</strong>: it ends this link, all passkeys and all sessions, and gives you a new enrollment link. You need a passkey for this.`,
    ],
  ],
  'sign-in link': ({ may }) => [[may.endSessions, END_SESSIONS]],
};
