/** How values are distributed, counted in buckets that are made once: to note a value takes nanoseconds and no memory. */

/** Counts of values by upper bounds, with their sum. Counts only grow. */
export class Distribution {
  /** Upper bounds, included, in their order. */
  readonly bounds: readonly number[];
  /** How many values are in each bucket alone; the last one is for those beyond all bounds. */
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

/** Bounds for what takes a disk or a request its time (s). */
export const DURATIONS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
