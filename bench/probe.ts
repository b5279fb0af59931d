/**
 * Loaded into a server under test before its own code (`node --import`): counts the syncs that it awaits, and tells its parent
 * over IPC what it has used. The program itself is not changed and does not know.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** What a server has used so far: CPU in µs, memory in bytes. */
export type Usage = {
  readonly syncs: number;
  readonly cpu: number;
  readonly rss: number;
};

let syncs = 0;

const { fdatasync } = fs;
fs.fdatasync = ((descriptor: number, callback: fs.NoParamCallback) => {
  syncs += 1;
  fdatasync(descriptor, callback);
}) as typeof fs.fdatasync;
syncBuiltinESMExports();

let endProfile: (() => Promise<unknown>) | null = null;

process.on('message', async (question) => {
  if (question === 'profile') {
    endProfile = await startProfile();
    process.send?.('started');
  } else if (question === 'profile-end') {
    process.send?.(await endProfile?.());
  } else {
    const { user, system } = process.cpuUsage();
    process.send?.({ syncs, cpu: user + system, rss: process.memoryUsage.rss() } satisfies Usage);
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
