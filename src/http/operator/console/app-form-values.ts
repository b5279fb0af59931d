/** An app's settings as its form has them: from the app, and from a posted form to the members of a request's body. */
import { hash } from 'node:crypto';
import type { Client } from '../../../oauth/clients/client.ts';
import { PERSON_FIELDS } from '../../../oauth/grants/person-fields.ts';
import type { Scope } from '../../../oauth/grants/scope.ts';
import type { Parameters } from '../../../oauth/protocol/parameters.ts';
import { DEFAULT_SETTINGS } from '../../../operator/client-settings.ts';
import type { Members } from '../../../operator/fields/field.ts';
import type { AppFormValues } from '../../../pages/operator/apps/app-form-fields.ts';

/** Returns the values of a form for an app; for a new one, its defaults. */
export function valuesOf(client: Omit<Client, 'id'> | null): AppFormValues {
  const its = { name: '', type: 'confidential', ...DEFAULT_SETTINGS, ...client };
  return {
    name: its.name,
    type: its.type,
    hand_over: 'link',
    redirect_uris: its.redirectUris.join('\n'),
    scopes: its.scopes.map(({ name }) => name),
    optional_scopes: its.scopes.filter(({ optional }) => optional).map(({ name }) => name),
    other_scopes: '',
    publisher: its.publisher ?? '',
    homepage: its.homepage ?? '',
    privacy_page: its.privacyPage ?? '',
    contact: its.contact ?? '',
    consent: its.consent,
    person_fields: its.personFields,
    default_resource: its.defaultResource ?? '',
    require_pkce: its.requirePkce,
    device_flow: its.deviceFlow,
    is_checked: its.isChecked,
  };
}

/** Returns the values of a posted form, as they were typed. */
export function typedValues(form: Parameters): AppFormValues {
  const text = (name: string) => form.get(name) ?? '';
  const flag = (name: string) => form.get(name) === 'true';
  return {
    name: text('name'),
    type: text('type'),
    hand_over: text('hand_over'),
    redirect_uris: text('redirect_uris'),
    scopes: form.all('scopes'),
    optional_scopes: form.all('optional_scopes'),
    other_scopes: text('other_scopes'),
    publisher: text('publisher'),
    homepage: text('homepage'),
    privacy_page: text('privacy_page'),
    contact: text('contact'),
    consent: text('consent'),
    person_fields: form.all('person_fields'),
    default_resource: text('default_resource'),
    require_pkce: flag('require_pkce'),
    device_flow: flag('device_flow'),
    is_checked: flag('is_checked'),
  };
}

/**
 * Returns the members that the values stand for; `had` are the scopes that the app has, which keep their sentences. Equal
 * settings are equal members.
 */
export function membersOf(values: AppFormValues, had: readonly Scope[]): Members {
  const orNull = (text: string) => text.trim() || null;
  return {
    name: values.name.trim(),
    publisher: orNull(values.publisher),
    homepage: orNull(values.homepage),
    privacy_page: orNull(values.privacy_page),
    contact: orNull(values.contact),
    redirect_uris: partsOf(values.redirect_uris, /\r?\n/),
    scopes: scopesOf(values, had),
    consent: values.consent,
    person_fields: inOrder(PERSON_FIELDS, values.person_fields),
    default_resource: orNull(values.default_resource),
    require_pkce: values.require_pkce,
    device_flow: values.device_flow,
    is_checked: values.is_checked,
  };
}

/** Returns the members that typed values would change of an app, as a merge patch (RFC 7396). */
export function changedMembers(client: Client, typed: AppFormValues): Members {
  const present = membersOf(valuesOf(client), client.scopes);
  const members = Object.entries(membersOf(typed, client.scopes));
  return Object.fromEntries(members.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(present[name])));
}

/** Returns the digests of the values that a form begins with, in JSON: the values themselves would double the form. */
export function shownOf(values: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, digestOf(value)])));
}

/**
 * Returns what a form goes on with after somebody else changed its object: typed values, and the present ones where nothing was
 * typed. `shown` is `shownOf` the values that the form began with.
 */
export function typedOver<Values extends object>(present: Values, typed: Values, shown: string): Values {
  const before = digestsIn<Values>(shown);
  const names = Object.keys(present) as (keyof Values)[];
  const isTyped = (name: keyof Values) => digestOf(typed[name]) !== before[name];
  return Object.fromEntries(names.map((name) => [name, (isTyped(name) ? typed : present)[name]])) as Values;
}

/** Only a form of ours has these, and whoever sends others only keeps more of what they typed. */
function digestsIn<Values>(shown: string): Partial<Record<keyof Values, unknown>> {
  try {
    return Object(JSON.parse(shown));
  } catch {
    return {};
  }
}

function digestOf(value: unknown): string {
  return hash('sha256', settled(value), 'base64url').slice(0, 22);
}

/** Returns a value as text: browsers send lines with CRLF, and boxes in the order of the page. */
function settled(value: unknown): string {
  return String(JSON.stringify(Array.isArray(value) ? [...value].sort() : value)).replaceAll('\\r\\n', '\\n');
}

function scopesOf({ scopes, optional_scopes: optional, other_scopes: others }: AppFormValues, had: readonly Scope[]) {
  const names = inOrder(
    had.map(({ name }) => name),
    new Set([...scopes, ...partsOf(others, /\s+/)]),
  );
  return names.map((name) => ({
    name,
    sentence: had.find((scope) => scope.name === name)?.sentence ?? null,
    optional: optional.includes(name),
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
