/** The root keys: made once, whole, for their owner alone; anything else is refused and never repeated. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { InstallationError } from '../../src/process/installation-error.ts';
import { makeKeysFile, makeRootKey, parseRootKeys, readKeysFile } from '../../src/settings/root-keys.ts';

test('Root keys: a keys file is readable by its owner alone, whatever the umask, and read back as it was made', (t) => {
  const path = join(folderOf(t), 'new', 'keys');
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const key = makeRootKey();
  assert.equal(makeKeysFile(path, key), true);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
  assert.deepEqual(readKeysFile(path), parseRootKeys(key, 'a test'));
});

test('Root keys: an existing keys file is never replaced', (t) => {
  const path = join(folderOf(t), 'keys');
  makeKeysFile(path, makeRootKey());
  const before = readFileSync(path);
  assert.equal(makeKeysFile(path, makeRootKey()), false);
  assert.deepEqual(readFileSync(path), before);
});

test('Root keys: a folder that cannot be made is a refusal with the remedy', (t) => {
  const file = join(folderOf(t), 'file');
  writeFileSync(file, '');
  assert.throws(
    () => makeKeysFile(join(file, 'keys'), makeRootKey()),
    (error) => error instanceof InstallationError && /write to its folder/.test(error.message),
  );
  assert.throws(() => makeKeysFile('', makeRootKey()), InstallationError);
});

test('Root keys: a file that others can read is refused, with the remedy', (t) => {
  const path = join(folderOf(t), 'keys');
  makeKeysFile(path, makeRootKey());
  const told: [mode: number, who: string][] = [
    [0o644, 'others can read'],
    [0o604, 'others can read'],
    [0o602, 'others can change'],
    [0o601, 'others can run'],
    [0o620, 'its group can change'],
    [0o660, 'its group can read and change'],
  ];
  for (const [mode, who] of told) {
    chmodSync(path, mode);
    assert.throws(() => readKeysFile(path), new RegExp(`${who} the keys file ${path}: run "chmod 600 ${path}"`));
  }
});

test('Root keys: the group may read a file that root owns, as systemd hands it out, and no other', (t) => {
  const path = join(folderOf(t), 'keys');
  makeKeysFile(path, makeRootKey());
  chmodSync(path, 0o440);
  if (statSync(path).uid === 0) {
    assert.equal(readKeysFile(path)?.length, 1);
    chownSync(path, 65_534, 65_534);
  }
  assert.throws(() => readKeysFile(path), /chmod 600/);
});

test('Root keys: a file of root’s that others can read is left to the group of who runs the service', {
  skip: process.getuid?.() !== 0 && 'only root can own a file and be somebody else',
}, (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'keys');
  makeKeysFile(path, makeRootKey());
  chmodSync(folder, 0o755);
  chmodSync(path, 0o644);
  process.seteuid?.(65_534);
  try {
    assert.throws(() => readKeysFile(path), /run "chmod 640 .*", and give it to a group of this user/);
  } finally {
    process.seteuid?.(0);
  }
});

test('Root keys: a missing file is told apart from an unreadable one', (t) => {
  const folder = folderOf(t);
  assert.equal(readKeysFile(join(folder, 'keys')), null);
  assert.throws(
    () => readKeysFile(folder),
    /is not a file/,
    'never the advice to take the folder from those who use it',
  );
});

test('Root keys: several are read newest first; short, default and broken ones are refused and never repeated', (t) => {
  const [newest, older] = [makeRootKey(), makeRootKey()];
  assert.equal(parseRootKeys(`# newest first\n${newest}\n${older}\n`, 'a test').length, 2);
  const path = join(folderOf(t), 'keys');
  const broken = [
    '',
    '# nothing',
    'secret',
    'changeme'.repeat(8),
    newest.slice(0, -1),
    newest.toUpperCase(),
    `vk_rk_${'A'.repeat(10)}`,
  ];
  for (const text of broken) {
    writeFileSync(path, text, { mode: 0o600 });
    assert.throws(
      () => readKeysFile(path),
      (error) => error instanceof InstallationError && (text.length < 6 || !error.message.includes(text)),
    );
  }
});

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-keys-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
