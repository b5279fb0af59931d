/** What Valetkey is held to beside the others, and what a run says of it. */
import { CONTESTANTS } from './contestants.ts';
import type { MixedRow } from './mixed.ts';
import type { Operation } from './operations.ts';
import type { Measure } from './rounds.ts';
import type { StartTimes } from './start-time.ts';
import { ratio, rowsOf } from './statistics.ts';
import type { StreamRow } from './streams.ts';
import type { Disturbance } from './undisturbed.ts';

/** What a run found. Memory in MB, by name of the contestant. */
export type Figures = {
  readonly measures: readonly Measure[];
  readonly streams: readonly StreamRow[];
  /** Checks while refreshes saturate the disk. */
  readonly mixed: readonly MixedRow[];
  readonly memoryIdle: Readonly<Record<string, number>>;
  readonly memoryAfter: Readonly<Record<string, number>>;
  readonly startTimes: StartTimes | null;
  /** How long a sync of this disk takes, in ms. */
  readonly syncTime: number;
  /** How much longer it took those who store in SQLite, in µs; 0 is the disk as it is. */
  readonly syncDelay: number;
  /** What others on the machine did to it. */
  readonly disturbance: Disturbance;
};

/** One thing that must hold, with what is; null where it was not measured. */
export type Goal = {
  readonly what: string;
  readonly must: number;
  readonly is: number | null;
  readonly unit: '×' | 'ms' | 'MB' | '';
  /** True if more is better. */
  readonly more: boolean;
};

const SQLITE = 'valetkey-sqlite';
const POSTGRESQL = 'valetkey-postgresql';
const PEERS_ON_SQLITE = CONTESTANTS.filter(({ kind, store }) => kind === 'peer' && store === 'sqlite');

/** The least time of a sync (ms) with which writes are compared: a quicker disk hides what waiting for it costs. */
export const LEAST_SYNC_MS = 0.3;

/** All that must hold, with what a run found. */
export function goalsOf(figures: Figures): Goal[] {
  return [...throughput(figures), ...sharing(figures), ...ofTheProcess(figures)];
}

/** Tells whether a goal is met. */
export function standing({ is, must, more }: Goal): 'met' | 'missed' | 'not measured' {
  if (is === null) return 'not measured';
  return (more ? is >= must : is <= must) ? 'met' : 'missed';
}

function throughput({ measures, syncTime, syncDelay }: Figures): Goal[] {
  const isSlowEnough = syncTime + syncDelay / 1000 >= LEAST_SYNC_MS;
  const against = (other: string, operation: Operation, atOnce = 64, own = SQLITE) =>
    isSlowEnough || operation === 'check' ? ratio(measures, [own, other], operation, atOnce) : null;
  const best = (operation: Operation, atOnce = 64) =>
    least(PEERS_ON_SQLITE.map(({ name }) => against(name, operation, atOnce)));
  const times = { unit: '×', more: true } as const;
  const writes = (['exchange', 'refresh'] as const).flatMap((write): Goal[] => [
    { ...times, what: `${write}, against the fastest peer`, must: 6, is: best(write) },
    { ...times, what: `${write}, against oidc-provider`, must: 15, is: against('oidc-provider-sqlite', write) },
    { ...times, what: `${write} alone, against the fastest peer`, must: 1.1, is: best(write, 1) },
    {
      ...times,
      what: `PostgreSQL: ${write}, against oidc-provider on it`,
      must: 4,
      is: against('oidc-provider-postgresql', write, 64, POSTGRESQL),
    },
  ]);
  return [
    { ...times, what: 'check, against the fastest peer', must: 1, is: best('check') },
    { ...times, what: 'check, against oidc-provider', must: 4, is: against('oidc-provider-sqlite', 'check') },
    ...writes,
  ];
}

/** The requests that share a sync of the disk. */
function sharing({ measures }: Figures): Goal[] {
  const rows = rowsOf(measures).filter(({ concurrency }) => concurrency === 64);
  return (['exchange', 'refresh'] as const).map((write) => {
    const row = rows.find((one) => one.target === SQLITE && one.operation === write);
    const is = row ? 1 / row.syncsPerRequest : null;
    return { what: `${write}: requests for each sync`, must: 16, is, unit: '', more: true };
  });
}

function ofTheProcess({ memoryIdle, memoryAfter, startTimes }: Figures): Goal[] {
  const [memory, time] = [{ unit: 'MB', more: false } as const, { unit: 'ms', more: false } as const];
  return [
    { ...memory, what: 'memory idle', must: 100, is: memoryIdle[SQLITE] ?? null },
    { ...memory, what: 'memory after the run', must: 200, is: memoryAfter[SQLITE] ?? null },
    { ...time, what: 'start to the first answer', must: 300, is: startTimes?.valetkey ?? null },
  ];
}

function least(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
