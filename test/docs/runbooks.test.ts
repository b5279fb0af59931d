/** docs/runbooks: the commands are run as they stand, on a real service whose faults are made for real. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { COMPILED } from '../support/compiled.ts';
import { assertRefused, me, obtainPair, pairOf, postBody, refresh, signIn, type TestClient } from '../support/flow.ts';
import { inhabited } from '../support/inhabited.ts';
import { REDIRECT_URI } from '../support/service.ts';
import { hasCurl, pathWithStandIn, patternOf, readSteps, writeValetkey } from './transcript.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');
const document = globSync('docs/runbooks/*.md', { cwd: ROOT }).map(read).join('\n');
/** By its heading, what stands in a runbook. */
const RUNBOOKS = new Map(document.split(/^## /m).map((part) => [part.split('\n', 1)[0] ?? '', part]));
const walked = new Set<string>();

const { program, serving, service, client, browser } = await inhabited({ after });
let running = serving;
const backup = join(program.folder, 'backup');
const keysFile = program.variables['VALETKEY_KEYS_FILE'] ?? '';
const keysBackup = join(program.folder, 'keys-backup');
for (const folder of [backup, keysBackup]) mkdirSync(folder, { mode: 0o700 });
writeFileSync(join(keysBackup, 'keys'), readFileSync(keysFile), { mode: 0o600 });
const bin = join(program.folder, 'bin');
mkdirSync(bin);
writeValetkey(bin);
/** Variables of the commands, and of a service that they start. */
const variables: Record<string, string> = {};
const environment = () => ({
  ...{ HOME: program.folder, ...COMPILED, ...program.variables, ...variables },
  PATH: [bin, hasCurl ? process.env['PATH'] : pathWithStandIn(bin)].join(delimiter),
});

/** A line of the document as it is right here: in the folder of the test, where nobody is called valetkey. */
const here = (line: string) =>
  line
    .replaceAll('/var/lib/valetkey', join(program.folder, 'data'))
    .replaceAll('/keys-backup/', `${keysBackup}/`)
    .replaceAll('/backup/', `${backup}/`)
    .replaceAll('-o valetkey -g valetkey ', '')
    .replaceAll('http://localhost:3000', program.appUrl);

/** What is run of a runbook that is not in its document: before a command, and what is to hold after it. */
type Around = Readonly<Record<string, () => Promise<void> | void>>;

/** Runs the commands of a runbook; `before` the first that begins with a word, something else. Returns what each printed. */
async function walk(heading: string, before: Around = {}): Promise<string[]> {
  walked.add(heading);
  const printed: string[] = [];
  for (const { command, answer } of readSteps(RUNBOOKS.get(heading) ?? '')) {
    for (const [start, act] of Object.entries(before)) if (command.startsWith(start)) await act();
    if (command === 'systemctl start valetkey') running = await program.serve(variables);
    else if (command === 'systemctl stop valetkey') await stop();
    else {
      const { code, stdout, stderr } = await shell(here(command));
      assert.equal(code, /WRONG/.test(answer) ? 1 : 0, `${command}\n${stdout}${stderr}`);
      assert.match(stdout, patternOf(here(withIds(answer))), command);
      printed.push(stdout);
    }
  }
  assert.ok(printed.length > 1, heading);
  return printed;
}

const withIds = (text: string) => text.replaceAll('$OLD', variables['OLD'] ?? '');

async function shell(line: string) {
  const child = spawn('bash', ['-c', line], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

async function stop(): Promise<void> {
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
}

/** How long the service may take to seal one password anew, on cores that others keep busy (ms). */
const PATIENCE_MS = 60_000;

/** Resolves when no password is sealed with a root key any more. */
async function untilSealedAnew(keyId: string): Promise<void> {
  const start = performance.now();
  const isSealed = async () =>
    (await json('keys list')).some(
      (key: { key_id: string; passwords: number }) => key.key_id === keyId && key.passwords > 0,
    );
  while (await isSealed())
    if (performance.now() - start > PATIENCE_MS) {
      running.child.kill('SIGTERM');
      assert.fail(`root key ${keyId} still seals passwords; the service said:\n${(await running.ended).stderr}`);
    }
}

const json = async (line: string) => JSON.parse((await shell(`valetkey ${line} --json`)).stdout);
const anotherApp = async (): Promise<TestClient> => {
  const made = await json(`client register --name Other --redirect-uri ${REDIRECT_URI}`);
  return { clientId: made.client_id, clientSecret: made.client_secret };
};

describe('runbooks', { timeout: 300_000 }, () => {
  let pair: Awaited<ReturnType<typeof obtainPair>>;
  let own = client;
  let secret: unknown;

  test('runbook: the keys are lost, and come back from their backup', async () => {
    pair = await obtainPair(service, browser, own);
    const product = ['--id', 'product', '--name', 'Photos', '--sign-in-url', 'https://photos.example/in'];
    secret = (await json(`identity-provider register ${product.join(' ')}`)).provider_secret;
    variables['VALETKEY_SIGN_IN_METHODS'] = 'password,product';
    await stop();
    rmSync(keysFile);
    await walk('The keys are lost');
    pair = pairOf(await refresh(service, own, pair.refreshToken));
  });

  test('runbook: the keys file leaked, and a day later its key is good for nothing', async () => {
    const [{ key_id: old }] = await json('keys list');
    variables['OLD'] = old;
    const leaked = /vk_rk_\S+/.exec(readFileSync(keysFile, 'utf8'))?.[0] ?? '';
    await walk('The keys file leaked', {
      'valetkey keys retire': async () => {
        const early = await shell('valetkey keys retire $OLD --end-grants --yes');
        assert.match(early.stderr, /are valid for another \d+ h|passwords are sealed with root key/);
        await untilSealedAnew(old);
        await stop();
        variables['NODE_OPTIONS'] = `--import=${new URL('test/instances/shifted-clock.child.ts', ROOT)}`;
        variables['CLOCK_SHIFT_MS'] = String(25 * 3_600_000);
        running = await program.serve(variables);
      },
    });
    assert.ok(!readFileSync(keysFile, 'utf8').includes(leaked), 'the key is no longer in the file');
    assertRefused(await refresh(service, own, pair.refreshToken), 400, 'invalid_grant');
    assert.equal((await signIn(service, browser)).status, 303, 'a session that nobody used for a day has ended');
    pair = await obtainPair(service, browser, own);
  });

  test('runbook: the database leaked, and no grant of it is live', async () => {
    const printed = await walk('The database leaked');
    assert.doesNotMatch(printed.at(-1) ?? '', /grt_|Test App .* live/);
    assert.equal((await me(service, pair.accessToken)).status, 401);
    assertRefused(await refresh(service, own, pair.refreshToken), 400, 'invalid_grant');
  });

  test('runbook: a key for ID tokens leaked, and is not in the key set any more', async () => {
    await json(`client register --name Postcards --redirect-uri ${REDIRECT_URI} --sign-in`);
    const kids = async () =>
      ((await (await fetch(`${service.appUrl}/oauth2/jwks`)).json()) as { keys: { kid: string }[] }).keys.map(
        ({ kid }) => kid,
      );
    const before = await kids();
    await walk('A key for ID tokens leaked');
    const left = await kids();
    assert.deepEqual([before.length, left.length], [2, 2]);
    assert.ok(left.every((kid) => !before.includes(kid)));
  });

  test('runbook: the secret of an app leaked, and is refused', async () => {
    variables['APP'] = own.clientId;
    pair = await obtainPair(service, browser, own);
    const printed = await walk('The secret of an app leaked');
    assertRefused(await refresh(service, own, pair.refreshToken), 401, 'invalid_client');
    own = { ...own, clientSecret: /vk_cs_\S+/.exec(printed.join(''))?.[0] ?? '' };
    assertRefused(await refresh(service, own, pair.refreshToken), 400, 'invalid_grant');
  });

  test('runbook: a one-time link leaked, and a newer one replaced it', async () => {
    const { clientId } = await anotherApp();
    variables['APP'] = clientId;
    const { hand_over: made } = await json(`client rotate-secret ${clientId} --hand-over`);
    variables['LINK'] = made.pick_up_url;
    await walk('A one-time link leaked');
    const page = await fetch(made.pick_up_url);
    assert.doesNotMatch(await page.text(), /<button/, 'nobody picks a secret up there');
  });

  test('runbook: the secret of a product leaked, and is refused', async () => {
    const tell = async (presented: unknown) => {
      const said = { client_id: 'product', client_secret: presented, sign_in_request: 'x', subject: 'ada' };
      return (await postBody(`${service.appUrl}/api/auth/oauth/sign-in`, JSON.stringify(said))).status;
    };
    assert.equal(await tell(secret), 400, 'it is good, and the request is made up');
    const printed = await walk('The secret of a product that signs people in leaked');
    assert.equal(await tell(secret), 401);
    assert.equal(await tell(/vk_ps_\S+/.exec(printed.join(''))?.[0]), 400);
  });

  test('runbook: an app must go at once, and another one notices nothing', async () => {
    const bad = await anotherApp();
    const [badPair, goodPair] = [await obtainPair(service, browser, bad), await obtainPair(service, browser, own)];
    variables['APP'] = bad.clientId;
    const refused = async () => assert.notEqual((await me(service, badPair.accessToken)).status, 200);
    const printed = await walk('An app must go at once', { 'valetkey client revoke-grants': refused });
    assert.doesNotMatch(printed.at(-1) ?? '', new RegExp(bad.clientId));
    assert.equal((await me(service, badPair.accessToken)).status, 401);
    assert.equal((await me(service, goodPair.accessToken)).status, 200);
  });

  test('runbook: back to yesterday, with what was revoked and taken away since', async () => {
    const [kept, revoked] = [await obtainPair(service, browser, own), await obtainPair(service, browser, own)];
    await shell(`valetkey database backup ${backup}/valetkey.db`);
    const [newest] = await json(`grant list --client ${own.clientId} --limit 1`);
    await shell(`valetkey grant revoke ${newest.id} --yes`);
    await walk('Back to yesterday');
    pair = pairOf(await refresh(service, own, kept.refreshToken));
    assertRefused(await refresh(service, own, revoked.refreshToken), 400, 'invalid_grant');
  });

  test('runbook: the machine is lost, and another one serves', async () => {
    await stop();
    renameSync(join(program.folder, 'data'), join(program.folder, 'lost'));
    await walk('The machine is lost');
    assertRefused(await refresh(service, own, pair.refreshToken), 400, 'invalid_grant');
    await stop();
  });

  test('operators: no command puts the keys where the backups of the database are', () => {
    const kept = readdirSync(backup).map((name) => readFileSync(join(backup, name), 'latin1'));
    assert.ok(kept.length > 0);
    for (const text of kept) assert.doesNotMatch(text, /vk_rk_/);
    const mixes = (line: string) =>
      /(^|\s)(\/var)?\/backups?\b/.test(line) && /\bkeys\b|\/var\/lib\/valetkey\/?(\s|$)/.test(line);
    const operating = globSync('docs/operating/*.md', { cwd: ROOT }).map(read);
    const lines = [document, ...operating].flatMap((text) => [
      ...[...text.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, block = '']) => block.split('\n')),
      ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
    ]);
    assert.deepEqual(lines.filter(mixes), []);
    for (const line of ['cp /var/lib/valetkey/keys /backup/keys', 'rsync -a /var/lib/valetkey /var/backups/valetkey'])
      assert.ok(mixes(line), line);
  });

  test('each runbook with commands is walked', () => {
    const isHere = ([heading, part]: [string, string]) =>
      part.includes('```console') && heading !== 'PostgreSQL, back to a point in time';
    const all = [...RUNBOOKS].filter(isHere).map(([heading]) => heading);
    assert.deepEqual([...walked].sort(), all.sort());
  });
});
