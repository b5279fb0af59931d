/** The newer audit trail of a restore, on both stores: it is verified as one with that of the backup, or refused. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { createKeyring, type LiveKeyring } from '../../src/oauth/keys/keyring.ts';
import { findCheckpoints } from '../../src/oauth/trail/audit-checkpoint.ts';
import { Backups, type GivenTrail } from '../../src/operator/installation/backups.ts';
import { AuditTrail } from '../../src/operator/trail/audit-trail.ts';
import { exportedEvent } from '../../src/operator/trail/exported-event.ts';
import type { Storage } from '../../src/storage/opening/opened-storage.ts';
import { openInstance, readyDatabases } from '../postgresql/instance.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { addAdaAndOne, event, NOW, openAsService, operator, sampleGrant, temporaryPath } from '../support/storage.ts';
import { storesOfRun } from '../support/stores.ts';

const server = await sharedPostgres();
after(() => server.remove());
const createDatabase = await readyDatabases(server);
const keyring = createKeyring([Buffer.alloc(32, 'a key')]);

/** A database that nobody has open while it is copied. */
type Place = { open(keys?: LiveKeyring): Promise<Storage>; copy(): Promise<Place> };

const KINDS: Readonly<Record<string, (t: TestContext) => Promise<Place>>> = {
  SQLite: async (t) => sqliteAt(t, temporaryPath(t)),
  PostgreSQL: async () => postgresqlAt(await createDatabase()),
};

function sqliteAt(t: TestContext, path: string): Place {
  return {
    open: (keys = keyring) => openAsService(path, { keyring: keys }),
    async copy() {
      const to = temporaryPath(t);
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(path, to);
      return sqliteAt(t, to);
    },
  };
}

function postgresqlAt(url: string): Place {
  return {
    open: (keys = keyring) => openInstance(url, { keyring: keys, role: 'command' }), // A service refuses a copy.
    copy: async () => postgresqlAt(await server.createDatabase(new URL(url).pathname.slice(1))),
  };
}

function trailOf({ store, installation }: Storage, keys = keyring): AuditTrail {
  return new AuditTrail({ store, keyring: keys, installation: installation.id, now: () => NOW });
}

async function within<T>(place: Place, act: (opened: Storage) => Promise<T>, keys?: LiveKeyring): Promise<T> {
  const opened = await place.open(keys);
  try {
    return await act(opened);
  } finally {
    await opened.close();
  }
}

async function linesAfter(place: Place, after = 0): Promise<string[]> {
  return within(place, async (opened) => {
    const lines: string[] = [];
    for await (const events of trailOf(opened).eventsAfter({ sequence: after, mac: null }))
      lines.push(...events.map((each) => JSON.stringify(exportedEvent(each))));
    return lines;
  });
}

type Asked = Partial<Omit<GivenTrail, 'lines' | 'checkpoints'>> & { checkpoint?: string; endRevived?: boolean };

/** Restores a database as it is, with grants. */
function restore(place: Place, lines: readonly string[], asked: Asked = {}, keys = keyring) {
  const { checkpoint = '', isAccepted = false, endRevived = false } = asked;
  const trail = { lines: inPieces(lines), checkpoints: findCheckpoints(checkpoint), isAccepted };
  return within(
    place,
    (opened) =>
      new Backups(opened.store, trailOf(opened, keys), () => NOW).restore(
        {
          ...{ keepGrants: true, from: 'a test', trail, endRevived },
        },
        operator,
      ),
    keys,
  );
}

async function* inPieces(lines: readonly string[]): AsyncIterable<string> {
  yield* lines;
}

const about = { clientId: 'app_one', resourceOwnerId: 'usr_ada', detail: { scopes: ['a "b" \u0001\t\u2028 ü'] } };

