/** The scopes in an app's form. */
import { type Html, html } from '../../html.ts';
import { isolated } from '../../isolated.ts';
import { type AppForm, presentNote, textField } from './app-form-fields.ts';

/** A scope to choose, with the sentence that users read, or null. */
export type OfferedScope = { readonly name: string; readonly sentence: string | null };

/** The choice of the scopes that are known, and a field for others. */
export function scopeFields(form: AppForm, scopes: readonly OfferedScope[]): Html {
  const others = textField(form, 'other_scopes', scopes.length === 0 ? 'Scopes' : 'Other scopes', {
    isOptional: true,
    hint: 'Names, with spaces between them. Until a scope is defined, users see its bare name.',
    attributes: html` spellcheck="false" autocapitalize="none"`,
  });
  if (scopes.length === 0) return others;
  return html`<fieldset class="options scopes"><legend>Scopes</legend>${scopes.map((scope) => scopeField(form, scope))}
<span class="hint">The app may ask users for these. If you mark one as optional, users may leave it out.</span>${presentNote(form, 'scopes')}${presentNote(form, 'optional_scopes')}</fieldset>
${others}`;
}

function scopeField({ values }: AppForm, { name, sentence }: OfferedScope): Html {
  const box = (field: 'scopes' | 'optional_scopes') =>
    html`<input type="checkbox" name="${field}" value="${name}"${values[field].includes(name) && html` checked`}>`;
  return html`<div><label>${box('scopes')}<span><code>${name}</code>${sentence !== null && html`<small>${isolated(sentence, 200)}</small>`}</span></label><label>${box('optional_scopes')}<span>Optional<span class="unseen">: ${name}</span></span></label></div>
`;
}
