/** The fields of an app's form, one for each setting. Each has the setting's name in JSON, by which a refusal names its field. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import { type ActProblem, asSentence } from '../act-button.ts';

/** Values of the fields: as they were typed, or as the app has them. Lists of lines and of names are one text. */
export type AppFormValues = Readonly<Record<string, string | boolean | readonly string[]>> & {
  /** Names of the chosen scopes, of those that are optional among them, and further ones that are typed. */
  readonly scopes: readonly string[];
  readonly optional_scopes: readonly string[];
  readonly other_scopes: string;
};

/** A choice: its value, its words, and a hint. */
export type Choice = readonly [value: string, words: string, hint?: string];

/** A setting to fill in. */
export type FormField = {
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly kind: string;
  /** True if it may be left empty. */
  readonly isOptional: boolean;
  readonly isReadOnly?: boolean;
  /** The choices; of a yes or no, the words for yes. */
  readonly choices: readonly Choice[];
};

/** The state of a form. */
export type AppForm = {
  readonly values: AppFormValues;
  /** The values before anything is typed: the defaults of a new app, or the app's own. */
  readonly initial: AppFormValues;
  /** The reason of a refusal, or null. */
  readonly problem: ActProblem | null;
  /** Present values of the app, if somebody else changed it since the form was made; otherwise null. */
  readonly present: AppFormValues | null;
};

/** Returns true if a field's value is chosen, or one of those that are. */
export function isChosen({ values }: AppForm, name: string, value: string): boolean {
  return [values[name]].flat().includes(value);
}

/** A field for a setting, except for scopes. */
export function settingField(form: AppForm, field: FormField): Html {
  if (field.kind === 'flag') return flagField(form, field);
  if (field.kind === 'one' || field.kind === 'some') return choiceField(form, field);
  const { look, hint = '' } = Object.hasOwn(TEXTS, field.kind) ? (TEXTS[field.kind] as TextKind) : TEXT;
  const required = !field.isOptional && html` required maxlength="100"`;
  return textField(
    form,
    { ...field, help: `${field.help} ${hint}`.trim() },
    html`${look}${required}${field.isReadOnly && html` readonly`}`,
  );
}

/** The look of a kind of texts, and what its hint says of the form. */
type TextKind = { readonly look?: Html; readonly hint?: string };

const TEXT: TextKind = {};
const TEXTS: Readonly<Record<string, TextKind>> = {
  page: { look: html` inputmode="url" spellcheck="false"`, hint: 'An https address.' },
  texts: { hint: 'One per line.' },
  seconds: { look: html` inputmode="numeric"`, hint: 'In seconds; leave it empty for the default.' },
};

/** A field for a text, or for several lines. */
export function textField(form: AppForm, field: Omit<FormField, 'choices'>, attributes?: HtmlValue): Html {
  const { name, label, help, kind, isOptional } = field;
  const notes = notesOf(form, name, help);
  const shared = html`id="${idOf(name)}" name="${name}"${notes.attributes}${attributes}`;
  const value = String(form.values[name]);
  const isLong = kind === 'texts' || kind === 'keys';
  const input = isLong
    ? // A first line break in a `textarea` is dropped.
      html`<textarea ${shared} rows="3" spellcheck="false">
${value}</textarea>`
    : html`<input ${shared} value="${value}">`;
  return html`<div class="field"><label for="${idOf(name)}">${label}${isOptional && !isLong && ' (optional)'}</label>${input}${notes.text}</div>
`;
}

/** A choice of one, or of some. */
export function choiceField(form: AppForm, { name, label, help, kind, choices }: FormField): Html {
  const notes = notesOf(form, name, help === '' ? null : help);
  const [look, type] = kind === 'one' ? ['options', 'radio'] : ['options short', 'checkbox'];
  return html`<fieldset class="${look}" id="${name}"${notes.description}><legend>${label}</legend>${choices.map(
    ([value, words, hint]) =>
      html`<label><input type="${type}" name="${name}" value="${value}"${isChosen(form, name, value) && html` checked`}><span>${words}${hint !== undefined && hint !== '' && html`<small>${hint}</small>`}</span></label>
`,
  )}${notes.text}</fieldset>
`;
}

/** A choice of yes or no. */
function flagField(form: AppForm, { name, label, help, choices: [[, yes] = ['true', '']] }: FormField): Html {
  const notes = notesOf(form, name);
  return html`<div class="options"><label><input type="checkbox" id="${name}" name="${name}" value="true"${form.values[name] === true && html` checked`}${notes.attributes}><span>${label}${yes !== '' && `: ${yes}`}<small>${help}</small></span></label>${notes.text}</div>
`;
}

/** Returns the setting that a field is of. */
function idOf(name: string): string {
  return name === 'other_scopes' ? 'scopes' : name;
}

/** The texts below a field, and the attributes that refer to them. */
type Notes = { readonly text: Html; readonly description: Html | null; readonly attributes: Html };

/** Returns the hint of a field, the reason of its refusal, and its present value if somebody else changed it. */
function notesOf(form: AppForm, name: string, hint: HtmlValue = null): Notes {
  const { problem } = form;
  const isWrong = problem?.field === idOf(name);
  const isOther = isChanged(form, name);
  const ids = [hint !== null && 'hint', isWrong && 'problem', isOther && 'present'].filter((kind) => kind !== false);
  const description =
    ids.length > 0 ? html` aria-describedby="${ids.map((kind) => `${name}-${kind}`).join(' ')}"` : null;
  return {
    text: html`${hint !== null && html`<span class="hint" id="${name}-hint">${hint}</span>`}${isWrong && html`<span class="hint wrong" id="${name}-problem">${asSentence(problem.text)}</span>`}${presentNote(form, name)}`,
    description,
    attributes: html`${description}${isWrong && html` aria-invalid="true"`}`,
  };
}

/** The present value of a field that has another in the form, after somebody else changed the app; null for all others. */
export function presentNote(form: AppForm, name: string): Html | null {
  if (form.present === null || !isChanged(form, name)) return null;
  const text = `${PRESENT_OF[name] ?? 'Present value'}: ${wordsOf(form.present[name])}`;
  return html`<span class="hint wrong" id="${name}-present">${isolated(text, 1000)}</span>`;
}

const PRESENT_OF: Readonly<Record<string, string>> = {
  scopes: 'Present scopes',
  optional_scopes: 'Presently optional',
};

function isChanged({ values, present }: AppForm, name: string): boolean {
  return present !== null && wordsOf(values[name]) !== wordsOf(present[name]);
}

/** Returns true if one of these fields is wrong, typed in, or changed by somebody else. */
export function needsALook(form: AppForm, names: readonly string[]): boolean {
  const { values, initial, problem, present } = form;
  if (present !== null) return true;
  return names.some((name) => problem?.field === name || wordsOf(values[name]) !== wordsOf(initial[name]));
}

function wordsOf(value: AppFormValues[string] = ''): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? value.trim().replace(/\s+/g, ' ') : [...value].sort().join(', ');
  return text === '' ? 'none' : text;
}
