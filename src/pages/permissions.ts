import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import type { Messages } from './messages/messages.ts';

/** What a person decided on a permission before. */
export type EarlierDecision = 'allowed' | 'left_out';

/** What an app can do with a permission. */
export type PermissionEffect = keyof Messages['permissions']['effects'];

/** One scope that an app may use, as people read it. */
export type Permission = {
  name: string;
  /** The operator's sentence for it in the page's language, if there is one. */
  sentence: string | null;
  /** What the operator says that the app can do with it, if they say so. */
  effect?: PermissionEffect | null;
  /** Whether the person may leave it out. */
  optional?: boolean;
  /** What the person decided on it, if they gave the app access before. */
  earlier?: EarlierDecision | null;
};

/** What `/v2/me` may show of a person besides the ID. */
export type PersonField = keyof Messages['permissions']['fields'];

/** What an app gets of the person, as far as their account has it; `isNew` where it asks for more of that than it has. */
export type PersonSeen = { fields: readonly PersonField[]; isNew: boolean };

/** The list of what an app may do: who the person is (null: not in this list), then one line a scope. */
export function permissionList(
  messages: Messages,
  permissions: readonly Permission[],
  person: readonly PersonField[] | null,
): Html {
  const lines = permissions.map((permission) => permissionText(messages, permission));
  return checkedList(person === null ? lines : [personText(messages, person), ...lines]);
}

/** Who the person is, field by field. */
function personText({ permissions: texts }: Messages, fields: readonly PersonField[]): Html {
  const detail = fields.length === 0 ? texts.nobody : texts.list(fields.map((field) => texts.fields[field]));
  return html`<span>${texts.identity}<small>${detail}</small></span>`;
}

/** What a permission means, in words, and what it does. */
export function permissionText({ permissions: texts }: Messages, { name, sentence, effect }: Permission): Html {
  const said = sentence ? texts.sentence(sentence) : texts.scope(name);
  return html`<span>${said}${effect && html` <em class="effect ${effect}">${texts.effects[effect]}</em>`}</span>`;
}

/** A list of permissions, each with a check mark. */
function checkedList(texts: readonly Html[]): Html {
  return html`<ul class="permissions">\n${texts.map((text) => html`<li>${icons.check}${text}</li>\n`)}</ul>`;
}
