/** The page that shows an invitation once. */
import type { Invited } from '../../../accounts/passwords/invitation.ts';
import { html } from '../../html/html.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { ConsolePage } from '../frame.ts';
import { shownOncePage } from '../shown-once.ts';

/** The page of a link where a person sets a password. It names the person whom the link is for, and the link that it ended (ms). */
export function invitationPage(
  context: PageContext,
  { id, name, email, invitation: { expiresAt } }: Invited,
  url: string,
  endedOf: number | null,
): ConsolePage {
  const { messages } = context;
  const person = html`${name !== null && html`${isolated(name)}, `}${isolatedAddress(email)}`;
  return shownOncePage(context, {
    heading: 'The link to set a password',
    lead: endedOf === null ? undefined : `The earlier link of ${messages.minute(endedOf)} no longer works.`,
    once: {
      heading: html`Send this link to the person alone (${person})`,
      text: url,
      message: html`With this link, you choose your password. It works once, until ${messages.minute(expiresAt)}. Please tell us if it says that it doesn’t work any more.`,
      channels:
        'Email or a direct message is fine if only this person reads it. A group or a ticket is not: the first person who uses the link sets the password. Previews and mail scanners do not use it up. If somebody else was first, the link no longer works for this person, and Events shows when and from which address it was used. Then disable the person at once.',
    },
    next: { href: `/people/${encodeURIComponent(id)}`, noun: 'the person', name: name ?? email },
  });
}
