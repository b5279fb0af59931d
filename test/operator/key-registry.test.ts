/** Rotating and retiring root keys, with instances that follow: over a real store in memory, and a clock that tests set. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PasswordHasher } from '../../src/accounts/passwords/password-hash.ts';
import { OperatorError } from '../../src/oauth/error.ts';
import { createKeyring, type Keyring, type LiveKeyring } from '../../src/oauth/keys/keyring.ts';
import { rootKeyName } from '../../src/oauth/keys/root-key.ts';
import { SigningKeys } from '../../src/oauth/openid/signing-keys.ts';
import { KeyRegistry, LAST_USE_MS } from '../../src/operator/root-keys/key-registry.ts';
import { KeyWatch } from '../../src/operator/root-keys/key-watch.ts';
import { AuditTrail } from '../../src/operator/trail/audit-trail.ts';
import { NOW } from '../oauth/samples.ts';
import { addAdaAndOne, event, openAsService, operator, sampleClient, sampleGrant } from '../support/storage.ts';

const [FIRST, SECOND] = [Buffer.alloc(32, 'the first'), Buffer.alloc(32, 'the second')];
const HOUR = 3_600_000;

/** An installation that was founded with the first key, and knows the second: a command that has both looks at it. */
async function installation(t: TestContext) {
  const clock = { now: NOW };
  const both = createKeyring([FIRST, SECOND]);
  const opened = await openAsService(':memory:', { keyring: both, now: () => clock.now });
  t.after(() => opened.close());
  const { store } = opened;
  const trail = new AuditTrail({ store, keyring: both, installation: opened.installation.id, now: () => clock.now });
  const running: string[] = [];
  const waits: (() => Promise<void>)[] = [];
  const registry = new KeyRegistry({
    ...{ store, keyring: both },
    listRunning: async () => running,
    proveTrail: (isAccepted, actor) => trail.prove(isAccepted, actor),
    countUses: opened.countKeyUses,
    now: () => clock.now,
    wait: async (ms) => {
      clock.now += ms;
      await waits.shift()?.();
    },
  });
  const [first = 0, second = 0] = both.keyIds;
  return { ...opened, store, clock, running, waits, registry, first, second };
}

/** A running instance; `file` is what its keys file holds. */
async function instanceOf({ store, running }: Awaited<ReturnType<typeof installation>>, id: string, file: Buffer[]) {
  const keyring: LiveKeyring = createKeyring(file);
  const reports: string[] = [];
  const looks: (() => void)[] = [];
  const held = { file, read: (): Buffer[] => held.file };
  const watch = new KeyWatch({
    ...{ store, keyring },
    instance: { id, name: `host ${id}` },
    read: () => held.read(),
    later: (act) => {
      looks.push(act);
      return () => {};
    },
    report: (sentence) => void reports.push(sentence),
  });
  running.push(id);
  const lacks = await watch.begin();
  /** Looks once, and waits until the next look is due. */
  const look = async () => {
    looks.shift()?.();
    while (looks.length === 0) await new Promise(setImmediate);
  };
  return { keyring, held, reports, look, lacks, watch };
}

const refused = (words: RegExp) => (error: unknown) => error instanceof OperatorError && words.test(error.message);

test('a rotation waits until every running instance has read the key, and none issues with it before', async (t) => {
  const all = await installation(t);
  const { registry, store, waits, first, second } = all;
  const [one, two] = [await instanceOf(all, 'one', [FIRST, SECOND]), await instanceOf(all, 'two', [FIRST])];
  assert.equal(two.lacks, null);
  assert.match(two.reports.join(), new RegExp(`lacks root keys.*${rootKeyName(second)}`));
  const told: string[] = [];
  waits.push(
    async () => {
      const { currentKeyId, nextKeyId } = await store.findRootKeys();
      assert.deepEqual([currentKeyId, nextKeyId], [first, null], 'instances may still begin without it');
    },
    async () => {
      two.held.file = [SECOND, FIRST];
      await two.look();
    },
  );
  const rotation = await registry.rotate(second, (names) => void told.push(names.join()), operator);
  assert.deepEqual(rotation, { keyId: second, before: first });
  assert.deepEqual(told, ['host two', 'host two']);
  for (const { keyring, look } of [one, two]) {
    assert.equal(keyring.currentKeyId, first, 'until it looks, the earlier key is as good');
    await look();
    assert.equal(keyring.currentKeyId, second);
    assert.ok(keyring.key(first, 'at'), 'what was issued before is still read');
  }
});

