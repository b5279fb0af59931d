import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import type { Messages } from './messages/messages.ts';

/** What a person decided on a permission before. */
export type EarlierDecision = 'allowed' | 'left_out';

/** One scope that an app may use, as people read it. */
export type Permission = {
  name: string;
  /** The operator's sentence for it in the page's language, if there is one. */
  sentence: string | null;
  /** Whether the person may leave it out. */
  optional?: boolean;
  /** What the person decided on it, if they gave the app access before. */
  earlier?: EarlierDecision | null;
};

/** The list of what an app may do: always who the person is, then one line a scope. */
export function permissionList(messages: Messages, permissions: readonly Permission[]): Html {
  const { identity, identityDetail } = messages.permissions;
  const person = html`<span>${identity}<small>${identityDetail}</small></span>`;
  return checkedList([person, ...permissions.map((permission) => permissionText(messages, permission))]);
}

/** What a permission means, in words. */
export function permissionText({ permissions: texts }: Messages, { name, sentence }: Permission): Html {
  return html`<span>${sentence ? texts.sentence(sentence) : texts.scope(name)}</span>`;
}

/** A list of permissions, each with a check mark. */
export function checkedList(texts: readonly Html[]): Html {
  return html`<ul class="permissions">\n${texts.map((text) => html`<li>${icons.check}${text}</li>\n`)}</ul>`;
}
