/** `doctor` behind a real nginx, as compose.yaml and one machine have it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { ProgramOnDisk } from '../support/program.ts';
import {
  type Addresses,
  BEHIND_NGINX,
  isThere,
  nginxAddresses,
  oneMachineAddresses,
  startNginx,
  startOneMachine,
} from './nginx.ts';

/** A program that nginx is in front of, and what the doctor says of it. */
async function behindNginx(t: TestContext, at: Addresses) {
  const program = await ProgramOnDisk.make(t);
  const variables = {
    ...program.variables,
    ...BEHIND_NGINX,
    VALETKEY_APP_URL: at.appUrl,
    VALETKEY_API_URL: at.apiUrl,
    VALETKEY_APP_LISTEN: new URL(program.appUrl).host,
    VALETKEY_API_LISTEN: new URL(program.apiUrl).host,
  };
  const serving = await program.serve(variables);
  await runCommand(['database', 'note-backup'], variables);
  const doctor = async () => {
    const { code, stdout } = await runCommand(['doctor', '--json'], variables);
    const findings = JSON.parse(stdout) as { area: string; name: string; verdict: string; detail: string }[];
    return { code, findings, bad: findings.filter(({ verdict }) => verdict !== 'ok') };
  };
  return { program, variables, serving, doctor };
}

if (isThere()) {
  test('the doctor finds nothing wrong behind nginx on one machine, with TLS, as deploy/nginx.conf has it', async (t) => {
    const at = await oneMachineAddresses();
    const { program, doctor } = await behindNginx(t, at);
    await startOneMachine(t, at, program);
    const { code, bad, findings } = await doctor();
    assert.deepEqual({ code, bad }, { code: 0, bad: [] });
    for (const [name, detail] of [
      ['TLS', 'trusted, for 89 days more'],
      ['connections', 'kept for 4 s at most'],
    ])
      assert.ok(
        findings.some((finding) => finding.name === name && finding.detail === detail),
        name,
      );
  });

  test('the doctor finds nothing wrong behind nginx as deploy/ sets it up, and what is wrong where it is not trusted', async (t) => {
    const at = await nginxAddresses();
    const { program, variables, serving, doctor } = await behindNginx(t, at);
    await startNginx(t, at, [program]);
    const { code: fine, bad: none } = await doctor();
    assert.deepEqual({ fine, none }, { fine: 0, none: [] });

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
}
