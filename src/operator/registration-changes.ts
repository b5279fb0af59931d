/** Describes the change of a registration for the audit trail. */
import { jsonName } from './fields/field.ts';

/**
 * Each setting that was given, by its name in JSON, with the entries that were removed (`-`) and added (`+`). If none were,
 * only the name: then something else of an entry changed, such as a scope's sentence.
 */
export function changesOf<Settings extends object>(before: Settings, given: Partial<Settings>): string {
  return Object.entries(given)
    .map(([name, after]) => [jsonName(name), ...difference(before[name as keyof Settings], after)].join(' '))
    .join('; ');
}

function difference(before: unknown, after: unknown): string[] {
  const [old, now] = [entriesOf(before), entriesOf(after)];
  const gone = old.filter((entry) => !now.includes(entry)).map((entry) => `-${entry}`);
  return [...gone, ...now.filter((entry) => !old.includes(entry)).map((entry) => `+${entry}`)];
}

/** A setting is a list of texts, scopes or keys, a single value, or null for none. */
function entriesOf(setting: unknown): string[] {
  if (setting === null || setting === undefined) return [];
  return [setting].flat().map((entry) => {
    const { name, kid } = Object(entry) as { name?: string; kid?: string };
    return name ?? kid ?? (typeof entry === 'object' ? 'a key without an id' : String(entry));
  });
}
