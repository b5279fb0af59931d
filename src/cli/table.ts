/** Tables and cards for people. Nothing is ever cut off: part of an id is of no use. */

/** A field of a card: a label and its value; several values get a line each. */
export type Field = readonly [label: string, value: string | readonly string[]];

/**
 * Rows under headings, or a card for each row if they do not fit the width. A column without any value is left out.
 */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const said = headings.map((_, i) => i).filter((i) => rows.some((row) => row[i]));
  const lines = [headings, ...rows].map((row) => said.map((i) => row[i] ?? ''));
  const widths = said.map((_, i) => lines.reduce((most, line) => Math.max(most, columns(line[i] ?? '')), 0));
  const line = (cells: readonly string[]) => cells.map((cell, i) => pad(cell, widths[i] ?? 0)).join('  ');
  const total = widths.reduce((sum, each) => sum + each + 2, -2);
  if (total <= width) return lines.map((cells) => line(cells).trimEnd());
  return rows.flatMap((row) => [...card(said.map((i) => [headings[i] ?? '', row[i] ?? ''])), '']).slice(0, -1);
}

/** Labels with their values, aligned. Fields without a value are left out. */
export function card(fields: readonly Field[]): string[] {
  const width = Math.max(...fields.map(([label]) => columns(label)));
  return fields.flatMap(([label, value]) =>
    [value]
      .flat()
      .filter((text) => text !== '')
      .map((text, i) => `${pad(i === 0 ? label : '', width)}  ${text}`),
  );
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const WITHOUT_WIDTH = /[\p{M}\p{Cf}]/u;

/** How many columns of a terminal a text takes: East Asian characters and emoji take two, marks none. */
function columns(text: string): number {
  return [...text].reduce((sum, one) => sum + (WITHOUT_WIDTH.test(one) ? 0 : WIDE.test(one) ? 2 : 1), 0);
}
