/** The page that shows an invitation once. */
import type { Invited } from '../../../accounts/passwords/invitation.ts';
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import type { ShownOperator } from '../frame.ts';
import { shownOncePage } from '../operators-page.ts';

/** The page of a link where a person sets a password. It names the person whom the link is for, and the link that it ended (ms). */
export function invitationPage(
  context: PageContext,
  operator: ShownOperator,
  { id, name, email, invitation: { expiresAt } }: Invited,
  url: string,
  endedOf: number | null,
): Html {
  const person = html`${name !== null && html`${isolated(name)}, `}${isolatedAddress(email)}`;
  const { messages } = context;
  return shownOncePage(context, {
    operator,
    heading: 'The link to set a password',
    lead: html`Give this link to the person alone (${person}), over a channel that nobody else reads: it sets the password. It works once, until ${messages.minute(expiresAt)}.${endedOf !== null && html` The earlier link of ${messages.minute(endedOf)} no longer works.`}`,
    text: url,
    back: `/people/${encodeURIComponent(id)}`,
  });
}
