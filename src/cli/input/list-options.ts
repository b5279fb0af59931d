/** Lists that may be long: programs get all of it unless they set a limit, people get a page. */
import type { CommandResult, CommandRun } from '../command/command-run.ts';
import { type Column, linesOr } from '../output/table.ts';
import { DEFAULT_LIMIT, type Moment, readLimit, readMoment, timeOf } from './shared-options.ts';

/** Which rows a list command is asked for. */
export type ListOptions<State extends string> = {
  name?: string;
  state?: State;
  unusedSince?: Moment;
  limit?: number;
  after?: string;
};

/** The filters of a list. `now` in ms. */
export function filterOf<State extends string>({ name, state, unusedSince }: ListOptions<State>, now: number) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(state === undefined ? {} : { status: state }),
    ...(unusedSince === undefined ? {} : { unusedSince: timeOf(unusedSince, now) }),
  };
}

/** Options of list commands. */
export const UNUSED_SINCE = [
  '--unused-since <time>',
  'only those neither used nor created since then: 90d ago, or a time such as 2026-11-24',
  readMoment,
] as const;
export const LIMIT = [
  '--limit <number>',
  `the maximum number of rows: ${DEFAULT_LIMIT} by default; with --json, all`,
  readLimit,
] as const;

/** The rows of a list, and how they are printed. */
export type LongList<Row, Json> = {
  readonly pages: AsyncIterable<readonly Row[]>;
  readonly json: (row: Row) => Json;
  readonly columns: readonly Column<Json>[];
  /** The sentence that there is nothing. */
  readonly none: string;
  /** Returns the value of `--after` that continues behind a row. */
  readonly id: (row: Row) => string;
};

/** Prints all rows for a program, a page at a time, and returns null; or returns the first rows, at most `limit`. */
export async function longList<Row, Json>(
  run: CommandRun,
  { pages, json, columns, none, id }: LongList<Row, Json>,
  limit: number | undefined,
): Promise<CommandResult | null> {
  if (run.json && limit === undefined) {
    await run.printArray(pages, json);
    return null;
  }
  const most = limit ?? DEFAULT_LIMIT;
  const found: Row[] = [];
  for await (const page of pages) {
    found.push(...page);
    if (found.length > most) break;
  }
  const rows = found.slice(0, most).map(json);
  const last = found.length > most ? found[most - 1] : undefined;
  return {
    json: rows,
    text: linesOr(none, columns, rows, run.width),
    ...(last === undefined ? {} : { note: `There are more: continue with --after ${id(last)}.` }),
  };
}
