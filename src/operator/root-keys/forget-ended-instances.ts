/** Instances that noted themselves in the database, and no longer run. */
import type { RootKeyStore } from '../../oauth/installation/root-key-store.ts';

/** Instances as they are noted, and the ids of those that run. */
export type NotedInstances = {
  readonly store: Pick<RootKeyStore, 'listInstances' | 'forgetInstance'>;
  readonly listRunning: () => Promise<readonly string[]>;
};

/**
 * Forgets instances that no longer run, and returns the ids of those that do. One that lost its connections for a while notes
 * itself again while that matters.
 */
export async function forgetEnded({ store, listRunning }: NotedInstances): Promise<readonly string[]> {
  const running = await listRunning();
  for (const { id } of await store.listInstances()) if (!running.includes(id)) await store.forgetInstance(id);
  return running;
}
