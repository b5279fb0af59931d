import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProgramOnDisk } from '../support/program.ts';
import { freePort } from '../support/service.ts';

/** Says on standard error when the library of passkeys is loaded. */
const HOOK = `import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    if (url.includes('@simplewebauthn/')) process.stderr.write('LOADED\\n');
    return next(url, context);
  },
});`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(HOOK)}`;

test('decision 0014: no command and no start loads the library of passkeys, but the first page that needs it', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const operatorUrl = `http://localhost:${await freePort()}`;
  const variables = { VALETKEY_OPERATOR_URL: operatorUrl, NODE_OPTIONS };
  for (const words of [['client', 'list'], ['doctor']])
    assert.doesNotMatch((await program.run(words, variables)).stderr, /LOADED/, words.join(' '));
  const { child, ended } = await program.serve(variables);
  let log = '';
  child.stderr?.on('data', (part) => {
    log += part;
  });
  assert.equal((await fetch(`${operatorUrl}/healthz`)).status, 200);
  assert.equal((await fetch(`${operatorUrl}/`, { redirect: 'manual' })).status, 303);
  assert.doesNotMatch(log, /LOADED/);
  assert.equal((await fetch(`${operatorUrl}/sign-in`)).status, 200);
  child.kill();
  assert.match((await ended).stderr, /LOADED/);
});
