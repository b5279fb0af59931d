import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import type { Messages } from './messages/messages.ts';

/** One scope that an app may use: its name, and the operator's sentence for it if there is one. */
export type Permission = { name: string; sentence: string | null };

/** The list of what an app may do: always who the person is, then one line a scope. */
export function permissionList({ permissions: texts }: Messages, permissions: readonly Permission[]): Html {
  const identity = html`<span>${texts.identity}<small>${texts.identityDetail}</small></span>`;
  const others = permissions.map(
    ({ name, sentence }) => html`<span>${sentence ? texts.sentence(sentence) : texts.scope(name)}</span>`,
  );
  const items = [identity, ...others].map((text) => html`<li>${icons.check}${text}</li>\n`);
  return html`<ul class="permissions">\n${items}</ul>`;
}
