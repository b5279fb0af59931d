/** `doctor` behind a real nginx, as compose.yaml sets it up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { BEHIND_NGINX, isThere, nginxAddresses, startNginx } from './nginx.ts';

if (isThere())
  test('the doctor finds nothing wrong behind nginx as deploy/ sets it up, and what is wrong where it is not trusted', async (t) => {
    const program = await ProgramOnDisk.make(t);
    const at = await nginxAddresses();
    const variables = {
      ...program.variables,
      ...BEHIND_NGINX,
      VALETKEY_APP_URL: at.appUrl,
      VALETKEY_API_URL: at.apiUrl,
      VALETKEY_APP_LISTEN: new URL(program.appUrl).host,
      VALETKEY_API_LISTEN: new URL(program.apiUrl).host,
    };
    const doctor = async () => {
      const { code, stdout } = await runCommand(['doctor', '--json'], variables);
      const findings = JSON.parse(stdout) as { area: string; name: string; verdict: string; detail: string }[];
      return { code, bad: findings.filter(({ verdict }) => verdict !== 'ok') };
    };
    await startNginx(t, at, [program]);
    const serving = await program.serve(variables);
    await runCommand(['database', 'note-backup'], variables);
    assert.deepEqual(await doctor(), { code: 0, bad: [] });

    serving.child.kill('SIGTERM');
    await serving.ended;
    await program.serve({ ...variables, VALETKEY_TRUSTED_PROXIES: '' });
    const { code, bad } = await doctor();
    assert.equal(code, 1);
    assert.deepEqual(
      bad.map(({ area, name }) => `${area}: ${name}`),
      ['app address: visitors’ addresses', 'API address: visitors’ addresses'],
    );
  });