test('an instance says once, and again when it is so again, that its keys are not where they are kept any more', async (t) => {
  const all = await installation(t);
  const one = await instanceOf(all, 'one', [FIRST, SECOND]);
  assert.deepEqual(one.reports, []);
  const read = () => one.held.file;
  const gone = () => {
    throw new Error('the keys file is gone');
  };
  for (const _ of [1, 2]) {
    one.held.read = gone;
    for (const __ of [1, 2]) await one.look();
    one.held.read = read;
    await one.look();
  }
  assert.deepEqual(one.reports, Array(2).fill('the keys file is gone'));
  one.held.file = [SECOND];
  for (const _ of [1, 2]) await one.look();
  assert.equal(one.reports.length, 3);
  assert.match(one.reports[2] ?? '', new RegExp(`no longer holds .*${rootKeyName(all.first)}.: restore them`));
  assert.ok(one.keyring.key(all.first, 'at'), 'it goes on with those it has');
});

test('a rotation that an instance cannot follow ends, names it, and changes nothing; a second one goes on', async (t) => {
  const all = await installation(t);
  const { registry, store, first, second } = all;
  const two = await instanceOf(all, 'two', [FIRST]);
  await assert.rejects(
    registry.rotate(second, () => {}, operator),
    refused(/^host two did not read root key [0-9a-f]{8}: give each the same keys file/),
  );
  const { currentKeyId, nextKeyId } = await store.findRootKeys();
  assert.deepEqual([currentKeyId, nextKeyId], [first, null]);
  assert.deepEqual(await registry.announced(), [second]);
  two.held.file = [FIRST, SECOND];
  await two.look();
  assert.equal((await registry.rotate(second, () => {}, operator)).keyId, second);
  assert.deepEqual(await registry.announced(), []);
});

test('an instance that begins while a key is about to be used serves only with it; one that begins before is waited for', async (t) => {
  const all = await installation(t);
  const { registry, store, waits, first, second } = all;
  await store.prepareRootKey(second);
  assert.equal((await instanceOf(all, 'late', [FIRST])).lacks, second);
  assert.equal((await instanceOf(all, 'good', [FIRST, SECOND])).lacks, null);
  await store.prepareRootKey(null);
  all.running.length = 0;
  // It is connected, and has not said anything yet.
  all.running.push('silent');
  waits.push(async () => void all.running.splice(0));
  const told: string[] = [];
  await registry.rotate(second, (names) => void told.push(names.join()), operator);
  assert.deepEqual(told, ['instance silent']);
  assert.deepEqual(await store.listInstances(), [], 'those that are gone are forgotten');
  assert.equal((await store.findRootKeys()).currentKeyId, second);
  assert.notEqual(first, second);
});

test('an instance says that it is there before it asks what it needs, so that a rotation cannot miss it', async (t) => {
  const all = await installation(t);
  const { store, first, second } = all;
  const find = store.findRootKeys.bind(store);
  // A rotation prepares its key, and has looked at who is there, right before the new instance asks.
  t.mock.method(store, 'findRootKeys', async () => {
    const noted = (await store.listInstances()).map(({ id }) => id);
    if (!noted.includes('new')) await store.prepareRootKey(null);
    return find();
  });
  await store.prepareRootKey(second);
  assert.equal((await instanceOf(all, 'new', [FIRST])).lacks, second);
  assert.notEqual(first, second);
});

test('an instance that begins between the two looks of a rotation is seen by the second', async (t) => {
  const all = await installation(t);
  const { registry, store, second } = all;
  let prepared = 0;
  const prepare = store.prepareRootKey.bind(store);
  t.mock.method(store, 'prepareRootKey', async (keyId: number | null) => {
    prepared += 1;
    if (prepared === 1) all.running.push('new');
    await prepare(keyId);
  });
  await assert.rejects(
    registry.rotate(second, () => {}, operator),
    refused(/^instance new did not read/),
  );
  assert.equal((await store.findRootKeys()).nextKeyId, null);
});

