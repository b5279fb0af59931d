/** The answer to the registration of an app: what its developer needs. */
import type { PickedUpData } from '../../developers/pick-up-page.ts';
import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import { copyable, copyScriptTag } from '../../layout/copy-script.ts';
import type { PageContext } from '../../layout/layout.ts';
import { doneNotice } from '../act-button.ts';
import type { ConsolePage } from '../frame.ts';
import { type ShownOnce, shownOnce, wayOn } from '../shown-once.ts';
import { facts } from '../table.ts';
import { APPS, appHref } from './app-page.ts';

/** Data of the page. */
export type RegisteredData = {
  id: string;
  name: string;
  /** The secret or the link; `none` for an app without a secret; `shown before` if the form was sent twice, and the first answer had it. */
  once: RegisteredOnce;
  /** Values for the developer: the ID and addresses. */
  values: PickedUpData['values'];
};

type RegisteredOnce =
  | { readonly kind: 'secret' | 'link'; readonly shown: ShownOnce }
  | { readonly kind: 'none' | 'shown before' };

/** The page that shows a new app's secret or link, its id, and addresses. */
export function registeredPage(context: PageContext, { id, name, once, values }: RegisteredData): ConsolePage {
  const page = appHref(id);
  const shown = 'shown' in once ? once.shown : null;
  return {
    frame: {
      title: 'The app is registered',
      section: 'Apps',
      parents: [APPS, [page, name]],
      here: 'Registered',
      script: copyScriptTag(context),
    },
    main: html`<h1>${isolated(name)} is registered</h1>
<p class="lead">${LEADS[once.kind]}</p>
${once.kind === 'shown before' && doneNotice('The form was sent twice. One app was registered.')}
${shown && shownOnce(shown)}
<section class="part"><h2>For the developer</h2>
<p>${USES[once.kind]}</p>
${facts(
  values.map(([value, text]) => {
    const label = context.messages.pickUp.values[value];
    return [label, copyables(label, text)] as const;
  }),
)}</section>
${wayOn(shown, { href: page, noun: 'the app' })}`,
  };
}

const LEADS = {
  link: 'It has no secret yet: the developer makes the secret with this link.',
  secret: 'Its developer needs this secret, and the values below.',
  none: 'It has no secret. Its developer needs the values below.',
  'shown before':
    'The secret or the link was in the first answer. If you did not see it, make a new link on the app’s page.',
} as const;

const USES = {
  link: 'You need not send these values: the link shows all of them to the developer, with the secret.',
  secret: 'Send these values to the developer, too. None of them is secret: any channel is right.',
  none: 'Send these values to the developer. None of them is secret: any channel is right.',
  'shown before': 'The developer needs these values. A pick-up link shows all of them, with the secret.',
} as const;

function copyables(label: string, value: string | readonly string[]): Html {
  const all = [value].flat().map((text) => copyable(label, text));
  return all.length === 1 ? html`${all}` : html`<ul>${all.map((each) => html`<li>${each}</li>`)}</ul>`;
}
