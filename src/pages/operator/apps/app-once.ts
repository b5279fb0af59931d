/** An app's texts that are shown once: the pick-up link for its developer, or its secret. */
import { html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { ShownOnce } from '../shown-once.ts';

/** A pick-up link, which works until a time (ms). */
export type PickUpLink = {
  readonly name: string;
  readonly address: string;
  readonly expiresAt: number;
  /** False for an app without a secret: the developer gets the addresses alone. */
  readonly makesSecret: boolean;
};

/** The pick-up link of an app. */
export function pickUpLink(
  { messages }: PageContext,
  { name, address, expiresAt, makesSecret }: PickUpLink,
): ShownOnce {
  const use = makesSecret
    ? html`This link makes the client secret of ${isolated(name)}, and shows it once, with everything else that you need.`
    : html`This link shows the client ID of ${isolated(name)}, and the addresses that you need.`;
  return {
    heading: 'Send this link to the developer',
    text: address,
    message: html`${use} It works once, until ${messages.minute(expiresAt)}. Please tell us if it says that it was used already.`,
    channels: makesSecret ? LINK_CHANNELS : 'Any channel is right: nothing that the link shows is secret.',
  };
}

const LINK_CHANNELS = html`Email or a direct message is fine if only the developer reads it. A group, a mailing list or a ticket is not: the first person who uses the link gets the secret. Previews and mail scanners do not use it up. If somebody else was first, the link tells the developer that it was used, and the app’s page says when and from which network. Then retire that secret, and make another link.`;

/** The secret of an app, whose developer has none yet or replaces one. */
export function appSecret(text: string): ShownOnce {
  return {
    heading: 'Copy this secret for the developer',
    text,
    message: null,
    channels:
      'Whoever has the secret can act as the app, and nobody can see who read it. Share it in a password manager or a secret store. Email and chat keep it: never use them for a secret. With a pick-up link, only its developer sees the secret.',
  };
}
