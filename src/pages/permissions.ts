import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import type { Messages } from './messages/messages.ts';

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

/** The profile fields that an app gets, as far as the account has them; `isNew` if it asks for more of them than it has. */
export type PersonSeen = { fields: readonly PersonField[]; isNew: boolean };

/** The list of an app's permissions: the profile (null: not in this list), then one line per scope. */
export function permissionList(
  messages: Messages,
  permissions: readonly Permission[],
  person: readonly PersonField[] | null,
): Html {
  const lines = permissions.map((permission) => permissionText(messages, permission));
  return checkedList(person === null ? lines : [personText(messages, person), ...lines]);
}

/** Returns the profile fields in words. */
function personText({ permissions: texts }: Messages, fields: readonly PersonField[]): Html {
  const detail = fields.length === 0 ? texts.nobody : texts.list(fields.map((field) => texts.fields[field]));
  return html`<span>${texts.identity}<small>${detail}</small></span>`;
}

/** Returns a permission's meaning in words, and its effect. */
export function permissionText({ permissions: texts }: Messages, { name, sentence, effect }: Permission): Html {
  const said = sentence ? texts.sentence(sentence) : texts.scope(name);
  return html`<span>${said}${effect && html` <em class="effect ${effect}">${texts.effects[effect]}</em>`}</span>`;
}

/** A list of permissions, each with a check mark. */
function checkedList(texts: readonly Html[]): Html {
  return html`<ul class="permissions">\n${texts.map((text) => html`<li>${icons.check}${text}</li>\n`)}</ul>`;
}
