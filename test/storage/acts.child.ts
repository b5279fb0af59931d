/**
 * Records so many acts, closes the database and ends; prints how many were acknowledged so far, and what is to be looked at.
 * Ends with 3 when it is told that the disk failed. `exhausted` takes all file descriptors first; `attended` waits for the end
 * of its input before it closes; `stopped` acts no more when its input ends; `command` opens it as commands do;
 * `threadless` is on a system that has no thread left.
 */
import { once } from 'node:events';
import { openSync, writeSync } from 'node:fs';
import { event, openAsService } from '../support/storage.ts';

const AT_ONCE = 250;
const [path, acts, ...how] = process.argv.slice(2) as [string, string, ...string[]];

const { store, close } = await openAsService(path, {
  role: how.includes('command') ? 'command' : 'service',
  report: (sentence) => writeSync(2, `${sentence}\n`),
  onFailure: (error) => {
    writeSync(2, `${error.stack}\n`);
    process.exit(3);
  },
});
let isStopped = false;
if (how.includes('stopped'))
  process.stdin.resume().once('end', () => {
    isStopped = true;
  });
if (how.includes('exhausted')) exhaust();
if (how.includes('threadless')) Object.assign(process.getBuiltinModule('node:worker_threads'), { Worker: NoThread });
for (let acknowledged = AT_ONCE; acknowledged <= Number(acts) && !isStopped; acknowledged += AT_ONCE) {
  await Promise.all(Array.from({ length: AT_ONCE }, () => store.recordDenial(event('consent_denied'))));
  writeSync(1, `${acknowledged}\n`);
}
if (how.includes('stopped')) process.stdin.destroy(); // It may act to its end before it is told.
if (how.includes('attended')) await once(process.stdin.resume(), 'end');
await close();

function NoThread(): never {
  throw new Error('resource temporarily unavailable');
}

function exhaust(): void {
  try {
    for (;;) openSync('/dev/null', 'r');
  } catch {
    // No more are to be had.
  }
}
