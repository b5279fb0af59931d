/** `audit export --follow`, beside a service: what happens is a further line. */
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { join } from 'node:path';
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

test('operating: an export that follows ends when another file takes the place of the database, and says where to go on', async (t) => {
  const { program, client, serving } = await inhabited(t);
  const file = join(program.folder, 'backup.db');
  await program.json(['database', 'backup', file]);
  await program.json(['client', 'pause', client.clientId]);
  serving.child.kill('SIGTERM');
  await serving.ended;
  const { child, ended } = program.start(['audit', 'export', '--follow']);
  assert.ok(child.stdout);
  const taken: { sequence: number; action: string; chain_mac: string }[] = [];
  for await (const line of createInterface(child.stdout)) {
    taken.push(JSON.parse(line));
    if (taken.at(-1)?.action === 'client_paused') break;
  }
  await program.json(['database', 'restore', file, '--yes']);
  const { code, stderr } = await ended;
  assert.deepEqual(
    [code, /was moved or replaced while this command had it open, as by a restore: run it again/.test(stderr)],
    [1, true],
    stderr,
  );
  const last = taken.at(-1);
  const again = (cursor: string) => program.command(['audit', 'export', '--after', cursor]);
  const refused = await again(`${last?.sequence}:${last?.chain_mac}`);
  assert.match(refused.stderr, /a restored copy of this one; it was restored in event \d+: begin with --after \d+/);
  const begin = /--after (\d+)/.exec(refused.stderr)?.[1] ?? '';
  const joined = taken.find(({ sequence }) => String(sequence) === begin);
  const { stdout } = await again(`${begin}:${joined?.chain_mac}`);
  assert.equal(JSON.parse(stdout.split('\n')[0] ?? '').action, 'database_restored');
  const wrong = await again('5:zz');
  assert.match(wrong.stderr, /give the "sequence" of an event, or that, a colon and its "chain_mac"/);
});
