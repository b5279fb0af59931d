/** What rotations and uses leave in memory, as a thread of its own: what V8 learnt from other tests changes where it puts things. */
import { getHeapSpaceStatistics } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import {
  addAdaAndOne,
  event,
  NOW,
  openAsService,
  sampleGeneration,
  sampleGrant,
  sampleUse,
} from '../support/storage.ts';

const ROUNDS = 60;

const opened = await openAsService(':memory:');
const { store } = opened;
await addAdaAndOne(opened);
const grants = Array.from({ length: 200 }, () => sampleGrant());
await Promise.all(grants.map((grant) => store.issueGrant(grant, event('consent_allowed'))));
const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0;
/** By how much each round grew the old generation, which is 2,000 uses and 200 rotations (bytes). */
const grown: number[] = [];
let at = NOW;
for (let generation = 1; generation <= ROUNDS; generation += 1) {
  const before = oldBytes();
  for (let use = 0; use < 10; use += 1) {
    at += 1000;
    for (const { id } of grants)
      store.noteUse((await store.findGrant(id))?.grant as Grant, sampleUse(generation - 1, at));
  }
  await Promise.all(grants.map((grant) => store.redeemAuthorizationCode(sampleGeneration(grant, generation))));
  grown.push(oldBytes() - before);
}
await opened.close();
parentPort?.postMessage(grown);
