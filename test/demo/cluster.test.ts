/** `npm run cluster`: that many instances are one service to whoever comes through the balancer, and that nothing stays behind. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as after } from 'node:timers/promises';
import { type DemoRun, finish } from './run-demo.ts';

const NAMES = ['instance-1', 'instance-2', 'instance-3'];

/** Starts the cluster with a directory for temporary files of its own. It is told to stop, not killed, when the test ends. */
function startCluster(t: TestContext, ...options: string[]): DemoRun {
  const temporary = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  chmodSync(temporary, 0o711); // Root hands PostgreSQL to somebody else.
  const command = ['--disable-warning=ExperimentalWarning', 'demo/cluster.ts', ...options];
  // In a group of its own, so that a signal to the group does not reach the tests.
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: temporary },
    detached: true,
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  });
  return { child, temporary };
}

/** What an interactive run has printed once it invites. */
async function invitation({ child }: DemoRun): Promise<string> {
  let printed = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (/Ctrl-C ends it all/.test(printed)) return printed;
  }
  throw new Error(`the cluster ended at once: ${printed}`);
}

/** The processes and the database's port that a run printed. */
function partsOf(printed: string): { appUrl: string; processes: number[]; databasePort: number } {
  const processes = [...printed.matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid));
  assert.equal(processes.length, NAMES.length);
  const appUrl = /http:\/\/localhost:\d+/.exec(printed)?.[0] ?? '';
  return { appUrl, processes, databasePort: Number(/postgres:\/\/postgres@127\.0\.0\.1:(\d+)/.exec(printed)?.[1]) };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });
}

async function assertNothingLeft(run: DemoRun, printed: string): Promise<void> {
  const { processes, databasePort } = partsOf(printed);
  assert.deepEqual(processes.filter(isAlive), [], 'instances');
  assert.equal(await isListening(databasePort), false, 'PostgreSQL');
  assert.deepEqual(readdirSync(run.temporary), []);
}

test('the headless cluster: each instance answers a part of one flow, and each refuses what was taken back', async (t) => {
  const run = startCluster(t, '--headless');
  const { code, stdout, stderr } = await finish(run);
  assert.equal(code, 0, stdout + stderr);
  const steps = [...stdout.matchAll(/^ +(\d+) {2}(instance-\d) {2}\d{3} {2}\S.*$/gm)];
  assert.equal(steps.length, 15, stdout);
  assert.deepEqual([...new Set(steps.map(([, , name]) => name))].sort(), NAMES);
  assert.match(stdout, /^All 15 steps .* refused by each\.$/m);
  await assertNothingLeft(run, stdout);
});

test('the cluster goes on when an instance is killed, and Ctrl-C leaves nothing behind', async (t) => {
  const run = startCluster(t);
  const printed = await invitation(run);
  const { appUrl, processes } = partsOf(printed);
  process.kill(processes[1] as number, 'SIGKILL');
  const served: (string | null)[] = [];
  for (let request = 1; request <= 6; request++) {
    const answer = await fetch(`${appUrl}/readyz`);
    assert.equal(answer.status, 200, await answer.text());
    served.push(answer.headers.get('x-served-by'));
  }
  assert.deepEqual([...new Set(served)].sort(), ['instance-1', 'instance-3']);
  // As a terminal does: to the whole group, and so to the parts as well.
  process.kill(-(run.child.pid as number), 'SIGINT');
  const { code, stderr } = await finish(run);
  assert.equal(code, 0, stderr);
  await assertNothingLeft(run, printed);
});

test('a cluster that is told to end while it starts ends what it has started', async (t) => {
  const run = startCluster(t, '--headless');
  while (readdirSync(run.temporary).length === 0) await after(5);
  run.child.kill('SIGTERM');
  const { code, stdout } = await finish(run);
  assert.equal(code, 1);
  assert.deepEqual(readdirSync(run.temporary), [], stdout);
});
