// node bench/soak.ts: the service on SQLite under a steady load for long, and whether anything grows meanwhile.
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CONTESTANTS, targetOf } from './contestants.ts';
import { runCell } from './load.ts';
import { runStream, type StreamOutcome } from './open-loop.ts';
import { isOfApi, type Operation, Purse, seededChance } from './operations.ts';
import { percentile } from './rounds.ts';
import { soakPlot } from './soak-plot.ts';
import { type Sample, soakReport } from './soak-report.ts';
import { figuresText } from './statistics.ts';
import { launch, residentBytes, stop, type Target, untilAnswers } from './target.ts';

const USAGE = `node bench/soak.ts --folder FOLDER [options]
The service on SQLite under a steady load: refreshes, checks and introspections that are due at fixed rates, and every minute
new grants whose codes are exchanged. Memory, open files, the write-ahead log and the p99 of each slice are sampled. Linux.
  --folder FOLDER  an empty folder for the database, the log, soak.json and soak.svg; on the disk that is to be tried
  --seconds N      how long (3600)
  --slice N        seconds between samples (10)
  --rate N         refreshes a second, and as many checks and introspections (100)
  --grants N       grants at first, and a tenth as many more every minute (2000)
  --seed N         for which grant is next (1)
It exits 1 after a wrong answer, or where something grew by more than it may (see its last lines).
`;

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    seconds: { type: 'string', default: '3600' },
    slice: { type: 'string', default: '10' },
    rate: { type: 'string', default: '100' },
    grants: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

/** What every slice asks, each at the rate. */
const STEADY = ['refresh', 'check', 'introspect'] as const;
const CONNECTIONS = 16;
/** Looks at what is due: a request may be sent so much later than it was due, and latencies say so. */
const PAUSE_MS = 2;
/** The service has closed by then what was ended here (ms), so that the connections of a slice are not counted. */
const SETTLE_MS = 1000;
/** What proc_pid_stat(5) counts in, on every architecture of Node.js. */
const TICKS_A_SECOND = 100;

if (values.help || !values.folder) process.stdout.write(USAGE);
else process.exitCode = await soak(values.folder);

async function soak(folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  const [contestant] = CONTESTANTS.filter(({ name }) => name === 'valetkey-sqlite');
  if (!contestant) throw new Error('there is no service to soak');
  const noDatabase = () => Promise.reject(new Error('this is for SQLite'));
  const target = await targetOf(contestant, { folder, createDatabase: noDatabase });
  const quiet = { ...target, environment: { ...target.environment, VALETKEY_LOG_LEVEL: 'warn' } };
  const log = openSync(join(folder, 'log'), 'a');
  const service = launch(quiet, log, false);
  try {
    await untilAnswers(target.apiPort, service);
    const samples = await run(target, join(folder, 'valetkey-sqlite.db'), service);
    const { text, isFlat } = soakReport(samples);
    const about = { date: new Date().toISOString().slice(0, 10), node: process.version, ...values, isFlat };
    writeFileSync(join(folder, 'soak.json'), `${figuresText({ ...about, samples })}\n`);
    writeFileSync(join(folder, 'soak.svg'), soakPlot(samples, about));
    process.stdout.write(`${text}\n`);
    return isFlat ? 0 : 1;
  } finally {
    await stop(service);
    closeSync(log);
  }
}

async function run(target: Target, database: string, service: ChildProcess): Promise<Sample[]> {
  const [seconds = 0, slice = 0, rate = 0, grants = 0, seed = 0] = [
    values.seconds,
    values.slice,
    values.rate,
    values.grants,
    values.seed,
  ].map(Number);
  const chance = seededChance(seed);
  const refreshed = await newPurse(target, grants, chance);
  // Access tokens end after half an hour, and are checked while they are young.
  let checked = refreshed;
  const samples: Sample[] = [];
  const since = performance.now();
  const elapsed = () => (performance.now() - since) / 1000;
  let [minute, live, cpu] = [0, grants, cpuSeconds(service)];
  while (elapsed() < seconds) {
    const isNewMinute = Math.floor(elapsed() / 60) > minute;
    if (isNewMinute) minute += 1;
    const began = elapsed();
    const [outcomes, more] = await Promise.all([
      Promise.all(
        STEADY.map((operation) =>
          stream(target, operation === 'refresh' ? refreshed : checked, { operation, rate, seconds: slice }),
        ),
      ),
      isNewMinute ? newPurse(target, Math.ceil(grants / 10), chance) : null,
    ]);
    checked = more ?? checked;
    live += more?.codes ?? 0;
    await sleep(SETTLE_MS);
    const cpuBefore = cpu;
    cpu = cpuSeconds(service);
    samples.push({
      second: Math.round(elapsed()),
      ...summaryOf(outcomes),
      grants: live,
      ...stateOf(service, database),
      cpuShare: (cpu - cpuBefore) / (elapsed() - began),
      machineLoad: loadavg()[0] ?? 0,
    });
    process.stderr.write(`soak: ${JSON.stringify(samples.at(-1))}\n`);
  }
  return samples;
}

/** Grants whose codes were exchanged, by an app of their own. */
async function newPurse(target: Target, grants: number, chance: () => number): Promise<Purse> {
  const purse = new Purse(await target.mint(grants), target.paths, chance);
  const cell = { port: target.appPort, connections: CONNECTIONS, next: purse.calls('exchange'), seconds: 60 };
  const { errors, firstError } = await runCell({ ...cell, least: purse.codes, most: purse.codes });
  if (errors > 0) throw new Error(`codes were not exchanged: ${firstError}`);
  return purse;
}

function stream(target: Target, purse: Purse, due: { operation: Operation; rate: number; seconds: number }) {
  const { operation, rate, seconds } = due;
  const port = isOfApi(operation) ? target.apiPort : target.appPort;
  const next = purse.calls(operation);
  return runStream({ port, rate, seconds, connections: CONNECTIONS, next, pauseMs: PAUSE_MS });
}

function summaryOf(outcomes: readonly StreamOutcome[]): Pick<Sample, 'p99' | 'requests' | 'errors' | 'firstError'> {
  const p99 = outcomes.map(({ latencies }, at) => [STEADY[at], percentile(latencies, 0.99)]);
  return {
    p99: Object.fromEntries(p99),
    requests: outcomes.reduce((sum, { due }) => sum + due, 0),
    errors: outcomes.reduce((sum, { errors }) => sum + errors, 0),
    firstError: outcomes.find(({ firstError }) => firstError !== null)?.firstError ?? null,
  };
}

function stateOf(service: ChildProcess, database: string) {
  return {
    residentMB: residentBytes(service) / 2 ** 20,
    files: readdirSync(`/proc/${service.pid}/fd`).length,
    walMB: statSync(`${database}-wal`).size / 2 ** 20,
    databaseMB: statSync(database).size / 2 ** 20,
  };
}

/** Of the process so far: fields 14 and 15 of proc_pid_stat(5), which follow a name that may have spaces. */
function cpuSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}
