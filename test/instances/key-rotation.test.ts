/** A root key takes over while two instances serve one PostgreSQL, each with a keys file of its own. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { Collector } from '../cli/collector.ts';
import { me, obtainPair, pairOf, refresh, signedInBrowser } from '../support/flow.ts';
import { PATIENT } from '../support/postgres.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = await sharedPostgres();
after(() => server.remove());

test('interface §3: a rotation waits for the instance that lacks the key, and then both read and issue alike', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  const url = await server.createDatabase();
  const at = (keysFile: string) => ({ VALETKEY_DATABASE_URL: url, VALETKEY_KEYS_FILE: keysFile });
  const context = () => ({ ...makeCommandContext(at(first)), stdin: Readable.from([]), stdout: new Collector() });
  const run = async (words: string[], stderr = new Collector()) => {
    const made = context();
    assert.equal(await runProgram([...words, '--json'], { ...made, stderr }), 0, stderr.text);
    return JSON.parse(made.stdout.text);
  };
  await run(['keys', 'generate', '--file', first]);
  copyFileSync(first, second);
  const one = await startTestService(t, at(first), undefined, PATIENT);
  const two = await startTestService(t, at(second), one.clock, PATIENT);
  await addUser(one, 'ada@example.com');
  const client = await addClient(one);
  const before = await obtainPair(one, await signedInBrowser(one), client);
  const said = new Collector();
  let isOver = false;
  const rotating = run(['keys', 'rotate'], said).finally(() => {
    isOver = true;
  });
  while (!/Waiting for .* to read the new root key/.test(said.text)) {
    assert.ok(!isOver, 'nobody was waited for');
    await sleep(20);
  }
  const current = async () =>
    (await run(['keys', 'list'])).find(({ status }: { status: string }) => status === 'current').key_id;
  const earlier = await current();
  assert.equal((await me(two, before.accessToken)).status, 200);
  copyFileSync(first, second);
  const { key_id: id, earlier_key_id: was } = await rotating;
  assert.equal(was, earlier);
  assert.equal(await current(), id);
  for (const service of [one, two]) assert.equal((await me(service, before.accessToken)).status, 200);
  // Whatever an instance issues from now on, with either key, the other one reads.
  let pair = before;
  for (const [issues, reads] of [
    [one, two],
    [two, one],
  ] as const) {
    pair = pairOf(await refresh(issues, client, pair.refreshToken));
    assert.equal((await me(reads, pair.accessToken)).status, 200);
  }
});
