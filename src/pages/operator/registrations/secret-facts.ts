/** The live secrets and the newest hand-over of an API or product, and the commands that change the rest. */
import { type Html, html } from '../../html/html.ts';
import { isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { handOverFacts, type ShownHandOver } from '../apps/app-secrets.ts';
import { facts } from '../table.ts';

/** A live secret. Times in ms. */
export type LiveSecret = { readonly createdAt: number; readonly lastUsedAt: number | null };

/** When each live secret was made and last used, newest first. */
export function secretWords({ messages }: PageContext, secrets: readonly LiveSecret[]): Html | null {
  if (secrets.length === 0) return null;
  return html`<ul>${secrets.map(
    ({ createdAt, lastUsedAt }) =>
      html`<li>made ${messages.minute(createdAt)}, ${lastUsedAt === null ? 'never used' : `last used ${messages.minute(lastUsedAt)}`}</li>`,
  )}</ul>`;
}

/** The newest hand-over at a time (ms); null without one. */
export function handOverPart(context: PageContext, handOver: ShownHandOver | null): Html | null {
  return (
    handOver &&
    html`<section class="part"><h2>Newest pick-up link</h2>${facts(handOverFacts(context, handOver))}</section>`
  );
}

/** The commands of acts that no page does. */
export function commandsPart(command: 'resource-server' | 'identity-provider', id: string): Html {
  const commands = [
    ['Change settings', `${command} update ${id} --help`],
    ['Make a new secret, and see it yourself', `${command} rotate-secret ${id}`],
    ['Give the developer a new secret by a pick-up link', `${command} rotate-secret ${id} --hand-over`],
    ['Retire the older secret', `${command} retire-secret ${id}`],
  ] as const;
  return html`<section class="part"><h2>Change it</h2>
<p>With a command, or through the API at <code>${isolatedAddress(`/v1/${command}s/${id}`)}</code>:</p>
<dl class="rows">${commands.map(
    ([what, command]) => html`<div><dt>${what}</dt><dd><code>${isolatedAddress(`valetkey ${command}`)}</code></dd></div>
`,
  )}</dl></section>`;
}