test('a key is retired when nothing rests on it and what it issued last has expired; instances then drop it', async (t) => {
  const all = await installation(t);
  const { registry, store, clock, first, second } = all;
  await addAdaAndOne({ store });
  const hasher = new PasswordHasher(createKeyring([FIRST]));
  const ada = await store.findAccount('usr_ada');
  assert.ok(ada?.password);
  await store.rehashPassword('usr_ada', ada.password, await hasher.hash('correct horse'));
  await store.registerClient(sampleClient({ id: 'app_with_sign_in', signIn: true }), event('client_registered'));
  const signingKeysIn = (keyring: Keyring) =>
    new SigningKeys({ store, keyring, now: () => clock.now, actor: operator });
  await signingKeysIn(createKeyring([FIRST])).ensure();
  const grant = sampleGrant({ keyId: first, expiresAt: NOW + 100 * HOUR, absoluteExpiresAt: NOW + 100 * HOUR });
  await store.issueGrant(grant, event('consent_allowed'));
  const one = await instanceOf(all, 'one', [FIRST, SECOND]);
  await assert.rejects(registry.retire(first, operator), refused(/is current: .*"keys rotate"/));
  await assert.rejects(registry.retire(second, operator), refused(/never in use/));
  await assert.rejects(registry.retire(77, operator), refused(/there is no root key 0000004d: "keys list"/));
  await registry.rotate(second, () => {}, operator);
  await one.look();
  await assert.rejects(registry.retire(first, operator), refused(/1 live grants depend on root key .*--end-grants/));
  await store.revokeGrant(grant.id, 'user', event('grant_revoked'));
  await assert.rejects(registry.retire(first, operator), refused(/1 passwords are sealed with root key/));
  const both = new PasswordHasher(one.keyring);
  const [{ password } = assert.fail()] = await store.listSealedWith(first, '', 1);
  await store.rehashPassword('usr_ada', password, both.reseal(password) ?? assert.fail());
  await assert.rejects(registry.retire(first, operator), refused(/2 keys for ID tokens are sealed with root key/));
  await signingKeysIn(one.keyring).keep();
  await assert.rejects(registry.retire(first, operator), refused(/are valid for another 24 h 1 min/));
  clock.now += LAST_USE_MS;
  await assert.rejects(registry.retire(first, operator), refused(/another 0 h 1 min|changed at the same time/));
  clock.now += 1;
  assert.equal(await registry.retire(first, operator), 0);
  await assert.rejects(registry.retire(first, operator), refused(/was retired before/));
  assert.ok(one.keyring.key(first, 'at'));
  await one.look();
  assert.equal(one.keyring.key(first, 'at'), undefined);
  const sealedAnew = (await store.findAccount('usr_ada'))?.password ?? null;
  assert.equal(await both.verify(sealedAnew, 'correct horse', { lane: 'known', share: '' }), true);
  const list = await registry.list();
  assert.deepEqual(
    list
      .map(({ keyId, status, grants, passwords, signingKeys }) => [keyId, status, grants, passwords, signingKeys])
      .toSorted(),
    [
      [first, 'retired', 0, 0, 0],
      [second, 'current', 0, 1, 2],
    ].toSorted(),
  );
});

test('a key is retired with the grants that rest on it where the operator says so, and each is recorded', async (t) => {
  const all = await installation(t);
  const { registry, store, clock, first, second } = all;
  await addAdaAndOne({ store });
  const far = { expiresAt: NOW + 100 * HOUR, absoluteExpiresAt: NOW + 100 * HOUR };
  const grants = Array.from({ length: 3 }, () => sampleGrant({ keyId: first, ...far }));
  const other = sampleGrant({ keyId: second, ...far });
  for (const grant of [...grants, other]) await store.issueGrant(grant, event('consent_allowed'));
  const [sealed] = await store.listSealedWith(1, '', 1);
  assert.ok(sealed);
  await store.rehashPassword(sealed.id, sealed.password, { sealedPhc: 'none', keyId: second });
  await registry.rotate(second, () => {}, operator);
  clock.now += LAST_USE_MS + 1;
  assert.equal(await registry.retire(first, operator, { endGrants: true }), 3);
  for (const { id } of grants) assert.equal((await store.findGrant(id))?.grant.revocationReason, 'operator');
  assert.equal((await store.findGrant(other.id))?.grant.revokedAt, null);
  const events = await store.listAuditEvents({ limit: 5 });
  assert.deepEqual(
    events.map(({ action }) => action),
    ['root_key_retired', 'audit_checkpoint', 'grant_revoked', 'grant_revoked', 'grant_revoked'],
  );
  assert.equal(events[2]?.detail, JSON.stringify({ root_key: rootKeyName(first) }));
});
