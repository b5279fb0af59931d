/** The change of a registration, for the audit trail. */
import { jsonName } from '../../oauth/json-name.ts';
import type { SettingChange } from '../../oauth/trail/event-members.ts';

/** Returns each setting that was given, by its name in JSON, with the entries that were removed and added. */
export function changesOf<Settings extends object>(before: Settings, given: Partial<Settings>): SettingChange[] {
  return Object.entries(given).map(([name, after]) => {
    const old = entriesOf(before[name as keyof Settings]);
    const now = entriesOf(after);
    return {
      name: jsonName(name),
      removed: old.filter((entry) => !now.includes(entry)),
      added: now.filter((entry) => !old.includes(entry)),
    };
  });
}

/** A setting is a list of texts, scopes or keys, a single value, or null for none. */
function entriesOf(setting: unknown): string[] {
  if (setting === null || setting === undefined) return [];
  return [setting].flat().map((entry) => {
    const { name, kid } = Object(entry) as { name?: string; kid?: string };
    return name ?? kid ?? (typeof entry === 'object' ? 'a key without an id' : String(entry));
  });
}
