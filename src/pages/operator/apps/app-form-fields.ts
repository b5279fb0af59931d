/** The fields of an app's form. Each has the setting's name in JSON, by which a refusal names its field. */
import { type Html, type HtmlValue, html } from '../../html.ts';
import { isolated } from '../../isolated.ts';
import { type ActProblem, asSentence } from '../act.ts';

/** Values of the fields: as they were typed, or as the app has them. Lists of lines and of names are one text. */
export type AppFormValues = {
  readonly name: string;
  readonly type: string;
  readonly hand_over: string;
  readonly redirect_uris: string;
  readonly scopes: readonly string[];
  readonly optional_scopes: readonly string[];
  readonly other_scopes: string;
  readonly publisher: string;
  readonly homepage: string;
  readonly privacy_page: string;
  readonly contact: string;
  readonly consent: string;
  readonly person_fields: readonly string[];
  readonly default_resource: string;
  readonly require_pkce: boolean;
  readonly device_flow: boolean;
  readonly is_checked: boolean;
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

/** The names of fields whose value has a type. */
type Named<Value> = {
  [Name in keyof AppFormValues]: AppFormValues[Name] extends Value ? Name : never;
}[keyof AppFormValues];

/** A choice: its value, its words, and a hint. */
export type Choice = readonly [value: string, words: HtmlValue, hint?: HtmlValue];

/** Further settings of a text field. */
type TextOptions = {
  readonly hint?: HtmlValue;
  readonly attributes?: Html;
  readonly isLong?: boolean;
  readonly isOptional?: boolean;
};

/** A field for a text, or for several lines. */
export function textField(form: AppForm, name: Named<string>, label: string, options: TextOptions = {}): Html {
  const { hint, attributes, isLong = false, isOptional = false } = options;
  const notes = notesOf(form, name, hint);
  const shared = html`id="${idOf(name)}" name="${name}" autocomplete="off"${notes.attributes}${attributes}`;
  const value = form.values[name];
  const field = isLong
    ? // A first line break in a `textarea` is dropped.
      html`<textarea ${shared} rows="3" spellcheck="false">
${value}</textarea>`
    : html`<input ${shared} value="${value}">`;
  return html`<div class="field"><label for="${idOf(name)}">${label}${isOptional && ' (optional)'}</label>${field}${notes.text}</div>
`;
}

/** A choice of one. */
export function radioField(form: AppForm, name: Named<string>, legend: string, choices: readonly Choice[]): Html {
  const notes = notesOf(form, name);
  return html`<fieldset class="options" id="${name}"${notes.description}><legend>${legend}</legend>${choices.map(
    ([value, words, hint]) =>
      html`<label><input type="radio" name="${name}" value="${value}"${form.values[name] === value && html` checked`}><span>${words}${hint !== undefined && html`<small>${hint}</small>`}</span></label>
`,
  )}${notes.text}</fieldset>
`;
}

/** A choice of some. */
export function someField(
  form: AppForm,
  name: Named<readonly string[]>,
  legend: string,
  choices: readonly Choice[],
  hint: HtmlValue,
): Html {
  const notes = notesOf(form, name, hint);
  return html`<fieldset class="options short" id="${name}"${notes.description}><legend>${legend}</legend>${choices.map(
    ([value, words]) =>
      html`<label><input type="checkbox" name="${name}" value="${value}"${form.values[name].includes(value) && html` checked`}><span>${words}</span></label>
`,
  )}${notes.text}</fieldset>
`;
}

/** A choice of yes or no. */
export function flagField(form: AppForm, name: Named<boolean>, words: string, hint: string): Html {
  const notes = notesOf(form, name);
  return html`<div class="options"><label><input type="checkbox" id="${name}" name="${name}" value="true"${form.values[name] && html` checked`}${notes.attributes}><span>${words}<small>${hint}</small></span></label>${notes.text}</div>
`;
}

/** Returns the setting that a field is of. */
function idOf(name: keyof AppFormValues): keyof AppFormValues {
  return name === 'other_scopes' ? 'scopes' : name;
}

/** The texts below a field, and the attributes that refer to them. */
type Notes = { readonly text: Html; readonly description: Html | null; readonly attributes: Html };

/** Returns the hint of a field, the reason of its refusal, and its present value if somebody else changed it. */
function notesOf(form: AppForm, name: keyof AppFormValues, hint: HtmlValue = null): Notes {
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
export function presentNote(form: AppForm, name: keyof AppFormValues): Html | null {
  if (form.present === null || !isChanged(form, name)) return null;
  const text = `${PRESENT_OF[name] ?? 'Present value'}: ${wordsOf(form.present[name])}`;
  return html`<span class="hint wrong" id="${name}-present">${isolated(text, 1000)}</span>`;
}

const PRESENT_OF: Partial<Record<keyof AppFormValues, string>> = {
  scopes: 'Present scopes',
  optional_scopes: 'Presently optional',
};

function isChanged({ values, present }: AppForm, name: keyof AppFormValues): boolean {
  return present !== null && wordsOf(values[name]) !== wordsOf(present[name]);
}

/** Returns true if one of these fields is wrong, typed in, or changed by somebody else. */
export function needsALook(form: AppForm, names: readonly (keyof AppFormValues)[]): boolean {
  const { values, initial, problem, present } = form;
  if (present !== null) return true;
  return names.some((name) => problem?.field === name || wordsOf(values[name]) !== wordsOf(initial[name]));
}

function wordsOf(value: AppFormValues[keyof AppFormValues]): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = typeof value === 'string' ? value.trim().replace(/\s+/g, ' ') : [...value].sort().join(', ');
  return text === '' ? 'none' : text;
}
