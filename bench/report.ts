/** What a run found, as text: tables for a terminal. */
import { CONTESTANTS } from './contestants.ts';
import { type Figures, goalsOf, standing } from './goals.ts';
import { type MixedRow, REFRESHING } from './mixed.ts';
import { OPERATIONS } from './operations.ts';
import type { Measure } from './rounds.ts';
import { type Row, ratio, rowsOf } from './statistics.ts';
import type { StreamRow } from './streams.ts';
import { MAX_STOLEN } from './undisturbed.ts';

/** Everything that a run found. */
export function reportOf(figures: Figures): string {
  const { startTimes, memoryIdle, streams, mixed } = figures;
  const measured = CONTESTANTS.filter(({ name }) => name in memoryIdle);
  const parts = [
    throughputTable(figures.measures),
    '* the generator was the limit',
    streams.length > 0 ? streamTable(streams, mixed) : '',
    memoryTable(figures),
    syncLine(figures),
    disturbanceLine(figures),
    startTimes
      ? `A process that does nothing starts and ends in ${whole(startTimes.node)} ms; bare Fastify answers after ${whole(startTimes.fastify)} ms.`
      : '',
    measured.map(({ title, note }) => `${title}: ${note}.`).join('\n'),
    goalTable(figures),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Rows in the order of operations, concurrencies and contestants. */
function throughputTable(measures: readonly Measure[]): string {
  const rows = rowsOf(measures);
  const concurrencies = [...new Set(rows.map(({ concurrency }) => concurrency))].sort((one, other) => one - other);
  const lines = OPERATIONS.flatMap((operation) =>
    concurrencies.flatMap((concurrency) =>
      CONTESTANTS.flatMap(({ name }) => {
        const cell = { target: name, operation, concurrency };
        const row = rows.find((one) => Object.entries(cell).every(([key, value]) => one[key as keyof Row] === value));
        return row ? [lineOf(row, measures)] : [];
      }),
    ),
  );
  return aligned(
    [['', 'at once', '', 'a second', 'Valetkey is', 'p50 ms', 'p99 ms', 'p99.9 ms', 'CPU µs', 'for a sync'], ...lines],
    3,
  );
}

function lineOf(row: Row, measures: readonly Measure[]): string[] {
  const { target, operation, concurrency } = row;
  const contestant = CONTESTANTS.find(({ name }) => name === target);
  // Each beside Valetkey on the same kind of database.
  const ours = contestant?.store === 'postgresql' ? 'valetkey-postgresql' : 'valetkey-sqlite';
  const times = ratio(measures, [ours, target], operation, concurrency);
  return [
    operation,
    String(concurrency),
    contestant?.title ?? target,
    whole(row.perSecond) + (row.generatorBusy > 0.95 ? '*' : ' '),
    times === null || target === ours ? '' : `${short(times)} ×`,
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    row.p999.toFixed(2),
    whole(row.cpu),
    row.syncsPerRequest > 0 ? short(1 / row.syncsPerRequest) : '',
    row.errors > 0 ? `${row.errors} ERRORS, first: ${row.firstError}` : '',
  ];
}

function streamTable(streams: readonly StreamRow[], mixed: readonly MixedRow[]): string {
  const lines = [
    ...streams.map((row) => [...streamLineOf(row, ''), '', row.errors > 0 ? `${row.errors} ERRORS` : '']),
    ...mixed.map((row) => [
      ...streamLineOf(row, `, while ${REFRESHING} refresh`),
      row.refreshes === null ? '' : whole(row.refreshes),
      row.errors > 0 ? `${row.errors} ERRORS, first: ${row.firstError}` : '',
    ]),
  ];
  const head = ['from when it was due', '', '', 'p50 ms', 'p99 ms', 'p99.9 ms'];
  return aligned([mixed.length > 0 ? [...head, 'refreshes a second'] : head, ...lines], 3);
}

function streamLineOf({ operation, rate, target, keepsUp, latency }: StreamRow, meanwhile: string): string[] {
  return [
    `${operation} at ${whole(rate)} a second${meanwhile}`,
    titleOf(target),
    keepsUp ? 'keeps up' : 'cannot keep up',
    ...(latency ? [latency.p50, latency.p99, latency.p999].map((ms) => ms.toFixed(2)) : ['', '', '']),
  ];
}

function memoryTable({ memoryIdle, memoryAfter }: Figures): string {
  const lines = Object.entries(memoryIdle).map(([name, idle]) => [
    titleOf(name),
    whole(idle),
    whole(memoryAfter[name] ?? 0),
  ]);
  return aligned([['memory, MB', 'idle', 'after'], ...lines], 1);
}

function syncLine({ syncTime, syncDelay }: Figures): string {
  const longer = syncDelay > 0 ? `, and ${syncDelay / 1000} ms longer for those who store in SQLite` : '';
  return `A sync of this disk takes ${syncTime.toFixed(2)} ms${longer}.`;
}

function disturbanceLine({ disturbance: { again, kept } }: Figures): string {
  if (again + kept === 0) return '';
  const others = `because more than ${MAX_STOLEN * 100} % of the time was taken by others`;
  return `${again} measurements were made again ${others}; ${kept} were kept nevertheless.`;
}

/** What must hold, beside what is. */
function goalTable(figures: Figures): string {
  const lines = goalsOf(figures).map((goal) => {
    const { what, must, is, unit, more } = goal;
    const bound = `${more ? '≥' : '≤'} ${must} ${unit}`.trimEnd();
    return [what, bound, is === null ? '' : `${short(is)} ${unit}`.trimEnd(), standing(goal)];
  });
  return aligned([['at 64 at once, if not said otherwise', 'must', 'is', ''], ...lines], 1);
}

function titleOf(name: string): string {
  return CONTESTANTS.find((contestant) => contestant.name === name)?.title ?? name;
}

function whole(number: number): string {
  return Math.round(number).toLocaleString('en');
}

/** Two digits or three. */
function short(number: number): string {
  return number < 10 ? number.toFixed(1) : whole(number);
}

/** Columns under each other: the first ones to the left, the others to the right. */
function aligned(lines: readonly (readonly string[])[], left: number): string {
  const columns = Math.max(...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const padded = lines.map((line) =>
    line.map((text, at) => (at < left ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0))),
  );
  return padded.map((line) => line.join('  ').trimEnd()).join('\n');
}
