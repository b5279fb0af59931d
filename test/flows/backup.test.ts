/** A backup is made while the service works, and restored: what was acknowledged is in it, and what must not come back ends. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { Browser } from '../support/browser.ts';
import { assertRefused, exchange, me, obtainCode, obtainPair, pairOf, refresh, signIn } from '../support/flow.ts';
import { inhabited } from '../support/inhabited.ts';
import { ProgramOnDisk, type Serving } from '../support/program.ts';
import { PASSWORD, REDIRECT_URI } from '../support/service.ts';

/** Ends a service as an operator does. */
async function stop({ child, ended }: Serving): Promise<void> {
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
}

/** The keys that apps verify ID tokens with. */
async function kidsOf({ appUrl }: Pick<ProgramOnDisk, 'appUrl'>): Promise<string[]> {
  const { keys } = (await (await fetch(`${appUrl}/oauth2/jwks`)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
}

test('a backup that is made while the service runs is whole, and nobody but its owner can read it', async () => {
  const { program, service, browser, client } = await inhabited({ after });
  await obtainPair(service, browser, client);
  const file = join(program.folder, 'backup.db');
  const made = await program.json(['database', 'backup', file]);
  assert.equal(made['bytes'], statSync(file).size);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(program.folder).sort(), ['backup.db', 'data'], 'nothing is left beside it');

  const again = await program.command(['database', 'backup', file]);
  assert.match(again.stderr, /exists: name another file, or use --replace/);
  assert.equal(again.code, 1);
  await program.json(['database', 'backup', file, '--replace']);
});

test('a backup is not served before it was restored, and then its grants, codes and sessions have ended', async () => {
  const { program, serving, service, browser, client } = await inhabited({ after });
  const signIn = ['client', 'register', '--name', 'Postcards', '--redirect-uri', REDIRECT_URI, '--sign-in'];
  await program.json(signIn);
  const kids = await kidsOf(program);
  const pair = await obtainPair(service, browser, client);
  const code = await obtainCode(service, browser, client);
  const file = join(program.folder, 'backup.db');
  await program.json(['database', 'backup', file]);

  const early = await program.command(['database', 'restore', file, '--yes']);
  assert.match(early.stderr, /another service has the database .* stop it first/);
  await stop(serving);

  const asIs = { VALETKEY_DATABASE_URL: `sqlite:${file}` };
  assert.match((await program.run(['serve'], asIs)).stderr, /is a backup .* run "database restore"/);

  const restored = await program.json(['database', 'restore', file, '--yes']);
  assert.ok(existsSync(String(restored['kept_database'])), 'the database before it is kept');
  const anew = await program.serve();
  assertRefused(await refresh(service, client, pair.refreshToken), 400, 'invalid_grant');
  assertRefused(await exchange(service, client, code), 400, 'invalid_grant');
  assert.equal((await me(service, pair.accessToken)).status, 401);
  const page = await browser.get(`${service.appUrl}/account/apps`);
  assert.match(page.body, /name="password"/, 'the session ended');
  const others = await kidsOf(program);
  assert.deepEqual([kids.length, others.length], [2, 2]);
  assert.ok(
    others.every((kid) => !kids.includes(kid)),
    'no key of the backup signs, for it may have leaked since',
  );
  const actions = (await program.command(['audit', 'list', '--json'])).stdout;
  assert.match(actions, /database_restored/);
  await stop(anew);
});

test('a drill: with --keep-tokens, what was acknowledged before a backup under load began works after it', async () => {
  const { program, serving, service, browser, client } = await inhabited({ after });
  const [quiet, busy] = [
    [await obtainPair(service, browser, client), await obtainPair(service, browser, client)],
    await Promise.all(
      Array.from({ length: 4 }, async () => ({ pair: await obtainPair(service, browser, client), count: 0 })),
    ),
  ];
  let isOver = false;
  const working = busy.map(async (worker) => {
    for (; !isOver; worker.count += 1) worker.pair = pairOf(await refresh(service, client, worker.pair.refreshToken));
  });
  const quietest = pairOf(await refresh(service, client, (quiet[1] as { refreshToken: string }).refreshToken));
  const file = join(program.folder, 'backup.db');
  await program.json(['database', 'backup', file]);
  const during = busy.map(({ count }) => count);
  const waiting = await obtainCode(service, browser, client);
  while (busy.some(({ count }, at) => count < (during[at] as number) + 3)) await new Promise(setImmediate);
  isOver = true;
  await Promise.all(working);
  await stop(serving);

  const untold = await program.command(['database', 'restore', file, '--keep-tokens', '--yes']);
  assert.match(untold.stderr, /would keep grants that were revoked since the backup/);
  const restored = await program.json(['database', 'restore', file, '--keep-tokens', '--without-audit', '--yes']);
  assert.equal(restored['kept_grants'], true);
  const anew = await program.serve();
  for (const { accessToken, refreshToken } of [quiet[0] as typeof quietest, quietest]) {
    assert.equal((await me(service, accessToken)).status, 200, 'an access token from before the backup works');
    pairOf(await refresh(service, client, refreshToken));
  }
  assertRefused(await exchange(service, client, waiting), 400, 'invalid_grant', 'a code of after the backup is gone');
  // Each of these was rotated after the backup: whoever else holds the row's token has to be taken for a thief.
  for (const { pair } of busy) {
    assert.equal((await me(service, pair.accessToken)).status, 401, 'a newer access token is refused');
    assertRefused(await refresh(service, client, pair.refreshToken), 400, 'invalid_grant');
  }
  const events = await program.command(['audit', 'list', '--action', 'refresh_conflict', '--json']);
  assert.equal((JSON.parse(events.stdout) as unknown[]).length, busy.length, 'each of them ended its grant');
  await stop(anew);
});

/** The audit trail in the form of `audit export`. */
async function exportTrail(program: ProgramOnDisk): Promise<string> {
  const file = join(program.folder, 'trail.jsonl');
  const { code, stdout, stderr } = await program.command(['audit', 'export']);
  assert.equal(code, 0, stderr);
  writeFileSync(file, stdout);
  return file;
}

test('with the newer trail, grants that were revoked since the backup end, and what came back to life is listed and ended', async () => {
  const { program, serving, service, browser, client } = await inhabited({ after });
  const other = await program.json(['client', 'register', '--name', 'Other', '--redirect-uri', REDIRECT_URI]);
  const otherClient = { clientId: String(other['client_id']), clientSecret: String(other['client_secret']) };
  const [kept, byId, byClient] = [
    await obtainPair(service, browser, client),
    await obtainPair(service, browser, client),
    await obtainPair(service, browser, otherClient),
  ];
  const file = join(program.folder, 'backup.db');
  await program.json(['database', 'backup', file]);
  const grants = (await program.json(['grant', 'list', '--client', client.clientId])) as unknown as {
    id: string;
  }[];
  await program.json(['grant', 'revoke', String(grants[0]?.id), '--yes']);
  await program.json(['client', 'revoke-grants', otherClient.clientId, '--yes']);
  await program.json(['client', 'pause', otherClient.clientId]);
  await program.json(['user', 'add', '--email', 'bob@example.com', '--name', 'Bob', '--password-stdin'], PASSWORD);
  await program.json(['user', 'set-password', 'ada@example.com', '--password-stdin'], 'another long password\n');
  await stop(serving);
  const trail = await exportTrail(program);

  const restore = ['database', 'restore', file, '--keep-tokens', '--audit', trail, '--yes'];
  const listed = await program.json(restore);
  const things = listed['revived'] as { kind: string; what: string; ended: boolean }[];
  assert.deepEqual(
    things.map(({ kind, what, ended }) => [kind, what, ended]),
    [
      ['client', 'activity', false],
      ['user', 'password', false],
    ],
  );
  const told = await program.command(restore);
  assert.match(
    told.stdout,
    /Grants are kept, except those that ended since by the newer trail \("grant list" shows the rest\)/,
  );
  const ended = await program.json([...restore, '--end-revived']);
  assert.ok((ended['revived'] as { ended: boolean }[]).every((one) => one.ended));
  const anew = await program.serve();
  pairOf(await refresh(service, client, kept.refreshToken));
  assertRefused(await refresh(service, client, byId.refreshToken), 400, 'invalid_grant');
  assertRefused(await refresh(service, otherClient, byClient.refreshToken), 401, 'invalid_client');
  await program.json(['client', 'resume', otherClient.clientId]);
  assertRefused(await refresh(service, otherClient, byClient.refreshToken), 400, 'invalid_grant');
  const again = new Browser();
  assert.notEqual((await signIn(service, again)).status, 303, 'the old password is none any more');
  await stop(anew);

  writeFileSync(trail, readFileSync(trail, 'utf8').split('\n').slice(-3).join('\n'));
  const partial = await program.command(restore);
  assert.match(partial.stderr, /lacks event \d+, the last one in the backup/);
  const lines = readFileSync(await exportTrail(program), 'utf8').split('\n');
  const missing = lines.findIndex((line) => line.includes('client_grants_revoked'));
  writeFileSync(trail, lines.filter((_, at) => at !== missing).join('\n'));
  assert.match((await program.command(restore)).stderr, /the trail failed its verification.*1 event is missing/);
});

test('a backup is encrypted so that gpg opens it, and nothing of it is left in the clear', async (t) => {
  if (spawnSync('gpg', ['--version']).error) return t.skip('there is no gpg here');
  const program = await ProgramOnDisk.make({ after });
  await program.json(['database', 'migrate']);
  const beside = (name: string) => join(program.folder, name);
  writeFileSync(beside('passphrase'), 'six words that nobody else knows\n', { mode: 0o644 });
  const backup = ['database', 'backup', beside('backup.db.gpg'), '--passphrase-file', beside('passphrase')];
  assert.match((await program.command(backup)).stderr, /others can read the passphrase/);
  // As systemd hands out credentials: root's, and its group may read it.
  const isRoot = process.getuid?.() === 0;
  chmodSync(beside('passphrase'), isRoot ? 0o640 : 0o600);
  writeFileSync(beside('short'), 'a short one\n', { mode: 0o600 });
  const guessable = await program.command([...backup.slice(0, -1), beside('short')]);
  assert.match(guessable.stderr, /no passphrase of 16 characters or more/);
  rmSync(beside('short'));
  const made = await program.json(backup);
  assert.equal(made['encrypted'], true);
  assert.equal(statSync(beside('backup.db.gpg')).mode & 0o777, 0o600, 'nobody else can read it, whatever the umask');
  chmodSync(beside('passphrase'), 0o660);
  assert.match((await program.command(backup)).stderr, /its group can read and change the passphrase/);
  chmodSync(beside('passphrase'), 0o600);
  assert.deepEqual(readdirSync(program.folder).sort(), ['backup.db.gpg', 'data', 'passphrase']);
  assert.deepEqual(readdirSync(beside('data')).sort(), ['keys', 'valetkey.db'], 'nothing is left beside the database');
  // Followed as it stands beside the database, it writes another file.
  const encrypted = await program.command(['database', 'restore', beside('backup.db.gpg'), '--yes']);
  assert.match(encrypted.stderr, /gpg --output opened\.db --decrypt/);

  const home = beside('gnupg');
  mkdirSync(home, { mode: 0o700 });
  const gpg = ['--batch', '--homedir', home, '--pinentry-mode', 'loopback', '--passphrase-file', beside('passphrase')];
  const opened = spawnSync('gpg', [...gpg, '--output', beside('opened.db'), '--decrypt', beside('backup.db.gpg')]);
  spawnSync('gpgconf', ['--homedir', home, '--kill', 'gpg-agent']);
  assert.equal(opened.status, 0, String(opened.stderr));
  await program.json(['database', 'restore', beside('opened.db'), '--yes']);
});

for (const words of [['backup'], ['restore']] as const)
  test(`a kill in the middle of database ${words[0]} leaves the database as it is, and the same command then works`, async () => {
    const program = await ProgramOnDisk.make({ after });
    await program.json(['database', 'migrate']);
    const database = new DatabaseSync(join(program.folder, 'data/valetkey.db'));
    // So much that a copy takes a while.
    database.exec(`CREATE TABLE ballast (a TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO ballast SELECT hex(randomblob(1000)) FROM n; DROP TABLE ballast`);
    database.close();
    const file = join(program.folder, 'backup.db');
    await program.json(['database', 'backup', file]);
    const whole = readFileSync(file);
    const command =
      words[0] === 'backup' ? ['database', 'backup', file, '--replace'] : ['database', 'restore', file, '--yes'];
    const data = join(program.folder, 'data');
    const folder = words[0] === 'backup' ? program.folder : data;
    const moments = [
      [folder, words[0] === 'backup' ? /\.part-/ : /\.restoring/],
      [folder, /(part-.*|restoring)-(wal|journal)$/],
      [data, /\.before-/],
    ] as const;
    for (const moment of moments) {
      const { child, ended } = program.start(command);
      const [where, made] = moment;
      const watcher = watch(where, (_, name) => made.test(String(name)) && child.kill('SIGKILL'));
      const { code } = await ended;
      watcher.close();
      if (moment === moments[0]) assert.equal(code, null, 'it was killed in the middle');
      if (words[0] === 'restore')
        assert.deepEqual(readFileSync(file), whole, 'a restore changes nothing of the backup');
      assert.equal((await program.command(['database', 'check'])).code, 0);
    }
    await program.json(command);
    assert.equal((await program.command(['database', 'check'])).code, 0);
  });
