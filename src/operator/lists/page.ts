/** Pages of a list by keys. A page reads a bounded number of rows, whatever the filter leaves out. */

/** The order of a list, from a place on. */
export type Walk<Row, Place> = {
  /** Reads the next rows after a place (null: from the first), at most `limit`; fewer than that are the last ones. */
  readonly read: (after: Place | null, limit: number) => Promise<readonly Row[]>;
  readonly placeOf: (row: Row) => Place;
  /** Returns the rows that match, in their order. Without it all do. */
  readonly match?: (rows: readonly Row[]) => readonly Row[] | Promise<readonly Row[]>;
};

/** One page, and the place that the next one begins after; null if this is the last. */
export type Page<Row, Place> = { readonly found: readonly Row[]; readonly next: Place | null };

/** Number of rows that one turn of the event loop reads: of a list that is filtered, and of any other, one more than a page has. */
const WINDOW = 512;
const WHOLE = 201;
/** Number of rows that are read at once by whoever wants all. */
const MANY = 500;
/** Bounds of one page with few matches: rows, and time (ms), so that the whole page takes less than 100. The next page goes on there. */
const MAX_ROWS = 100_000;
const MAX_MS = 50;

/** Reads a page of at most `limit` rows: of at most 200, unless the walk has a `match`. `stopwatch` returns ms since any start. */
export async function readPage<Row, Place>(
  { read, placeOf, match }: Walk<Row, Place>,
  after: Place | null,
  limit: number,
  stopwatch: () => number,
): Promise<Page<Row, Place>> {
  const found: Row[] = [];
  const start: number = stopwatch();
  const window = match ? WINDOW : WHOLE;
  let place = after;
  for (let seen = window; ; seen += window) {
    const rows = await read(place, window);
    const matching = match ? await match(rows) : rows;
    const room = limit - found.length;
    found.push(...matching.slice(0, room));
    if (matching.length > room) return { found, next: placeOf(found.at(-1) as Row) };
    const last = rows.at(-1);
    if (rows.length < window || last === undefined) return { found, next: null };
    place = placeOf(last);
    if (found.length === limit || seen >= MAX_ROWS || stopwatch() - start >= MAX_MS) return { found, next: place };
  }
}

/** Reads all rows of a walk that match, after a place (null: from the first), a page at a time. */
export async function* everyPage<Row, Place>(
  { read, placeOf, match }: Walk<Row, Place>,
  after: Place | null = null,
): AsyncGenerator<readonly Row[]> {
  for (let place = after; ; ) {
    const rows = await read(place, MANY);
    yield match ? await match(rows) : rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < MANY) return;
    place = placeOf(last);
  }
}
