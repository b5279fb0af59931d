/**
 * Rotates many grants at once, until there were so many transitions and the log began anew, and writes down each that was
 * answered: `<grant id> <generation> <where the recording was>`.
 */
import { fstatSync, openSync, writeFileSync } from 'node:fs';
import { addAdaAndOne, event, openAsService, saltOfLog, sampleGeneration, sampleGrant } from '../support/storage.ts';

const [path, trace, answers, transitions] = process.argv.slice(2) as [string, string, string, string];
const CHAINS = 1000;
const MAX_TIMES = 10;

const opened = await openAsService(path);
await addAdaAndOne(opened);
const recording = openSync(trace, 'r');
const log = openSync(`${path}-wal`, 'r');
const atFirst = saltOfLog(log);
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
  return saltOfLog(log) === atFirst && lines.length < Number(transitions) * MAX_TIMES;
}
