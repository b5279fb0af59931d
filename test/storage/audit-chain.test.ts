/** The chains of the audit trail, on both stores: whatever is done to its rows behind the service's back is found and named. */
import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { rootKeyName } from '../../src/oauth/keys/root-key.ts';
import { findCheckpoints } from '../../src/oauth/trail/audit-checkpoint.ts';
import { TrailHeldUp } from '../../src/oauth/trail/audit-store.ts';
import { AuditTrail } from '../../src/operator/trail/audit-trail.ts';
import type { Storage } from '../../src/storage/opening/opened-storage.ts';
import { openInstance, readyDatabases } from '../postgresql/instance.ts';
import { PATIENT } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { addAdaAndOne, event, NO_CHAIN, NOW, operator, sampleGrant } from '../support/storage.ts';
import { storesOfRun } from '../support/stores.ts';
import { keyring, type Place, ROOT_KEY, trailOf, trailPlaces } from '../support/trail-places.ts';

const SERVER = {
  id: 'rs_one',
  name: 'One',
  resource: null,
  acceptsUnbound: true,
  scopes: null,
  secrets: [],
  createdAt: 0,
};

const server = await sharedPostgres();
after(() => server.remove());
const createDatabase = await readyDatabases(server);

/** What a verification complains of. */
async function complaints({ open }: Pick<Place, 'open'>, checkpoints: readonly string[] = [], keys = keyring) {
  const opened = await open();
  try {
    const given = checkpoints.flatMap((text) => findCheckpoints(text));
    const { wrong, problems, checkpoint, checkpoints: compared } = await trailOf(opened, keys).verify(given);
    assert.equal(problems.length, wrong);
    assert.ok(compared >= given.length, 'each checkpoint that was given is counted');
    assert.equal(checkpoint === null, wrong > 0);
    return problems;
  } finally {
    await opened.close();
  }
}

/** Some acts of every kind: alone, several at once, ones whose access the database writes. Returns the newest event. */
async function live(place: Place): Promise<number> {
  const opened = await place.open();
  const { store } = opened;
  await addAdaAndOne(opened);
  const grants = Array.from({ length: 6 }, () => sampleGrant());
  const about = {
    clientId: 'app_one',
    resourceOwnerId: 'usr_ada',
    grantId: 'g',
    detail: { scopes: ['a "b" \u0001\t\u2028 \0 ü \ud800 \\'] },
  };
  const actor = { ...operator, source: '192.0.2.1', requestId: 'r', by: 'opk_one' };
  await Promise.all(grants.map((grant) => store.issueGrant(grant, { ...event('consent_allowed', about), actor })));
  for (const grant of grants.slice(0, 2))
    await store.revokeGrant(grant.id, 'user', { ...event('grant_revoked', about), actor });
  for (let n = 0; n < 5; n += 1) await store.recordDenial({ ...event('consent_remembered', about), actor });
  const last = await store.lastAuditSequence();
  await opened.close();
  return last;
}

