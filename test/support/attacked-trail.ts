/** An audit trail under attack by somebody who can write every row of the database and has no key. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Storage } from '../../src/storage/opening/opened-storage.ts';
import { event, operator } from './storage.ts';
import { type Place, type Row, trailOf } from './trail-places.ts';

/** The name of a root key that nobody has. */
export const UNKNOWN_KEY = 'deadbeef';

/** A trail under attack: eight events and a checkpoint, and three events after it. */
export async function attacked(t: TestContext, make: (t: TestContext) => Promise<Place>) {
  const place = await make(t);
  const opened = await place.open();
  t.after(() => opened.close());
  const deny = (times: number) => denied(opened, times);
  await deny(8);
  const checkpoint = (await trailOf(opened).recordCheckpoint(operator)) ?? assert.fail();
  await deny(3);
  const rows = () => place.sql('SELECT * FROM audit_event ORDER BY sequence');
  const last = Number((await rows()).at(-1)?.['sequence']);
  return { ...place, opened, deny, checkpoint, rows, last };
}

/** Such a trail. */
export type Attacked = Awaited<ReturnType<typeof attacked>>;

/** Records events. */
export async function denied({ store }: Storage, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) await store.recordDenial(event('consent_denied'));
}

/** Inserts an event: one that exists, with other values. */
export async function insert({ sql, bytes, passTakenPlaces }: Place, row: Row, values: Row): Promise<void> {
  const { attempt: _, ...columns } = { ...row, ...values };
  const literal = (value: unknown) => {
    if (value instanceof Uint8Array) return bytes(Buffer.from(value).toString('hex'));
    if (value === null || typeof value === 'number') return String(value);
    return `'${String(value).replaceAll("'", "''")}'`;
  };
  const names = Object.keys(columns);
  await sql(`INSERT INTO audit_event (${names}) VALUES (${Object.values(columns).map(literal)})`);
  await passTakenPlaces();
}

/** Inserts an event of a chain that nobody has the root key of. */
export async function insertUnknown(place: Attacked, values: Row, number = 1): Promise<void> {
  const [row] = (await place.rows()) as [Row];
  const chain_id = `${UNKNOWN_KEY}${String(row['chain_id']).slice(8)}`;
  await insert(place, row, { chain_id, chain_number: number, chain_mac: Buffer.alloc(32, 7), ...values });
}
