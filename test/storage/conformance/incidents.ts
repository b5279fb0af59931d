/** Numbers of incidents. */
import assert from 'node:assert/strict';
import { event, NOW } from '../../support/storage.ts';
import type { WithStore } from './any-store.ts';

/** Counts of the events that are incidents. */
export function incidents(withStore: WithStore): void {
  withStore('incidents are counted by kind since a time, each up to a limit', async (store) => {
    for (const action of ['code_replay', 'refresh_reuse', 'refresh_reuse', 'refresh_reuse', 'sign_in'] as const)
      await store.recordDenial({ ...event(action), at: NOW });
    await store.recordDenial({ ...event('code_replay'), at: NOW - 1 });
    await store.recordDenial({ ...event('wrong_sign_ins'), at: NOW + 1 });
    assert.deepEqual(await store.countIncidents(NOW, 100), { code_replay: 1, refresh_reuse: 3, wrong_sign_ins: 1 });
    assert.deepEqual(await store.countIncidents(NOW - 1, 2), { code_replay: 2, refresh_reuse: 2, wrong_sign_ins: 1 });
    assert.deepEqual(await store.countIncidents(NOW + 2, 2), { code_replay: 0, refresh_reuse: 0, wrong_sign_ins: 0 });
  });
}
