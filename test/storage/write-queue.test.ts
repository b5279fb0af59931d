/** Writes that share a commit do not share a fate. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../src/oauth/store.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { plainDatabase } from '../../src/storage/sqlite/plain-database.ts';
import { Tables } from '../../src/storage/sqlite/statements/prepared-statements.ts';
import { runnerOn } from '../../src/storage/sqlite/statements/runner.ts';
import { WriteQueue } from '../../src/storage/sqlite/statements/write-queue.ts';
import { auditEventStore } from '../../src/storage/tables/trail/audit-events.ts';
import type { Store } from '../../src/storage/tables/whole-store.ts';
import { keyring } from '../oauth/samples.ts';
import {
  addAdaAndOne,
  event,
  NOW,
  openAsService,
  sampleGrant,
  secondConnection,
  temporaryPath,
} from '../support/storage.ts';

async function openWithFaults(t: TestContext) {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  t.after(() => opened.close());
  await addAdaAndOne(opened);
  secondConnection(t, path).exec(`
    CREATE TRIGGER abort BEFORE INSERT ON audit_event WHEN NEW.detail = 'ABORT' BEGIN SELECT RAISE(ABORT, 'fault'); END;
    CREATE TRIGGER undo BEFORE INSERT ON audit_event WHEN NEW.detail = 'ROLLBACK'
      BEGIN SELECT RAISE(ROLLBACK, 'fault'); END;
  `);
  return opened;
}

async function eventsOf(store: Store): Promise<number> {
  return (await store.listAuditEvents({ action: 'consent_allowed', limit: 100 })).length;
}

for (const fault of ['ABORT', 'ROLLBACK']) {
  test(`when the N-th statement of a shared commit fails (${fault}), its write alone fails, and wholly (I5, I7)`, async (t) => {
    const { store } = await openWithFaults(t);
    for (let failing = 0; failing < 8; failing += 1) {
      const before = await eventsOf(store);
      const grants = Array.from({ length: 8 }, () => sampleGrant());
      const outcomes = await Promise.allSettled(
        grants.map((grant, index) =>
          store.issueGrant(grant, event('consent_allowed', { detail: index === failing ? fault : null })),
        ),
      );
      for (const [index, grant] of grants.entries()) {
        const isThere = (await store.findGrant(grant.id)) !== null;
        assert.equal(isThere, index !== failing);
        assert.equal(outcomes[index]?.status, isThere ? 'fulfilled' : 'rejected');
      }
      assert.equal(await eventsOf(store), before + 7);
    }
  });
}

test('a full disk refuses writes, leaves reads alone, and is over when there is space again', async () => {
  const database = new DatabaseSync(':memory:');
  await migrate(plainDatabase(database), NOW);
  const failures: Error[] = [];
  const writes = new WriteQueue({
    database,
    sync: null,
    commitSyncs: false,
    onFailure: (error) => failures.push(error),
  });
  const store = auditEventStore(runnerOn(new Tables(database, writes, keyring)));
  const record = () => store.recordDenial(event('consent_denied', { detail: 'x'.repeat(2000) }));
  await record();
  database.exec('PRAGMA max_page_count = 1');
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, record));
  const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  assert.ok(refused.length > 10);
  for (const { reason } of refused) assert.ok(reason instanceof StoreUnavailable, String(reason));
  const written = 1 + outcomes.length - refused.length;
  assert.equal((await store.listAuditEvents({ limit: 100 })).length, written);
  database.exec('PRAGMA max_page_count = 1000000');
  await record();
  assert.equal((await store.listAuditEvents({ limit: 100 })).length, written + 1);
  assert.deepEqual(failures, []);
});

test('20,000 writes wait for the disk, 256 of them share a commit, and more are refused at once', async () => {
  const database = new DatabaseSync(':memory:');
  let commits = 0;
  const onCommit = () => {
    commits += 1;
  };
  const queue = new WriteQueue({ database, sync: null, commitSyncs: false, onCommit, onFailure: assert.fail });
  const writes = Array.from({ length: 20_000 }, (_, write) => queue.write([], () => write));
  await assert.rejects(
    queue.write([], () => 0),
    { name: 'StoreUnavailable', message: 'too many writes wait for the disk' },
  );
  assert.deepEqual(new Set(await Promise.all(writes)).size, 20_000);
  assert.equal(commits, Math.ceil(20_000 / 256));
  await queue.close();
  database.close();
});

test('a lock that another process keeps too long is StoreUnavailable, and writing goes on after it', async (t) => {
  const path = temporaryPath(t);
  await (await openAsService(path)).close();
  const database = new DatabaseSync(path, { timeout: 1 });
  t.after(() => database.close());
  const writes = new WriteQueue({
    database,
    sync: null,
    commitSyncs: false,
    lockTimeout: 50,
    onFailure: (error) => assert.ifError(error),
  });
  const store = auditEventStore(runnerOn(new Tables(database, writes, keyring)));
  const other = secondConnection(t, path);
  other.exec('BEGIN IMMEDIATE');
  await assert.rejects(store.recordDenial(event('consent_denied')), StoreUnavailable);
  assert.deepEqual(await store.listAuditEvents({ limit: 1 }), []);
  other.exec('ROLLBACK');
  await store.recordDenial(event('consent_denied'));
  assert.equal((await store.listAuditEvents({ limit: 2 })).length, 1);
});

test('after closing nothing is written, and closing waits for what was written before', async (t) => {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  const before = opened.store.recordDenial(event('consent_denied'));
  const closed = opened.close();
  await before;
  await assert.rejects(opened.store.recordDenial(event('consent_denied')), StoreUnavailable);
  await closed;
  const again = await openAsService(path);
  assert.equal((await again.store.listAuditEvents({ limit: 2 })).length, 1);
  await again.close();
});

test('what is being synced while writing stops for another reason is refused, and not left without an answer', async () => {
  const database = new DatabaseSync(':memory:');
  const failures: Error[] = [];
  const sync = Promise.withResolvers<void>();
  const onFailure = (error: Error) => void failures.push(error);
  let commits = 0;
  const onCommit = () => {
    commits += 1;
  };
  const writes = new WriteQueue({ database, sync: () => sync.promise, commitSyncs: false, onCommit, onFailure });
  const syncing = writes.write(['row'], () => true);
  await nextTurn();
  await nextTurn();
  const read = writes.onDisk(['row'], 'what it says');
  // The queue's own COMMIT then finds nothing to commit, and nobody knows what became of it.
  await assert.rejects(writes.write([], () => database.exec('COMMIT')));
  assert.equal(failures.length, 1);
  assert.equal(commits, 1, 'and nothing is copied behind what failed');
  sync.resolve();
  await assert.rejects(syncing, /whether this was written is not known/);
  await assert.rejects(async () => read, /whether this was written is not known/);
});

test('writes that were pending when the files were found moved away are told that, and not that the disk failed', async (t) => {
  for (const durability of ['awaited', 'full'] as const) {
    const path = temporaryPath(t);
    const failures: Error[] = [];
    const { store } = await openAsService(path, { durability, onFailure: (error) => void failures.push(error) });
    renameSync(path, `${path}.away`);
    const outcome = await store.recordDenial(event('consent_denied')).catch(String);
    assert.match(String(outcome), /^Error: whether this was written is not known: .* was moved away/);
    assert.equal(failures.length, 1);
  }
});
