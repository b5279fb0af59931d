/**
 * Attacks on the whole audit trail by somebody who can write every row of the database and has no key, on both stores: what
 * `audit verify` and the service see of each, with a checkpoint that was kept elsewhere and without one.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { findCheckpoints } from '../../src/oauth/trail/audit-checkpoint.ts';
import { readyDatabases } from '../postgresql/instance.ts';
import { type Attacked, attacked, denied, insert, insertUnknown } from '../support/attacked-trail.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { event, NOW, operator } from '../support/storage.ts';
import { keyring, ROOT_KEY, type Row, trailOf, trailPlaces } from '../support/trail-places.ts';

const server = await sharedPostgres();
after(() => server.remove());
const createDatabase = await readyDatabases(server);

/** The complaints of a verification by a process that has just started. */
async function complaints(place: Attacked, kept: readonly string[] = []): Promise<string> {
  const { problems, checkpoint } = await trailOf(place.opened).verify(kept.flatMap(findCheckpoints));
  assert.equal(checkpoint === null, problems.length > 0);
  return problems.map(({ sentence }) => sentence).join('\n');
}

async function requireRefused(place: Attacked, pattern: RegExp): Promise<void> {
  await assert.rejects(trailOf(place.opened).recordCheckpoint(operator), pattern);
}

