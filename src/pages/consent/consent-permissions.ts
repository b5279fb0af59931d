import { type Html, html } from '../html/html.ts';
import type { Messages } from '../messages/messages.ts';
import {
  haveEffects,
  isSensitive,
  type Permission,
  type PersonSeen,
  permissionList,
  permissionText,
  signInList,
} from './permission-list.ts';

/**
 * The requested permissions in the consent form: first the profile, then required permissions, then optional ones; in
 * both lists, sensitive permissions come first. Permissions that the app already has are listed apart. An optional
 * one is ticked only if the user chose it before. `choice` has the optional scopes of an answer that was not
 * accepted; null if there was none.
 */
export function requestedPermissions(
  messages: Messages,
  asked: readonly Permission[],
  choice: readonly string[] | null,
  asksForMore: boolean,
  person: PersonSeen,
): Html {
  const { consent: texts } = messages;
  const permissions = sensitiveFirst(asked);
  if (person.signsIn) return requestedSignIn(messages, permissions, choice, asksForMore, person);
  const showsEffects = haveEffects(asked);
  if (!asksForMore) {
    const required = permissions.filter(({ optional }) => !optional);
    return html`<h2>${texts.permissions}</h2>
${permissionList(messages, required, person.fields, showsEffects)}
${options(messages, permissions, choice, showsEffects)}`;
  }
  const held = permissions.filter(({ earlier }) => earlier === 'allowed');
  const added = permissions.filter((each) => !held.includes(each));
  const required = added.filter(({ optional }) => !optional);
  return html`<h2>${texts.permissionsMore}</h2>
${(required.length > 0 || person.isNew) && permissionList(messages, required, person.isNew ? person.fields : null, showsEffects)}
${options(messages, added, choice, showsEffects)}
<div class="already"><h3>${texts.permissionsAlready}</h3>
${permissionList(messages, held, person.isNew ? null : person.fields, showsEffects)}</div>
${held.map(({ optional, name }) => optional && html`<input type="hidden" name="scope" value="${name}">\n`)}`;
}

/** The same where the app signs the user in: that comes first, with each profile field. */
function requestedSignIn(
  messages: Messages,
  permissions: readonly Permission[],
  choice: readonly string[] | null,
  asksForMore: boolean,
  { fields, isNew }: PersonSeen,
): Html {
  const { consent: texts } = messages;
  const showsEffects = haveEffects(permissions);
  const held = asksForMore ? permissions.filter(({ earlier }) => earlier === 'allowed') : [];
  const added = permissions.filter((each) => !held.includes(each));
  const required = added.filter(({ optional }) => !optional);
  const isAdded = isNew || !asksForMore;
  const list = (heading: Html, some: readonly Permission[]) =>
    some.length > 0 && html`${heading}\n${permissionList(messages, some, null, showsEffects)}\n`;
  return html`${isAdded && html`<h2>${texts.signIn.effects}</h2>\n${signInList(messages, fields)}\n`}
${list(html`<h2>${isAdded ? texts.signIn.also : texts.permissionsMore}</h2>`, required)}
${options(messages, added, choice, showsEffects)}
${!isAdded && html`<div class="already"><h3>${texts.signIn.already}</h3>\n${signInList(messages, fields)}</div>\n`}
${held.length > 0 && html`<div class="already">${list(html`<h3>${texts.permissionsAlready}</h3>`, held)}</div>`}
${held.map(({ optional, name }) => optional && html`<input type="hidden" name="scope" value="${name}">\n`)}`;
}

/** The end of a list may be below the screen, so the most harmful permission must not be there. */
function sensitiveFirst(permissions: readonly Permission[]): Permission[] {
  return permissions.toSorted((a, b) => Number(isSensitive(b)) - Number(isSensitive(a)));
}

function options(
  messages: Messages,
  permissions: readonly Permission[],
  chosen: readonly string[] | null,
  showsEffects: boolean,
): Html | null {
  const optional = permissions.filter((each) => each.optional);
  if (optional.length === 0) return null;
  const isTicked = ({ name, earlier }: Permission) => (chosen ? chosen.includes(name) : earlier === 'allowed');
  // Enter on a checkbox presses the form's first button, which must not be Allow. This button does nothing outside a
  // dialog.
  return html`<button hidden formmethod="dialog"></button>
<fieldset class="options">
<legend>${messages.consent.optional}</legend>
${optional.map((each) => html`<label><input type="checkbox" name="scope" value="${each.name}"${isTicked(each) && html` checked`}>${permissionText(messages, each, showsEffects)}</label>\n`)}</fieldset>`;
}
