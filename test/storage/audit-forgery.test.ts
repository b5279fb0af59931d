/**
 * Attacks on the audit trail by somebody who can write every row of the database and has no key, on both stores. Each is
 * found by `audit verify`, and the service neither signs a checkpoint over it nor takes events away because of it.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { rootKeyName } from '../../src/oauth/keys/root-key.ts';
import { findCheckpoints } from '../../src/oauth/trail/audit-checkpoint.ts';
import type { AuditTrail } from '../../src/operator/trail/audit-trail.ts';
import { readyDatabases } from '../postgresql/instance.ts';
import { type Attacked, attacked, denied, insert, insertUnknown, UNKNOWN_KEY } from '../support/attacked-trail.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { NOW, operator } from '../support/storage.ts';
import { storesOfRun } from '../support/stores.ts';
import { keyring, ROOT_KEY, type Row, trailOf, trailPlaces } from '../support/trail-places.ts';

const server = await sharedPostgres();
after(() => server.remove());
const createDatabase = await readyDatabases(server);

const DAY = 86_400_000;

/** Requires that a verification complains, and that neither a checkpoint nor the retention makes that go away. */
async function requireFound(place: Attacked, pattern: RegExp, trail = trailOf(place.opened)): Promise<void> {
  await requireComplaint(trail, pattern);
  await assert.rejects(trail.recordCheckpoint(operator), /the audit trail failed its verification/);
  await place.deny(1);
  await assert.rejects(trailOf(place.opened).recordCheckpoint(operator), /the audit trail failed its verification/);
  await requireComplaint(trail, pattern);
}

async function requireComplaint(trail: AuditTrail, pattern: RegExp): Promise<void> {
  const { problems, checkpoint } = await trail.verify([]);
  assert.match(problems.map(({ sentence }) => sentence).join('\n'), pattern);
  assert.equal(checkpoint, null);
}

const kinds = storesOfRun(trailPlaces(server, createDatabase));

