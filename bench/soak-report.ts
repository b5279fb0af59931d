/** What a soak found: whether anything grew, as lines. */
import { median } from './statistics.ts';

/** One slice of a soak, at its end. */
export type Sample = {
  /** Since the first request. */
  readonly second: number;
  /** Latencies (ms) of what was due in the slice, by operation. */
  readonly p99: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly errors: number;
  readonly firstError: string | null;
  /** Live grants. */
  readonly grants: number;
  readonly residentMB: number;
  /** Open file descriptors. */
  readonly files: number;
  readonly walMB: number;
  readonly databaseMB: number;
  /** Of one core. */
  readonly cpuShare: number;
  /** The machine's load average: what others do on it as well. */
  readonly machineLoad: number;
};

/** A figure of a sample, and by how much the last third's median may be above the middle third's. */
type Watched = {
  readonly what: string;
  readonly of: (sample: Sample) => number;
  readonly may: (before: number) => number;
};

const p99Of = (operation: string) => (sample: Sample) => sample.p99[operation] ?? Number.NaN;
const ms = (before: number) => before * 2 + 5;
const WATCHED: readonly Watched[] = [
  { what: 'memory, MB', of: ({ residentMB }) => residentMB, may: (before) => before * 1.1 + 5 },
  { what: 'open files', of: ({ files }) => files, may: (before) => before + 5 },
  { what: 'write-ahead log, MB', of: ({ walMB }) => walMB, may: (before) => before * 1.25 + 4 },
  { what: 'p99 of refresh, ms', of: p99Of('refresh'), may: ms },
  { what: 'p99 of check, ms', of: p99Of('check'), may: ms },
  { what: 'p99 of introspect, ms', of: p99Of('introspect'), may: ms },
];

/** The thirds compared, a line for each figure. The first third warms up and is judged for errors alone. */
export function soakReport(samples: readonly Sample[]): { readonly text: string; readonly isFlat: boolean } {
  const third = Math.floor(samples.length / 3);
  if (third === 0) throw new Error('a soak has three slices or more');
  const thirds = [samples.slice(0, third), samples.slice(third, 2 * third), samples.slice(2 * third)] as const;
  const rows = WATCHED.map(({ what, of, may }) => {
    const [first, middle, last] = thirds.map((some) => median(some.map(of))) as [number, number, number];
    const most = Math.max(...samples.map(of));
    return { what, first, middle, last, most, isFlat: last <= may(middle) };
  });
  const sum = (of: (sample: Sample) => number) => samples.reduce((before, sample) => before + of(sample), 0);
  const errors = sum((sample) => sample.errors);
  const [{ second, grants }, started] = [samples.at(-1) as Sample, samples[0] as Sample];
  const loads = samples.map(({ machineLoad }) => machineLoad);
  const text = [
    `${second} s, ${sum(({ requests }) => requests)} requests, ${errors} wrong answers${errors ? `: ${samples.find((one) => one.firstError)?.firstError}` : ''}, ${started.grants} to ${grants} live grants`,
    `the machine's load average: ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}; ours took ${Math.round(median(samples.map(({ cpuShare }) => cpuShare)) * 100)} % of a core`,
    'median of each third'.padEnd(24) + ['first', 'middle', 'last', 'maximum'].map((head) => head.padStart(9)).join(''),
    ...rows.map(
      ({ what, first, middle, last, most, isFlat }) =>
        what.padEnd(24) +
        [first, middle, last, most].map((figure) => figure.toFixed(1).padStart(9)).join('') +
        (isFlat ? '' : '  GREW'),
    ),
  ].join('\n');
  return { text, isFlat: errors === 0 && rows.every((row) => row.isFlat) };
}
