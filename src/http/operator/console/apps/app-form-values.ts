/** The values of an app's form: from the app, and from a posted form to the members of a request's body. */
import type { Client } from '../../../../oauth/clients/client.ts';
import type { Scope } from '../../../../oauth/grants/scope.ts';
import type { Parameters } from '../../../../oauth/parameters.ts';
import { CLIENT_SETTINGS, NEW_CLIENT_SETTINGS, type NewClient } from '../../../../operator/fields/client-fields.ts';
import { isObject, type Kind, type Members } from '../../../../operator/fields/field.ts';
import { type Described, described, hasDefault, withDefaults } from '../../../../operator/fields/setting.ts';
import type { AppFormValues } from '../../../../pages/operator/apps/app-form-fields.ts';

const { handOver: _, ...settings } = NEW_CLIENT_SETTINGS;

/** Settings of a new app's form, which asks in its own words how the developer gets the secret. */
export const FORM_SETTINGS = settings;

/** The settings whose value is in one field. Scopes are in three. */
const ONE_FIELD = described(FORM_SETTINGS).filter(({ field }) => field.kind !== 'scopes');

/** Returns the values of a form for an app; for a new one, its defaults. */
export function valuesOf(client: Client | null): AppFormValues {
  const app = withDefaults<Omit<NewClient, 'handOver'>>(FORM_SETTINGS, client ?? { name: '' });
  const values = ONE_FIELD.map(({ name, member, field }) => [member, formValue(field.kind, app[name])]);
  return {
    ...Object.fromEntries(values),
    scopes: app.scopes.map(({ name }) => name),
    optional_scopes: app.scopes.filter(({ optional }) => optional).map(({ name }) => name),
    other_scopes: '',
    hand_over: 'link',
  };
}

function formValue(kind: Kind, value: unknown): AppFormValues[string] {
  if (kind === 'flag' || kind === 'some') return value as boolean | string[];
  if (kind === 'texts') return (value as string[]).join('\n');
  if (kind === 'keys') return (value as []).length === 0 ? '' : JSON.stringify(value, null, 1);
  return value === null ? '' : String(value);
}

/** Returns the values of a posted form, as they were typed. `before` are those that the app has. */
export function typedValues(form: Parameters, before: AppFormValues): AppFormValues {
  const typed = ONE_FIELD.map(({ member, field }) => [member, typedValue(field.kind, member, form, before)]);
  return {
    ...Object.fromEntries(typed),
    scopes: form.all('scopes'),
    optional_scopes: form.all('optional_scopes'),
    other_scopes: form.get('other_scopes') ?? '',
    hand_over: form.get('hand_over') ?? '',
  };
}

/** A browser sends every text and every choice of one: one that is not sent was not in the form, and stays as it is. */
function typedValue(kind: Kind, member: string, form: Parameters, before: AppFormValues) {
  if (kind === 'flag') return form.get(member) === 'true';
  if (kind === 'some') return form.all(member);
  return form.get(member) ?? before[member];
}

/** Returns the members that typed values would change of an app, as a merge patch (RFC 7396). */
export function changedMembers(client: Client, typed: AppFormValues): Members {
  const present = membersOf(valuesOf(client), client.scopes);
  const members = Object.entries(membersOf(typed, client.scopes));
  return Object.fromEntries(members.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(present[name])));
}

/**
 * Returns the members that the values stand for; `had` are the scopes that the app has, which keep their sentences. Equal
 * settings are equal members.
 */
export function membersOf(values: AppFormValues, had: readonly Scope[]): Members {
  const members = described(CLIENT_SETTINGS).map((setting) => {
    const { member, field } = setting;
    return [member, field.kind === 'scopes' ? scopesIn(values, had) : memberValue(setting, values[member])];
  });
  return Object.fromEntries(members);
}

function memberValue(setting: Described, value: AppFormValues[string] | undefined): unknown {
  if (typeof value === 'string') return valueIn(value.trim(), setting);
  return typeof value === 'object' ? inOrder(setting.field.words ?? [], value) : value;
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

/** Returns the scopes that are chosen or typed, those that the app has first and in their order. */
function scopesIn({ scopes, optional_scopes, other_scopes }: AppFormValues, had: readonly Scope[]): Scope[] {
  const chosen = new Set([...scopes, ...partsOf(other_scopes, /\s+/)]);
  const names = inOrder(
    had.map(({ name }) => name),
    [...chosen],
  );
  return names.map((name) => ({
    name,
    sentence: had.find((scope) => scope.name === name)?.sentence ?? null,
    optional: optional_scopes.includes(name),
  }));
}

/** Returns the chosen ones: first those of an order, then the others. */
function inOrder(order: readonly string[], chosen: readonly string[]): string[] {
  return [...order.filter((each) => chosen.includes(each)), ...chosen.filter((each) => !order.includes(each))];
}

function partsOf(text: string, between: RegExp): string[] {
  return text
    .split(between)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
