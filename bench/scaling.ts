/**
 * From users to rows, bytes, writes and nodes: the arithmetic of docs/scaling.md. `node bench/scaling.ts` prints its
 * table, `--grants N` and the rest of the options a line for other assumptions, and `--measure` measures on this machine
 * (some minutes, two processors, a few GB of disk) what the constants below were taken from.
 */
import { parseArgs } from 'node:util';
import { markdown } from './scaling-store.ts';

/** How a service is used. Times in days, rates for each day. */
export type Use = {
  readonly grants: number;
  /** Live grants of a user. */
  readonly appsPerUser: number;
  /** Refreshes of a grant, on average over all, idle ones too. */
  readonly refreshesPerDay: number;
  /** Checks of an access token that reach Valetkey, and not a cache in front of it. */
  readonly checksPerToken: number;
  /** Use marks that a token's checks write: one at its first use, and one at a use ten minutes or more after the last. */
  readonly marksPerToken: number;
  /** How long a grant lives, so that so many are issued and cleared away. */
  readonly grantDays: number;
  /** Audit events in the life of a grant: a sign-in, the Allow, the end of some. */
  readonly eventsPerGrant: number;
  /** The busiest hour against the mean. */
  readonly peak: number;
};

/** What the document assumes. */
export const ASSUMED: Omit<Use, 'grants'> = {
  appsPerUser: 5,
  refreshesPerDay: 4,
  checksPerToken: 3,
  marksPerToken: 2,
  grantDays: 90,
  eventsPerGrant: 2.5,
  peak: 3,
};

/** Measured: `--measure`, with 100,000 and 1,000,000 grants. Bytes with all indexes. */
const BYTES = {
  postgresql: { grant: 790, account: 740, event: 365, page: 8192, grantInTable: 546 },
  sqlite: { grant: 436, account: 410, event: 235 },
};
/** Measured: bytes of PostgreSQL's log; `page` is one that is logged whole, as it is filled to 70 %. */
const WAL = { issue: 1266, redeem: 420, rotate: 198, mark: 115, page: 5800 };
/**
 * Measured, in µs of CPU for one request of the store: as one of a full batch, and alone. A check is an introspection,
 * which reads the resource server and the grant; a refresh reads its client and the grant. The reads of an Allow are an
 * estimate.
 */
const CPU = {
  full: { server: { read: 13, rotate: 21, mark: 7, issue: 42, redeem: 23 }, instance: { read: 13, rotate: 10 } },
  alone: { server: { read: 60, rotate: 250, mark: 7, issue: 300, redeem: 250 }, instance: { read: 70, rotate: 130 } },
};
/** The bench of 21 November 2026, with SQLite. An Allow is an estimate: pages, and for every other one a password of 20 ms. */
const SQLITE_CPU = { check: 81, refresh: 86, mark: 0, allow: 12_000 };
/** The same without SQLite, by the bench's profile, which has its share. */
const HTTP_CPU = { check: 62, refresh: 57, mark: 6, allow: 12_000 };

const DAY_S = 86_400;
/** checkpoint_timeout, as recommended. */
const CHECKPOINT_S = 900;
/** Nodes are counted so that the busiest hour takes half of them. */
const BUSY = 0.5;
/** A SQLite file that is still copied in a minute or two. */
const MAX_SQLITE_GB = 10;
/** What one PostgreSQL is still a comfort with. A judgement. */
const ONE_SERVER = { cores: 64, walMB: 250, gb: 4000 } as const;

/** What a use needs. Rates are those of the busiest hour; GB are 10⁹ bytes; a pair is from full batches to none. */
export function plan(use: Use) {
  const { grants, peak } = use;
  const accounts = grants / use.appsPerUser;
  const eventsPerYear = (grants / use.grantDays) * use.eventsPerGrant * 365;
  const gb = ({ grant, account }: { grant: number; account: number }) => (grants * grant + accounts * account) / 1e9;
  const [gbSqlite, gbPostgresql] = [gb(BYTES.sqlite), gb(BYTES.postgresql)];
  const [auditSqlite, auditGbPerYear] = [BYTES.sqlite, BYTES.postgresql].map(
    ({ event }) => (eventsPerYear * event) / 1e9,
  ) as [number, number];

  const refresh = ((grants * use.refreshesPerDay) / DAY_S) * peak;
  const allow = (grants / use.grantDays / DAY_S) * peak;
  const check = refresh * use.checksPerToken;
  const mark = refresh * Math.min(use.checksPerToken, use.marksPerToken);
  const rates: Rates = { refresh, allow, check, mark };
  const written = refresh + mark + 2 * allow;
  const walMB = walOf(grants, written, rates) / 1e6;
  const instances = forBoth((cost) => Math.max(2, coresOf(rates, instanceCost(cost)) / BUSY));
  const serverCores = forBoth((cost) => coresOf(rates, serverCost(cost)) / BUSY);
  const fitsSqlite = coresOf(rates, SQLITE_CPU) <= BUSY && gbSqlite + auditSqlite <= MAX_SQLITE_GB;
  const servers = Math.max(
    serverCores[1] / ONE_SERVER.cores,
    walMB / ONE_SERVER.walMB,
    (gbPostgresql + auditGbPerYear) / ONE_SERVER.gb,
  );
  return {
    // In the order of the table's columns.
    rows: grants + accounts + eventsPerYear,
    gbSqlite,
    gbPostgresql,
    auditGbPerYear,
    refresh,
    written,
    check,
    walMB,
    instances: fitsSqlite ? null : instances,
    serverCores: fitsSqlite ? null : serverCores,
    store: fitsSqlite ? 'SQLite' : `${Math.ceil(servers)} PostgreSQL`,
  };
}

