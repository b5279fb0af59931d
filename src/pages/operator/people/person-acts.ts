/** The acts on one person, each behind its effect. */
import { type Html, html } from '../../html/html.ts';
import { isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { actButton, dangerZone, plainAct } from '../act-button.ts';
import { appGrantsWords, numberWithNoun } from '../blast-radius.ts';
import { hasGrants } from '../effect-sentences.ts';
import { personFields } from './people-page.ts';
import type { PersonData } from './person-data.ts';

/** The fields of a form whose act is done only if the person still is as the page shows them. */
const asShownFields = (tag: string) => html`<input type="hidden" name="tag" value="${tag}">`;

/** The button that enables a disabled person; null for an active one, and where the operator's role forbids it. */
export function enableAct({ person: { id, status }, ended, rights, tag }: PersonData): Html | null {
  if (status === 'active' || !rights.support) return null;
  return plainAct({
    action: `/people/${encodeURIComponent(id)}/enable`,
    name: 'Enable the person',
    effect: `They can sign in again at once${hasGrants(ended) ? `, and apps may act again: ${appGrantsWords(ended)}` : ''}.`,
    fields: asShownFields(tag),
  });
}

/** The sections that change a person; those that the operator's role forbids are left out. */
export function personActs(
  { messages }: PageContext,
  { person, sessions, ended, rights, form, tag, at: time }: PersonData,
): Html {
  const at = `/people/${encodeURIComponent(person.id)}`;
  const isActive = person.status === 'active';
  const { email, invitation } = person;
  const grants = appGrantsWords(ended);
  const isAllowed = hasGrants(ended);
  const signedIn = sessions.length > 0 ? numberWithNoun(sessions.length, 'session') : null;
  const endings = [
    ...(signedIn === null ? [] : [signedIn]),
    ...(invitation ? ['the open link to set a password'] : []),
  ];
  const asShown = asShownFields(tag);
  const invite =
    rights.invite &&
    isActive &&
    email !== null &&
    actButton({
      action: `${at}/invite`,
      name: person.hasPassword ? 'Make a link for a new password' : 'Invite again',
      effect: html`Makes a one-time link where the person sets a password. ${invitation && html`The earlier link of ${messages.minute(invitation.at)} no longer works then. `}The address ${isolatedAddress(email)} then signs in with that password. You need a passkey for this.`,
      fields: asShown,
    });
  const dangers = dangerZone([
    rights.support &&
      signedIn !== null && {
        action: `${at}/end-sessions`,
        name: 'Sign out everywhere',
        effect: `Ends ${signedIn} here. Grants stay: apps go on.`,
      },
    rights.endGrants &&
      isAllowed && {
        action: `${at}/revoke-grants`,
        name: 'End all grants',
        effect: html`Ends ${grants}. Every app is refused at once. The person can allow each of them again.`,
      },
    rights.support &&
      isActive && {
        action: `${at}/disable`,
        name: 'Disable',
        effect: html`Refuses every sign-in and every request of apps, until you enable the person.${endings.length > 0 && ` Ends ${endings.join(' and ')}.`}${isAllowed && ` Grants stay, and work again then: ${grants}.`}`,
      },
    rights.delete && {
      action: `${at}/delete`,
      name: 'Delete',
      effect: html`Deletes the person for good, with ${signedIn ?? 'no session'} and ${grants}. The events stay. You need a passkey for this.`,
      fields: html`${asShown}<input type="hidden" name="at" value="${time}">`,
    },
  ]);
  return html`${(rights.update || invite) && html`<section class="part" id="change"><h2>Change</h2><div class="acts">${rights.update && changeForm(at, form)}${invite}</div></section>`}
${dangers}`;
}

function changeForm(at: string, { typed, shown, tag, isOpen }: PersonData['form']): Html {
  return html`<details class="act"${isOpen && html` open`}><summary>Change the email address, name or user name</summary>
<form method="post" action="${at}/update" class="narrow"><p>An email address that you set counts as verified. You need a passkey to change it.</p>
${asShownFields(tag)}<input type="hidden" name="shown" value="${shown}">
${personFields(typed)}
<button class="secondary">Save</button>
</form></details>`;
}
