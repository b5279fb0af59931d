/** Nothing is answered before it is on disk: the order of commits, syncs and answers. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { identityId } from '../../src/accounts/people/identity-provider.ts';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { deriveTokens } from '../../src/oauth/tokens/token-pair.ts';
import type { FileOperations } from '../../src/storage/sqlite/file/wal-file.ts';
import { assertGood, operationsOn } from '../oauth/protocol.ts';
import { assertRefusal, keyring, PREFIX } from '../oauth/samples.ts';
import {
  addAdaAndOne,
  event,
  NOW,
  openAsService,
  sampleAccount,
  sampleClient,
  sampleGeneration,
  sampleGrant,
  sampleMark,
  sampleProvider,
  sampleResourceServer,
  sampleSession,
  sampleUse,
  temporaryPath,
} from '../support/storage.ts';

/** A disk whose syncs end when the test says so. */
class HeldDisk implements FileOperations {
  /** The syncs under way, oldest first. */
  readonly syncs: PromiseWithResolvers<void>[] = [];
  begun = 0;
  isHeld = false;
  onBegin: () => void = () => {};

  fdatasync(): Promise<void> {
    this.begun += 1;
    this.onBegin();
    if (!this.isHeld) return Promise.resolve();
    const sync = Promise.withResolvers<void>();
    this.syncs.push(sync);
    return sync.promise;
  }

  fsync(): Promise<void> {
    return Promise.resolve();
  }

  /** Ends the oldest sync, once it has begun. */
  async end(error?: Error): Promise<void> {
    while (this.syncs.length === 0) await nextTurn();
    const sync = this.syncs.shift();
    if (error) sync?.reject(error);
    else sync?.resolve();
  }
}

async function openOnHeldDisk(t: TestContext) {
  const disk = new HeldDisk();
  const failures: Error[] = [];
  const path = temporaryPath(t);
  const opened = await openAsService(path, { files: disk, onFailure: (error) => failures.push(error) });
  await addAdaAndOne(opened);
  t.after(async () => {
    disk.isHeld = false;
    for (const sync of disk.syncs) sync.resolve();
    await opened.close().catch(() => {});
  });
  const grants = [sampleGrant(), sampleGrant()] as const;
  for (const grant of grants) await opened.store.issueGrant(grant, event('consent_allowed'));
  disk.isHeld = true;
  disk.begun = 0;
  return { ...opened, path, disk, failures, grants };
}

