/**
 * Rotates many grants at once, until there were so many transitions and the log began anew, and writes down each that was
 * answered: `<grant id> <generation> <where the recording was>`.
 */
import { fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { addAdaAndOne, event, openAsService, sampleGeneration, sampleGrant } from '../support/storage.ts';

const [path, trace, answers, transitions] = process.argv.slice(2) as [string, string, string, string];
const CHAINS = 1000;
const MOST_TIMES = 10;

const opened = await openAsService(path);
await addAdaAndOne(opened);
const recording = openSync(trace, 'r');
const log = openSync(`${path}-wal`, 'r');
const atFirst = saltOfLog();
const lines: string[] = [];

await Promise.all(
  Array.from({ length: CHAINS }, async () => {
    const grant = sampleGrant();
    await opened.store.issueGrant(grant, event('consent_allowed'));
    for (let generation = 1; isToGoOn(); generation += 1) {
      await opened.store.rotateRefreshToken(sampleGeneration(grant, generation));
      lines.push(`${grant.id.toString('hex')} ${generation} ${fstatSync(recording).size}\n`);
    }
  }),
);
writeFileSync(answers, lines.join(''));
process.kill(process.pid, 'SIGKILL');

/** How busy the machine is decides when a commit finds all of the log copied. */
function isToGoOn(): boolean {
  if (lines.length < Number(transitions)) return true;
  return saltOfLog() === atFirst && lines.length < Number(transitions) * MOST_TIMES;
}

/** It is another one each time that the log begins anew (https://sqlite.org/fileformat2.html#walformat). */
function saltOfLog(): bigint {
  const salt = Buffer.alloc(8);
  readSync(log, salt, 0, salt.length, 16);
  return salt.readBigUInt64BE();
}