for (const [kind, make] of storesOfRun(trailPlaces(server, createDatabase))) {
  const lived = async (t: TestContext) => {
    const place = await make(t);
    const last = await live(place);
    return { ...place, last };
  };

  describe(`LS-05 on ${kind}`, () => {
    test('a trail as it was recorded is whole, after restarts, failed writes and many writers too', async (t) => {
      const place = await make(t);
      assert.deepEqual(await complaints(place), [], 'the empty trail');
      await live(place);
      const opened = await place.open();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 60 }, async (_, n) => {
          if (n % 3 === 0) return opened.store.recordDenial(event('consent_denied'));
          // The schema refuses every other one: its write is undone, and with it its event and its place.
          const name = n % 3 === 1 ? (null as never) : SERVER.name;
          return opened.store.registerResourceServer(
            { ...SERVER, id: `rs_${n}`, name },
            event('resource_server_registered'),
          );
        }),
      );
      assert.ok(outcomes.some(({ status }) => status === 'rejected'));
      await opened.close();
      assert.deepEqual(await complaints(place), []);
    });

    test('a changed row is named, whichever column was changed', async (t) => {
      const { sql, open, bytes, last } = await lived(t);
      const columns = Object.keys((await sql('SELECT * FROM audit_event LIMIT 1'))[0] ?? {});
      for (const column of columns.filter((name) => name !== 'attempt' && name !== 'sequence')) {
        const where = column === 'ended_access' ? 'ended_access IS NOT NULL' : `sequence = ${last - 2}`;
        const [row] = await sql(`SELECT sequence, ${column} AS was FROM audit_event WHERE ${where} LIMIT 1`);
        const was = row?.['was'];
        assert.ok(was !== null && was !== undefined, column);
        const literal = (value: unknown) =>
          typeof value === 'number' || typeof value === 'bigint' || /^\d+$/.test(String(value))
            ? String(value)
            : value instanceof Uint8Array
              ? bytes(Buffer.from(value).toString('hex'))
              : `'${String(value).replaceAll("'", "''")}'`;
        const changed =
          was instanceof Uint8Array
            ? Buffer.from(was).fill(7)
            : /^\d+$/.test(String(was))
              ? Number(was) + 1
              : `${String(was)} `;
        const set = (value: unknown) =>
          sql(`UPDATE audit_event SET ${column} = ${literal(value)} WHERE sequence = ${row?.['sequence']}`);
        await set(changed);
        const found = await complaints({ open });
        assert.equal(found[0]?.event, Number(row?.['sequence']), `${column}: ${JSON.stringify(found)}`);
        if (column === 'detail' || column === 'at') assert.equal(found.length, 1, 'no other is blamed');
        await sql(`UPDATE audit_event SET ${column} = ${literal(was)} WHERE sequence = ${row?.['sequence']}`);
      }
      assert.deepEqual(await complaints({ open }), [], 'each was put back');
    });

    test('a row that was added is named, and two whose places were changed', async (t) => {
      const { sql, open, last } = await lived(t);
      const columns = Object.keys((await sql('SELECT * FROM audit_event LIMIT 1'))[0] ?? {}).filter(
        (name) => name !== 'attempt' && name !== 'sequence',
      );
      const copy = `INSERT INTO audit_event (sequence, ${columns}) SELECT 1000, ${columns} FROM audit_event WHERE sequence = ${last}`;
      await sql(copy);
      assert.equal((await complaints({ open }))[0]?.event, 1000);
      await sql(`UPDATE audit_event SET chain_number = chain_number + 1 WHERE sequence = 1000`);
      assert.equal((await complaints({ open }))[0]?.event, 1000);
      await sql('DELETE FROM audit_event WHERE sequence = 1000');
      assert.deepEqual(await complaints({ open }), []);
      const swap = async () => {
        await sql(`UPDATE audit_event SET sequence = 1000 WHERE sequence = ${last - 3}`);
        await sql(`UPDATE audit_event SET sequence = ${last - 3} WHERE sequence = ${last - 2}`);
        await sql(`UPDATE audit_event SET sequence = ${last - 2} WHERE sequence = 1000`);
      };
      await swap();
      const named = (await complaints({ open })).map((problem) => problem.event);
      assert.ok(named.includes(last - 3) && named.includes(last - 2), String(named));
      await swap();
      assert.deepEqual(await complaints({ open }), []);
    });

    test('a row that was removed is named by its neighbors', async (t) => {
      const { sql, open, last } = await lived(t);
      await sql(`DELETE FROM audit_event WHERE sequence = ${last - 2}`);
      const [problem] = await complaints({ open });
      assert.equal(problem?.event, last - 1);
      assert.ok(problem?.sentence.startsWith(`1 event is missing between event ${last - 3} and event ${last - 1}`));
    });

    test('an end that was cut off is found with a checkpoint that was kept elsewhere, and so is one that grew again', async (t) => {
      const { sql, open } = await lived(t);
      const opened = await open();
      for (let n = 0; n < 3; n += 1) await opened.store.recordDenial(event('consent_denied'));
      const last = await opened.store.lastAuditSequence();
      const { checkpoint } = await trailOf(opened).verify([]);
      assert.ok(checkpoint);
      await opened.store.recordDenial(event('consent_denied'));
      assert.deepEqual((await trailOf(opened).verify(findCheckpoints(checkpoint))).problems, []);
      await opened.close();
      await sql(`DELETE FROM audit_event WHERE sequence >= ${last - 1}`);
      assert.deepEqual(await complaints({ open }), [], 'nothing else shows it');
      const [problem] = await complaints({ open }, [checkpoint]);
      assert.match(problem?.sentence ?? '', new RegExp(`ends at event ${last - 2}, and had event ${last} `));
      const again = await open();
      for (let n = 0; n < 9; n += 1) await again.store.recordDenial(event('consent_denied'));
      await again.close();
      assert.equal((await complaints({ open }, [checkpoint]))[0]?.event, last);
    });

    test('a chain that was removed as a whole is missed by the next checkpoint in the trail', async (t) => {
      const { sql, open } = await make(t);
      // On SQLite the second root key begins the chains that another connection begins on PostgreSQL.
      const keys = createKeyring([ROOT_KEY, Buffer.alloc(32, 'another key')]);
      const first = await open(keys);
      const deny = ({ store }: Storage) => store.recordDenial(event('consent_denied'));
      for (const keyId of [...keys.keyIds, ...keys.keyIds]) {
        keys.issueWith(keyId);
        await deny(first);
      }
      assert.ok(await trailOf(first, keys).recordCheckpoint(operator));
      await deny(first);
      const events = await sql('SELECT * FROM audit_event ORDER BY sequence');
      assert.ok(new Set(events.map((row) => row['chain_id'])).size >= 4);
      await first.close();
      for (const where of ['sequence = 2', 'sequence IN (1, 3)', 'sequence < 5']) {
        await sql(`CREATE TABLE kept AS SELECT * FROM audit_event WHERE ${where}`);
        await sql(`DELETE FROM audit_event WHERE ${where}`);
        const found = (await complaints({ open }, [], keys)).map(({ sentence }) => sentence).join('\n');
        assert.match(found, /the events up to 4 are not those of the checkpoint in event 5/);
        await sql('INSERT INTO audit_event SELECT * FROM kept');
        await sql('DROP TABLE kept');
      }
      assert.deepEqual(await complaints({ open }, [], keys), [], 'each was put back');
    });

    test('a new root key begins another chain; what rests on one that is not here is proven by a checkpoint alone', async (t) => {
      const { open } = await lived(t);
      const second = createKeyring([Buffer.alloc(32, 'another key')]);
      const both = createKeyring([ROOT_KEY, Buffer.alloc(32, 'another key')]);
      both.issueWith(second.currentKeyId);
      assert.match(
        (await complaints({ open }, [], second))[0]?.sentence ?? '',
        /root key [0-9a-f]{8} is not among the keys here/,
      );
      const opened = await open();
      assert.ok(await trailOf(opened, both).recordCheckpoint(operator));
      await opened.close();
      assert.deepEqual(await complaints({ open }, [], both), []);
    });

    test('after a rotation no event is recorded under the earlier root key, also by what runs', async (t) => {
      const { sql, open } = await make(t);
      const keys = createKeyring([ROOT_KEY, Buffer.alloc(32, 'another key')]);
      const opened = await open(keys);
      const newest = async () => {
        await opened.store.recordDenial(event('consent_denied'));
        const [row] = await sql<{ chain_id: string }>(
          'SELECT chain_id FROM audit_event ORDER BY sequence DESC LIMIT 1',
        );
        return row?.chain_id.slice(0, 8);
      };
      for (const keyId of [...keys.keyIds, ...keys.keyIds]) {
        keys.issueWith(keyId);
        assert.equal(await newest(), rootKeyName(keyId));
      }
      await opened.close();
      assert.deepEqual(await complaints({ open }, [], keys), []);
    });

    test('before a root key goes the trail is verified and proven under the next one, by which changes before are found', async (t) => {
      const { sql, open, last } = await lived(t);
      const keys = createKeyring([ROOT_KEY, Buffer.alloc(32, 'another key')]);
      const [first = 0, second = 0] = keys.keyIds;
      keys.issueWith(second);
      const set = (detail: string) => sql(`UPDATE audit_event SET detail = '${detail}' WHERE sequence = ${last - 2}`);
      const [row] = await sql<{ detail: string }>(`SELECT detail FROM audit_event WHERE sequence = ${last - 2}`);
      await set('forged');
      let opened = await open();
      const refused = new RegExp(`failed its verification \\(event ${last - 2} is not as it was recorded`);
      await assert.rejects(trailOf(opened, keys).prove(false, operator), refused);
      await opened.close();
      await set((row?.detail ?? '').replaceAll("'", "''"));
      opened = await open(keys);
      await trailOf(opened, keys).prove(false, operator);
      await opened.store.recordDenial(event('root_key_retired', { detail: { root_key: rootKeyName(first) } }));
      await opened.close();
      const alone = createKeyring([Buffer.alloc(32, 'another key')]);
      assert.deepEqual(await complaints({ open }, [], alone), []);
      await set('forged');
      assert.match((await complaints({ open }, [], alone))[0]?.sentence ?? '', /not those of the checkpoint in event/);
      await set((row?.detail ?? '').replaceAll("'", "''"));
      // Whoever has the key that was retired cannot go on with its chain.
      opened = await open();
      await opened.store.recordDenial(event('consent_denied'));
      await opened.close();
      assert.match((await complaints({ open }, [], keys))[0]?.sentence ?? '', /after that was retired/);
    });

    test('an event under a key that is gone counts only up to the checkpoint of its retirement', async (t) => {
      const { open } = await lived(t);
      const keys = createKeyring([ROOT_KEY, Buffer.alloc(32, 'another key')]);
      const [first = 0, second = 0] = keys.keyIds;
      keys.issueWith(second);
      let opened = await open(keys);
      await trailOf(opened, keys).prove(false, operator);
      await opened.close();
      opened = await open(); // Whoever has the key writes once more, before it is retired.
      await opened.store.recordDenial(event('consent_denied'));
      const late = await opened.store.lastAuditSequence();
      await opened.close();
      opened = await open(keys);
      await opened.store.recordDenial(event('root_key_retired', { detail: { root_key: rootKeyName(first) } }));
      await opened.close();
      const alone = createKeyring([Buffer.alloc(32, 'another key')]);
      const [problem, ...others] = await complaints({ open }, [], alone);
      assert.match(
        problem?.sentence ?? '',
        new RegExp(`event ${late} cannot be verified: root key ${rootKeyName(first)}`),
      );
      assert.deepEqual(others, []);
    });

    test('a trail that was shortened under a key that is gone begins where it did, and can be shortened on', async (t) => {
      const { open, last } = await lived(t);
      let opened = await open();
      await trailOf(opened).recordCheckpoint(operator);
      await trailOf(opened).shorten(NOW + 1, operator);
      await opened.close();
      const keys = createKeyring([ROOT_KEY, Buffer.alloc(32, 'another key')]);
      const [first = 0, second = 0] = keys.keyIds;
      keys.issueWith(second);
      opened = await open(keys);
      await trailOf(opened, keys).prove(false, operator);
      await opened.store.recordDenial(event('root_key_retired', { detail: { root_key: rootKeyName(first) } }));
      await opened.close();
      const alone = createKeyring([Buffer.alloc(32, 'another key')]);
      assert.deepEqual(await complaints({ open }, [], alone), []);
      opened = await open(keys);
      t.after(() => opened.close());
      const trail = trailOf(opened, alone);
      assert.equal((await exported(opened, 0, null, alone))[0], last + 1);
      await trail.recordCheckpoint(operator);
      await trail.shorten(NOW + 1, operator);
      assert.deepEqual((await trail.verify([])).problems, []);
      assert.ok(((await exported(opened, 0, null, alone))[0] ?? 0) > last + 1);
    });

    test('what the retention leaves can be verified, also where it was interrupted; what was taken otherwise is missed', async (t) => {
      const { sql, open, last } = await lived(t);
      let opened = await open();
      const trail = trailOf(opened);
      await trail.shorten(NOW + 1, operator);
      assert.equal(await opened.store.lastAuditSequence(), last, 'nothing without a checkpoint');
      await trail.recordCheckpoint(operator);
      await trail.shorten(NOW, operator);
      assert.equal(await opened.store.lastAuditSequence(), last + 1, 'nothing that is not older');
      for (let n = 0; n < 5; n += 1) await opened.store.recordDenial(event('consent_denied'));
      const kept = await trail.verify([]);
      await trail.shorten(NOW + 1, operator);
      const [{ first } = { first: 0 }] = await sql<{ first: number }>('SELECT min(sequence) AS first FROM audit_event');
      assert.equal(Number(first), last + 1, 'from the checkpoint on');
      assert.deepEqual(
        await exported(opened, 0),
        Array.from({ length: 7 }, (_, n) => last + 1 + n),
      );
      await assert.rejects(exported(opened, 3), new RegExp(`begin with --after ${last}`));
      await opened.close();
      assert.deepEqual(await complaints({ open }, [kept.checkpoint ?? '']), []);
      opened = await open();
      await opened.store.recordDenial(event('consent_denied'));
      await trailOf(opened).recordCheckpoint(operator);
      await opened.close();
      assert.deepEqual(await complaints({ open }), []);
      await sql(`DELETE FROM audit_event WHERE sequence = ${last + 1}`);
      assert.ok((await complaints({ open })).length > 0, 'the first of those that are left');
    });

    test('operating: an export goes on after the event that was taken, and notices when another event stands there', async (t) => {
      const { open, sql, last } = await lived(t);
      const [row] = await sql<{ chain_mac: Uint8Array }>(
        `SELECT chain_mac FROM audit_event WHERE sequence = ${last - 2}`,
      );
      const mac = Buffer.from(row?.chain_mac ?? '');
      const opened = await open();
      t.after(() => opened.close());
      assert.deepEqual(await exported(opened, last - 2, mac), [last - 1, last]);
      assert.deepEqual(await exported(opened, last - 2), [last - 1, last], 'the number alone will do');
      const other = new RegExp(`event ${last - 1} is not the event that you have: .*begin with --after 0`);
      await assert.rejects(exported(opened, last - 1, mac), other);
      const beyond = new RegExp(`the trail ends at event ${last}, before event ${last + 1}: .*begin with --after 0`);
      await assert.rejects(exported(opened, last + 1, mac), beyond);
      await opened.store.beginHistory(Buffer.alloc(16, 1), event('database_restored'), {
        ...{ endAll: null, ended: null, revived: [], events: [] },
      });
      const restored = new RegExp(`it was restored in event ${last + 1}: begin with --after ${last}`);
      await assert.rejects(exported(opened, last + 1, mac), restored);
      await trailOf(opened).recordCheckpoint(operator);
      await trailOf(opened).shorten(NOW + 1, operator);
      const [start = 0] = await exported(opened, 0);
      assert.equal((await exported(opened, start - 1, mac))[0], start, 'after the last event that was taken away');
    });

    test('a retention that was interrupted leaves a trail that is whole, and goes on', async (t) => {
      const { sql, open, last } = await lived(t);
      let opened = await open();
      await trailOf(opened).recordCheckpoint(operator);
      const { store } = opened;
      let windows = 0;
      const deleteTrailRows: typeof store.deleteTrailRows = async (upTo) => {
        if (windows === 1) throw new Error('killed');
        windows += 1;
        return store.deleteTrailRows(upTo, 3);
      };
      const { id: installation } = opened.installation;
      const killed = new AuditTrail({ store: { ...store, deleteTrailRows }, keyring, installation, now: () => NOW });
      await assert.rejects(killed.shorten(NOW + 1, operator), /killed/);
      await opened.close();
      assert.deepEqual(await complaints({ open }), []);
      opened = await open();
      await trailOf(opened).shorten(NOW + 1, operator);
      await opened.close();
      const [{ first } = { first: 0 }] = await sql<{ first: number }>('SELECT min(sequence) AS first FROM audit_event');
      assert.equal(Number(first), last + 1);
      assert.deepEqual(await complaints({ open }), []);
    });

    test('checkpoints are recorded where something happened, go on from the last one, and never from a forged one', async (t) => {
      const { sql, open } = await lived(t);
      let opened = await open();
      const trail = trailOf(opened);
      const first = await trail.recordCheckpoint(operator);
      assert.ok(first);
      assert.equal(await trail.recordCheckpoint(operator), null, 'nothing happened but a checkpoint');
      await opened.store.recordDenial(event('consent_denied'));
      assert.equal(await trail.recordCheckpoint(operator, 0), null, 'too much for a stop');
      const second = await trail.recordCheckpoint(operator);
      assert.ok(second);
      await opened.close();
      assert.deepEqual(await complaints({ open }, [first, second]), []);
      opened = await open();
      const running = trailOf(opened);
      await opened.store.recordDenial(event('consent_denied'));
      await running.recordCheckpoint(operator);
      const last = await opened.store.lastAuditSequence();
      await sql(`DELETE FROM audit_event WHERE sequence > ${last - 3}`);
      await assert.rejects(running.recordCheckpoint(operator), /its end was cut off/);
      await sql(`UPDATE audit_event SET detail = replace(detail, '${first.slice(-20)}', '${'A'.repeat(20)}')`);
      await assert.rejects(trailOf(opened).recordCheckpoint(operator), /not signed by this installation/);
      await opened.close();
      const [forged] = await complaints({ open });
      assert.match(forged?.sentence ?? '', /is not as it was recorded/);
    });
  });
}