/** Whether a promise is still undecided after everything that could decide it has had its turns. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true;
  const settle = () => {
    pending = false;
  };
  promise.then(settle, settle);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  return pending;
}

test('no verb answers before the sync that began after its commit has ended', async (t) => {
  const { store, disk, grants } = await openOnHeldDisk(t);
  const [grant] = grants;
  const verbs: (() => Promise<unknown>)[] = [
    () => store.redeemAuthorizationCode(sampleGeneration(grant, 1)),
    () => store.rotateRefreshToken(sampleGeneration(grant, 2)),
    () => store.rotateRefreshToken(sampleGeneration(grant, 9)), // Its guard fails, on a row that may be new.
    () => store.issueGrant(sampleGrant(), event('consent_allowed')),
    () => store.revokeGrant(grant.id, 'user', event('grant_revoked')),
    () => store.revokeAllGrants(event('all_grants_revoked')),
    () => store.setClientStatus('app_one', 'paused', event('client_paused')),
    () => store.recordDenial(event('consent_denied')),
    () => store.useClientAssertion(sampleMark(0), 1),
    () => store.useClientAssertion(sampleMark(0), 1), // Its mark is there already, and may be new.
    () => store.noteKeysAsked({ id: 'app_one', jwksUri: 'https://one.test/keys' }, 0, 1), // It changes nothing, in a row that may be new.
    () => store.registerResourceServer(sampleResourceServer(), event('resource_server_registered')),
    () =>
      store.updateResourceServer(
        sampleResourceServer({ scopes: null }),
        sampleResourceServer(),
        event('resource_server_updated'),
      ),
    () => store.deleteResourceServer('rs_one', event('resource_server_deleted')),
    () =>
      store.defineScope(
        { name: 'read', sentences: { en: 'Read' }, effect: null, createdAt: 0 },
        null,
        event('scope_defined'),
      ),
    () => store.deleteScope('read', event('scope_deleted')),
  ];
  for (const verb of verbs) {
    const answer = verb();
    assert.equal(await isPending(answer), true);
    await disk.end();
    await answer;
  }
  assert.equal(disk.begun, verbs.length);
});

test('a sync that began before a commit does not settle it', async (t) => {
  const { store, disk, grants } = await openOnHeldDisk(t);
  const [one, two] = grants;
  const first = store.redeemAuthorizationCode(sampleGeneration(one, 1));
  assert.equal(await isPending(first), true);
  const second = store.redeemAuthorizationCode(sampleGeneration(two, 1));
  assert.equal(await isPending(second), true);
  await disk.end();
  await first;
  assert.equal(await isPending(second), true);
  await disk.end();
  await second;
});

test('a read of a row that is not on disk yet waits, and a read of another row does not', async (t) => {
  const { store, disk, grants } = await openOnHeldDisk(t);
  const [one, two] = grants;
  const write = store.redeemAuthorizationCode(sampleGeneration(one, 1));
  assert.equal(await isPending(write), true);
  const read = store.findGrant(one.id);
  assert.equal(await isPending(read), true);
  assert.equal((await store.findGrant(two.id))?.grant.generation, 0);
  assert.ok(await store.findClient('app_one'));
  assert.equal(await isPending(store.findGrant(sampleGrant().id)), true, 'that nothing is there may be news');
  await disk.end();
  assert.equal((await read)?.grant.generation, 1);
  await write;
});

test('an identity that went with its account is not told of as gone before that is on disk', async (t) => {
  const { store, disk } = await openOnHeldDisk(t);
  disk.isHeld = false;
  await store.registerIdentityProvider(sampleProvider({ id: 'product' }), event('identity_provider_registered'));
  const identity = { id: identityId('product', 'ada'), providerId: 'product', accountId: 'usr_ada', createdAt: NOW };
  assert.equal(await store.linkIdentity(identity, event('user_linked')), true);
  disk.isHeld = true;
  const deletion = store.deleteAccount('usr_ada', event('user_deleted'));
  assert.equal(await isPending(deletion), true);
  const read = store.findIdentity('product', 'ada');
  assert.equal(await isPending(read), true);
  await disk.end();
  assert.deepEqual([await deletion, await read], [true, null]);
});

test('a read waits for its client, its account and the installation as well', async (t) => {
  const { store, disk, grants } = await openOnHeldDisk(t);
  const changes = [
    () => store.setClientStatus('app_one', 'paused', event('client_paused')),
    () => store.setAccountStatus('usr_ada', 'disabled', event('user_disabled')),
    () => store.revokeAllGrants(event('all_grants_revoked')),
    () => store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked')),
  ];
  for (const change of changes) {
    const write = change();
    assert.equal(await isPending(write), true);
    const read = store.findGrant(grants[0].id);
    assert.equal(await isPending(read), true);
    await disk.end();
    await Promise.all([read, write]);
  }
});

test('resource servers, scopes and the trail are told of only as they are on disk', async (t) => {
  const { store, disk } = await openOnHeldDisk(t);
  const sequence = await store.lastAuditSequence();
  const changes = [
    () => store.registerResourceServer(sampleResourceServer(), event('resource_server_registered')),
    () =>
      store.defineScope(
        { name: 'read', sentences: { en: 'Read' }, effect: null, createdAt: 0 },
        null,
        event('scope_defined'),
      ),
  ];
  for (const change of changes) {
    const write = change();
    assert.equal(await isPending(write), true);
    const reads = [
      store.findResourceServer('rs_one'),
      store.listResources(),
      store.listResourceServers(),
      store.listScopes(),
      store.lastAuditSequence(),
      store.listAuditEventsAfter(sequence, 10),
    ];
    // The first change touches that resource server, the second no row at all, which only lists need to know.
    const waits = await Promise.all(reads.map(isPending));
    assert.deepEqual(waits, change === changes[0] ? reads.map(() => true) : [false, true, true, true, true, true]);
    await disk.end();
    await Promise.all([write, ...reads]);
  }
});

test('clients, accounts and sessions are told of only as they are on disk', async (t) => {
  const { store, disk } = await openOnHeldDisk(t);
  const session = sampleSession();
  const { password } = sampleAccount();
  const changes: [change: () => Promise<unknown>, read: () => Promise<unknown>][] = [
    [() => store.setClientStatus('app_one', 'paused', event('client_paused')), () => store.findClient('app_one')],
    [() => store.deleteClient('app_one', event('client_deleted')), () => store.findClient('app_one')],
    [() => store.addSession(session, password, null, event('sign_in')), () => store.findSession(session.digest)],
    [() => store.touchSession(session.digest, NOW + 1), () => store.findSession(session.digest)],
    [() => store.revokeAccountGrants('usr_ada', event('user_grants_revoked')), () => store.findSession(session.digest)],
    [() => store.endAccountSessions('usr_ada', event('user_sessions_ended')), () => store.findSession(session.digest)],
    [() => store.endSession(session.digest, event('sign_out')), () => store.findSession(session.digest)],
    [() => store.setAccountStatus('usr_ada', 'disabled', event('user_disabled')), () => store.findAccount('usr_ada')],
    [
      () => store.revokeAccountGrants('usr_ada', event('user_grants_revoked')),
      () => store.findPasswordAccount('a@b.test'),
    ],
    [() => store.deleteAccount('usr_ada', event('user_deleted')), () => store.findAccount('usr_ada')],
  ];
  for (const [change, read] of changes) {
    const write = change();
    assert.equal(await isPending(write), true);
    const answer = read();
    assert.equal(await isPending(answer), true, `${change} before ${read}`);
    await disk.end();
    await Promise.all([write, answer]);
  }
});

/** A token that was used three times. */
async function knownToken({ store, grants }: Awaited<ReturnType<typeof openOnHeldDisk>>) {
  const { server } = operationsOn({ store, clock: { now: NOW } });
  const [grant] = grants;
  const next = sampleGeneration(grant, 1);
  await store.redeemAuthorizationCode(next);
  const { accessToken } = deriveTokens(keyring, PREFIX, grant, next);
  for (let n = 0; n < 3; n += 1) assertGood(await server.checkAccessToken(accessToken));
  return { grant, check: () => server.checkAccessToken(accessToken) };
}

