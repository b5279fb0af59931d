/** Describes the change of a registration for the audit trail, and reads such a description. */
import { jsonName } from './fields/field.ts';

/** A changed setting, by its name in JSON, with the entries that were removed and added. */
export type SettingChange = {
  readonly name: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

/**
 * Each setting that was given, by its name in JSON, with the entries that were removed (`-`) and added (`+`). If none were,
 * only the name: then something else of an entry changed, such as a scope's sentence. An entry that could pass for the text
 * around it is a JSON string, so that no name or key id forges a change.
 */
export function changesOf<Settings extends object>(before: Settings, given: Partial<Settings>): string {
  return Object.entries(given)
    .map(([name, after]) => [jsonName(name), ...difference(before[name as keyof Settings], after)].join(' '))
    .join('; ');
}

const PLAIN = '[^\\s";]+';
const QUOTED = '"(?:[^"\\\\\\u0000-\\u001f]|\\\\["\\\\/bfnrt]|\\\\u[0-9a-f]{4})*"';
const ENTRY = `[-+](?:${PLAIN}|${QUOTED})`;
const SETTING = `[a-z][a-z0-9_]*(?: ${ENTRY})*`;
/** The description of changes, as a pattern. */
export const CHANGES = `${SETTING}(?:; ${SETTING})*`;
const [IS_CHANGES, IS_PLAIN] = [new RegExp(`^${CHANGES}$`), new RegExp(`^${PLAIN}$`)];
const [EACH_SETTING, EACH_ENTRY] = [new RegExp(SETTING, 'g'), new RegExp(`(?<= )${ENTRY}`, 'g')];

/** Reads what `changesOf` returned; null for any other text. */
export function readChanges(text: string): SettingChange[] | null {
  if (!IS_CHANGES.test(text)) return null;
  return (text.match(EACH_SETTING) ?? []).map((setting) => {
    const [name = ''] = setting.split(' ', 1);
    const entries = setting.match(EACH_ENTRY) ?? [];
    const of = (sign: string) =>
      entries.filter((entry) => entry.startsWith(sign)).map((entry) => unquoted(entry.slice(1)));
    return { name, removed: of('-'), added: of('+') };
  });
}

function difference(before: unknown, after: unknown): string[] {
  const [old, now] = [entriesOf(before), entriesOf(after)];
  const gone = old.filter((entry) => !now.includes(entry)).map((entry) => `-${quoted(entry)}`);
  return [...gone, ...now.filter((entry) => !old.includes(entry)).map((entry) => `+${quoted(entry)}`)];
}

/** A setting is a list of texts, scopes or keys, a single value, or null for none. */
function entriesOf(setting: unknown): string[] {
  if (setting === null || setting === undefined) return [];
  return [setting].flat().map((entry) => {
    const { name, kid } = Object(entry) as { name?: string; kid?: string };
    return name ?? kid ?? (typeof entry === 'object' ? 'a key without an id' : String(entry));
  });
}

function quoted(entry: string): string {
  return IS_PLAIN.test(entry) ? entry : JSON.stringify(entry);
}

function unquoted(entry: string): string {
  return entry.startsWith('"') ? (JSON.parse(entry) as string) : entry;
}