type Rates = { readonly refresh: number; readonly allow: number; readonly check: number; readonly mark: number };
type Cost = (typeof CPU)[keyof typeof CPU];

function forBoth(of: (cost: Cost) => number): readonly [number, number] {
  return [of(CPU.full), of(CPU.alone)];
}

/** How many cores are busy when each request takes so many µs. */
function coresOf(rates: Rates, cost: Rates): number {
  const kinds = ['refresh', 'allow', 'check', 'mark'] as const;
  return kinds.reduce((sum, kind) => sum + (rates[kind] * cost[kind]) / 1e6, 0);
}

function serverCost({ server: { read, rotate, mark, issue, redeem } }: Cost): Rates {
  return { check: 2 * read, mark, refresh: rotate + 2 * read, allow: issue + redeem + 6 * read };
}

function instanceCost({ instance: { read, rotate } }: Cost): Rates {
  return { ...HTTP_CPU, check: HTTP_CPU.check + 2 * read, refresh: HTTP_CPU.refresh + rotate + 2 * read };
}

/** Bytes of PostgreSQL's log a second. Rows are anywhere, and a page is logged whole at its first change after a checkpoint. */
function walOf(grants: number, written: number, { refresh, allow, mark }: Rates): number {
  const pages = (grants * BYTES.postgresql.grantInTable) / BYTES.postgresql.page;
  const touched = pages * (1 - Math.exp((-written * CHECKPOINT_S) / pages));
  const rows = allow * (WAL.issue + WAL.redeem) + refresh * WAL.rotate + mark * WAL.mark;
  return rows + (touched / CHECKPOINT_S) * WAL.page;
}

const SIZES = [1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/** The document's table. */
export function planTable(uses: readonly Use[] = SIZES.map((grants) => ({ grants, ...ASSUMED }))): string {
  const head = [
    'grants',
    'rows after a year',
    'GB in SQLite',
    'in PostgreSQL',
    'audit GB a year',
    'refreshes/s',
    'rows written/s',
    'checks/s',
    'WAL MB/s',
    'instances',
    'PostgreSQL cores',
    'store',
  ];
  const rows = uses.map((use) => {
    const { instances, serverCores, store, ...numbers } = plan(use);
    return [
      ...[use.grants, ...Object.values(numbers)].map(rough),
      instances ? range(instances) : '1',
      serverCores ? range(serverCores) : '',
      store,
    ];
  });
  return markdown(head, rows);
}

function range([least, most]: readonly [number, number]): string {
  const [from, to] = [rough(Math.ceil(least)), rough(Math.ceil(most))];
  return from === to ? from : `${from} to ${to}`;
}

/** Two digits: what is computed from rough figures has no more. */
function rough(number: number): string {
  if (number > 0 && number < 0.01) return '< 0.01';
  if (number >= 1e6) return `${Number((number / 1e6).toPrecision(2)).toLocaleString('en')} M`;
  return Number(number.toPrecision(2)).toLocaleString('en', { maximumFractionDigits: number < 10 ? 2 : 0 });
}

async function measureAll(): Promise<void> {
  const [{ measurePostgresql }, { measureSqlite }, { measurePartitions }, { measureStreams, measureTrail }] =
    await Promise.all([
      import('./scaling-postgresql.ts'),
      import('./scaling-sqlite.ts'),
      import('./scaling-partitions.ts'),
      import('./scaling-streams.ts'),
    ]);
  const measures = [
    () => measurePostgresql(100_000, false),
    () => measurePostgresql(1_000_000, true),
    () => measureSqlite(100_000),
    () => measureSqlite(1_000_000),
    measurePartitions,
    measureTrail,
    measureStreams,
  ];
  for (const measure of measures) process.stdout.write(`${await measure()}\n\n`);
}

if (import.meta.main) {
  const numbers = Object.fromEntries(['grants', ...Object.keys(ASSUMED)].map((name) => [name, { type: 'string' }]));
  const { values } = parseArgs({
    options: { measure: { type: 'boolean' }, ...(numbers as Record<string, { type: 'string' }>) },
  });
  const { measure, ...given } = values;
  const changed = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, Number(value)]));
  const sizes = 'grants' in changed ? [Number(changed['grants'])] : SIZES;
  if (measure) await measureAll();
  else process.stdout.write(`${planTable(sizes.map((grants) => ({ ...ASSUMED, ...changed, grants })))}\n`);
}
