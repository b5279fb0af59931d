import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProgressLine } from '../../src/cli/command/progress.ts';
import { Collector } from './collector.ts';

/** Shows the progress of 1000 rows, ten of them at a time, each so many ms after the last. */
function shown(isTTY: boolean, every: number): string[] {
  const stderr = Object.assign(new Collector(), { isTTY });
  let now = 1_000_000;
  const line = new ProgressLine({ stderr, now: () => now });
  for (const step of ['copying', 'comparing'] as const) {
    for (let rows = 10; rows <= 1000; rows += 10) {
      line.show({ step, rows, of: 1000 });
      now += every;
    }
  }
  line.end();
  return stderr.text.split(isTTY ? '\r\u001b[2K' : '\n');
}

test('at a terminal one line changes, at most ten times a second, and is gone in the end', () => {
  const lines = shown(true, 20);
  assert.ok(lines.length > 20 && lines.length < 60, `${lines.length} changes`);
  assert.equal(lines[0], '');
  assert.equal(lines[1], '[                        ] copying 1 %, 10 of 1000 rows');
  assert.ok(lines.includes('[############            ] copying 51 %, 510 of 1000 rows, 1 s left'), lines.join('\n'));
  assert.ok(lines.includes('[########################] copying 100 %, 1000 of 1000 rows'));
  assert.equal(lines.at(-2), '[########################] comparing 100 %, 1000 of 1000 rows');
  assert.equal(lines.at(-1), '');
  assert.ok(lines.every((line) => line.length < 80));
});

test('elsewhere there is a line at the beginning and the end of a step, and every ten seconds between', () => {
  assert.deepEqual(shown(false, 3000).slice(0, 3), [
    'copying 1 %, 10 of 1000 rows',
    'copying 5 %, 50 of 1000 rows, 5 min left',
    'copying 9 %, 90 of 1000 rows, 5 min left',
  ]);
  assert.deepEqual(shown(false, 0), [
    'copying 1 %, 10 of 1000 rows',
    'copying 100 %, 1000 of 1000 rows',
    'comparing 1 %, 10 of 1000 rows',
    'comparing 100 %, 1000 of 1000 rows',
    '',
  ]);
});