/** A backup, the database that went on after it, and the grants: one that goes on, and two that were revoked since. */
async function lived(t: TestContext, make: (t: TestContext) => Promise<Place>) {
  const place = await make(t);
  const grants = Array.from({ length: 3 }, () => sampleGrant({ generation: 1 }));
  const [, first, second] = grants as [(typeof grants)[0], (typeof grants)[0], (typeof grants)[0]];
  const last = await within(place, async (opened) => {
    await addAdaAndOne(opened);
    for (const grant of grants)
      await opened.store.issueGrant(grant, event('consent_allowed', { ...about, grantId: grantIdText(grant.id) }));
    return opened.store.lastAuditSequence();
  });
  const backup = await place.copy();
  const checkpoint = await within(place, async (opened) => {
    const { store } = opened;
    const revoked = (grant: (typeof grants)[0]) => event('grant_revoked', { ...about, grantId: grantIdText(grant.id) });
    await store.revokeGrant(first.id, 'user', revoked(first));
    await store.recordDenial(event('consent_denied', about));
    await trailOf(opened).recordCheckpoint(operator);
    await store.revokeGrant(second.id, 'user', revoked(second));
    return (await trailOf(opened).verify([])).checkpoint as string;
  });
  return { place, backup, last, grants, checkpoint, lines: await linesAfter(place) };
}

/** The grants that are alive, by their places. */
function alive(place: Place, grants: readonly { id: Buffer }[]): Promise<boolean[]> {
  return within(place, async ({ store }) => {
    const found = await Promise.all(grants.map(({ id }) => store.findGrant(id)));
    return found.map((each) => each?.grant.revokedAt === null);
  });
}

