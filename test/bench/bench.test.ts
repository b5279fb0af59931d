import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { median } from '../../bench/report.ts';

test('a small run measures every operation on every server without an error', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'figures.json');
  const small = ['--rounds', '1', '--requests', '50', '--concurrency', '1,4', '--starts', '1', '--settle', '0'];
  const args = ['--disable-warning=ExperimentalWarning', 'bench/run.ts', ...small, '--json', file];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  assert.match(stdout, /^operation +c +server/);
  const { rows, errors, startTimes } = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(errors, 0, stdout);
  const cells = rows.map(
    (row: Record<string, unknown>) => `${row['operation']} ${row['concurrency']} ${row['target']}`,
  );
  const servers = ['node:http', 'Fastify', 'Valetkey'];
  const expected = ['exchange', 'refresh', 'check', 'introspect'].flatMap((operation) =>
    [1, 4].flatMap((concurrency) => servers.map((server) => `${operation} ${concurrency} ${server}`)),
  );
  assert.deepEqual(cells, expected);
  for (const row of rows) assert.ok(row.perSecond > 0 && row.p50 > 0 && row.p50 <= row.p99, JSON.stringify(row));
  const writes = rows.filter(
    ({ target, operation }: Record<string, unknown>) =>
      target === 'Valetkey' && (operation === 'exchange' || operation === 'refresh'),
  );
  for (const row of writes) assert.ok(row.syncsPerRequest > 0, 'writes are synced, and the syncs are counted');
  assert.ok(startTimes.valetkey > 0);
});

test('the median of an even number of figures lies between the two in the middle', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([9, 1, 3]), 3);
});
