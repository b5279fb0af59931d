/** Redeems and rotates until it is killed, and prints each transition that was acknowledged: `<grant id> <generation>`. */
import { writeSync } from 'node:fs';
import { addAdaAndOne, event, openAsService, sampleGeneration, sampleGrant } from '../support/storage.ts';

const opened = await openAsService(process.argv[2] as string);
if (!(await opened.store.findClient('app_one'))) await addAdaAndOne(opened);

async function work(): Promise<void> {
  const grant = sampleGrant();
  await opened.store.issueGrant(grant, event('consent_allowed'));
  const acknowledge = (what: string) => writeSync(1, `${grant.id.toString('hex')} ${what}\n`);
  acknowledge('0');
  await opened.store.redeemAuthorizationCode(sampleGeneration(grant, 1));
  acknowledge('1');
  for (let generation = 2; generation < 5; generation += 1) {
    await opened.store.rotateRefreshToken(sampleGeneration(grant, generation));
    acknowledge(String(generation));
  }
  await opened.store.revokeGrant(grant.id, 'user', event('grant_revoked'));
  acknowledge('revoked');
}

async function workOn(): Promise<never> {
  for (;;) await work();
}

await Promise.all(Array.from({ length: 20 }, workOn));
