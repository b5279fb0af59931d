/** One service at a time has a database; its lock ends with it, however it ends. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { isServed, lockForServing } from '../../src/storage/sqlite/file/serving-lock.ts';
import { openAsService, temporaryPath } from '../support/storage.ts';

const MODULE = new URL('../../src/storage/sqlite/file/serving-lock.ts', import.meta.url).href;

test('Promise 1: a second service on the same database is refused, a command beside the first is not', async (t) => {
  const path = temporaryPath(t);
  const first = await openAsService(path);
  await assert.rejects(openAsService(path), /another service has the database .* already: stop it first/);
  const command = await openAsService(path, { role: 'command', durability: 'full' });
  await command.close();
  await first.close();
  const next = await openAsService(path);
  await next.close();
  assert.equal(statSync(`${path}-serving`).mode & 0o777, 0o600);
});

test('Promise 1: the lock of a service that was killed is gone with it', async (t) => {
  const path = temporaryPath(t);
  mkdirSync(dirname(path));
  const script = `const { lockForServing } = await import(${JSON.stringify(MODULE)});
    globalThis.lock = lockForServing(${JSON.stringify(path)}); console.log('locked'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.throws(() => lockForServing(path), /another service/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  lockForServing(path).close();
});

test('a command looks whether a service runs', (t) => {
  const path = temporaryPath(t);
  mkdirSync(dirname(path));
  assert.equal(isServed(path), false);
  const served = lockForServing(path);
  assert.equal(isServed(path), true);
  served.close();
  assert.equal(isServed(path), false);
});

test('a service that begins waits for a command that looks whether one runs', async (t) => {
  const path = temporaryPath(t);
  mkdirSync(dirname(path));
  lockForServing(path).close();
  // What is in its way here is a reader: who waits for one refuses others, which tells that it waits.
  const looking = new DatabaseSync(`${path}-serving`);
  looking.exec('BEGIN; SELECT * FROM sqlite_schema');
  const run = (script: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const begins = run(`const { lockForServing } = await import(${JSON.stringify(MODULE)});
    lockForServing(${JSON.stringify(path)}); console.log('has it');`);
  const meets = run(`const { DatabaseSync } = await import('node:sqlite');
    const reading = new DatabaseSync(${JSON.stringify(`${path}-serving`)}, { timeout: 0 }).prepare('SELECT * FROM sqlite_schema');
    for (let isRefused = false; !isRefused; ) try { reading.all(); } catch { isRefused = true; }`);
  const said = text(begins.stdout);
  await Promise.race([once(begins, 'exit'), once(meets, 'exit')]);
  looking.close();
  assert.equal(await said, 'has it\n');
  assert.equal(isServed(path), false);
});

test('a second service that is refused in the same process does not take the lock from the first', async (t) => {
  const path = temporaryPath(t);
  const first = await openAsService(path);
  t.after(() => first.close());
  await assert.rejects(openAsService(path), /another service/);
  const child = new URL('load.child.ts', import.meta.url).pathname;
  const { stderr } = spawnSync(process.execPath, [child, path], { timeout: 5000 });
  assert.match(stderr.toString(), /another service/);
});
