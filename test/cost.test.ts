/** What a run says of the cost of each process: by cgroups of either version, and by the processes themselves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCgroup } from './support/cost/cgroup.ts';
import { COUNT_COST, countCosts } from './support/cost/report.ts';

const BURNT_MS = 400;
const BURN = `while (process.cpuUsage().user < ${BURNT_MS} * 1000);`;

for (const [method, versions] of [
  ['cgroup v2', [2]],
  ['cgroup v1', [1]],
  ['the processes themselves', []],
] as const)
  test(`a process costs what it starts as well, counted by ${method}, and nothing of the counting stays`, (t) => {
    const cgroup = makeCgroup('this process', versions);
    if (!cgroup && versions.length > 0) return t.diagnostic(`not tried: this user can make no ${method} here`);
    const folder = mkdtempSync(join(tmpdir(), 'valetkey-cost-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const costs = countCosts(folder, cgroup);
    t.after(() => costs.end());
    const path = join(folder, 'burns.mjs');
    writeFileSync(
      path,
      `import { spawnSync } from 'node:child_process'; spawnSync(process.execPath, ['-e', '${BURN}']);`,
    );
    const env = { ...process.env, ...costs.variables };
    const { status, stderr } = spawnSync(process.execPath, [`--import=${COUNT_COST}`, path], { env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const cost = costs.each((name) => name).find(({ name }) => name === path);
    assert.ok(cost && cost.cpu >= BURNT_MS / 1000 && Number(cost.wall) >= BURNT_MS / 1000, JSON.stringify(cost));
    costs.end();
    assert.ok(!cgroup || !existsSync(cgroup.folder));
  });

test('a cost that cannot be told is said, and fails nothing', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-cost-'));
  const costs = countCosts(folder, null);
  t.after(() => costs.end());
  rmSync(folder, { recursive: true });
  assert.match(String(costs.report('nothing', (name) => name)), /^cost: cannot be told \(Error: ENOENT/);
});
