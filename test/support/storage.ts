/** Databases and sample rows for tests of the store. */

import { hash, randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { PasswordAccount } from '../../src/accounts/people/account.ts';
import type { ExternalSignIn } from '../../src/accounts/people/external-sign-in.ts';
import type { IdentityProvider, ProviderRight } from '../../src/accounts/people/identity-provider.ts';
import { passwordSession, type Session } from '../../src/accounts/people/session.ts';
import type { AccountStore } from '../../src/accounts/people/store.ts';
import type { Client } from '../../src/oauth/clients/client.ts';
import type { UsedAssertion } from '../../src/oauth/clients/client-assertion.ts';
import type { ProviderProof } from '../../src/oauth/clients/provider-proof.ts';
import { DEVICE_CODE_LIFETIME, type DeviceRequest } from '../../src/oauth/device/device-authorization.ts';
import { type AllowBasis, type Generation, type Grant, newGrantId, type Use } from '../../src/oauth/grants/grant.ts';
import type { StoredSecret } from '../../src/oauth/keys/secret.ts';
import type { ResourceServer } from '../../src/oauth/resource-servers/resource-server.ts';
import type { Actor, AuditAction, AuditEvent, RecordedAuditEvent } from '../../src/oauth/trail/audit.ts';
import { openSqlite, type SqliteOptions, type SqliteStorage } from '../../src/storage/sqlite/open.ts';
import { newEvent } from '../../src/storage/tables/trail/audit-events.ts';
import { confidentialClient, issuedGrant, keyring, NOW, PREFIX } from '../oauth/samples.ts';
import type { Lifetime } from './service.ts';

export { NOW };
export const HOUR = 3_600_000;
/** How test installations begin. */
export const beginning = { settings: { tokenPrefix: PREFIX, shared: { VALETKEY_CODE_TTL: '60' } }, refuseNew: null };
/** Whoever runs a command. */
export const operator: Actor = { kind: 'operator', id: 'root', source: null, requestId: null };

/** A path for a database in a folder that goes with the test. */
export function temporaryPath(t: Lifetime, within = tmpdir()): string {
  const folder = mkdtempSync(join(within, 'valetkey-test-'));
  // Last of all: no database may vanish before it is closed, and tests undo first what they began with.
  t.after(() => t.after(() => rmSync(folder, { recursive: true, force: true })));
  return join(folder, 'data', 'valetkey.db');
}

/** The path of a copy, which goes with the test, of a database that nobody has open. */
export function copyOf(database: string, t: Lifetime): string {
  const path = temporaryPath(t);
  mkdirSync(dirname(path), { mode: 0o700 });
  copyFileSync(database, path);
  return path;
}

/** Opens a database as the service does; a failure of the disk fails the test unless it brings its own `onFailure`. */
export function openAsService(path: string, options: Partial<SqliteOptions> = {}): Promise<SqliteStorage> {
  return openSqlite({
    ...beginning,
    path,
    keyring,
    now: () => NOW,
    role: 'service',
    migrate: true,
    durability: 'awaited',
    report: (sentence) => {
      throw new Error(sentence);
    },
    onFailure: (error) => {
      throw error;
    },
    ...options,
  });
}

/** Another connection of this process; it must not close while the test's store is open. */
export function secondConnection(t: Pick<TestContext, 'after'>, path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  t.after(() => database.close());
  return database;
}

/** The salt of an open write-ahead log, another one each time that it begins anew (https://sqlite.org/fileformat2.html#walformat). */
export function saltOfLog(descriptor: number): bigint {
  const salt = Buffer.alloc(8);
  readSync(descriptor, salt, 0, salt.length, 16);
  return salt.readBigUInt64BE();
}

/** The columns of an event that a test writes by itself, in no chain, and their values for either store. */
export const NO_CHAIN = {
  columns: 'chain_id, chain_number, chain_mac',
  sqlite: "'none', 0, zeroblob(32)",
  postgresql: "'none', 0, decode(repeat('00', 32), 'hex')",
};

/** An event as a store returns it. */
export function recorded(said: AuditEvent, sequence = 1): RecordedAuditEvent {
  return { ...newEvent(said), sequence, endedAccess: null };
}

/** An event that some operator caused. */
export function event(action: AuditAction, about: Partial<AuditEvent> = {}): AuditEvent {
  return {
    at: NOW,
    action,
    actor: operator,
    clientId: null,
    resourceOwnerId: null,
    grantId: null,
    detail: null,
    ...about,
  };
}

export function sampleAccount(some: Partial<PasswordAccount> = {}): PasswordAccount {
  return {
    id: 'usr_ada',
    email: 'Ada@example.com',
    emailVerified: true,
    emailSetHere: true,
    username: 'ada',
    name: 'Ada Lovelace',
    avatarUrl: null,
    status: 'active',
    epoch: 0,
    password: { sealedPhc: '$argon2id$one', keyId: 1 },
    passwordSetAt: NOW,
    mustChangePassword: false,
    invitation: null,
    createdAt: NOW,
    ...some,
  };
}

export function sampleClient(some: Partial<Client> = {}): Client {
  return {
    ...confidentialClient,
    scopes: [
      { name: 'read', sentence: 'Read everything', optional: false },
      { name: 'write', sentence: null, optional: true },
    ],
    refreshRetryWindow: 5,
    secrets: [sampleSecret()],
    createdAt: NOW,
    ...some,
  };
}

export function sampleSecret(): StoredSecret {
  return { digest: randomBytes(32), createdAt: NOW };
}

export function sampleResourceServer(some: Partial<ResourceServer> = {}): ResourceServer {
  return {
    id: 'rs_one',
    name: 'Letters',
    resource: 'https://letters.test',
    acceptsUnbound: false,
    scopes: ['read'],
    secrets: [sampleSecret()],
    createdAt: NOW,
    ...some,
  };
}

/** The mark of the n-th client assertion, the same for the same n. */
export function sampleMark(n: number): UsedAssertion {
  return { clientId: 'app_one', digest: hash('sha256', `assertion ${n}`, 'buffer'), expiresAt: NOW + 600_000 };
}

export function sampleDeviceRequest(some: Partial<DeviceRequest> = {}): DeviceRequest {
  return {
    userCode: 'BCDFGHJK',
    grantId: newGrantId(NOW),
    clientId: 'app_one',
    scope: ['read', 'write'],
    resource: null,
    resourceIsDefault: false,
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    expiresAt: NOW + DEVICE_CODE_LIFETIME * 1000,
    ...some,
  };
}

/** A grant that was allowed just now. */
export function sampleGrant(some: Partial<Grant> = {}): Grant {
  const epochs = { installation: 0, client: 0, resourceOwner: 0 };
  return { ...issuedGrant, id: newGrantId(NOW), seed: randomBytes(16), epochs, ...some };
}

/** A use of a token. */
export function sampleUse(generation: number, usedAt: number): Use {
  return { generation, usedAt };
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

/** What an Allow in a session rests on: that, and grants by which consent is remembered. */
export function basisOf(session: Buffer, ...remembered: readonly Grant[]): AllowBasis {
  return { session, remembered: remembered.map(({ id }) => id) };
}

export function sampleSession(some: Partial<Session> = {}): Session {
  const begun = passwordSession('', 'usr_ada', some.createdAt ?? NOW);
  return { ...begun, lastSeenAt: NOW, digest: randomBytes(32), ...some };
}

export function sampleProvider(some: Partial<IdentityProvider> = {}): IdentityProvider {
  return {
    id: 'product',
    status: 'active',
    name: 'Photos',
    signInUrl: 'https://app.example/sign-in',
    secrets: [sampleSecret()],
    keys: [],
    ownIds: false,
    rights: ['sign-in'],
    homePage: null,
    sessionLifetime: null,
    createdAt: NOW,
    ...some,
  };
}

/** What proves a provider, for a right: its first secret. */
export function proofOf({ id, secrets }: IdentityProvider, right: ProviderRight = 'sign-in'): ProviderProof {
  return { providerId: id, right, credential: { secret: secrets[0] as StoredSecret } };
}

/** Registers a sample provider; returns what proves it. */
export async function registerProduct(
  store: Pick<AccountStore, 'registerIdentityProvider'>,
  some: Partial<IdentityProvider> = {},
): Promise<ProviderProof> {
  const provider = sampleProvider(some);
  await store.registerIdentityProvider(provider, event('identity_provider_registered'));
  return proofOf(provider);
}

/** What a provider said of a sign-in whose request ends at a time (ms). */
export function sampleExternalSignIn(some: Partial<ExternalSignIn> = {}): ExternalSignIn {
  return {
    nonce: randomBytes(16),
    providerId: 'product',
    identityId: 'product:ada',
    profile: {},
    browser: randomBytes(32),
    continueTo: '/device',
    requestedAt: NOW,
    demandsLogin: false,
    maxAge: null,
    authTime: NOW,
    amr: ['pwd'],
    ticket: randomBytes(32),
    ticketExpiresAt: NOW + 60_000,
    takenAt: null,
    expiresAt: NOW + 3_600_000,
    ...some,
  };
}

/** Adds the sample account and the sample client. */
export async function addAdaAndOne({ store }: Pick<SqliteStorage, 'store'>): Promise<void> {
  await store.addAccount(sampleAccount(), 'ada@example.com', event('user_added'));
  await store.registerClient(sampleClient(), event('client_registered'));
}
