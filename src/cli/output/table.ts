/**
 * Tables and cards for people. An id is never truncated, because a part of it is useless. A name may be, in a list with one
 * line per row.
 */

/** A field of a card: a label and its value; several values get a line each. */
export type Field = readonly [label: string, value: string | readonly string[]];

/** A column of a list; the last two members are for lists with one line per row at any width. */
export type Column<Row> = {
  readonly heading: string;
  readonly value: (row: Row) => string;
  /** The width to which its values may be shortened where the line is too narrow. */
  readonly shrinksTo?: number;
  /** True if the column may be omitted. */
  readonly mayBeLeft?: boolean;
};

/** Rows under headings, or a card for each row if they do not fit the width. A column without any value is omitted. */
export function table<Row>(all: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const { lines } = fitToWidth(all, rows, Number.POSITIVE_INFINITY);
  if (lines.every((line) => columns(line) <= width)) return lines;
  const said = all.filter(({ value }) => rows.some((row) => value(row) !== ''));
  return rows.flatMap((row) => [...card(said.map(({ heading, value }) => [heading, value(row)])), '']).slice(0, -1);
}

/**
 * One line per row. Columns that do not fit are omitted, the last first; then values are shortened, the longest first. A value
 * that cannot be shortened or omitted, and takes more than half the width, makes only its own line longer. Returns the
 * headings of the omitted columns, except empty ones.
 */
export function fitToWidth<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): { readonly lines: string[]; readonly left: readonly string[] } {
  const said = all
    .map((column) => ({ column, cells: rows.map(column.value) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .map((one) => ({ ...one, width: widthOf(one.column, one.cells, width / 2) }));
  const tooMuch = () => said.reduce((sum, one) => sum + one.width + 2, -2) - width;
  const left: string[] = [];
  for (let last = said.findLast(isLeft); last && tooMuch() > 0; last = said.findLast(isLeft)) {
    said.splice(said.indexOf(last), 1);
    left.push(last.column.heading);
  }
  for (;;) {
    const shrinkable = said.filter(({ column, width }) => column.shrinksTo !== undefined && width > column.shrinksTo);
    const [widest] = shrinkable.sort((one, other) => other.width - one.width);
    if (!widest || tooMuch() <= 0) break;
    widest.width -= 1;
  }
  const line = (textOf: (one: (typeof said)[number]) => string) =>
    said
      .map((one) =>
        pad(one.column.shrinksTo === undefined ? textOf(one) : shortened(textOf(one), one.width), one.width),
      )
      .join('  ')
      .trimEnd();
  const headings = line(({ column }) => column.heading);
  return { lines: [headings, ...rows.map((_, row) => line(({ cells }) => cells[row] ?? ''))], left };
}

/** A list that is printed whole: its columns, and the sentence that there is nothing. */
export type ShortList<Row> = { readonly none: string; readonly columns: readonly Column<Row>[] };

/** Returns such a list, for programs and for people. */
export function shortList<Row>({ none, columns }: ShortList<Row>, rows: readonly Row[], width: number) {
  return { json: rows, text: linesOr(none, columns, rows, width) };
}

/** The lines of a list, or the sentence that there is nothing. */
export function linesOr<Row>(none: string, all: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  return rows.length === 0 ? [none] : fitToWidth(all, rows, width).lines;
}

/** The width of a column; values beyond `most` count only where they can be shortened, or left out with it. */
function widthOf<Row>(column: Column<Row>, cells: readonly string[], most: number): number {
  const mayYield = column.shrinksTo !== undefined || isLeft({ column });
  const counted = cells.map(columns).filter((cell) => mayYield || cell <= most);
  return counted.reduce((most, cell) => Math.max(most, cell), columns(column.heading));
}

function isLeft<Row>({ column }: { readonly column: Column<Row> }): boolean {
  return column.mayBeLeft === true;
}

/** A text that is too long ends with `…`. */
function shortened(text: string, width: number): string {
  if (columns(text) <= width) return text;
  const characters = [...text];
  while (columns(characters.join('')) > width - 1) characters.pop();
  return `${characters.join('')}…`;
}

/** Labels with their values, aligned. Fields without a value are omitted. */
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