test('promise 2: the check of a token that is known waits for a revocation as any other', async (t) => {
  const opened = await openOnHeldDisk(t);
  const { store, disk } = opened;
  disk.isHeld = false;
  const { grant, check } = await knownToken(opened);
  disk.isHeld = true;
  const revoked = store.revokeGrant(grant.id, 'operator', event('grant_revoked'));
  await nextTurn();
  const checked = check();
  assert.equal(await isPending(checked), true);
  await disk.end();
  assert.equal(await revoked, true);
  assertRefusal(await checked, 'invalid_token', /revoked/);
});

test('promise 2: what a check found before a revocation, and answered after it, is not kept', async (t) => {
  const opened = await openOnHeldDisk(t);
  const { store, disk } = opened;
  disk.isHeld = false;
  const { grant, check } = await knownToken(opened);
  disk.isHeld = true;
  const updated = store.updateClient(sampleClient({ name: 'Another' }), sampleClient(), event('client_updated'));
  await nextTurn();
  const checked = check();
  assert.equal(await isPending(checked), true);
  const revoked = store.revokeGrant(grant.id, 'operator', event('grant_revoked'));
  await nextTurn();
  await disk.end();
  await updated;
  assertGood(await checked);
  await disk.end();
  assert.equal(await revoked, true);
  assertRefusal(await check(), 'invalid_token', /revoked/);
});

test('a check never waits for the mark of a use', async (t) => {
  const { store, disk, grants } = await openOnHeldDisk(t);
  const [grant] = grants;
  store.noteUse(grant, sampleUse(1, grant.grantedAt));
  while (disk.begun === 0) await nextTurn();
  assert.equal((await store.findGrant(grant.id))?.grant.usedGeneration, 1);
});

test('64 writes of one turn share one commit and one sync, which begins when all are committed', async (t) => {
  const { store, disk, path } = await openOnHeldDisk(t);
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  const count = other.prepare('SELECT count(*) AS grants FROM oauth_grant');
  const seen: unknown[] = [];
  disk.onBegin = () => seen.push(count.get()?.['grants']);
  const writes = Array.from({ length: 64 }, () => store.issueGrant(sampleGrant(), event('consent_allowed')));
  await disk.end();
  await Promise.all(writes);
  assert.deepEqual(seen, [2 + 64]);
});

test('a failed sync rejects what waits for it, and stops writing for good', async (t) => {
  const { store, disk, failures, grants } = await openOnHeldDisk(t);
  const [one, two] = grants;
  const broken = new Error('EIO');
  const first = store.redeemAuthorizationCode(sampleGeneration(one, 1));
  assert.equal(await isPending(first), true);
  const second = store.redeemAuthorizationCode(sampleGeneration(two, 1));
  const read = store.findGrant(one.id);
  assert.equal(await isPending(second), true);
  await disk.end(broken);
  for (const waiting of [first, second, read]) await assert.rejects(waiting, /not known: EIO/);
  assert.deepEqual(failures, [broken]);
  disk.isHeld = false;
  await assert.rejects(store.recordDenial(event('consent_denied')), StoreUnavailable);
  await assert.rejects(store.findGrant(one.id), /not known/);
  assert.ok(await store.findClient('app_one'));
  assert.deepEqual(failures, [broken]);
});

test('the log and its folder are synced before the database is open', async (t) => {
  const order: string[] = [];
  const files: FileOperations = {
    fdatasync: async () => void order.push('log'),
    fsync: async () => void order.push('folder'),
  };
  const opened = await openAsService(temporaryPath(t), { files });
  assert.deepEqual(order, ['log', 'folder']);
  await opened.close();
});

test('a database whose first sync fails does not open', async (t) => {
  const files: FileOperations = { fdatasync: () => Promise.reject(new Error('EIO')), fsync: async () => {} };
  await assert.rejects(openAsService(temporaryPath(t), { files }), /EIO/);
});

// That a commit syncs by itself then, test/flows/wiring.test.ts shows on a disk that fails.
test('with durability "full" only answers without a change wait for a sync of ours', async (t) => {
  const disk = new HeldDisk();
  const opened = await openAsService(temporaryPath(t), { files: disk, durability: 'full' });
  await addAdaAndOne(opened);
  disk.begun = 0;
  await opened.store.registerClient(sampleClient({ id: 'app_two' }), event('client_registered'));
  assert.equal(disk.begun, 0);
  assert.equal(await opened.store.deleteClient('app_none', event('client_deleted')), false);
  assert.equal(disk.begun, 1);
  await opened.close();
});
