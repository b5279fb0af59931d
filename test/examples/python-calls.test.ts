/** The calls of examples/valetkey_product.py about users, against a running service: as those of packages/product. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startService } from './product.ts';

const folder = fileURLToPath(new URL('../../examples', import.meta.url));
const noPython = spawnSync('python3', ['-V']).status !== 0 && 'there is no python3';

/** Runs lines with `valetkey` and `failed(call)`, and returns what they put into `said`. */
async function run(url: string, secret: string, lines: string): Promise<unknown> {
  const program = `
import json, sys
from valetkey_product import Valetkey, ValetkeyError
valetkey = Valetkey(sys.argv[1], "product", sys.argv[2], "http://localhost:8000/oauth/sign-in", None, None)
def failed(call):
    try:
        call()
    except ValetkeyError as error:
        return [error.status, error.code]
${lines}
print(json.dumps(said))`;
  const { stdout } = await promisify(execFile)('python3', ['-B', '-c', program, url, secret], { cwd: folder });
  return JSON.parse(stdout);
}

test('Python: a user whom Valetkey does not know has no connections, and nothing to end', {
  skip: noPython,
}, async (t) => {
  const { service, secret } = await startService(t, 'http://localhost:8000/oauth/sign-in');
  const unknown = await run(
    service.appUrl,
    secret,
    `said = [valetkey.connections("p-17"), valetkey.end_sessions("p-17"), valetkey.revoke("p-17", client_id="app_x")]`,
  );
  assert.deepEqual(unknown, [{ connections: [], next: null }, false, false]);
  const known = await run(
    service.appUrl,
    secret,
    `valetkey.call("PUT", "/users", {"subject": "p-17"})
said = [valetkey.connections("p-17", after=None, limit=1), valetkey.end_sessions("p-17"),
        valetkey.revoke("p-17", client_id="app_x")]`,
  );
  assert.deepEqual(known, [{ connections: [], next: null }, true, true]);
});

test('Python: any other failure of such a call is an error', { skip: noPython }, async (t) => {
  const { service } = await startService(t, 'http://localhost:8000/oauth/sign-in');
  const said = await run(
    service.appUrl,
    'wrong',
    `calls = (lambda: valetkey.connections("p-17"), lambda: valetkey.end_sessions("p-17"),
         lambda: valetkey.revoke("p-17", connection_id="x"))
said = [failed(call) for call in calls]`,
  );
  assert.deepEqual(said, Array(3).fill([401, 'invalid_client']));
});