for (const [kind, make] of storesOfRun(KINDS))
  describe(`restore: the newer trail on ${kind}`, () => {
    test('it is whole, from its beginning or from the last event of the backup on, and what it says ended', async (t) => {
      const { backup, last, grants, place, lines, checkpoint } = await lived(t, make);
      for (const given of [lines, await linesAfter(place, last - 1)]) {
        const copy = await backup.copy();
        const { trail } = await restore(copy, given, { checkpoint });
        assert.deepEqual(trail, { events: lines.length - last, lastAt: NOW, wrong: 0 });
        assert.deepEqual(await alive(copy, grants), [true, false, false]);
      }
    });

    test('a changed, removed, moved or foreign event is refused, and nothing was restored', async (t) => {
      const { backup, last, grants, lines } = await lived(t, make);
      const newer = lines.length - last;
      const changed = (at: number, from: string, to: string) =>
        lines.map((line, place) => (place === at ? line.replace(from, to) : line));
      const wrong: readonly [string, readonly string[], RegExp][] = [
        ['changed', changed(last, 'grant_revoked', 'consent_denied'), /event \d+ is not as it was recorded/],
        ['access that ended', changed(last, '"ended_access":[{"', '"ended_access":[{"x'), /is not as it was recorded/],
        ['removed', lines.toSpliced(last, 1), /missing|are not those of the checkpoint/],
        ['all but the last removed', lines.toSpliced(last, newer - 1), /missing/],
        ['moved', lines.toSpliced(last, 2, lines[last + 1] ?? '', lines[last] ?? ''), /each event once and in order/],
        ['twice', lines.toSpliced(last, 0, lines[last] ?? ''), /each event once and in order/],
        ['not joined', lines.slice(last), /lacks event \d+, the last one in the backup/],
        ['no line', [...lines, '{"sequence":1'], /line \d+ is not an event/],
        ['another', changed(last - 1, '"chain_mac":"', '"chain_mac":"00'), /differs from the one in the backup/],
      ];
      for (const [what, given, reason] of wrong) await assert.rejects(restore(backup, given), reason, what);
      assert.equal((await within(backup, ({ store }) => store.findBackups())).restoredAt, null);
      assert.deepEqual(await alive(backup, grants), [true, true, true]);
    });

    test('a cut end shows with a checkpoint, and what is wrong can be accepted', async (t) => {
      const { backup, grants, lines, checkpoint } = await lived(t, make);
      const cut = lines.slice(0, -1);
      await assert.rejects(restore(backup, cut, { checkpoint }), /its end was cut off/);
      const { trail } = await restore(backup, cut, { checkpoint, isAccepted: true });
      assert.equal(trail?.wrong, 1);
      assert.deepEqual(await alive(backup, grants), [true, false, true]);
    });

    test('the same restore again, in place, takes away what came back to life', async (t) => {
      const { place, backup, grants } = await lived(t, make);
      await within(place, ({ store }) =>
        store.setClientStatus('app_one', 'paused', event('client_paused', { clientId: 'app_one' })),
      );
      const lines = await linesAfter(place);
      const [first, again] = [await restore(backup, lines), await restore(backup, lines, { endRevived: true })];
      for (const { revived } of [first, again])
        assert.deepEqual(revived, [{ kind: 'client', id: 'app_one', what: 'activity' }]);
      assert.deepEqual(await alive(backup, grants), [true, false, false]);
      await within(backup, async ({ store }) => {
        assert.equal((await store.findClient('app_one'))?.status, 'paused');
        await store.recordDenial(event('consent_denied'));
      });
      await assert.rejects(restore(backup, lines), /lacks event|differs from the one in the backup/);
    });

    test('a deletion after a restore is not taken for its own event, whatever the name of the app is', async (t) => {
      const { backup, lines } = await lived(t, make);
      await restore(backup, lines);
      const name = 'by a restore: nightly';
      await within(backup, ({ store }) =>
        store.recordDenial(event('client_deleted', { clientId: 'app_one', detail: { name } })),
      );
      await assert.rejects(restore(backup, lines), /lacks event|differs from the one in the backup/);
    });

    test('members are read by name: lines whose fields and members stand in another order restore the same', async (t) => {
      const { place, backup, grants, lines } = await lived(t, make);
      const more = event('grant_revoked', {
        ...{ clientId: 'app_one', resourceOwnerId: 'usr_ada' },
        detail: { all_of_app: true, but_for_devices: true },
      });
      await within(place, ({ store }) => store.recordDenial(more));
      const turned = (await linesAfter(place)).map((line) =>
        JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).reverse())),
      );
      assert.equal(turned.length, lines.length + 1);
      const { trail } = await restore(backup, turned);
      assert.equal(trail?.wrong, 0);
      assert.deepEqual(await alive(backup, grants), [false, false, false]);
      const { problems } = await within(backup, (opened) => trailOf(opened).verify([]));
      assert.deepEqual(problems, [], 'and the trail of the restored database verifies');
    });

    test('a detail whose members were put in another order is not as it was recorded', async (t) => {
      const { backup, last, lines } = await lived(t, make);
      const restored = await backup.copy();
      const twisted = lines.map((line, at) => {
        const { detail, ...rest } = JSON.parse(line) as { detail: string | null };
        if (at !== last + 1 && at !== 0) return line;
        return JSON.stringify({ ...rest, detail: detail === null ? '{}' : ` ${detail}` });
      });
      await assert.rejects(restore(restored, twisted), /is not as it was recorded/);
    });

    test('the trail that begins with a restore says what that one ended, for another restore of the same backup', async (t) => {
      const { backup, grants, lines } = await lived(t, make);
      const second = await backup.copy();
      await restore(backup, lines);
      const { trail } = await restore(second, await linesAfter(backup));
      assert.equal(trail?.wrong, 0);
      assert.deepEqual(await alive(second, grants), [true, false, false]);
    });

    test('events under a root key that is not here are not taken for proven', async (t) => {
      const { place, backup } = await lived(t, make);
      const both = createKeyring([Buffer.alloc(32, 'a key'), Buffer.alloc(32, 'another')]);
      both.issueWith(both.keyIds.find((id) => id !== keyring.currentKeyId) as number);
      await within(place, ({ store }) => store.recordDenial(event('consent_denied')), both);
      const lines = await linesAfter(place);
      await assert.rejects(restore(backup, lines), /cannot be verified: root key .* is not among the keys here/);
      assert.equal((await restore(backup, lines, {}, both)).trail?.wrong, 0);
    });
  });
