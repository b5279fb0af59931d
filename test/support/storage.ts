/** Databases and sample rows for tests of the store. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Account } from '../../src/accounts/account.ts';
import type { Session } from '../../src/accounts/session.ts';
import type { AuditAction, AuditEvent } from '../../src/oauth/audit.ts';
import type { Client } from '../../src/oauth/client.ts';
import { type Generation, type Grant, newGrantId } from '../../src/oauth/grant.ts';
import { createKeyring } from '../../src/oauth/keyring.ts';
import { openSqlite, type SqliteOptions, type SqliteStorage } from '../../src/storage/sqlite/open.ts';

/** Some moment, in ms since the epoch. */
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
export const HOUR = 3_600_000;
const keyring = createKeyring([Buffer.alloc(32, 'a key')]);

/** A path for a database in a folder that goes with the test. */
export function temporaryPath(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'data', 'valetkey.db');
}

/** Opens a database as the service does; a failure of the disk fails the test unless it brings its own `onFailure`. */
export function openAsService(path: string, options: Partial<SqliteOptions> = {}): Promise<SqliteStorage> {
  return openSqlite({
    path,
    keyring,
    now: () => NOW,
    role: 'service',
    migrate: true,
    durability: 'awaited',
    onFailure: (error) => {
      throw error;
    },
    ...options,
  });
}

/** An event that some operator caused. */
export function event(action: AuditAction, about: Partial<AuditEvent> = {}): AuditEvent {
  return {
    at: NOW,
    action,
    actor: { kind: 'operator', id: 'root', source: null, requestId: null },
    clientId: null,
    resourceOwnerId: null,
    grantId: null,
    detail: null,
    ...about,
  };
}

export function sampleAccount(some: Partial<Account> = {}): Account {
  return {
    id: 'usr_ada',
    email: 'Ada@example.com',
    username: 'ada',
    name: 'Ada Lovelace',
    avatarUrl: null,
    isOperator: false,
    status: 'active',
    epoch: 0,
    password: { phc: '$argon2id$one', keyId: 1 },
    createdAt: NOW,
    ...some,
  };
}

export function sampleClient(some: Partial<Client> = {}): Client {
  return {
    id: 'app_one',
    type: 'confidential',
    name: 'One',
    redirectUris: ['https://one.test/cb', 'https://one.test/other'],
    scopes: [
      { name: 'read', sentence: 'Read everything' },
      { name: 'write', sentence: null },
    ],
    requirePkce: false,
    refreshOverlap: null,
    refreshRetryWindow: 5,
    status: 'active',
    epoch: 0,
    secrets: [{ digest: randomBytes(32), keyId: keyring.currentKeyId, createdAt: NOW }],
    createdAt: NOW,
    ...some,
  };
}

/** A grant that was allowed just now. */
export function sampleGrant(some: Partial<Grant> = {}): Grant {
  return {
    id: newGrantId(NOW),
    clientId: 'app_one',
    resourceOwnerId: 'usr_ada',
    scope: 'read write',
    redirectUri: 'https://one.test/cb',
    codeChallenge: null,
    seed: randomBytes(16),
    epochs: { installation: 0, client: 0, resourceOwner: 0 },
    grantedAt: NOW,
    absoluteExpiresAt: NOW + 365 * 24 * HOUR,
    generation: 0,
    keyId: keyring.currentKeyId,
    rotatedAt: NOW,
    accessTokenExpiresAt: null,
    expiresAt: NOW + 60_000,
    usedGeneration: 0,
    lastUsedAt: null,
    revokedAt: null,
    revocationReason: null,
    ...some,
  };
}

/** What a transition of a grant to a generation writes. */
export function sampleGeneration({ id, keyId }: Grant, generation: number): Generation {
  return {
    grantId: id,
    generation,
    keyId,
    rotatedAt: NOW + generation,
    accessTokenExpiresAt: NOW + 30 * 60_000,
    expiresAt: NOW + 24 * HOUR,
  };
}

export function sampleSession(some: Partial<Session> = {}): Session {
  return { digest: randomBytes(32), accountId: 'usr_ada', createdAt: NOW, lastSeenAt: NOW, ...some };
}

/** Adds the sample account and the sample client. */
export async function addAdaAndOne({ store }: Pick<SqliteStorage, 'store'>): Promise<void> {
  await store.addAccount(sampleAccount(), 'ada@example.com', event('user_added'));
  await store.registerClient(sampleClient(), event('client_registered'));
}
