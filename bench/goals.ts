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
const SIGN_IN = 'valetkey-sign-in';
const POSTGRESQL = 'valetkey-postgresql';
const PEERS_ON_SQLITE = CONTESTANTS.filter(({ kind, store }) => kind === 'peer' && store === 'sqlite');

/** The time of a sync (ms) from which more is asked: peers wait for two syncs a write, and 64 writes of ours share one. */
const SLOW_SYNC_MS = 0.4;

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
  const isSlow = syncTime + syncDelay / 1000 >= SLOW_SYNC_MS;
  const against = (other: string, operation: Operation, atOnce = 64, own = SQLITE) =>
    ratio(measures, [own, other], operation, atOnce);
  const best = (operation: Operation, atOnce = 64) =>
    least(PEERS_ON_SQLITE.map(({ name }) => against(name, operation, atOnce)));
  const goal = (what: string, must: number, is: number | null): Goal => ({ what, must, is, unit: '×', more: true });
  const writes = (['exchange', 'refresh'] as const).flatMap((write): Goal[] => [
    goal(`${write}, against the fastest peer`, isSlow ? 10 : 4.5, best(write)),
    goal(`${write}, against oidc-provider`, isSlow ? 18 : 10, against('oidc-provider-sqlite', write)),
    goal(`${write} alone, against the fastest peer`, 0.9, best(write, 1)),
    goal(
      `PostgreSQL: ${write}, against oidc-provider on it`,
      4,
      against('oidc-provider-postgresql', write, 64, POSTGRESQL),
    ),
  ]);
  return [
    goal('check, against the fastest peer', 0.6, best('check')),
    goal('check, against oidc-provider', 3, against('oidc-provider-sqlite', 'check')),
    ...writes,
    goal(
      'exchange with an ID token, against oidc-provider',
      1,
      against('oidc-provider-sqlite', 'exchange', 64, SIGN_IN),
    ),
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

/** What the process takes beyond a bare Fastify, which is most of it. */
function ofTheProcess({ memoryIdle, memoryAfter, startTimes }: Figures): Goal[] {
  const beyond = (own: number | undefined, bare: number | undefined) =>
    own === undefined || bare === undefined ? null : own - bare;
  const goal = (what: string, must: number, is: number | null, unit: 'MB' | 'ms'): Goal => ({
    ...{ what: `${what}, beyond bare Fastify`, must, is, unit },
    more: false,
  });
  return [
    goal('memory idle', 20, beyond(memoryIdle[SQLITE], memoryIdle['fastify']), 'MB'),
    goal('memory after the run', 110, beyond(memoryAfter[SQLITE], memoryAfter['fastify']), 'MB'),
    goal('start to the first answer', 400, beyond(startTimes?.valetkey, startTimes?.fastify), 'ms'),
  ];
}

function least(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
