import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { readJwksFile } from '../../src/cli/input/jwks-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'valetkey-jwks-'));
after(() => rmSync(folder, { recursive: true }));

const KEY = { kty: 'OKP', crv: 'Ed25519', x: 'WVf0mRqPHWKWqiFek-g_y6gR_iZzMF_4_cdm46VSnow' };

/** Reads a file that holds this. */
function read(content: string | Buffer) {
  const path = join(folder, 'keys.json');
  writeFileSync(path, content);
  return readJwksFile(path);
}

it('RFC 7517 §5: the keys of a set are read in their order', async () => {
  const keys = [{ ...KEY, kid: 'one' }, KEY];
  assert.deepEqual(await read(JSON.stringify({ keys, more: true })), keys);
});

it('RFC 7517 §4: a single key is a set of one', async () => {
  assert.deepEqual(await read(`\ufeff ${JSON.stringify(KEY)}\n`), [KEY]);
});

it('a file of 64 KiB is read, and no byte more', async () => {
  const text = JSON.stringify(KEY);
  assert.deepEqual(await read(text.padEnd(64 * 1024)), [KEY]);
  await assert.rejects(read(text.padEnd(64 * 1024 + 1)), { name: 'OperatorError', message: /larger than 64 KiB/ });
});

it('a pipe is read like a file', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const [keys] = await Promise.all([readJwksFile(path), writeFile(path, JSON.stringify(KEY))]);
  assert.deepEqual(keys, [KEY]);
});

it('what is no key is refused, and nothing of it is told', async () => {
  for (const content of ['[]', '{}', 'null', '"kty"', '{"keys":{}}', '{"keys":[null]}', '{"keys":["kty"]}'])
    await assert.rejects(read(content), { name: 'OperatorError', message: /holds no keys: name a file/ }, content);
  const message = /^--jwks: \S*keys\.json is not JSON: name a file with public keys, as a JSON Web Key Set or a single/;
  for (const content of ['', '-----BEGIN PRIVATE KEY-----', Buffer.from([0x22, 0xff, 0x22])])
    await assert.rejects(read(content), { name: 'OperatorError', message });
});
