/** The answer to the registration of an app: what its developer needs. */
import { type Html, type HtmlValue, html } from '../../html.ts';
import { isolated } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import type { PickedUpData } from '../../pick-up-page.ts';
import { doneNotice } from '../act.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { facts } from '../table.ts';
import { APPS, appHref } from './app-page.ts';

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
  /** Values for the developer: the ID, the secret if it is shown, and addresses. */
  values: PickedUpData['values'];
};

/** The page that shows a new app's id, secret or link, and addresses. */
export function registeredPage(context: PageContext, { operator, id, name, once, values }: RegisteredData): Html {
  const page = appHref(id);
  const [lead, secret] = onceOf(context, once);
  return consoleLayout(
    context,
    operator,
    { title: 'The app is registered', section: 'Apps', parents: [APPS, [page, name]], here: 'Registered' },
    html`<h1>${isolated(name)} is registered</h1>
<p class="lead">${lead}</p>
${once.kind === 'shown before' && doneNotice('The form was sent twice. One app was registered.')}
${secret}
<section class="part"><h2>For the developer</h2>
${facts(values.map(([label, value]) => [context.messages.pickUp.values[label], codes(value)] as const))}</section>
<p class="part"><a class="button primary" href="${page}">Go to the app</a></p>`,
  );
}

function onceOf({ messages }: PageContext, once: RegisteredData['once']): readonly [lead: string, secret: HtmlValue] {
  switch (once.kind) {
    case 'link':
      return [
        'Next: send this link to the developer, over a channel that nobody else reads.',
        html`<p class="secret">${code(once.text)}</p>
<p>It works once, until ${messages.minute(once.until)}, and shows the secret with the values below. You see the link only now: it is gone when you load this page again.</p>`,
      ];
    case 'secret':
      return [
        'Next: copy the secret now, and send these values to the developer, over a channel that nobody else reads. The secret is gone when you load this page again.',
        null,
      ];
    case 'none':
      return ['Next: send these values to the developer. The app has no secret.', null];
    case 'shown before':
      return [
        'The secret or the link was in the first answer. If you did not see it, make a new link on the app’s page.',
        null,
      ];
  }
}

function codes(value: string | readonly string[]): Html {
  const all = [value].flat().map(code);
  return all.length === 1 ? html`${all}` : html`<ul>${all.map((each) => html`<li>${each}</li>`)}</ul>`;
}

function code(text: string): Html {
  return html`<code>${text}</code>`;
}
