/** bench/soak.ts: a short one runs without an error, and what grows is told from what does not. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Sample, soakReport } from '../../bench/soak-report.ts';

test('a short soak asks every operation without a wrong answer, and keeps its samples', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const small = ['--seconds', '3', '--slice', '0.2', '--rate', '50', '--grants', '64'];
  const args = ['--disable-warning=ExperimentalWarning', 'bench/soak.ts', '--folder', folder, ...small];
  // Its exit says whether it was flat, which so short a one cannot be told of.
  const said = await new Promise<string>((resolve) => execFile(process.execPath, args, (_, stdout) => resolve(stdout)));
  assert.match(said, / 0 wrong answers, 64 to 64 live grants\n/);
  const { samples } = JSON.parse(readFileSync(join(folder, 'soak.json'), 'utf8')) as { samples: Sample[] };
  assert.ok(samples.length >= 3);
  for (const { p99, residentMB, files, walMB, requests } of samples) {
    assert.ok(Object.keys(p99).join() === 'refresh,check,introspect' && requests === 30, said);
    assert.ok(residentMB > 0 && files > 0 && walMB > 0, said);
  }
  const drawn = readFileSync(join(folder, 'soak.svg'), 'utf8').match(/ class="(ours|second)" d="M[\d. L]+"/g);
  assert.equal(drawn?.length, 7, 'a line for each figure, of numbers alone');
});

const CALM: Sample = {
  ...{ second: 10, p99: { refresh: 5, check: 3, introspect: 3 }, requests: 300, errors: 0, firstError: null },
  ...{ grants: 100, residentMB: 150, files: 40, walMB: 4, databaseMB: 1, cpuShare: 0.1, machineLoad: 1 },
};
const soakThatEndsWith = (last: Partial<Sample>) =>
  soakReport(Array.from({ length: 9 }, (_, at) => ({ ...CALM, ...(at > 5 ? last : {}) })));

test('a soak in which nothing grows is flat, and one in which a figure does is not', () => {
  assert.equal(soakThatEndsWith({}).isFlat, true);
  const grown = { residentMB: 180, files: 60, walMB: 20, p99: { ...CALM.p99, check: 20 }, errors: 1 };
  for (const [figure, value] of Object.entries(grown))
    assert.equal(soakThatEndsWith({ [figure]: value }).isFlat, false, figure);
  assert.match(soakThatEndsWith({ files: 60 }).text, /open files .* GREW/);
});
