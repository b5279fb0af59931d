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
 * The requested permissions in the consent form: first the person, then required permissions, then optional ones; in
 * both lists, sensitive permissions come first. The person is a line of the list, and where the app signs the user in, a
 * list of its own with each profile field. What the app already has is listed apart. An optional permission is ticked
 * only if the user chose it before. `choice` has the optional scopes of an answer that was not accepted; null if there
 * was none.
 */
export function requestedPermissions(
  messages: Messages,
  asked: readonly Permission[],
  choice: readonly string[] | null,
  asksForMore: boolean,
  { fields, signsIn, isNew }: PersonSeen,
): Html {
  const { consent: texts } = messages;
  const permissions = sensitiveFirst(asked);
  const showsEffects = haveEffects(asked);
  const held = asksForMore ? permissions.filter(({ earlier }) => earlier === 'allowed') : [];
  const added = permissions.filter((each) => !held.includes(each));
  const isAdded = isNew || !asksForMore;
  /** A list of permissions below the person, if `hasPerson`; null if it is empty. */
  const list = (heading: Html, some: readonly Permission[], hasPerson: boolean) => {
    const person = hasPerson && !signsIn ? fields : null;
    if (some.length === 0 && person === null) return null;
    return html`${heading}\n${permissionList(messages, some, person, showsEffects)}\n`;
  };
  const more = signsIn && isAdded ? texts.signIn.also : asksForMore ? texts.permissionsMore : texts.permissions;
  const required = added.filter(({ optional }) => !optional);
  const already = list(html`<h3>${texts.permissionsAlready}</h3>`, held, !isAdded);
  return html`${signsIn && isAdded && html`<h2>${texts.signIn.effects}</h2>\n${signInList(messages, fields)}\n`}
${list(html`<h2>${more}</h2>`, required, isAdded) ?? (!signsIn && html`<h2>${more}</h2>\n`)}
${options(messages, added, choice, showsEffects)}
${signsIn && !isAdded && html`<div class="already"><h3>${texts.signIn.already}</h3>\n${signInList(messages, fields)}</div>\n`}
${already && html`<div class="already">${already}</div>`}
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
