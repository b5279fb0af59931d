/** The note in a keys file of whom it serves: where it is written, whose the file stays, and what a killed start left. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { KeysPlace } from '../../src/settings/root-keys.ts';
import { noteServed } from '../../src/settings/served-installations.ts';

const INSTALLATION = 'ab'.repeat(16);
const KEYS = 'key one\n';
const isRoot = process.getuid?.() === 0;

function keysFile(t: TestContext) {
  const folder = fs.mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'keys');
  fs.writeFileSync(path, KEYS, { mode: 0o640 });
  const database = { kind: 'file', path: join(folder, 'valetkey.db') };
  return { folder, path, place: { keys: null, keysFile: path, database } as KeysPlace };
}

test('Promise 1: a draft that a killed start left, with the keys in it, is removed; other files are not', (t) => {
  const { folder, path, place } = keysFile(t);
  const others = ['keys.old', 'keys.new', 'keys.0123.new', `keys.${'A'.repeat(16)}.new`, `other.${'a'.repeat(16)}.new`];
  for (const name of others) fs.writeFileSync(join(folder, name), '');
  const draft = `${path}.0123456789abcdef.new`;
  for (const when of ['with the note', 'when the note is there already']) {
    fs.writeFileSync(draft, KEYS);
    assert.equal(noteServed(place, INSTALLATION), null);
    assert.deepEqual(fs.readdirSync(folder).sort(), ['keys', ...others].sort(), when);
  }
});

test('Promise 1: a keys file keeps its owner and mode when it is noted', {
  skip: isRoot ? false : 'only root gives files away',
}, (t) => {
  const { path, place } = keysFile(t);
  fs.chownSync(path, 12_345, 23_456);
  fs.chmodSync(path, 0o640);
  assert.equal(noteServed(place, INSTALLATION), null);
  const { uid, gid, mode } = fs.statSync(path);
  assert.deepEqual([uid, gid, mode & 0o777], [12_345, 23_456, 0o640]);
});

/** Has somebody change the keys file while the draft waits for the disk. */
function changedMeanwhile(t: TestContext, change: () => void): void {
  const { fsyncSync } = fs;
  t.after(() => {
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
  fs.fsyncSync = (descriptor) => {
    change();
    fsyncSync(descriptor);
  };
  syncBuiltinESMExports();
}

test('Promise 1: a keys file that somebody changes meanwhile keeps the change, and it is told', (t) => {
  const { folder, path, place } = keysFile(t);
  changedMeanwhile(t, () => fs.appendFileSync(path, 'key two\n'));
  assert.match(
    noteServed(place, INSTALLATION) ?? '',
    /cannot record its installation \(another process is changing it\)/,
  );
  assert.equal(fs.readFileSync(path, 'utf8'), `${KEYS}key two\n`);
  assert.deepEqual(fs.readdirSync(folder), ['keys']);
});

test('Promise 1: nothing is told when another start has written the note meanwhile', (t) => {
  const { path, place } = keysFile(t);
  changedMeanwhile(t, () => fs.appendFileSync(path, `# Serves the installation ${INSTALLATION}\n`));
  assert.equal(noteServed(place, INSTALLATION), null);
});
