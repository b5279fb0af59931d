/** Types and helpers that the parts of the suite share. */
import assert from 'node:assert/strict';
import type { AccountStore } from '../../../src/accounts/people/store.ts';
import { type Grant, isEnded } from '../../../src/oauth/grants/grant.ts';
import type { BackupStore } from '../../../src/oauth/installation/restore.ts';
import type { RootKeyStore } from '../../../src/oauth/installation/root-key-store.ts';
import type { SigningKeyStore } from '../../../src/oauth/openid/signing-key-store.ts';
import type { OperatorStore } from '../../../src/operator/access/operator-store.ts';
import type { Store } from '../../../src/storage/tables/whole-store.ts';
import { event, sampleGrant } from '../../support/storage.ts';

/** All that a store does. */
export type AnyStore = Store & OperatorStore & AccountStore & RootKeyStore & SigningKeyStore & BackupStore;

/** Tests a promise on a new store that has the sample account and the sample client. */
export type WithStore = (promise: string, run: (store: AnyStore) => Promise<void>) => void;

/** Callers that try at the same time. */
export const HUNDRED = Array.from({ length: 100 });

export async function issue(store: AnyStore, some: Partial<Grant> = {}): Promise<Grant> {
  const grant = sampleGrant(some);
  await store.issueGrant(grant, event('consent_allowed', { clientId: grant.clientId }));
  return grant;
}

export async function find(store: AnyStore, { id }: Grant) {
  const found = await store.findGrant(id);
  assert.ok(found);
  return found;
}

export async function isAlive(store: AnyStore, grant: Grant): Promise<boolean> {
  const found = await find(store, grant);
  return !isEnded(found.grant, found.standing);
}

/** How many of those who try at the same time win. */
export async function winners(attempts: Promise<unknown>[]): Promise<number> {
  return (await Promise.all(attempts)).filter(Boolean).length;
}
