/** Ways to start the service that are shipped or documented: in none of them a signal starts Node's debugger. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMPILED } from '../support/compiled.ts';
import { freePort } from '../support/service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const [, entrypoint = ''] = /^ENTRYPOINT (.*)$/m.exec(read('Dockerfile')) ?? [];
const [, execStart = ''] = /^ExecStart=(.*)$/m.exec(read('deploy/valetkey.service')) ?? [];

const [, wrapper = ''] = /^exec (.*) "\$@"$/m.exec(read('docs/operating/install.md')) ?? [];
const scripts = JSON.parse(read('package.json')).scripts as Record<string, string>;
/** npm itself is a process between, which holds nothing. */
const script = (name: string) => (scripts[name] ?? '').replace(/^exec /, '').split(' ');

const WAYS: Readonly<Record<string, readonly string[]>> = {
  'npm start': script('start'),
  'npm run valetkey -- serve': [...script('valetkey'), 'serve'],
  'the image': [...JSON.parse(entrypoint), 'serve'],
  'the unit for systemd': execStart.split(' '),
  'Node.js without the option, as the npm package is started': ['node', 'src/main.ts', 'serve'],
  'the wrapper of commands': [...wrapper.split(' '), 'serve'],
};

/** A word of a command as it is on this machine. */
const here = (word: string) =>
  /^(\/usr\/bin\/)?node$/.test(word)
    ? process.execPath
    : word.replace('/opt/valetkey/', ROOT).replace('/etc/valetkey/env', '/dev/null');

describe('design: SIGUSR1 opens no debugger, which would hand out the keys', { concurrency: 2 }, () => {
  for (const [name, words] of Object.entries(WAYS))
    test(name, { timeout: 300_000 }, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
      t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
      const appUrl = `http://127.0.0.1:${await freePort()}`;
      const environment = {
        ...process.env,
        ...COMPILED,
        VALETKEY_APP_URL: appUrl,
        VALETKEY_API_URL: appUrl,
        VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'valetkey.db')}`,
        VALETKEY_KEYS_FILE: join(folder, 'keys'),
      };
      const [program = '', ...options] = words.map(here);
      const child = spawn(program, options, { cwd: ROOT, env: environment, detached: true });
      const kill = (signal: NodeJS.Signals) => process.kill(-(child.pid as number), signal);
      const [said, ended] = [text(child.stderr), once(child, 'exit')];
      t.after(() => child.exitCode !== null || kill('SIGKILL'));
      const over = ended.then(async () => assert.fail(await said));
      for (let printed = ''; !/^api /m.test(printed); )
        printed += (await Promise.race([once(child.stdout, 'data'), over]))[0];
      kill('SIGUSR1');
      for (let n = 0; n < 3; n++) assert.equal((await fetch(`${appUrl}/readyz`)).status, 200);
      over.catch(() => {});
      kill('SIGTERM');
      assert.deepEqual(await ended, [0, null]);
      assert.doesNotMatch(await said, /debugger|inspector/i);
    });
});
