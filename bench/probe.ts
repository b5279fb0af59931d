/**
 * Loaded into a server under test before its own code (`node --import`): counts the syncs that it awaits and the
 * statements that it sends to PostgreSQL, and answers its parent's questions over IPC. The program itself is not changed
 * and does not know.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

/** What a server has used so far: CPU in µs, memory in bytes. */
export type Usage = {
  readonly syncs: number;
  readonly statements: number;
  readonly cpu: number;
  readonly rss: number;
};

/** Messages that have PostgreSQL run something: "Execute" of a prepared statement, and "Query". */
const RUNNING = new Set([0x45, 0x51]);

let syncs = 0;
let statements = 0;

const { fdatasync } = fs;
fs.fdatasync = ((descriptor: number, callback: fs.NoParamCallback) => {
  syncs += 1;
  fdatasync(descriptor, callback);
}) as typeof fs.fdatasync;
syncBuiltinESMExports();

const postgresqlPort = Number(process.env['BENCH_POSTGRESQL_PORT']);
if (postgresqlPort) {
  const { write } = Socket.prototype;
  Socket.prototype.write = function (this: Socket, ...args: Parameters<typeof write>) {
    if (this.remotePort === postgresqlPort && Buffer.isBuffer(args[0])) statements += statementsIn(args[0]);
    return write.apply(this, args);
  } as typeof write;
}

/** Counts in whole messages: a byte for the kind, and four for the length of the rest. A greeting begins with a zero. */
function statementsIn(messages: Buffer): number {
  let found = 0;
  for (let at = 0; messages[at] && at + 5 <= messages.length; at += 1 + messages.readInt32BE(at + 1))
    if (RUNNING.has(messages[at] as number)) found += 1;
  return found;
}

let endProfile: (() => Promise<unknown>) | null = null;

process.on('message', async (question) => {
  if (question === 'profile') {
    endProfile = await startProfile();
    process.send?.('started');
  } else if (question === 'profile-end') {
    process.send?.(await endProfile?.());
  } else {
    const { user, system } = process.cpuUsage();
    process.send?.({ syncs, statements, cpu: user + system, rss: process.memoryUsage.rss() } satisfies Usage);
  }
});
process.once('disconnect', () => process.exit());
// The channel must not keep a server alive that was told to stop.
process.channel?.unref();

async function startProfile(): Promise<() => Promise<unknown>> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    return profile;
  };
}
