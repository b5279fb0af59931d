/** What is in nobody's row, so that no restore can end it there: requests that were sealed, and assertions that were made, before. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { assertRefused, type TestClient } from '../support/flow.ts';
import { inhabited } from '../support/inhabited.ts';
import type { ProgramOnDisk, Serving } from '../support/program.ts';
import { REDIRECT_URI, type TestService } from '../support/service.ts';
import {
  ASSERTION_TYPE,
  authorizationRequest,
  DEVICE_GRANT,
  type Fields,
  makeKey,
  postAs,
} from '../support/standard.ts';

/** The difference of clocks that is allowed to an assertion (s). */
const CLOCK_TOLERANCE = 30;

/** Makes a backup, has time for what comes after it, and restores it; the service is stopped meanwhile. */
async function restored(
  program: ProgramOnDisk,
  { child, ended }: Serving,
  since: () => Promise<void> = async () => {},
) {
  const file = join(program.folder, 'backup.db');
  await program.json(['database', 'backup', file]);
  await since();
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
  await program.json(['database', 'restore', file, '--keep-tokens', '--without-audit', '--yes']);
  return program.serve();
}

async function register(program: ProgramOnDisk, ...options: string[]): Promise<TestClient> {
  const { client_id: id } = await program.json(['client', 'register', '--name', 'Other', ...options]);
  return { clientId: String(id), clientSecret: '' };
}

test('restore: a pushed request and a device code of before are refused, also where grants go on', async () => {
  const { program, serving, service, client, browser } = await inhabited({ after });
  const device = await register(program, '--public', '--device', '--redirect-uri', REDIRECT_URI);
  const push = async () =>
    String((await postAs(service, client, 'par', authorizationRequest(client))).body['request_uri']);
  const open = (request_uri: string) =>
    browser.get(
      `${service.appUrl}/oauth2/authorize?${new URLSearchParams({ client_id: client.clientId, request_uri })}`,
    );
  const ask = async () => (await postAs(service, device, 'device_authorization')).body;
  const poll = ({ device_code }: Record<string, unknown>) =>
    postAs(service, device, 'token', { grant_type: DEVICE_GRANT, device_code: String(device_code) });
  const [pushed, asked] = [await push(), await ask()];
  assert.match((await open(pushed)).body, /value="allow"/);
  assertRefused(await poll(asked), 400, 'authorization_pending');

  await restored(program, serving);
  const dead = await open(pushed);
  assert.equal(dead.status, 400);
  assert.doesNotMatch(dead.body, /value="allow"/);
  assertRefused(await poll(asked), 400, 'invalid_grant');
  assert.match((await open(await push())).body, /name="password"/, 'one of after it asks for a sign-in');
  assertRefused(await poll(await ask()), 400, 'authorization_pending');
});

test('restore: an assertion of before is refused, whether it was used or not, since nobody knows any more', async () => {
  const { program, serving, service } = await inhabited({ after });
  const key = makeKey();
  const keys = join(program.folder, 'client-keys.json');
  writeFileSync(keys, JSON.stringify({ keys: [key.jwk] }));
  const client = await register(program, '--jwks', keys, '--redirect-uri', REDIRECT_URI);
  const made = async (aheadS = 0): Promise<Fields> => {
    const iat = Date.now() / 1000 + aheadS;
    const claims = { iss: client.clientId, sub: client.clientId, aud: service.appUrl, iat, exp: iat + 60 };
    return {
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await key.sign({ ...claims, jti: randomUUID() }),
    };
  };
  const push = (fields: Fields) =>
    postAs(service as TestService, client, 'par', { ...authorizationRequest(client), ...fields });
  assert.equal((await push(await made())).status, 201);
  const [unused, used] = [await made(), await made()];

  await restored(program, serving, async () => assert.equal((await push(used)).status, 201));
  for (const fields of [unused, used]) assertRefused(await push(fields), 503, 'temporarily_unavailable');
  assert.equal((await push(await made(CLOCK_TOLERANCE))).status, 201, 'one that was certainly made after it');
});
