/**
 * What both sides of a copy hold of a table. The columns are those of each side's schema, not those described, by which
 * rows are copied, so that what a description forgets is found.
 */
import { createHash } from 'node:crypto';
import type { CopiedRow, CopiedSummary, CopiedValue, CopySide } from './copy-side.ts';

/** Maximum number of rows that travel at once. */
export const WINDOW = 1000;

type Counted = Omit<CopiedSummary, 'table'>;

/** A table on both sides. */
export type Compared = { readonly table: string; readonly source: Counted; readonly target: Counted };

/** Reads all rows of a table on both sides; `advance` is told how many more were read of the source. */
export async function compareTable(
  table: string,
  source: CopySide,
  target: CopySide,
  advance: (rows: number) => void,
): Promise<Compared> {
  const [inSource, inTarget] = [await source.wholeTable(table), await target.wholeTable(table)];
  const [here, there] = [new Summary(), new Summary()];
  for (;;) {
    const read = target.read(inTarget, there.last, WINDOW);
    const rows = await source.read(inSource, here.last, WINDOW);
    const copied = await read;
    if (rows.length + copied.length === 0) return { table, source: here.end(), target: there.end() };
    here.add(rows);
    there.add(copied);
    advance(rows.length);
  }
}

/** Whether both sides hold the same rows. */
export function isSame({ source, target }: Compared): boolean {
  return source.rows === target.rows && source.sha256 === target.sha256;
}

/** What was read of a table: each row counts, as a line of JSON. */
class Summary {
  readonly #hash = createHash('sha256');
  #rows = 0;
  #last: CopiedValue = null;

  get last(): CopiedValue {
    return this.#last;
  }

  add(rows: readonly CopiedRow[]): void {
    if (rows.length === 0) return;
    this.#hash.update(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    this.#rows += rows.length;
    this.#last = lastKey(rows);
  }

  end(): Counted {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') };
  }
}

/** The key of the last row; null without any. */
export function lastKey(rows: readonly CopiedRow[]): CopiedValue {
  return rows.at(-1)?.[0] ?? null;
}
