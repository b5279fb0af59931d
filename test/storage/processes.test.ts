/** A command writes beside the service: its effect is seen by the very next request, and neither stands in the other's way. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { isEnded } from '../../src/oauth/grants/grant.ts';
import {
  addAdaAndOne,
  event,
  openAsService,
  sampleGeneration,
  sampleGrant,
  sampleMark,
  temporaryPath,
} from '../support/storage.ts';

function startCommand(...parameters: string[]) {
  const program = new URL('command.child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, ...parameters], { stdio: ['pipe', 'pipe', 'inherit'] });
  return { child, ended: once(child, 'close') };
}

async function openWithGrant(t: TestContext) {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  t.after(() => opened.close());
  await addAdaAndOne(opened);
  const grant = sampleGrant();
  await opened.store.issueGrant(grant, event('consent_allowed'));
  const find = async () => {
    const found = await opened.store.findGrant(grant.id);
    assert.ok(found);
    return found;
  };
  return { ...opened, path, grant, find };
}

test("the next request sees a command's pause and revocation", async (t) => {
  const { path, grant, find } = await openWithGrant(t);
  assert.deepEqual(await startCommand(path, 'pause').ended, [0, null]);
  assert.equal((await find()).standing.clientPaused, true);
  assert.deepEqual(await startCommand(path, 'revoke', grant.id.toString('hex')).ended, [0, null]);
  assert.equal((await find()).grant.revocationReason, 'operator');
});

test('the next request sees that a command ended every grant', async (t) => {
  const { path, grant, store, find } = await openWithGrant(t);
  assert.deepEqual(await startCommand(path, 'revoke-all').ended, [0, null]);
  const found = await find();
  assert.equal(isEnded(found.grant, found.standing), true);
  assert.equal(await store.redeemAuthorizationCode(sampleGeneration(grant, 1)), false);
});

test('while another process holds the lock reads go on, and the write succeeds when it is free', async (t) => {
  const { path, grant, store, find } = await openWithGrant(t);
  const { child, ended } = startCommand(path, 'lock', '300');
  await once(child.stdout, 'data');
  let isWritten = false;
  const write = store.redeemAuthorizationCode(sampleGeneration(grant, 1)).then((won) => {
    isWritten = true;
    return won;
  });
  let reads = 0;
  let slowest = 0;
  while (!isWritten) {
    const start = performance.now();
    await find();
    slowest = Math.max(slowest, performance.now() - start);
    reads += 1;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.equal(await write, 'redeemed');
  assert.ok(reads >= 10 && slowest < 200, `${reads} reads, the slowest took ${slowest} ms`);
  await ended;
});

const MARKS = 200;
const marks = Array.from({ length: MARKS }, (_, n) => sampleMark(n));

test('RFC 7523 §3: of two connections and another process that use the same client assertions at once, one wins each', async (t) => {
  const { path, store } = await openWithGrant(t);
  const beside = await openAsService(path, { role: 'command', durability: 'full' });
  t.after(() => beside.close());
  const { child, ended } = startCommand(path, 'use-assertions', `${MARKS}`);
  const said = text(child.stdout);
  await once(child.stdout, 'readable');
  child.stdin.write('go\n');
  const here = await Promise.all(
    [store, beside.store].map((each) => Promise.all(marks.map((mark) => each.useClientAssertion(mark, MARKS + 1)))),
  );
  assert.deepEqual(await ended, [0, null]);
  const there = JSON.parse((await said).split('\n')[1] ?? '') as string[];
  for (const n of marks.keys())
    assert.equal([...here, there].filter((became) => became[n] === 'first').length, 1, `assertion ${n}`);
});

test('RFC 7523 §3: the marks of client assertions survive a restart', async (t) => {
  const path = temporaryPath(t);
  const first = await openAsService(path);
  for (const mark of marks) assert.equal(await first.store.useClientAssertion(mark, MARKS + 1), 'first');
  await first.close();
  const second = await openAsService(path);
  t.after(() => second.close());
  for (const mark of marks) assert.equal(await second.store.useClientAssertion(mark, MARKS + 1), 'again');
  assert.equal(await second.store.useClientAssertion(sampleMark(MARKS), MARKS + 1), 'first');
});
