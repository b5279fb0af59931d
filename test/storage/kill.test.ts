/** `kill -9` at any moment: what was acknowledged is there, and the database is whole (I1 to I5). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lots } from '../instances/effort.ts';
import { NOW, openAsService, temporaryPath } from '../support/storage.ts';
import { requireWholeTrail } from '../support/trail.ts';
import { runAndKill, SEED } from './run-and-kill.ts';

test(`killed under load, a database has every acknowledged transition (seed ${SEED})`, async (t) => {
  const path = temporaryPath(t);
  const random = lots(SEED);
  const acknowledged = new Map<string, string>();
  for (let round = 0; round < 8; round += 1) {
    const output = await runAndKill('load.child.ts', path, random(150));
    const lines = output.slice(0, output.lastIndexOf('\n')).split('\n');
    for (const [id, what] of lines.map((line) => line.split(' '))) acknowledged.set(id as string, what as string);
  }
  assert.ok(acknowledged.size > 20, `only ${acknowledged.size} grants`);
  const opened = await openAsService(path);
  t.after(() => opened.close());
  assert.deepEqual(
    (await opened.check()).filter(({ ok }) => !ok),
    [],
  );
  for (const [id, what] of acknowledged) {
    const found = await opened.store.findGrant(Buffer.from(id, 'hex'));
    assert.ok(found, `grant ${id} is lost`);
    if (what === 'revoked') assert.notEqual(found.grant.revokedAt, null);
    else assert.ok(found.grant.generation >= Number(what));
  }
  const events = await opened.store.listAuditEvents({ action: 'grant_revoked', limit: 1_000_000 });
  const grants = await opened.store.listGrants({ limit: 1_000_000 });
  assert.equal(events.length, grants.filter(({ grant }) => grant.revokedAt !== null).length);
  await requireWholeTrail(opened, NOW);
});