test('LS-05: the removal of what a command recorded alone is found from the next checkpoint on', async (t) => {
  const url = await createDatabase();
  const opened = await openInstance(url, { keyring, ...PATIENT });
  t.after(() => opened.close());
  const deny = async (times: number, { store }: Storage = opened) => {
    for (let n = 0; n < times; n += 1) await store.recordDenial(event('consent_denied'));
  };
  await deny(3);
  const command = await openInstance(url, { keyring, ...PATIENT });
  await deny(1, command);
  await command.close();
  await deny(2);
  const chains = await server.query<{ chain_id: string }>(url, 'SELECT chain_id FROM audit_event ORDER BY sequence');
  assert.equal(new Set(chains.map((row) => row.chain_id)).size, 2);
  assert.ok(await trailOf(opened).recordCheckpoint(operator));
  assert.equal((await trailOf(opened).verify([])).wrong, 0);
  await server.query(url, 'DELETE FROM audit_event WHERE sequence = 4');
  const { problems } = await trailOf(opened).verify([]);
  assert.match(problems[0]?.sentence ?? '', /the events up to 6 are not those of the checkpoint in event 7/);
});

/** The sequences of all events after a place. */
async function exported(opened: Storage, sequence: number, mac: Buffer | null = null, keys = keyring) {
  const found: number[] = [];
  for await (const events of trailOf(opened, keys).eventsAfter({ sequence, mac }))
    found.push(...events.map(({ sequence }) => sequence));
  return found;
}

test('operating: an export never passes over an event whose transaction ends later than that of a later event', async (t) => {
  const url = await createDatabase();
  const opened = await openInstance(url, { keyring, ...PATIENT });
  t.after(() => opened.close());
  await addAdaAndOne(opened);
  const place = (await exported(opened, 0)).at(-1) as number;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(() => client.end());
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO audit_event (at, action, actor_kind, actor_id, ${NO_CHAIN.columns})
     VALUES (0, 'client_paused', 'operator', 'slow', ${NO_CHAIN.postgresql})`,
  );
  await opened.store.recordDenial(event('consent_denied'));
  await assert.rejects(exported(opened, place), TrailHeldUp);
  await client.query('COMMIT');
  assert.deepEqual(await exported(opened, place), [place + 1, place + 2]);
  await client.query('BEGIN');
  await client.query("SELECT nextval('audit_event_sequence')");
  await client.query('ROLLBACK');
  await opened.store.recordDenial(event('consent_denied'));
  assert.deepEqual(await exported(opened, place + 1), [place + 2, place + 4], 'a number that was undone');
  await assert.rejects(exported(opened, place + 5), /ends at event/);
});
