/** What a start holds in memory: neither everybody who has an account, nor what no page asked for. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Browser } from '../support/browser.ts';
import { me } from '../support/flow.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { REDIRECT_URI } from '../support/service.ts';

const MANY_ACCOUNTS = `
  WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100000)
  INSERT INTO account (id, epoch, status, email, email_key, email_verified, email_set_here, name, password,
    is_unwrapped, password_set_at, must_change_password, created_at)
  SELECT 'usr_' || n, 0, 'active', n || '@example.com', n || '@example.com', 0, 1, 'User ' || n, json_object('sealedPhc', ?, 'keyId', 1), 0, n, 0, n FROM number`;

test('the tables of languages are read for the first page that needs them, not at a start or for an API', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const telling = new URL('languages-told.child.ts', import.meta.url);
  const lives = [
    async () => assert.equal((await me(program as never, 'nobody')).status, 401),
    async () => assert.equal((await new Browser().get(`${program.appUrl}/developers`)).status, 200),
  ];
  const said: string[] = [];
  for (const live of lives) {
    const { child, ended } = await program.serve({ NODE_OPTIONS: `--import=${telling}` });
    await live();
    child.kill('SIGTERM');
    said.push((await ended).stderr);
  }
  assert.doesNotMatch(String(said[0]), /Intl/);
  assert.match(String(said[1]), /^Intl.NumberFormat made$/m);
});

test('a start says what is missing without reading everybody: 100,000 accounts fit into 48 MB', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const started = await program.serve();
  await program.json(['client', 'register', '--name', 'Test App', '--redirect-uri', REDIRECT_URI]);
  started.child.kill('SIGTERM');
  await started.ended;
  const database = new DatabaseSync(join(program.folder, 'data/valetkey.db'));
  const sealedPhc = 'A'.repeat(182);
  database.prepare(MANY_ACCOUNTS).run(sealedPhc);
  database.close();
  const { child, ended } = await program.serve({ NODE_OPTIONS: '--max-old-space-size=48' });
  assert.equal((await fetch(`${program.appUrl}/readyz`)).status, 200);
  child.kill('SIGTERM');
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, `app ${program.appUrl}\napi ${program.apiUrl}\n`, 'nothing is missing');
});
