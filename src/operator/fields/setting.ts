/**
 * The description of a setting. Everything that is said of it comes from there: the member of a body and of an object, its
 * schema, the option of commands, the field of a form, its line in a list, and the act that setting it is.
 */
import { OperatorError } from '../../oauth/error.ts';
import { jsonName } from '../../oauth/json-name.ts';
import type { Act } from '../access/rights.ts';
import type { Field, Kind, Members } from './field.ts';

/** The description of one setting. */
export type Setting<Value> = {
  readonly field: Field<Value>;
  /**
   * The value of something new for which none is given, and the one that a null brings back, since a merge patch removes a
   * member by null (RFC 7396 §2). Without it the setting must be given, and cannot be removed.
   */
  readonly initial?: Value;
  /** The name of its member in JSON, if it is not its own name in snake case. */
  readonly member?: string;
  /** Its name for people. */
  readonly label: string;
  /** One sentence for forms, options and the API. */
  readonly help: string;
  /** The heading that it stands under; empty for a noun without groups. */
  readonly group: string;
  /** Its option; without one the commands have another way. */
  readonly option?: SettingOption;
  /** The defaults of other settings where this flag is set. */
  readonly implies?: Readonly<Record<string, unknown>>;
  /** The further act that it is to set it: to any value, or to any but the default. */
  readonly act?: readonly [act: Act, when: 'always' | 'unless default'];
  /** The words for people of a choice (`true` and `false` for a flag), with a hint for its form. */
  readonly words?: Readonly<Record<string, readonly [words: string, hint?: string]>>;
  /** The words for no value; without them a list omits the setting. */
  readonly none?: string;
};

/** The option of commands. */
export type SettingOption = {
  /** Such as `--privacy <url>`. */
  readonly flag: string;
  /** Its text in one of the commands, if the sentence of help does not say it. */
  readonly register?: string;
  readonly update?: string;
  /** The text of the option that takes it back (`--no-privacy`); without it there is none. */
  readonly no?: string;
};

/** The descriptions of all settings of a noun, in the order in which each face has them. */
export type Settings<Values> = { readonly [Name in keyof Values]-?: Setting<Values[Name]> };

