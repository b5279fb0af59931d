/** The scopes, with the meaning that users read. */

import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedCode } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { ConsolePage } from '../frame.ts';
import { emptyList } from '../listing.ts';
import { type RegistrationsData, registrationsPage } from './list-page.ts';

/** A scope: `sentences` by language; `createdAt` in ms. */
export type ShownScope = {
  readonly name: string;
  readonly sentences: Readonly<Record<string, string>>;
  readonly effect: keyof typeof EFFECTS | null;
  readonly createdAt: number;
};

const EFFECTS = { reads: 'Reads', changes: 'Changes', sensitive: 'Sensitive' } as const;

/** The page of all scopes. */
export function scopesPage(context: PageContext, data: RegistrationsData<ShownScope>): ConsolePage {
  return registrationsPage(data, {
    title: 'Scopes',
    path: '/scopes',
    lead: 'What each scope lets an app do, in the words that users read before they allow it.',
    none: NO_SCOPES,
    columns: [
      ['Scope', ({ name }) => isolatedCode(name)],
      ['Meaning', ({ sentences }) => meaning(sentences)],
      ['Effect', ({ effect }) => (effect === null ? 'Not said' : EFFECTS[effect])],
      ['Defined', ({ createdAt }) => context.messages.day(createdAt)],
    ],
    below: CHANGE,
  });
}

const CHANGE = html`<section class="part"><h2>Change a scope</h2><p>With <code>valetkey scope define --help</code> or <code>valetkey scope delete --help</code>, or through the API at <code>/v1/scopes/{name}</code>.</p></section>`;

/** The English sentence, or else the first one, with the languages of the others. */
function meaning(sentences: ShownScope['sentences']): Html {
  const [language = '', text = ''] = 'en' in sentences ? ['en', sentences['en']] : (Object.entries(sentences)[0] ?? []);
  const others = Object.keys(sentences).filter((each) => each !== language);
  return html`${isolated(text, 300)}${others.length > 0 && html`<small>Also in ${isolated(others.join(', '), 200)}</small>`}`;
}

const NO_SCOPES = emptyList(
  'No scope yet',
  html`Define one with <code>valetkey scope define --help</code>. Until then, users read the sentence that the app has for a scope, or its bare name.`,
);
