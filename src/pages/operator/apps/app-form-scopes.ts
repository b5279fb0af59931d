/** The scopes in an app's form. */
import { type Html, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import { type AppForm, type FormField, isChosen, presentNote, textField } from './app-form-fields.ts';

/** A scope to choose, with the sentence that users read, or null. */
export type OfferedScope = { readonly name: string; readonly sentence: string | null };

/** The choice of the scopes that are known, and a field for others. */
export function scopeFields(form: AppForm, { label, help }: FormField, scopes: readonly OfferedScope[]): Html {
  const others = textField(
    form,
    {
      name: 'other_scopes',
      label: scopes.length === 0 ? label : 'Other scopes',
      kind: 'text',
      isOptional: true,
      help: 'Names, with spaces between them. Until a scope is defined, users see its bare name.',
    },
    html` spellcheck="false" autocapitalize="none"`,
  );
  if (scopes.length === 0) return others;
  return html`<fieldset class="options scopes"><legend>${label}</legend>${scopes.map((scope) => scopeField(form, scope))}
<span class="hint">${help}</span>${presentNote(form, 'scopes')}${presentNote(form, 'optional_scopes')}</fieldset>
${others}`;
}

function scopeField(form: AppForm, { name, sentence }: OfferedScope): Html {
  const box = (field: 'scopes' | 'optional_scopes') =>
    html`<input type="checkbox" name="${field}" value="${name}"${isChosen(form, field, name) && html` checked`}>`;
  const code = html`<code>${name}</code>`;
  return html`<div><label>${box('scopes')}${sentence === null ? code : html`<span>${code}<small>${isolated(sentence, 200)}</small></span>`}</label><label>${box('optional_scopes')}<span>Optional<span class="unseen">: ${name}</span></span></label></div>`;
}
