/** From measures to figures: medians over rounds, and ratios to bare Fastify of the same round. */
import { OPERATIONS, type Operation } from './operations.ts';
import type { Measure } from './rounds.ts';
import type { Target } from './target.ts';

/** One row: a target, an operation, a concurrency. Medians; errors are counted over all rounds. */
export type Row = Omit<Measure, 'firstError'> & {
  /** Throughput against bare Fastify, the median of each round's ratio. */
  readonly ratio: number;
  readonly firstError: string | null;
};

const TARGETS: readonly Target['name'][] = ['node:http', 'Fastify', 'Valetkey'];
const FIGURES = ['perSecond', 'p50', 'p99', 'p999', 'cpu', 'syncsPerRequest', 'generatorBusy'] as const;

/** All rows, in the order in which they are printed. */
export function rowsOf(measures: readonly Measure[], concurrencies: readonly number[]): Row[] {
  return OPERATIONS.flatMap((operation) =>
    concurrencies.flatMap((concurrency) => {
      const cell = measures.filter((measure) => measure.operation === operation && measure.concurrency === concurrency);
      return TARGETS.map((target) => rowOf(cell, target, operation, concurrency));
    }),
  );
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** The rows as text. */
export function tableOf(rows: readonly Row[]): string {
  const head = [
    'operation',
    'c',
    'server',
    'req/s',
    'vs Fastify',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'CPU µs',
    'req/sync',
  ];
  const lines = rows.map((row) => [
    row.operation,
    String(row.concurrency),
    row.target,
    Math.round(row.perSecond).toLocaleString('en') + (row.generatorBusy > 0.95 ? '*' : ' '),
    `${Math.round(row.ratio * 100)} %`,
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    row.p999.toFixed(2),
    row.cpu.toFixed(0),
    row.target === 'Valetkey' && row.syncsPerRequest > 0 ? (1 / row.syncsPerRequest).toFixed(1) : '',
    row.errors > 0 ? `${row.errors} ERRORS, first: ${row.firstError}` : '',
  ]);
  return aligned([head, ...lines], 3);
}

/** Columns under each other: the first ones to the left, the others to the right. */
function aligned(lines: readonly (readonly string[])[], left: number): string {
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length))) ?? [];
  const padded = lines.map((line) =>
    line.map((text, at) => (at < left ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0))),
  );
  return padded.map((line) => line.join('  ').trimEnd()).join('\n');
}

function rowOf(cell: readonly Measure[], target: Target['name'], operation: Operation, concurrency: number): Row {
  const own = cell.filter((measure) => measure.target === target);
  const yardstick = cell.filter((measure) => measure.target === 'Fastify');
  const figures = Object.fromEntries(FIGURES.map((figure) => [figure, median(own.map((measure) => measure[figure]))]));
  return {
    target,
    operation,
    concurrency,
    ...(figures as Record<(typeof FIGURES)[number], number>),
    ratio: median(own.map(({ perSecond }, round) => perSecond / (yardstick[round]?.perSecond ?? Number.NaN))),
    errors: own.reduce((sum, { errors }) => sum + errors, 0),
    firstError: own.find(({ firstError }) => firstError !== null)?.firstError ?? null,
  };
}
