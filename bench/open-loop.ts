/**
 * The open loop: requests are due at a fixed rate, whether or not those before are answered, and latencies count from when
 * a request was due. So a server that stalls is charged for all who had to wait, not only for those who were let in.
 */
import { type Call, Connection } from './connection.ts';

/** What is sent: `rate` requests a second, for so many seconds. */
export type Stream = {
  readonly port: number;
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
  readonly next: () => Call | null;
  /** How long it sleeps between looks at what is due (ms): for slow streams, which need no core of their own. */
  readonly pauseMs?: number;
};

/** What came of it; latencies in ms from when a request was due, sorted. */
export type StreamOutcome = {
  readonly latencies: Float64Array;
  /** Requests that were due, and how many of them were answered before the end or just after it. */
  readonly due: number;
  readonly inTime: number;
  readonly errors: number;
  readonly firstError: string | null;
};

/** What was due and is not answered so long after the end is given up. */
const GRACE_MS = 1000;
/** Who keeps up has some under way at the end, too. */
const UNDER_WAY_MS = 50;

/** Runs a stream to its end. */
export async function runStream(stream: Stream): Promise<StreamOutcome> {
  const { rate, seconds, connections: count, pauseMs } = stream;
  const due = Math.floor(rate * seconds);
  const latencies: number[] = [];
  const problems: string[] = [];
  const idle: Connection[] = [];
  let inTime = 0;
  let sent = 0;
  let start = 0;
  const dueAt = (number: number) => start + (number / rate) * 1000;
  // Never before it is due; later when no connection was free.
  const sendIfDue = (connection: Connection, now: number) => {
    const call = sent < due && dueAt(sent) <= now ? stream.next() : null;
    if (call) connection.send(call, dueAt(sent++));
    else idle.push(connection);
  };
  const connections = await Connection.openAll(count, stream.port, (connection, latency, problem) => {
    const now = performance.now();
    latencies.push(latency);
    if (now <= start + seconds * 1000 + UNDER_WAY_MS) inTime += 1;
    if (problem !== null) problems.push(problem);
    sendIfDue(connection, now);
  });
  idle.push(...connections);
  start = performance.now();
  for (let now = start; latencies.length < due && now < dueAt(due) + GRACE_MS; now = performance.now()) {
    while (idle.length > 0 && sent < due && dueAt(sent) <= now) sendIfDue(idle.pop() as Connection, now);
    // A timer is too coarse for a fast stream; its generator has its core to itself.
    await new Promise<void>((resolve) => (pauseMs ? setTimeout(resolve, pauseMs) : setImmediate(resolve)));
  }
  for (const connection of connections) connection.end();
  // Those who were given up have waited at least until now.
  for (let number = latencies.length; number < due; number += 1) latencies.push(performance.now() - dueAt(number));
  const sorted = Float64Array.from(latencies).sort();
  return { latencies: sorted, due, inTime, errors: problems.length, firstError: problems[0] ?? null };
}
