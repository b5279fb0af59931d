/** The audit trail after something went wrong: whole, and whole again after the retention. */
import assert from 'node:assert/strict';
import { AuditTrail } from '../../src/operator/trail/audit-trail.ts';
import type { Storage } from '../../src/storage/opening/opened-storage.ts';
import { keyring } from '../oauth/samples.ts';
import { operator } from './storage.ts';

/** Verifies the trail of an opened database, has the retention take away all up to now, and verifies what is left. */
export async function requireWholeTrail({ store, installation }: Storage, now: number): Promise<void> {
  const parts = { store, keyring, installation: installation.id, now: () => now };
  await requireWhole(new AuditTrail(parts), now);
}

/** The same for a trail. */
export async function requireWhole(trail: AuditTrail, now: number): Promise<void> {
  const { problems, seen } = await trail.verify([]);
  assert.deepEqual(problems, []);
  await trail.recordCheckpoint(operator);
  await trail.shorten(now + 1, operator);
  const left = await trail.verify([]);
  assert.deepEqual(left.problems, []);
  assert.ok(left.seen < seen, `${left.seen} of ${seen} events are left`);
}
