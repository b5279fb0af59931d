/** Numbers and places of incidents. */
import assert from 'node:assert/strict';
import type { AuditAction } from '../../../src/oauth/trail/audit.ts';
import { event, NOW } from '../../support/storage.ts';
import type { WithStore } from './any-store.ts';

/** Counts and places of the events that are incidents. */
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

  withStore('the newest incidents of each kind are listed since a time, each up to a limit', async (store) => {
    const record = async (action: AuditAction, at: number) => {
      await store.recordDenial({ ...event(action), at });
      const [newest] = await store.listAuditPlaces({ order: 'newest' }, null, 1);
      return newest?.sequence ?? 0;
    };
    const replay = await record('code_replay', NOW + 1);
    await record('sign_in', NOW + 1);
    const [oldest, middle, newest] = [
      await record('refresh_reuse', NOW),
      await record('refresh_reuse', NOW + 1),
      await record('refresh_reuse', NOW + 2),
    ];
    assert.deepEqual(await store.listIncidents(NOW, 2), [replay, newest, middle]);
    assert.deepEqual(await store.listIncidents(NOW, 9), [replay, newest, middle, oldest]);
    assert.deepEqual(await store.listIncidents(NOW + 2, 9), [newest]);
    assert.deepEqual(await store.listIncidents(NOW + 3, 9), []);
  });
}
