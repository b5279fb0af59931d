/** Rotates many grants at once, and writes down each transition that was answered: `<grant id> <generation> <where the recording was>`. */
import { fstatSync, openSync, writeFileSync } from 'node:fs';
import { addAdaAndOne, event, openAsService, sampleGeneration, sampleGrant } from '../support/storage.ts';

const [path, trace, answers, transitions] = process.argv.slice(2) as [string, string, string, string];
const CHAINS = 1000;

const opened = await openAsService(path);
await addAdaAndOne(opened);
const recording = openSync(trace, 'r');
const lines: string[] = [];

await Promise.all(
  Array.from({ length: CHAINS }, async () => {
    const grant = sampleGrant();
    await opened.store.issueGrant(grant, event('consent_allowed'));
    for (let generation = 1; lines.length < Number(transitions); generation += 1) {
      await opened.store.rotateRefreshToken(sampleGeneration(grant, generation));
      lines.push(`${grant.id.toString('hex')} ${generation} ${fstatSync(recording).size}\n`);
    }
  }),
);
writeFileSync(answers, lines.join(''));
process.kill(process.pid, 'SIGKILL');
