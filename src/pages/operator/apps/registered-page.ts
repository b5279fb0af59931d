/** The answer to the registration of an app: what its developer needs. */
import { type Html, type HtmlValue, html } from '../../html.ts';
import { isolated } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { doneNotice } from '../act.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { facts } from '../table.ts';
import { appHref } from './app-page.ts';

/** A text that is shown once: the secret; or the developer's one-time link, good until a time (ms). */
export type ShownOnce =
  | { readonly kind: 'secret'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly until: number };

/** Data of the page. */
export type RegisteredData = {
  operator: ShownOperator;
  id: string;
  name: string;
  /** `none` for an app without a secret; `shown before` if the form was sent twice, and the first answer had it. */
  once: ShownOnce | { readonly kind: 'none' | 'shown before' };
  /** Names and addresses that the developer needs besides. */
  values: readonly (readonly [name: string, value: string])[];
};

/** The page that shows a new app's id, secret or link, and addresses. */
export function registeredPage(context: PageContext, { operator, id, name, once, values }: RegisteredData): Html {
  const page = appHref(id);
  const [lead, secret] = onceOf(context, once);
  return consoleLayout(
    context,
    operator,
    { title: 'The app is registered', section: 'Apps' },
    html`<h1>${isolated(name)} is registered</h1>
<p class="lead">${lead}</p>
${once.kind === 'shown before' && doneNotice('The form was sent twice. One app was registered.')}
${secret}
<section class="part"><h2>For the developer</h2>
${facts([
  ['client_id', code(id)],
  ...(once.kind === 'secret' ? [['client_secret', code(once.text)] as const] : []),
  ...values.map(([label, value]) => [label, code(value)] as const),
])}</section>
<p class="part"><a class="button primary" href="${page}">Go to the app</a></p>
<p class="fine">All times are UTC.</p>`,
  );
}

function onceOf({ messages }: PageContext, once: RegisteredData['once']): readonly [lead: string, secret: HtmlValue] {
  switch (once.kind) {
    case 'link':
      return [
        'Give the link to the developer, over a channel that nobody else reads. It shows the secret and all addresses.',
        html`<p class="secret">${code(once.text)}</p>
<p>The link works once, until ${messages.minute(once.until)}. It is shown only now, and is gone when you load this page again.</p>`,
      ];
    case 'secret':
      return [
        'Copy the secret now: it is shown only once, and is gone when you load this page again. Pass it on over a channel that nobody else reads.',
        null,
      ];
    case 'none':
      return ['The app has no secret. Give its developer these values.', null];
    case 'shown before':
      return [
        'The secret or the link was in the first answer. If you did not see it, make a new link on the app’s page.',
        null,
      ];
  }
}

function code(text: string): Html {
  return html`<code>${text}</code>`;
}
