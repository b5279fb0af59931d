/**
 * What those who pipeline and never read do to everybody else: many connections from one address that send a request again
 * and again, beside checks and pages from another address at a fixed rate. `node bench/not-reading.ts` runs it as long as
 * the figures are quoted for.
 */
import { once } from 'node:events';
import { createReadStream, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { obtainPair, signedInBrowser } from '../test/support/flow.ts';
import { ProgramOnDisk } from '../test/support/program.ts';
import { type Lifetime, PASSWORD, REDIRECT_URI, type TestService } from '../test/support/service.ts';
import type { Flood, Standing } from './flood.ts';
import { percentile } from './rounds.ts';

/** One run. `request` is what is pipelined, with its headers; `variables` are the service's. */
export type Run = {
  readonly request: string;
  readonly at: 'app' | 'api';
  readonly sockets: number;
  readonly seconds: number;
  readonly variables: Record<string, string>;
};

/** What came of it. Latencies in ms from when a request was due, memory in MB. */
export type Found = {
  readonly answered: number;
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
  /** Answers of the others by status; what was no answer is status 0. */
  readonly statuses: Record<string, number>;
  readonly memory: { readonly before: number; readonly most: number; readonly after: number };
  readonly flood: Standing & { readonly mostOpen: number; readonly left: number; readonly goneAfter: number };
  readonly errors: readonly string[];
};

/** What is sent, without its host. */
export const DOCUMENT = 'GET /openapi.json HTTP/1.1\r\n';
const CHECK = 'GET /v2/me HTTP/1.1\r\n';

const FLOODED_FROM = '127.0.0.2';
const CHUNK_BYTES = 64 * 1024;
/** Requests a second of the others. */
const RATE = 200;
/** Of so many of them one is a page. */
const PAGE_EVERY = 10;
const REOPEN_MS = 1000;
/**
 * Maximum number of looks of which none finds fewer of them, and the time between two (ms): in place of the clock, so that a machine
 * that does other things meanwhile gives those who end them as much time.
 */
const NONE_GOES_LOOKS = 240;
const LOOK_EVERY_MS = 250;

/** Starts a service of its own, floods it, and returns what was found. */
export async function runNotReading(t: Lifetime, run: Run): Promise<Found> {
  const program = await ProgramOnDisk.make(t);
  await program.json(
    ['user', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--password-stdin'],
    `${PASSWORD}\n`,
  );
  const log = join(program.folder, 'log');
  const client = await program.json(['client', 'register', '--name', 'App', '--redirect-uri', REDIRECT_URI]);
  const { child, ended } = await program.serve(run.variables, openSync(log, 'w'));
  const { appUrl, apiUrl } = program;
  const service = { appUrl, apiUrl } as TestService;
  const app = { clientId: String(client['client_id']), clientSecret: String(client['client_secret']) };
  const { accessToken } = await obtainPair(service, await signedInBrowser(service), app);
  const memory = () => residentMB(Number(child.pid));
  const before = memory();
  // As the service has them: whoever does not read does not hear that a connection was ended.
  const sockets = () => socketsOf(Number(child.pid));
  const listening = sockets();
  const url = new URL(run.at === 'app' ? appUrl : apiUrl);
  const asked = `${run.request}Host: ${url.host}\r\n\r\n`;
  const flood: Flood = {
    port: Number(url.port),
    localAddress: FLOODED_FROM,
    sockets: run.sockets,
    bytes: asked.repeat(Math.floor(CHUNK_BYTES / asked.length)),
    reopenAfterMs: REOPEN_MS,
  };
  const worker = new Worker(new URL('./flood.ts', import.meta.url), { workerData: flood });
  const standing = async (message: 'stand' | 'over'): Promise<Standing> => {
    worker.postMessage(message);
    return (await once(worker, 'message'))[0];
  };
  let [mostMemory, mostOpen] = [0, 0];
  let isOver = false;
  const looking = (async () => {
    for (; !isOver; await sleep(LOOK_EVERY_MS)) {
      mostMemory = Math.max(mostMemory, memory());
      mostOpen = Math.max(mostOpen, sockets() - listening);
    }
  })();
  const { latencies, statuses } = await askAsOthersDo(service, accessToken, run.seconds);
  isOver = true;
  await looking;
  await standing('over');
  const last = await standing('stand');
  const since = performance.now();
  let left = sockets() - listening;
  for (let looks = 0; left > 0 && looks < NONE_GOES_LOOKS; looks += 1) {
    await sleep(LOOK_EVERY_MS);
    const now = sockets() - listening;
    if (now < left) looks = 0;
    left = now;
  }
  await worker.terminate();
  const after = memory();
  child.kill('SIGTERM');
  await ended;
  const errors: string[] = [];
  // Line by line: a minute of checks may log more than a string can hold.
  for await (const line of createInterface({ input: createReadStream(log) }))
    if (/"level":"(warn|error|fatal)"/.test(line)) errors.push(line);
  const sorted = Float64Array.from(latencies).sort();
  return {
    answered: sorted.length,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    worst: sorted.at(-1) ?? Number.NaN,
    statuses,
    memory: { before, most: mostMemory, after },
    flood: { ...last, mostOpen, left, goneAfter: Math.round(performance.now() - since) },
    errors,
  };
}

/** Asks at a fixed rate, whether or not those before are answered. */
async function askAsOthersDo({ appUrl, apiUrl }: TestService, accessToken: string, seconds: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const start = performance.now();
  const asked: Promise<void>[] = [];
  for (let number = 0; number < RATE * seconds; number += 1) {
    const due = start + (number / RATE) * 1000;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    const isPage = number % PAGE_EVERY === 0;
    const url = isPage ? `${appUrl}/sign-in` : `${apiUrl}/v2/me`;
    // Half of the pages over new connections, as behind a proxy that keeps none.
    const through = isPage && number % (2 * PAGE_EVERY) === 0 ? false : agent;
    const headers = { Authorization: `Bearer ${accessToken}` };
    asked.push(
      statusOf(url, headers, through).then((status) => {
        latencies.push(performance.now() - due);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }),
    );
  }
  await Promise.all(asked);
  agent.destroy();
  return { latencies, statuses };
}

function statusOf(url: string, headers: Record<string, string>, agent: Agent | false): Promise<number> {
  return new Promise((resolve) => {
    request(url, { headers, agent, timeout: 30_000 }, (answer) => {
      answer.resume().once('close', () => resolve(answer.complete ? Number(answer.statusCode) : 0));
    })
      .once('error', () => resolve(0))
      .end();
  });
}

function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(`${folder}/${name}`).startsWith('socket:');
    } catch {
      return false; // Closed meanwhile.
    }
  }).length;
}

function residentMB(pid: number): number {
  const kB = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kB) / 1024);
}

if (import.meta.main) {
  const ends: (() => unknown)[] = [];
  process
    .once('SIGTERM', () => process.exit(1))
    .once('exit', () => {
      for (const end of ends) end();
    });
  const seconds = Number(process.argv[2] ?? 60);
  const document = { request: DOCUMENT, at: 'app', sockets: 1000, seconds } as const;
  const raised = { VALETKEY_MAX_CONNECTIONS_PER_SOURCE: '2000' };
  const runs: Record<string, Run> = {
    'a document, by default': { ...document, variables: {} },
    'a document, with the bound of a source raised': { ...document, variables: raised },
    'the check, which has no limit, with the bound raised': {
      ...document,
      request: CHECK,
      at: 'api',
      variables: raised,
    },
  };
  for (const [name, run] of Object.entries(runs))
    console.log(name, await runNotReading({ after: (end) => void ends.push(end) }, run));
}
