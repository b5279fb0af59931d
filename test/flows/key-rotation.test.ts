/** A root key takes over while the service runs: nothing is refused meanwhile. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCredential } from '../../src/oauth/credential.ts';
import { rootKeyName } from '../../src/oauth/root-key.ts';
import { Browser } from '../support/browser.ts';
import { me, obtainPair, pairOf, refresh, signedInBrowser, signIn } from '../support/flow.ts';
import { inhabited } from '../support/inhabited.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';
import { temporaryPath } from '../support/storage.ts';

type KeyJson = { readonly key_id: string; readonly status: string; readonly passwords: number };

/** The id of the root key that a token was made with. */
function keyOf(kind: 'at' | 'rt', token: string): string {
  const read = readCredential('vk', kind, token);
  assert.ok(read);
  return rootKeyName(read.keyId);
}

test('interface §3: a root key takes over without a restart, and nothing is refused', async (t) => {
  const { program, serving, service, client, browser } = await inhabited(t);
  const list = async () => (await program.json(['keys', 'list'])) as unknown as KeyJson[];
  const [{ key_id: first } = assert.fail()] = await list();
  const before = await obtainPair(service, browser, client);
  let isOver = false;
  const statuses: number[] = [];
  const checks = (async () => {
    while (!isOver) statuses.push((await me(service, before.accessToken)).status);
  })();
  const { key_id: second } = await program.json(['keys', 'rotate']);
  const current = (await list()).find(({ status }) => status === 'current');
  assert.equal(current?.key_id, second);
  assert.notEqual(second, first);
  let pair = before;
  for (;;) {
    pair = pairOf(await refresh(service, client, pair.refreshToken));
    if (keyOf('rt', pair.refreshToken) === second) break;
  }
  assert.equal(keyOf('at', (await obtainPair(service, browser, client)).accessToken), second);
  while ((await list()).some(({ status, passwords }) => status !== 'current' && passwords > 0)) await sleep(200);
  assert.equal((await signIn(service, new Browser())).status, 303, 'the password was sealed anew');
  isOver = true;
  await checks;
  assert.deepEqual(new Set(statuses), new Set([200]));
  serving.child.kill('SIGTERM');
  assert.equal((await serving.ended).code, 0);
  assert.match(
    readFileSync(program.variables['VALETKEY_KEYS_FILE'] ?? '', 'utf8'),
    /^# Root keys.*(\nvk_rk_\S+){2,}\n# Serves/s,
  );
  await program.serve();
  assert.equal((await me(service, pair.accessToken)).status, 200);
});

test('operating: a service whose keys file is gone, or open to others, says so once and goes on', async (t) => {
  const path = temporaryPath(t);
  const keysFile = join(dirname(path), 'keys');
  const at = { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS_FILE: keysFile };
  const service = await startTestService(t, at);
  await addUser(service);
  const { accessToken } = await obtainPair(service, await signedInBrowser(service), await addClient(service));
  const told = async (words: string, times: number) => {
    const found = () => service.log.filter((line) => line.includes(words)).length;
    while (found() < times) await sleep(20);
    assert.equal(found(), times, service.log.join(''));
  };
  renameSync(keysFile, `${keysFile}.away`);
  await told(`${keysFile} is gone: put it back`, 1);
  assert.equal((await me(service, accessToken)).status, 200);
  renameSync(`${keysFile}.away`, keysFile);
  chmodSync(keysFile, 0o644);
  await told(`others can read the keys file ${keysFile}: run`, 1);
  await told(`${keysFile} is gone`, 1);
});
