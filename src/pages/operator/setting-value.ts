/** Values of settings on the operators' pages. */
import { type Html, type HtmlValue, html } from '../html/html.ts';
import { breakableAddress, isolated } from '../html/isolated-text.ts';
import type { Facts } from './table.ts';

/** A setting with its label and value. `areWords`: the value is in words of ours, such as those of a choice. */
export type SettingRow = {
  readonly name: string;
  readonly label: string;
  readonly kind: string;
  readonly lines: readonly string[];
  readonly areWords: boolean;
};

/** Returns settings as facts. */
export function settingFacts(rows: readonly SettingRow[]): Facts {
  return rows.map((row) => [row.label, settingValue(row)]);
}

/** Returns the value of a setting. */
export function settingValue({ kind, lines: all, areWords }: SettingRow): HtmlValue {
  if (areWords) return capital(all.join(', '));
  const value = (text: string) => (kind === 'text' ? isolated(text) : breakableAddress(text, 2000));
  const [first = '', ...others] = all;
  return others.length === 0 && kind !== 'texts' ? value(first) : lines(all.map(value));
}

/** Returns words with a capital letter. */
export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns several values, each in a line. */
export function lines(items: readonly HtmlValue[]): Html {
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}
