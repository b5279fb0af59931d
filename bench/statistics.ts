/** From measures to figures. */
import type { Operation } from './operations.ts';
import type { Measure } from './rounds.ts';

/** One row: a target, an operation, a concurrency. Medians over rounds; errors are counted over all of them. */
export type Row = Omit<Measure, 'round'>;

const FIGURES = ['requests', 'perSecond', 'p50', 'p99', 'p999', 'cpu', 'syncsPerRequest', 'generatorBusy'] as const;

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** All rows, in the order in which targets, operations and concurrencies first come. */
export function rowsOf(measures: readonly Measure[]): Row[] {
  const cells = Map.groupBy(measures, ({ target, operation, concurrency }) => `${target} ${operation} ${concurrency}`);
  return [...cells.values()].map(rowOf);
}

/**
 * How many times the throughput of `other` a target has in the same cell: the median of the ratios of each round, so that
 * what slows a whole round down does not count. Null when one of them is not there.
 */
export function ratio(
  measures: readonly Measure[],
  [target, other]: readonly [string, string],
  operation: Operation,
  concurrency: number,
): number | null {
  const cell = measures.filter((measure) => measure.operation === operation && measure.concurrency === concurrency);
  const ratios = cell
    .filter((measure) => measure.target === target)
    .flatMap(({ perSecond, round }) => {
      const yardstick = cell.find((measure) => measure.target === other && measure.round === round);
      return yardstick ? [perSecond / yardstick.perSecond] : [];
    });
  return ratios.length > 0 ? median(ratios) : null;
}

function rowOf(cell: readonly Measure[]): Row {
  const { target, operation, concurrency } = cell[0] as Measure;
  const figures = Object.fromEntries(FIGURES.map((figure) => [figure, median(cell.map((measure) => measure[figure]))]));
  return {
    target,
    operation,
    concurrency,
    ...(figures as Record<(typeof FIGURES)[number], number>),
    errors: cell.reduce((sum, { errors }) => sum + errors, 0),
    firstError: cell.find(({ firstError }) => firstError !== null)?.firstError ?? null,
  };
}

/** Figures as JSON for people to read, each with four digits: there is no more to it. */
export function figuresText(figures: object): string {
  const rounded = (_: string, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
  return JSON.stringify(figures, rounded, 2);
}
