/** An app's settings as its form has them: from the app, and from a posted form to the members of a request's body. */
import { hash } from 'node:crypto';
import type { Client } from '../../../oauth/clients/client.ts';
import type { Scope } from '../../../oauth/grants/scope.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import { ACTS } from '../../../operator/access/rights.ts';
import {
  CLIENT_GROUPS,
  CLIENT_SETTINGS,
  NEW_CLIENT_SETTINGS,
  type NewClient,
} from '../../../operator/fields/client-fields.ts';
import { isObject, type Kind, type Members } from '../../../operator/fields/field.ts';
import { type Described, described, hasDefault, withDefaults } from '../../../operator/fields/setting.ts';
import type { AppFormValues, FormField } from '../../../pages/operator/apps/app-form-fields.ts';
import type { FormGroup } from '../../../pages/operator/apps/app-form-page.ts';
import { capital } from '../../../pages/operator/setting-value.ts';

/** The settings of a form. How the developer gets the secret is asked in words of its own. */
const { handOver: _, ...FORM_SETTINGS } = NEW_CLIENT_SETTINGS;
/** The members that an app's metadata document has, if there is one. */
const OF_DOCUMENT: readonly string[] = ['redirect_uris', 'keys'];
const PASSKEY = 'You need your passkey for this.';

/** Returns the fields of a form under their headings, for an app; null for a new one. */
export function formGroups(client: Client | null): FormGroup[] {
  const fields = described(client === null ? FORM_SETTINGS : CLIENT_SETTINGS);
  const isReadOnly = (member: string) =>
    client !== null && client.documentSha256 !== null && OF_DOCUMENT.includes(member);
  return CLIENT_GROUPS.map((title) => ({
    title,
    fields: fields.filter(({ group }) => group === title).map((one) => fieldOf(one, isReadOnly(one.member))),
  }));
}

function fieldOf(setting: Described, isReadOnly: boolean): FormField {
  const { member: name, label, field, words = {}, initial } = setting;
  const isChoice = field.kind === 'one';
  const hints = needsPasskey(setting) ? [PASSKEY] : [];
  return {
    name,
    label,
    kind: field.kind,
    isOptional: hasDefault(setting),
    isReadOnly,
    help: isReadOnly ? 'From the app’s metadata document.' : [setting.help, ...(isChoice ? [] : hints)].join(' '),
    choices: (field.words ?? ['true']).map((word) => {
      const [text = '', hint] = words[word] ?? [];
      const all = [hint ?? '', ...(isChoice && word !== initial ? hints : [])].filter((sentence) => sentence !== '');
      return [word, field.kind === 'flag' ? text : capital(text), all.join(' ')];
    }),
  };
}

function needsPasskey({ act }: Described): boolean {
  const needs = act && ACTS[act[0]];
  return typeof needs === 'object' && 'presence' in needs;
}

/** Returns the values of a form for an app; for a new one, its defaults. */
export function valuesOf(client: Client | null): AppFormValues {
  const its = withDefaults<Omit<NewClient, 'handOver'>>(FORM_SETTINGS, client ?? { name: '' });
  const values = described(FORM_SETTINGS).map(({ name, member, field }) => [member, formValue(field.kind, its[name])]);
  const optional = its.scopes.filter((scope) => scope.optional).map(({ name }) => name);
  return { ...Object.fromEntries(values), optional_scopes: optional, other_scopes: '', hand_over: 'link' };
}

function formValue(kind: Kind, value: unknown): AppFormValues[string] {
  if (kind === 'flag' || kind === 'some') return value as boolean | string[];
  if (kind === 'texts') return (value as string[]).join('\n');
  if (kind === 'scopes') return (value as Scope[]).map(({ name }) => name);
  if (kind === 'keys') return (value as []).length === 0 ? '' : JSON.stringify(value, null, 1);
  return value === null ? '' : String(value);
}

/**
 * Returns the values of a posted form, as they were typed. A browser sends every text and every choice of one: one that is not
 * sent was not in the form, and stays as it is.
 */