for (const [kind, make] of Object.entries(trailPlaces(server, createDatabase)))
  describe(`LS-05 under attack on ${kind}`, () => {
    for (const sequence of ['9007199254740993', '-9007199254740993'])
      test(`an event at ${sequence}, which no JavaScript number holds, is seen, and nothing is signed beside it`, async (t) => {
        const place = await attacked(t, make);
        const [row] = (await place.rows()) as [Row];
        await insert(place, row, { sequence: 0, detail: 'forged' });
        await place.sql(`UPDATE audit_event SET sequence = ${sequence} WHERE sequence = 0`);
        assert.match(await complaints(place), /there are events with impossible sequence numbers: they were added/);
        await requireRefused(place, /there are events with impossible sequence numbers: they were added/);
      });

    test('two events that changed places are both named', async (t) => {
      const place = await attacked(t, make);
      await place.sql('UPDATE audit_event SET sequence = -sequence WHERE sequence IN (11, 12)');
      await place.sql('UPDATE audit_event SET sequence = 23 + sequence WHERE sequence < 0');
      const found = await complaints(place);
      for (const sequence of [11, 12]) assert.match(found, new RegExp(`event ${sequence} is not as it was recorded`));
      await requireRefused(place, /is not as it was recorded/);
    });

    test('an end that was cut off after the last checkpoint is seen by a checkpoint that was kept of it, and by nothing else', async (t) => {
      const place = await attacked(t, make);
      const { checkpoint } = await trailOf(place.opened).verify([]);
      await place.sql('DELETE FROM audit_event WHERE sequence > 9');
      assert.equal(await complaints(place), '');
      assert.match(await complaints(place, [checkpoint ?? assert.fail()]), /its end was cut off/);
    });

    test('a middle that was cut out is seen, before the last checkpoint and after it', async (t) => {
      for (const [cut, pattern] of [
        [
          'sequence BETWEEN 3 AND 5',
          /3 events are missing between event 2 and event 6\n(.*\n)?.*not those of the checkpoint/,
        ],
        ['sequence = 10', /1 event is missing between event 9 and event 11/],
      ] as const) {
        const place = await attacked(t, make);
        await place.sql(`DELETE FROM audit_event WHERE ${cut}`);
        assert.match(await complaints(place), pattern);
      }
    });

    test('a trail without events is seen by a kept checkpoint and by the service that recorded one', async (t) => {
      const place = await attacked(t, make);
      const service = trailOf(place.opened);
      const kept = (await service.recordCheckpoint(operator)) ?? assert.fail();
      await place.sql('DELETE FROM audit_event');
      assert.match(await complaints(place, [kept]), /its end was cut off, or this is an older database/);
      await assert.rejects(service.recordCheckpoint(operator), /its end was cut off, or this is an older database/);
    });

    test('a trail that was rolled back, and goes on, is seen by a kept checkpoint and by the service that recorded one', async (t) => {
      const place = await attacked(t, make);
      await place.sql('CREATE TABLE kept AS SELECT * FROM audit_event');
      const service = trailOf(place.opened);
      const kept = (await service.recordCheckpoint(operator)) ?? assert.fail();
      await place.sql('DELETE FROM audit_event');
      await place.sql('INSERT INTO audit_event SELECT * FROM kept WHERE sequence <= 9');
      await place.deny(9);
      assert.match(await complaints(place, [kept]), /not those of the checkpoint/);
      await assert.rejects(service.recordCheckpoint(operator), /not those of the checkpoint|missing/);
    });

    test('the part of a trail that no checkpoint of its own covers is told: an end of that may be missing', async (t) => {
      const place = await attacked(t, make);
      const told = async () => {
        const { covered, uncovered } = await trailOf(place.opened).verify([]);
        return [covered?.upTo ?? null, uncovered];
      };
      assert.deepEqual(await told(), [8, 4]);
      await trailOf(place.opened).recordCheckpoint(operator);
      assert.deepEqual(await told(), [12, 1]);
      await place.sql('DELETE FROM audit_event WHERE sequence > 8');
      assert.deepEqual(await told(), [null, 8]);
    });

    test('a checkpoint or a shortening of a longer history, put into a shorter one, hides nothing', async (t) => {
      const place = await attacked(t, make);
      const service = trailOf(place.opened);
      await place.sql('CREATE TABLE kept AS SELECT * FROM audit_event');
      await place.deny(5);
      const later = (await service.recordCheckpoint(operator)) ?? assert.fail();
      await place.sql('CREATE TABLE whole AS SELECT * FROM audit_event');
      await service.shorten(NOW + 1, operator);
      const shortened = (await place.rows()).find(({ action }) => action === 'audit_shortened') ?? assert.fail();
      for (const [action, detail] of [
        ['audit_checkpoint', later],
        ['audit_shortened', String(shortened['detail'])],
      ] as const) {
        await place.sql('DELETE FROM audit_event');
        await place.sql('INSERT INTO audit_event SELECT * FROM kept');
        await place.sql(`UPDATE audit_event SET action = '${action}', detail = '${detail}' WHERE sequence = 9`);
        await place.deny(9);
        assert.notEqual(await complaints(place), '', action);
        await requireRefused(place, /failed its verification/);
      }
    });

    test('an event that was removed right after a checkpoint is missed, also while those before it in its chain are away', async (t) => {
      const place = await make(t);
      const [service, command] = [await place.open(), await place.open(keyring, 'command')];
      t.after(() => Promise.all([service.close(), command.close()]));
      for (const opened of [service, command]) await denied(opened, 2);
      const trail = trailOf(service);
      await trail.recordCheckpoint(operator);
      await denied(command, 3);
      await denied(service, 1);
      await place.sql('CREATE TABLE kept AS SELECT * FROM audit_event');
      await place.sql('DELETE FROM audit_event WHERE sequence IN (3, 4, 6)');
      await assert.rejects(trail.recordCheckpoint(operator), /missing between event \d+ and event \d+/);
      await place.sql('INSERT INTO audit_event SELECT * FROM kept WHERE sequence IN (3, 4)');
      await assert.rejects(trail.recordCheckpoint(operator), /1 event is missing between event [45] and event 7/);
    });

    test('an event of the service in a chain that the attacker chose is missed when it is removed', async (t) => {
      const place = await attacked(t, make);
      const row = (await place.rows()).at(-1) as Row;
      const chain_id = `${String(row['chain_id']).slice(0, 9)}0123456789abcdef`;
      await insert(place, row, { sequence: place.last + 1, chain_id, chain_number: 41 });
      await place.deny(2);
      await place.sql(`DELETE FROM audit_event WHERE sequence = ${place.last + 1}`);
      await place.sql(`DELETE FROM audit_event WHERE sequence = ${place.last + 2}`);
      assert.match(await complaints(place), /missing (before|between)/);
    });

    test('a retirement of a key signs no shortening that was forged, also where the trail is accepted as it is', async (t) => {
      const place = await attacked(t, make);
      const keys = createKeyring([ROOT_KEY, Buffer.alloc(32, 'another key')]);
      keys.issueWith(keys.keyIds[1] as number);
      const detail = place.checkpoint.replace('checkpoint', 'shortened');
      await insertUnknown(place, { sequence: 100, action: 'audit_shortened', detail });
      await place.sql('DELETE FROM audit_event WHERE sequence <= 8');
      const trail = trailOf(place.opened, keys);
      await trail.prove(true, operator);
      const found = (await trail.verify([])).problems.map(({ sentence }) => sentence);
      assert.match(found.join('\n'), /event 100 holds no shortening of this installation: it was not signed/);
    });

    test('the time of the clean-up, set ahead in the database, lets the retention take away nothing that is young', async (t) => {
      const place = await attacked(t, make);
      await place.sql(`UPDATE installation SET clean_up_time = ${NOW * 2}`);
      const { cleanUp } = place.opened;
      assert.ok((await cleanUp.time()) <= Date.now());
    });

    test('a transaction whose event the database swallows has no effect', async (t) => {
      const place = await attacked(t, make);
      if (kind === 'SQLite')
        await place.sql(
          "CREATE TRIGGER hide BEFORE INSERT ON audit_event WHEN NEW.action = 'consent_denied' BEGIN SELECT RAISE(IGNORE); END",
        );
      else {
        await place.sql('CREATE FUNCTION hide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$');
        await place.sql('CREATE TRIGGER a BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION hide()');
      }
      await assert.rejects(denied(place.opened, 1));
    });

    test('verification of an event that was put back after others were cut off needs a kept checkpoint on SQLite alone', async (t) => {
      const place = await attacked(t, make);
      await place.sql('CREATE TABLE kept AS SELECT * FROM audit_event');
      const { checkpoint } = await trailOf(place.opened).verify([]);
      await place.sql('DELETE FROM audit_event WHERE sequence > 9');
      if (kind === 'SQLite') await place.sql("UPDATE sqlite_sequence SET seq = 9 WHERE name = 'audit_event'");
      else await place.sql("SELECT setval('audit_event_sequence', 9)");
      for (let n = 0; n < 3; n += 1)
        await place.opened.store.recordDenial(event('consent_denied', { detail: 'other' }));
      await place.sql('DELETE FROM audit_event WHERE sequence = 11');
      await place.sql('INSERT INTO audit_event SELECT * FROM kept WHERE sequence = 11');
      assert.equal((await complaints(place)) === '', kind === 'SQLite');
      assert.match(await complaints(place, [checkpoint ?? assert.fail()]), /not those of the checkpoint/);
    });
  });
