import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import type { Messages } from '../messages/messages.ts';

/** The user's earlier decision on a permission. */
export type EarlierDecision = 'allowed' | 'left_out';

/** Kind of effect that a permission has. */
export type PermissionEffect = keyof Messages['permissions']['effects'];

/** A scope of an app, as users read it. */
export type Permission = {
  name: string;
  /** The operator's sentence for it in the page's language, if there is one. */
  sentence: string | null;
  /** The effect, if the operator has named it. */
  effect?: PermissionEffect | null;
  /** True if the user may decline it. */
  optional?: boolean;
  /** The earlier decision, if the user gave the app access before. */
  earlier?: EarlierDecision | null;
};

/** A profile field that `/v2/me` may show, besides the ID. */
export type PersonField = keyof Messages['permissions']['fields'];

/**
 * The profile fields that an app gets, as far as the account has them, and whether it signs the user in; `isNew` if it asks for
 * more of that than it has.
 */
export type PersonSeen = { fields: readonly PersonField[]; signsIn: boolean; isNew: boolean };

/** True if a page may show every effect: each of its permissions has one. Otherwise it marks the sensitive ones alone. */
export function haveEffects(permissions: readonly Permission[]): boolean {
  return permissions.length > 0 && permissions.every(({ effect }) => (effect ?? null) !== null);
}

/** True for a permission with which an app could do harm. */
export function isSensitive({ effect }: Permission): boolean {
  return effect === 'sensitive';
}

/**
 * The list of an app's permissions: the profile (null: not in this list), then one line per scope. A sensitive one has a
 * warning in place of the check mark.
 */
export function permissionList(
  messages: Messages,
  permissions: readonly Permission[],
  person: readonly PersonField[] | null,
  showsEffects: boolean,
): Html {
  return html`<ul class="permissions">
${person !== null && html`<li>${icons.check}${personText(messages, person, showsEffects)}</li>\n`}${permissions.map((each) => html`<li${isSensitive(each) && html` class="sensitive"`}>${isSensitive(each) ? icons.warning : icons.check}${permissionText(messages, each, showsEffects)}</li>\n`)}</ul>`;
}

/** The list of what an app that signs the user in gets of them, one by one. */
export function signInList({ permissions: texts }: Messages, fields: readonly PersonField[]): Html {
  const detail = fields.length === 0 && html`<small>${texts.nobody}</small>`;
  return html`<ul class="permissions">
<li>${icons.check}<span>${texts.signsIn}${detail}</span></li>
${fields.map((field) => html`<li>${icons.check}<span>${texts.gets(texts.fields[field])}</span></li>\n`)}</ul>`;
}

/** Returns the profile fields in words. */
function personText({ permissions: texts }: Messages, fields: readonly PersonField[], showsEffects: boolean): Html {
  const detail = fields.length === 0 ? texts.nobody : texts.list(fields.map((field) => texts.fields[field]));
  return html`<span>${texts.identity}${showsEffects && effectPill(texts, 'reads')}<small>${detail}</small></span>`;
}

/** Returns a permission's meaning in words, and its effect if it is sensitive or all effects are shown. */
export function permissionText(
  { permissions: texts }: Messages,
  { name, sentence, effect }: Permission,
  showsEffects: boolean,
): Html {
  const said = sentence ? texts.sentence(sentence) : texts.scope(name);
  return html`<span>${said}${effect && (showsEffects || effect === 'sensitive') && effectPill(texts, effect)}</span>`;
}

/** A pill with the word of an effect. */
export function effectPill({ effects }: Messages['permissions'], effect: PermissionEffect): Html {
  return html` <em class="effect ${effect}">${effects[effect]}</em>`;
}
