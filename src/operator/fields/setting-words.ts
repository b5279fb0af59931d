/** The words of changed settings in events, by their names in JSON: those of their descriptions. */
import { jsonName } from '../../oauth/json-name.ts';
import { CLIENT_SETTINGS, NEW_CLIENT_SETTINGS } from './client-fields.ts';
import { PROVIDER_SETTINGS } from './identity-provider-fields.ts';
import { RESOURCE_SERVER_SETTINGS } from './resource-server-fields.ts';
import { described, type Setting, type Settings } from './setting.ts';

/**
 * The words of a setting: its label, and of a list the noun of an entry. `values` has words of single values, `none` stands for a
 * missing one. A value of `seconds` is a duration.
 */
export type SettingWords = {
  readonly label: string;
  readonly kind: 'value' | 'seconds' | 'list';
  readonly one: string;
  readonly values: Readonly<Record<string, string>>;
  readonly none: string;
};

const LISTS: readonly string[] = ['texts', 'some', 'keys', 'scopes'];

/** Returns the words of a setting; null for one that this release does not know. */
export function settingWords(name: string): SettingWords | null {
  return WORDS.get(name) ?? null;
}

function wordsOf({ label, field: { kind }, words = {}, none = 'none' }: Setting<unknown>): SettingWords {
  const values = Object.entries(words).map(([value, [text]]) => [value, text]);
  return {
    label,
    none,
    one: (label.charAt(0).toLowerCase() + label.slice(1)).replace(/s$/, ''),
    kind: kind === 'seconds' ? kind : LISTS.includes(kind) ? 'list' : 'value',
    values: Object.fromEntries(
      kind === 'flag' && values.length === 0
        ? [
            ['true', 'yes'],
            ['false', 'no'],
          ]
        : values,
    ),
  };
}

function named<Values>(settings: Settings<Values>): (readonly [string, SettingWords])[] {
  return described(settings).map((setting) => [jsonName(setting.name), wordsOf(setting)]);
}

/** A value that is no setting of a description. */
const other = (label: string): SettingWords => ({ label, kind: 'value', one: '', values: {}, none: 'none' });

const WORDS: ReadonlyMap<string, SettingWords> = new Map([
  ...named(PROVIDER_SETTINGS),
  ...named(RESOURCE_SERVER_SETTINGS),
  ...named(CLIENT_SETTINGS),
  ['type', wordsOf(NEW_CLIENT_SETTINGS.type)],
  ['jwks_uri', other('Address of the public keys')],
  ['role', other('Role')],
]);
