/**
 * Compares a table on both sides of a copy. The columns are those of each side's schema. Rows are copied by the
 * described columns, so a column missing from the description shows as a difference.
 */
import { createHash } from 'node:crypto';
import type { CopiedRow, CopiedSummary, CopiedValue, CopySide } from './copy-side.ts';

/** Maximum number of rows in one read or write. */
export const WINDOW = 1000;

type Counted = Omit<CopiedSummary, 'table'>;

/** The summaries of a table on both sides. */
export type Compared = { readonly table: string; readonly source: Counted; readonly target: Counted };

/** Reads all rows of a table on both sides; `advance` receives the number of rows just read from the source. */
export async function compareTable(
  table: string,
  source: CopySide,
  target: CopySide,
  advance: (rows: number) => void,
): Promise<Compared> {
  const inSource = await source.wholeTable(table);
  const inTarget = await target.wholeTable(table);
  const here = new Summary();
  const there = new Summary();
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

/** Returns true if both sides hold the same rows. */
export function isSame({ source, target }: Compared): boolean {
  return source.rows === target.rows && source.sha256 === target.sha256;
}

/** Row count and digest of the rows read from a table; the digest is over each row as a line of JSON. */
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

/** Returns the key of the last row, or null if there are no rows. */
export function lastKey(rows: readonly CopiedRow[]): CopiedValue {
  return rows.at(-1)?.[0] ?? null;
}