/** A name in snake case. */
type InSnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${InSnakeCase<Rest>}`
  : Name;

/** Settings in JSON. */
export type InJson<Values> = { readonly [Name in keyof Values & string as InSnakeCase<Name>]: Values[Name] };

/** A setting with its own name, and the one of its member in JSON. */
export type Described<Name extends string = string> = Setting<unknown> & {
  readonly name: Name;
  readonly member: string;
};

/** Returns the settings of a noun, in their order. */
export function described<Values>(settings: Settings<Values>): Described<keyof Values & string>[] {
  const named = Object.entries(settings) as [keyof Values & string, Setting<unknown>][];
  return named.map(([name, setting]) => ({ ...setting, name, member: setting.member ?? jsonName(name) }));
}

/** Returns true if a setting may be left out, and removed. */
export function hasDefault(setting: Setting<unknown>): boolean {
  return Object.hasOwn(setting, 'initial');
}

/** Returns the settings of something in JSON. */
export function settingsJson<Values>(settings: Settings<Values>, values: Values): InJson<Values> {
  return Object.fromEntries(described(settings).map(({ name, member }) => [member, values[name]])) as InJson<Values>;
}

/** Returns the settings of something new: those that are given, and the defaults of the others. */
export function withDefaults<Values>(settings: Settings<Values>, given: Partial<Values>): Values {
  const initial = described(settings).filter(hasDefault);
  const defaults = Object.fromEntries(initial.map((setting) => [setting.name, setting.initial]));
  return { ...defaults, ...impliedBy(settings, given), ...given } as Values;
}

/** Returns the defaults of other settings that flags bring which are set. */
export function impliedBy<Values>(settings: Settings<Values>, set: Partial<Values>): Partial<Values> {
  const implying = described(settings).filter(({ name }) => set[name] === true);
  return Object.assign({}, ...implying.map(({ implies }) => implies)) as Partial<Values>;
}

/**
 * Reads the settings that a body has, such as those that a merge patch changes. Throws an `OperatorError` with the member for an
 * unknown one or a wrong type.
 */
export function readSettings<Values>(settings: Settings<Values>, members: Members): Partial<Values> {
  const known = new Map(described(settings).map((setting) => [setting.member, setting]));
  const read = Object.entries(members).map(([member, value]) => {
    const setting = known.get(member);
    if (setting === undefined)
      throw new OperatorError(`${member} cannot be set here. Set some of: ${[...known.keys()].join(', ')}`, member);
    return [setting.name, readSetting(setting, value)];
  });
  return Object.fromEntries(read) as Partial<Values>;
}

/** Reads all settings of something new; the defaults are in place of those that the body lacks. Throws `OperatorError`. */
export function readNew<Values>(settings: Settings<Values>, members: Members): Values {
  requireMembers(members, requiredMembers(settings));
  return withDefaults(settings, readSettings(settings, members));
}

/** Returns the members that a body of something new must have. */
export function requiredMembers<Values>(settings: Settings<Values>): string[] {
  const required = described(settings).filter((setting) => !hasDefault(setting));
  return required.map(({ member }) => member);
}

/** Throws an `OperatorError` for the first of these members that a body lacks. */
export function requireMembers(members: Members, names: readonly string[]): void {
  const missing = names.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined) throw new OperatorError(`${missing} is missing: add it to the body`, missing);
}

function readSetting(setting: Described, value: unknown): unknown {
  const { field, member } = setting;
  if (value === null && hasDefault(setting)) return setting.initial;
  const read = field.read(value);
  if (read === undefined) throw new OperatorError(`${member} must be ${field.type}`, member);
  return read;
}

/** Returns the further acts that it is to register something with these values, or to change them. */
export function actsOf<Values>(
  settings: Settings<Values>,
  values: Partial<Values>,
  how: 'registering' | 'changing',
): Act[] {
  const acts = described(settings).flatMap(({ name, act, initial }) => {
    if (act === undefined || values[name] === undefined) return [];
    const isDefault = JSON.stringify(values[name]) === JSON.stringify(initial);
    return isDefault && (how === 'registering' || act[1] === 'unless default') ? [] : [act[0]];
  });
  return [...new Set(acts)];
}

/** A setting with its value, for people. */
export type SettingRow = {
  /** The name in JSON. */
  readonly name: string;
  readonly label: string;
  readonly group: string;
  readonly kind: Kind;
  readonly lines: readonly string[];
  /** True if the lines are words of ours: a choice, a number, or that there is no value. */
  readonly areWords: boolean;
};

/**
 * Returns the settings of something for people; those without a value, and without words for that, are left out. `defaults` are
 * the installation's durations (s), where they are known.
 */
export function settingRows<Values>(
  settings: Settings<Values>,
  values: Values,
  defaults: { readonly [Name in keyof Values]?: unknown } = {},
): SettingRow[] {
  return described(settings).flatMap(({ name, member, ...setting }) => {
    const { label, group, field, none } = setting;
    const lines = linesOf(setting, values[name]);
    const row = { name: member, label, group, kind: field.kind };
    if (lines.length > 0) return [{ ...row, lines, areWords: ['flag', 'one', 'some', 'seconds'].includes(field.kind) }];
    const words = defaults[name] === undefined ? none : `${defaults[name]} s, ${none}`;
    return words === undefined ? [] : [{ ...row, lines: [words], areWords: true }];
  });
}

function linesOf({ field, words = {} }: Setting<unknown>, value: unknown): string[] {
  const named = (each: unknown) => words[String(each)]?.[0] ?? String(each);
  if (value === null) return [];
  if (field.kind === 'some') return (value as []).length === 0 ? [] : [(value as unknown[]).map(named).join(', ')];
  if (field.kind === 'flag') return [words[String(value)]?.[0] ?? (value ? 'yes' : 'no')];
  if (field.kind === 'seconds') return [`${value} s`];
  return [value].flat().map((each) => (typeof each === 'object' ? nameOf(each) : named(each)));
}

/** Returns the name of a scope, or the id of a key. */
function nameOf(entry: object | null): string {
  const { name, kid } = Object(entry) as { name?: string; kid?: string };
  return name ?? kid ?? 'a key without an id';
}
