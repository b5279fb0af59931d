/** What bench/growth.ts found: a table for people, and how it stands against what is wanted. */
import { DELETIONS } from '../src/storage/sqlite/store/clean-up.ts';
import { type Goal, standing } from './goals.ts';
import type { CleanUpTimes, StepTimes } from './growth-clean-up.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { markdown } from './scaling-store.ts';
import type { Row } from './statistics.ts';

/** What was found with so many grants: MB are 10⁶ bytes, the WAL's at its largest. */
export type Grown = {
  readonly grants: number;
  readonly fileMB: number;
  readonly walMB: number;
  readonly cleanUp: CleanUpTimes;
  readonly rows: readonly Row[];
};

/** A line of the table: a cell for each size, and what is wanted of the worst of them. */
type Line = { readonly what: string; readonly cells: readonly string[]; readonly wanted: Goal | null };

/** From this share of its time on, the load generator is what limits the figure. */
const GENERATOR_LIMITS = 0.95;

/** All figures as a table of Markdown, smallest size first; ratios are against it. */
export function growthTable(sizes: readonly Grown[]): string {
  const rows = linesOf(sizes).map(({ what, cells, wanted }) => [what, ...cells, ...standingCells(wanted)]);
  const head = ['grants', ...sizes.map(({ grants }) => whole(grants)), 'must', ''];
  const isLimited = sizes.some((size) => size.rows.some(isGeneratorLimit));
  return `${markdown(head, rows)}${isLimited ? '\n\n* the generator was the limit' : ''}`;
}

/** What is wanted, with what is: of the sizes beside the smallest, or of all, the worst. */
export function growthGoals(sizes: readonly Grown[]) {
  const wanted = linesOf(sizes).flatMap((line) => line.wanted ?? []);
  return wanted.map((goal) => ({ ...goal, standing: standing(goal) }));
}

function linesOf(sizes: readonly Grown[]): Line[] {
  const plain = (what: string, digits: number, of: (size: Grown) => number) => ({
    what,
    cells: sizes.map((size) => of(size).toFixed(digits)),
    wanted: null,
  });
  return [
    ...OPERATIONS.map((operation) => latencyLine(sizes, operation)),
    ...OPERATIONS.map((operation) => throughputLine(sizes, operation)),
    stepLine(sizes, 'clean-up step, nothing dead', ({ nothingDead }) => nothingDead),
    stepLine(sizes, `clean-up step that deletes ${DELETIONS}`, ({ deleting }) => deleting),
    plain('of which it keeps the event loop, ms', 2, ({ cleanUp }) => cleanUp.deleting.eventLoop),
    plain('file, MB', 1, ({ fileMB }) => fileMB),
    plain('WAL at its largest, MB', 1, ({ walMB }) => walMB),
  ];
}

function latencyLine(sizes: readonly Grown[], operation: Operation): Line {
  const p50s = sizes.map((size) => rowOf(size, operation, 1).p50);
  const ratios = p50s.map((p50) => p50 / (p50s[0] as number));
  const what = `${operation}, one at a time: p50`;
  return {
    what: `${what}, ms`,
    cells: p50s.map((p50, at) => `${p50.toFixed(3)}${at > 0 ? ` (${ratios[at]?.toFixed(2)} ×)` : ''}`),
    wanted: {
      what,
      must: 1.4,
      is: ratios.length > 1 ? Math.max(...ratios.slice(1)) : null,
      unit: '×',
      more: false,
    },
  };
}

function throughputLine(sizes: readonly Grown[], operation: Operation): Line {
  const rows = sizes.map((size) => rowOf(size, operation, 64));
  const kept = rows.map(({ perSecond }) => (perSecond / (rows[0] as Row).perSecond) * 100);
  const what = `${operation} at 64: a second`;
  return {
    what,
    cells: rows.map((row, at) => {
      const limit = isGeneratorLimit(row) ? '*' : '';
      return `${whole(row.perSecond)}${limit}${at > 0 ? ` (${kept[at]?.toFixed(0)} %)` : ''}`;
    }),
    wanted: null,
  };
}

function stepLine(sizes: readonly Grown[], what: string, of: (times: CleanUpTimes) => StepTimes): Line {
  const times = sizes.map(({ cleanUp }) => of(cleanUp));
  return {
    what: `${what}, ms (p99)`,
    cells: times.map(({ median, p99 }) => `${median.toFixed(2)} (${p99.toFixed(2)})`),
    wanted: null,
  };
}

function isGeneratorLimit({ concurrency, generatorBusy }: Row): boolean {
  return concurrency > 1 && generatorBusy > GENERATOR_LIMITS;
}

function standingCells(wanted: Goal | null): string[] {
  if (!wanted) return ['', ''];
  const bound = (figure: number) => `${wanted.more ? '≥' : '≤'} ${figure} ${wanted.unit}`;
  return [bound(wanted.must), standing(wanted)];
}

function rowOf({ grants, rows }: Grown, operation: Operation, concurrency: number): Row {
  const row = rows.find((one) => one.operation === operation && one.concurrency === concurrency);
  if (!row) throw new Error(`${operation} at ${concurrency} was not measured with ${grants} grants`);
  return row;
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en');
}
