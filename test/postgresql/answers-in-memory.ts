/**
 * What answers leave in memory: a thread asks for grants again and again, and says by how many bytes what is old grew each time. A
 * thread of its own, since in that of the test runner each promise is watched, and held for a while.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { PATIENT } from '../support/postgres.ts';
import { openInstance } from './instance.ts';

/** Where the grants are, and their ids. */
export type Asked = { readonly url: string; readonly ids: readonly Uint8Array[] };

const ROUNDS = 11;
const TIMES = 40;
const NOBODYS = Buffer.alloc(16);

const { url, ids } = workerData as Asked;
const { store, close } = await openInstance(url, PATIENT);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
const oldBytes = () =>
  getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size as number;
const grown: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const before = oldBytes();
  for (let times = 0; times < TIMES; times += 1) {
    await Promise.all(ids.map((id) => store.findGrant(Buffer.from(id))));
    // The client of PostgreSQL holds the last answer until the next.
    await store.findGrant(NOBODYS);
    // While nothing is asked. V8 does it when there is no more room, which is sooner on a busy machine: some is being answered then.
    collect({ type: 'minor' });
  }
  grown.push(oldBytes() - before);
}
await close();
parentPort?.postMessage(grown);
