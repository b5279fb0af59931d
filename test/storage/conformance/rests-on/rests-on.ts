/**
 * The rule of every write: it asks again for what its decision rested on. Each row of the table is run with all in place, and
 * once for each way in which what it rests on goes between decision and write.
 */
import assert from 'node:assert/strict';
import type { AnyStore, WithStore } from '../any-store.ts';
import { itsOwn, type RestsOn } from './row.ts';
import { TABLE, WITHOUT_ROW } from './table.ts';

/** Verbs that do not write. */
const READS = /^(find|list|walk|count|has|is|summarize|last|version)(?![a-z])/;

/** Runs the table. */
export function restsOn(withStore: WithStore): void {
  withStore('each verb that writes says what its decision rests on, or why on nothing', async (store) => {
    const said = [...new Set(Object.values(TABLE).flatMap((rows) => rows.map(({ verb }) => verb)))];
    const writing = Object.keys(store).filter((verb) => !READS.test(verb));
    assert.deepEqual([...said, ...Object.keys(WITHOUT_ROW)].sort(), writing.sort());
  });

  for (const [verbs, rows] of Object.entries(TABLE))
    withStore(`a write asks again for what its decision rested on: ${verbs}`, async (store) => {
      const failed: string[] = [];
      const cases = rows.flatMap((row) => [null, ...Object.keys(row.gone)].map((way) => ({ row, way })));
      for (const [n, { row, way }] of cases.entries())
        await (way === null ? happens(store, row, n) : isRefused(store, row, way, n)).catch((error: Error) => {
          failed.push(`${row.verb} rests on ${row.on}; ${way ?? 'with that in place'}: ${error.message}`);
        });
      assert.deepEqual(failed, []);
    });
}

/** With all in place: so a row whose verb never does anything fails. */
async function happens(store: AnyStore, { decide, out, changes }: RestsOn, n: number): Promise<void> {
  const its = await itsOwn(store, n);
  const write = await decide(store, its);
  const before = await changes(store, its);
  const outcome = await write();
  if (out !== undefined) assert.notDeepEqual(outcome, out, 'it was refused');
  assert.notDeepEqual(await changes(store, its), before, 'it changed nothing');
}

async function isRefused(store: AnyStore, { decide, gone, out, changes }: RestsOn, way: string, n: number) {
  const its = await itsOwn(store, n);
  const write = await decide(store, its);
  await gone[way]?.(store, its);
  const [before, last] = [await changes(store, its), await store.lastAuditSequence()];
  assert.deepEqual(await write(), out, 'it happened');
  assert.deepEqual(await changes(store, its), before, 'it changed something');
  assert.equal(await store.lastAuditSequence(), last, 'it recorded something');
}
