/** What revocation streams cost: those who write to the audit trail beside many readers, and an instance that feeds many. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TrailHeldUp } from '../src/oauth/trail/audit-store.ts';
import { startTestService } from '../test/support/service.ts';
import { addResourceServer, basic } from '../test/support/standard.ts';
import { onServer, open } from './scaling-postgresql.ts';
import { fill } from './scaling-postgresql-fill.ts';
import { issue, madeUp, markdown, someGrant } from './scaling-store.ts';
import { median } from './statistics.ts';

const GRANTS = 1000;
const INSTANCES = [0, 10, 40] as const;
const ISSUED_PER_SECOND = 400;
const READ_EVERY_MS = 250;
const STREAMS = [0, 250, 900] as const;
const SECONDS = 5;

/** Issues at a steady rate beside so many instances, each of which reads the trail as a revocation feed does. */
export async function measureTrail(): Promise<string> {
  const rows = madeUp(GRANTS, Date.now() - GRANTS - 1000);
  return onServer({}, async (url, ask) => {
    await fill(ask, rows);
    const writer = await open(url);
    const lines: string[][] = [];
    for (const instances of INSTANCES) {
      const readers = await Promise.all(Array.from({ length: instances }, () => open(url)));
      const ends: Awaited<ReturnType<typeof read>>[] = [];
      for (const { store } of readers) ends.push(await read(store));
      const latencies = await issueSteadily((now) => issue(writer.store, someGrant(rows, now)));
      for (const end of ends) await end();
      await Promise.all(readers.map(({ close }) => close()));
      const sorted = latencies.toSorted((one, other) => one - other);
      const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
      lines.push([String(instances), median(sorted).toFixed(1), p99.toFixed(1)]);
    }
    await writer.close();
    return markdown(['instances that read the trail', 'Allow p50 ms', 'p99 ms'], lines);
  });
}

/** Has one instance feed so many streams, on which nothing happens. */
export async function measureStreams(): Promise<string> {
  const ends: (() => Promise<void> | void)[] = [];
  const variables = { VALETKEY_MAX_CONNECTIONS_PER_SOURCE: '2000' };
  const service = await startTestService({ after: (end) => void ends.push(end) }, variables);
  const { id, secret } = await addResourceServer(service);
  const lines: string[][] = [];
  for (const streams of STREAMS) {
    const listener = fork(import.meta.filename, [service.appUrl, basic(id, secret).Authorization, String(streams)]);
    await once(listener, 'message');
    const cpu = process.cpuUsage();
    await sleep(SECONDS * 1000);
    const { user, system } = process.cpuUsage(cpu);
    listener.kill();
    lines.push([String(streams), `${((user + system) / 1e4 / SECONDS).toFixed(1)} %`]);
  }
  for (const end of ends) await end();
  return markdown(['streams', 'of a core'], lines);
}

type Trail = Pick<Awaited<ReturnType<typeof open>>['store'], 'lastAuditSequence' | 'listAuditEventsAfter'>;

/** Reads on until the answered function is called. */
async function read(trail: Trail): Promise<() => Promise<void>> {
  let place = await trail.lastAuditSequence();
  let reading = Promise.resolve();
  const readOn = async () => {
    const events = await trail.listAuditEventsAfter(place, 500).catch((error: unknown) => {
      if (error instanceof TrailHeldUp) return []; // As for the streams: the next reading has it.
      throw error;
    });
    place = events.at(-1)?.sequence ?? place;
  };
  const timer = setInterval(() => {
    reading = reading.then(readOn);
  }, READ_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await reading;
  };
}

/** Starts as many each second as it should, whatever the ones before take. Answers how long each took (ms). */
async function issueSteadily(act: (now: number) => Promise<unknown>): Promise<number[]> {
  const start = performance.now();
  const started: Promise<number>[] = [];
  const timed = async () => {
    const began = performance.now();
    await act(Date.now());
    return performance.now() - began;
  };
  while (performance.now() - start < SECONDS * 1000) {
    const due = ((performance.now() - start) / 1000) * ISSUED_PER_SECOND;
    while (started.length < due) started.push(timed());
    await sleep(1);
  }
  return Promise.all(started);
}

/** In a process of its own: opens so many streams, says when all are ready, and listens. */
async function listen(appUrl: string, authorization: string, streams: number): Promise<void> {
  const { hostname, port, host } = new URL(appUrl);
  const head = `GET /oauth2/revocations HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n\r\n`;
  const sockets = Array.from({ length: streams }, () => connect(Number(port), hostname));
  for (const socket of sockets) {
    socket.write(head);
    await once(socket, 'data');
    socket.resume();
  }
  process.send?.('ready');
  await once(process, 'disconnect');
  process.exit(0);
}

if (import.meta.main) {
  const [appUrl = '', authorization = '', streams] = process.argv.slice(2);
  await listen(appUrl, authorization, Number(streams));
}
