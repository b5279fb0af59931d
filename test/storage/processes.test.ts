/** A command writes beside the service: its effect is seen by the very next request, and neither stands in the other's way. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { isEnded } from '../../src/oauth/grant.ts';
import {
  addAdaAndOne,
  event,
  openAsService,
  sampleGeneration,
  sampleGrant,
  temporaryPath,
} from '../support/storage.ts';

function startCommand(...parameters: string[]) {
  const program = new URL('command.child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] });
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
  assert.equal(await write, true);
  assert.ok(reads >= 10 && slowest < 200, `${reads} reads, the slowest took ${slowest} ms`);
  await ended;
});
