/** Distributions of values in fixed buckets: noting a value takes nanoseconds and no memory. */

/** Counts of values by upper bounds, with their sum. Counts only grow. */
export class Distribution {
  /** Upper bounds, included, in their order. */
  readonly bounds: readonly number[];
  /** Number of values in each bucket alone; the last is for values beyond all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  note(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.sum += value;
  }
}

/** Bounds for sizes of groups. */
export const GROUP_SIZES: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Bounds for durations of disk writes and requests (s). */
export const DURATIONS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
