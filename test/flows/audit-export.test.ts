/** `audit export --follow`, beside a service: what happens is a further line. */
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { inhabited } from '../support/inhabited.ts';

test('operating: an export that follows prints what happens after it began, each event once, until it is stopped', async (t) => {
  const { program, client } = await inhabited(t);
  const [newest] = (await program.json(['audit', 'list', '--limit', '1'])) as unknown as [{ sequence: number }];
  const { child, ended } = program.start(['audit', 'export', '--after', String(newest.sequence - 1), '--follow']);
  assert.ok(child.stdout);
  const lines = on(createInterface(child.stdout), 'line');
  const next = async () => {
    const { value } = await Promise.race([
      lines.next(),
      ended.then(({ stderr }) => assert.fail(`it ended: ${stderr}`)),
    ]);
    const { sequence, action } = JSON.parse(value?.[0]) as { sequence: number; action: string };
    return [sequence, action];
  };
  assert.equal((await next())[0], newest.sequence);
  const acts = [
    [['client', 'pause', client.clientId], 'client_paused'],
    [['client', 'resume', client.clientId], 'client_resumed'],
  ] as const;
  for (const [n, [words, action]] of acts.entries()) {
    await program.json([...words]);
    assert.deepEqual(await next(), [newest.sequence + n + 1, action]);
  }
  child.kill('SIGTERM');
  const { stdout } = await ended;
  assert.equal(stdout.trimEnd().split('\n').length, 3);
});