export function typedValues(form: Parameters, before: AppFormValues): AppFormValues {
  const typed = described(FORM_SETTINGS).map(({ member, field: { kind } }) => {
    if (kind === 'flag') return [member, form.get(member) === 'true'];
    return [member, kind === 'some' || kind === 'scopes' ? form.all(member) : (form.get(member) ?? before[member])];
  });
  return {
    ...Object.fromEntries(typed),
    optional_scopes: form.all('optional_scopes'),
    other_scopes: form.get('other_scopes') ?? '',
    hand_over: form.get('hand_over') ?? '',
  };
}

/**
 * Returns the members that the values stand for; `had` are the scopes that the app has, which keep their sentences. Equal
 * settings are equal members.
 */
export function membersOf(values: AppFormValues, had: readonly Scope[]): Members {
  const members = described(CLIENT_SETTINGS).map((setting) => {
    const { member, field } = setting;
    if (field.kind === 'scopes') return [member, scopesOf(values, had)];
    if (field.kind === 'some') return [member, inOrder(field.words ?? [], values[member] as readonly string[])];
    const value = values[member];
    return [member, typeof value === 'string' ? valueIn(value.trim(), setting) : value];
  });
  return Object.fromEntries(members);
}

/** Returns the value that a text stands for. A text that stands for none stays as it is, and is refused by its type. */
function valueIn(text: string, setting: Described): unknown {
  const { kind } = setting.field;
  if (kind === 'texts') return partsOf(text, /\r?\n/);
  if (text === '' && hasDefault(setting)) return kind === 'keys' ? [] : null;
  if (kind === 'seconds') return /^[0-9]+$/.test(text) ? Number(text) : text;
  return kind === 'keys' ? keysIn(text) : text;
}

/** Returns the keys in a JSON Web Key Set, a list or a single key (RFC 7517). */
function keysIn(text: string): unknown {
  try {
    const content: unknown = JSON.parse(text);
    return isObject(content) ? (content['keys'] ?? [content]) : content;
  } catch {
    return text;
  }
}

/** Returns the members that typed values would change of an app, as a merge patch (RFC 7396). */
export function changedMembers(client: Client, typed: AppFormValues): Members {
  const present = membersOf(valuesOf(client), client.scopes);
  const members = Object.entries(membersOf(typed, client.scopes));
  return Object.fromEntries(members.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(present[name])));
}

/** Returns the digests of the values that a form begins with, by name: the values themselves would double the form. */
export function shownOf(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}:${digestOf(value)}`)
    .join(' ');
}

/**
 * Returns what a form goes on with after somebody else changed its object: typed values, and the present ones where nothing was
 * typed. `shown` is `shownOf` the values that the form began with.
 */
export function typedOver<Values extends object>(present: Values, typed: Values, shown: string): Values {
  const before = shown.split(' ');
  const names = Object.keys(present) as (keyof Values & string)[];
  const isTyped = (name: keyof Values & string) => !before.includes(`${name}:${digestOf(typed[name])}`);
  return Object.fromEntries(names.map((name) => [name, (isTyped(name) ? typed : present)[name]])) as Values;
}

/** Only a form of ours has these, and whoever sends others only keeps more of what they typed. */
function digestOf(value: unknown): string {
  return hash('sha256', settled(value), 'base64url').slice(0, 16);
}

/** Returns a value as text: browsers send lines with CRLF, and boxes in the order of the page. */
function settled(value: unknown): string {
  return String(JSON.stringify(Array.isArray(value) ? [...value].sort() : value)).replaceAll('\\r\\n', '\\n');
}

function scopesOf(values: AppFormValues, had: readonly Scope[]) {
  const [chosen, optional] = [values['scopes'], values['optional_scopes']] as (readonly string[])[];
  const names = inOrder(
    had.map(({ name }) => name),
    new Set([...(chosen ?? []), ...partsOf(String(values['other_scopes']), /\s+/)]),
  );
  return names.map((name) => ({
    name,
    sentence: had.find((scope) => scope.name === name)?.sentence ?? null,
    optional: optional?.includes(name) ?? false,
  }));
}

/** Returns the chosen ones: first those of an order, then the others. */
function inOrder(order: readonly string[], chosen: Iterable<string>): string[] {
  const all = [...chosen];
  return [...order.filter((each) => all.includes(each)), ...all.filter((each) => !order.includes(each))];
}

function partsOf(text: string, between: RegExp): string[] {
  return text
    .split(between)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