for (const [kind, make] of kinds)
  describe(`LS-05 under attack on ${kind}`, () => {
    test('an event under a root key that nobody knows is never proven, also not by a checkpoint of the service', async (t) => {
      const place = await attacked(t, make);
      await insertUnknown(place, { sequence: place.last + 1, detail: 'forged' });
      await requireFound(place, /event 13 cannot be verified: root key deadbeef is not among the keys here/);
    });

    test('nor by a retirement of that key that was forged under it, or under another unknown key', async (t) => {
      const place = await attacked(t, make);
      await insertUnknown(place, { sequence: place.last + 1, detail: 'forged' });
      const retired = { action: 'root_key_retired', detail: JSON.stringify({ root_key: UNKNOWN_KEY }) };
      await insertUnknown(place, { sequence: place.last + 2, ...retired }, 2);
      const [row] = (await place.rows()) as [Row];
      const chain_id = `feedfeed${String(row['chain_id']).slice(8)}`;
      await insert(place, row, { ...retired, sequence: place.last + 3, chain_id, chain_number: 1 });
      await requireFound(place, /root key deadbeef is not among the keys here/);
    });

    test('a forged retirement of the key in use hides no event', async (t) => {
      const place = await attacked(t, make);
      const detail = JSON.stringify({ root_key: rootKeyName(keyring.currentKeyId) });
      await insertUnknown(place, { sequence: place.last + 1, action: 'root_key_retired', detail });
      await requireFound(place, /root key deadbeef is not among the keys here/);
    });

    test('no checkpoint is signed over an event that was changed, added or removed since the last one', async (t) => {
      for (const act of [
        ({ sql, last }: Attacked) => sql(`UPDATE audit_event SET detail = 'forged' WHERE sequence = ${last}`),
        ({ sql, last }: Attacked) => sql(`DELETE FROM audit_event WHERE sequence = ${last - 1}`),
        async (place: Attacked) => {
          const row = (await place.rows()).at(-1) as Row;
          const chain_number = Number(row['chain_number']) + 1;
          await insert(place, row, { sequence: place.last + 1, chain_number, actor_id: 'forged' });
        },
      ]) {
        const place = await attacked(t, make);
        await act(place);
        await requireFound(place, /is not as it was recorded|is missing between/);
      }
    });

    test('an event that was removed right after a checkpoint is missed, also in a chain that the checkpoint is not of', async (t) => {
      const place = await make(t);
      const [service, command] = [await place.open(), await place.open(keyring, 'command')];
      t.after(() => Promise.all([service.close(), command.close()]));
      for (const opened of [service, command]) await denied(opened, 1);
      assert.ok(await trailOf(service).recordCheckpoint(operator));
      await denied(command, 2);
      await place.sql('DELETE FROM audit_event WHERE sequence = 4');
      await assert.rejects(
        trailOf(service).recordCheckpoint(operator),
        /1 event is missing between event [23] and event 5/,
      );
    });

    test('a checkpoint that was written anew, as the newest one, is not what the service goes on from', async (t) => {
      const place = await attacked(t, make);
      const { upTo, text } = findCheckpoints(place.checkpoint)[0] ?? assert.fail();
      const row = (await place.rows()).at(-1) as Row;
      const forged = text.replace(`.${upTo}.${upTo}.`, `.${place.last}.${place.last}.`);
      assert.notEqual(forged, text);
      await insert(place, row, { sequence: place.last + 1, action: 'audit_checkpoint', detail: forged });
      await requireComplaint(trailOf(place.opened), /is not as it was recorded/);
      await assert.rejects(trailOf(place.opened).recordCheckpoint(operator), /was not signed by this installation/);
      const unknown = forged.replace(/\.[0-9a-f]{8}(\.[\w-]{86})$/, `.${UNKNOWN_KEY}$1`);
      await place.sql(`UPDATE audit_event SET detail = '${unknown}' WHERE sequence = ${place.last + 1}`);
      await assert.rejects(trailOf(place.opened).recordCheckpoint(operator), /root key deadbeef is not among the keys/);
    });

    test('an earlier checkpoint that is put in the place of the newest one hides nothing since', async (t) => {
      const place = await attacked(t, make);
      await trailOf(place.opened).recordCheckpoint(operator);
      await place.deny(1);
      await place.sql(`UPDATE audit_event SET detail = '${place.checkpoint}' WHERE action = 'audit_checkpoint'`);
      await requireFound(place, /event 13 is not as it was recorded/);
    });

    test('a shortening that was forged from a genuine checkpoint is no beginning, and nothing is taken away for it', async (t) => {
      const place = await attacked(t, make);
      for (const action of ['insert', 'change'] as const) {
        if (action === 'insert')
          await insertUnknown(place, { sequence: 100, action: 'audit_shortened', detail: place.checkpoint });
        else await place.sql(`UPDATE audit_event SET action = 'audit_shortened' WHERE action = 'audit_checkpoint'`);
        const trail = trailOf(place.opened);
        const events = (await place.rows()).length;
        await assert.rejects(trail.shorten(NOW + 1, operator), /holds no shortening|failed its verification/);
        assert.equal((await place.rows()).length, events);
        await place.sql('CREATE TABLE kept AS SELECT * FROM audit_event');
        await place.sql(`DELETE FROM audit_event WHERE sequence <= 8`);
        await requireComplaint(trailOf(place.opened), /event \d+ holds no shortening of this installation/);
        await place.sql('INSERT INTO audit_event SELECT * FROM kept WHERE sequence <= 8');
        await place.sql('DROP TABLE kept');
        await place.sql('DELETE FROM audit_event WHERE sequence = 100');
      }
    });

    test('a shortening that nobody signed is no beginning either, also where it names the key in use', async (t) => {
      const place = await attacked(t, make);
      const detail = place.checkpoint.replace('checkpoint', 'shortened');
      await insertUnknown(place, { sequence: 100, action: 'audit_shortened', detail });
      await place.sql('DELETE FROM audit_event WHERE sequence <= 8');
      const trail = trailOf(place.opened);
      await requireComplaint(trail, /event 100 holds no shortening of this installation: it was not signed/);
      const events = (await place.rows()).length;
      await assert.rejects(
        trail.shorten(NOW + 1, operator),
        /holds no shortening of this installation: it was not signed/,
      );
      assert.equal((await place.rows()).length, events);
    });

    test('an earlier shortening in the place of a later one does not hide what lies between', async (t) => {
      const place = await attacked(t, make);
      const trail = trailOf(place.opened);
      await trail.recordCheckpoint(operator);
      await trail.shorten(NOW + 1, operator);
      const [first] = (await place.rows()).filter((row) => row['action'] === 'audit_shortened');
      await place.deny(3);
      await trail.recordCheckpoint(operator);
      await trail.shorten(NOW + 1, operator);
      await place.sql(
        `UPDATE audit_event SET detail = '${String(first?.['detail'])}' WHERE action = 'audit_shortened'`,
      );
      await requireComplaint(trail, /is not as it was recorded/);
      await assert.rejects(trailOf(place.opened).shorten(NOW + 1, operator), /failed its verification/);
    });

    test('in a trail that was shortened, no event needs to be believed because what came before it is gone', async (t) => {
      const place = await attacked(t, make);
      const trail = trailOf(place.opened);
      await trail.recordCheckpoint(operator);
      await trail.shorten(NOW + 1, operator);
      assert.deepEqual((await trail.verify([])).problems, []);
      const row = (await place.rows()).at(-1) as Row;
      const chain_id = String(row['chain_id']).replace(/^([0-9a-f]{8})-[0-9a-f]{16}/, '$1-0123456789abcdef');
      const sequence = Number(row['sequence']) + 1;
      await insert(place, row, { sequence, chain_id, chain_number: 7, chain_mac: Buffer.alloc(32, 1) });
      await requireFound(place, new RegExp(`event ${sequence} is not as it was recorded`), trail);
    });

    test('an event at a place before the first one is seen', async (t) => {
      const place = await attacked(t, make);
      const [row] = (await place.rows()) as [Row];
      for (const sequence of [0, -5]) {
        await insert(place, row, { sequence, chain_number: 0 });
        await requireFound(place, /there are events with impossible sequence numbers: they were added/);
        await place.sql(`DELETE FROM audit_event WHERE sequence < 1`);
      }
    });

    test('an event that is copied into another chain, or to another place, is none of it', async (t) => {
      const place = await attacked(t, make);
      const keys = createKeyring([ROOT_KEY, Buffer.alloc(32, 'another key')]);
      keys.issueWith(keys.keyIds[1] as number);
      const other = await place.open(keys, 'command');
      await denied(other, 2);
      await other.close();
      const rows = await place.rows();
      const one = rows.at(-4) as Row;
      const newest = rows.at(-1) as Row;
      assert.notEqual(one['chain_id'], newest['chain_id']);
      const trail = trailOf(place.opened, keys);
      const sequence = Number(newest['sequence']);
      await insert(place, one, { sequence: sequence + 1, chain_id: newest['chain_id'], chain_number: 3 });
      await requireComplaint(trail, new RegExp(`event ${sequence + 1} is not as it was recorded`));
      await place.sql(`DELETE FROM audit_event WHERE sequence = ${sequence + 1}`);
      for (const column of ['chain_id', 'chain_mac', 'chain_number']) {
        await place.sql(`CREATE TABLE kept AS SELECT * FROM audit_event`);
        await place.sql(
          `UPDATE audit_event SET ${column} = (SELECT ${column} FROM kept WHERE sequence = ${sequence + Number(one['sequence'])} - audit_event.sequence)
           WHERE sequence IN (${sequence}, ${Number(one['sequence'])})`,
        );
        await requireComplaint(trail, /is not as it was recorded/);
        await place.sql('DELETE FROM audit_event');
        await place.sql('INSERT INTO audit_event SELECT * FROM kept');
        await place.sql('DROP TABLE kept');
      }
      assert.deepEqual((await trail.verify([])).problems, []);
    });

    test('the retention takes nothing away by the time that a row says of a checkpoint, only by the signed one', async (t) => {
      const place = await attacked(t, make);
      await place.sql(`UPDATE audit_event SET at = 0 WHERE action = 'audit_checkpoint'`);
      const events = (await place.rows()).length;
      await assert.rejects(trailOf(place.opened).shorten(NOW - 30 * DAY, operator), /failed its verification/);
      assert.equal((await place.rows()).length, events);
    });

    test('the retention takes nothing away that is not what the checkpoint says', async (t) => {
      const place = await attacked(t, make);
      const trail = trailOf(place.opened);
      await trail.recordCheckpoint(operator);
      await place.sql("UPDATE audit_event SET detail = 'hidden' WHERE sequence = 3");
      const events = (await place.rows()).length;
      await assert.rejects(trail.shorten(NOW + 1, operator), /failed its verification/);
      assert.equal((await place.rows()).length, events);
    });

    test('what stands before the beginning that the retention left is no part of the trail, and is counted', async (t) => {
      const place = await attacked(t, make);
      const trail = trailOf(place.opened);
      await trail.shorten(NOW + 1, operator);
      const row = (await place.rows()).at(-1) as Row;
      await insert(place, row, { sequence: 2, detail: 'forged' });
      const { problems, leftOver } = await trail.verify([]);
      assert.deepEqual([problems, leftOver], [[], 1]);
      await trail.shorten(NOW + 1, operator);
      assert.equal((await trail.verify([])).leftOver, 0, 'the next shortening takes it away');
    });

    test('an end that was cut off back to before the last checkpoint is noticed by the service that recorded it', async (t) => {
      const place = await attacked(t, make);
      const trail = trailOf(place.opened);
      const kept = (await trail.recordCheckpoint(operator)) ?? assert.fail();
      await place.deny(1);
      await place.sql('DELETE FROM audit_event WHERE sequence > 9');
      await assert.rejects(trail.recordCheckpoint(operator), /its end was cut off/);
      await place.deny(9);
      await assert.rejects(trail.recordCheckpoint(operator), /are not those of the checkpoint/);
      const again = trailOf(place.opened);
      // A connection to PostgreSQL keeps its number; SQLite goes on from the newest event, so that nothing there shows it.
      assert.equal((await again.verify([])).wrong, kind === 'SQLite' ? 0 : 1);
      assert.match(
        (await again.verify(findCheckpoints(kept))).problems[0]?.sentence ?? '',
        /not those of the checkpoint/,
      );
    });

    test('checkpoints that were kept elsewhere and are older than what is left are counted as not compared', async (t) => {
      const place = await attacked(t, make);
      const trail = trailOf(place.opened);
      const second = (await trail.recordCheckpoint(operator)) ?? assert.fail();
      await place.deny(1);
      const third = (await trail.recordCheckpoint(operator)) ?? assert.fail();
      const given = [place.checkpoint, second, third].flatMap(findCheckpoints);
      assert.equal((await trail.verify(given)).uncompared, 0);
      await trail.shorten(NOW + 1, operator);
      const { problems, uncompared } = await trail.verify(given);
      assert.deepEqual([problems, uncompared], [[], 2]);
    });
  });
